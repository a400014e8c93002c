"""A session that ended is queued by its agent's hook, and captured by the leader."""

from __future__ import annotations

from pathlib import Path

import pytest

from hivemind_memory.errors import ChatError, UsageError
from hivemind_memory.jobs.capture_queue import CAPTURE, queue_capture
from hivemind_memory.jobs.runner import LOOK_AGAIN_S, JobRunner
from hivemind_memory.state.jobs import DONE, WAITING, Jobs
from tests.jobs.test_capture import LESSON, SAID
from tests.support.capture_home import CaptureHome, proposal, told
from tests.support.sessions import ASSISTANT, USER


@pytest.fixture
def home(tmp_path: Path) -> CaptureHome:
    made = CaptureHome(tmp_path)
    made.reply_with(proposal(LESSON, 3))
    return made


def queue(home: CaptureHome, file: Path, session: str = "session-one") -> bool:
    """Queue a session, as the hook does."""
    with home.sandbox.memory() as memory:
        return queue_capture(memory, "claude", session, str(file))


def lead(home: CaptureHome) -> float | None:
    """Run what is due, as a leader does some time later."""
    home.sandbox.ahead_s += 60
    with home.sandbox.memory() as memory:
        runner = JobRunner(memory, lambda _: home.chat, open_sessions=home.sessions)
        try:
            return runner.run(should_stop=lambda: False)
        finally:
            runner.close()


def jobs(home: CaptureHome) -> list[tuple[str, str]]:
    """Return state and problem of the captures."""
    with home.sandbox.memory() as memory:
        found = Jobs(memory.state()).all()
    return [(job.state, job.problem) for job in found if job.kind == CAPTURE]


def test_the_leader_captures_what_was_queued_once(home: CaptureHome) -> None:
    file = home.put(SAID)

    assert queue(home, file)
    assert not queue(home, file)
    assert lead(home) == LOOK_AGAIN_S

    assert home.pending() == [LESSON]
    assert jobs(home) == [(DONE, "")]
    assert not queue(home, file)
    lead(home)
    assert len(home.chat.asked) == 1


def test_a_session_that_is_resumed_is_another_job(home: CaptureHome) -> None:
    file = home.put(SAID)
    queue(home, file)
    lead(home)
    more = [(USER, "The fuse is 6 A."), (ASSISTANT, "I wrote that down.")]
    home.put(more, first=len(SAID))

    assert queue(home, file)
    lead(home)

    assert [state for state, _ in jobs(home)] == [DONE, DONE]
    rows = told(home.chat.asked[1])["transcript"]
    assert [row["line"] for row in rows] == [5, 6]


def test_a_model_that_fails_is_asked_again_and_nothing_is_lost(
    home: CaptureHome,
) -> None:
    file = home.put(SAID)
    queue(home, file)
    reply = home.chat.reply
    home.chat.failure = ChatError("The server is busy.")
    lead(home)
    assert jobs(home) == [(WAITING, "The server is busy.")]
    assert home.pending() == []

    home.chat.failure, home.chat.reply = None, reply
    home.sandbox.ahead_s += 600
    lead(home)

    assert home.pending() == [LESSON]


def test_a_job_whose_transcript_is_gone_says_so(home: CaptureHome) -> None:
    file = home.put(SAID)
    queue(home, file)
    file.unlink()

    lead(home)

    [(state, problem)] = jobs(home)
    assert state == WAITING
    assert "no transcript of the session" in problem


@pytest.mark.parametrize(
    ("agent", "session"),
    [("claude", ""), ("claude", "a b"), ("claude", "x" * 300), ("vi", "one")],
)
def test_only_a_session_of_a_known_agent_is_queued(
    home: CaptureHome, agent: str, session: str
) -> None:
    with home.sandbox.memory() as memory:
        with pytest.raises(UsageError):
            queue_capture(memory, agent, session, "")
        assert Jobs(memory.state()).all() == []
