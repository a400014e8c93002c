"""A capture that is killed anywhere proposes each memory once, in the first words.

Real processes die before and after each of their writes. Who captures the session next
has a model that puts the same lessons in other words.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from hivemind_memory.curation import purge
from hivemind_memory.jobs.capture_queue import CAPTURE, queue_capture
from hivemind_memory.jobs.runner import JobRunner
from hivemind_memory.memory.memory import Memory
from hivemind_memory.model.curation import MemorySelector, NewMemory
from hivemind_memory.state.captures import Captures
from hivemind_memory.state.erased_messages import ErasedMessages
from hivemind_memory.state.jobs import DONE, INTERRUPTED, Jobs
from tests.support.capture_home import CaptureHome, Lesson, proposal
from tests.support.sessions import ASSISTANT, USER

SAID = [
    (USER, "The kiln is never opened above 90 degrees, the glaze would crack."),
    (ASSISTANT, "Understood, the kiln stays shut above 90 degrees."),
    (USER, "Clay comes from the quarry in Hoya, and nowhere else, it is free of lime."),
    (ASSISTANT, "The order goes to the quarry in Hoya."),
    (USER, "Orders are packed on Fridays by two people, one alone drops the vases."),
    (ASSISTANT, "Two people pack on Fridays."),
]
FIRST = [
    "The kiln is never opened above 90 degrees, because the glaze would crack.",
    "Clay comes from the quarry in Hoya only, because it is free of lime.",
    "Two people pack orders on Fridays, because one alone drops vases.",
]
AGAIN = [
    "Above 90 degrees nobody opens the oven: cracks would appear in its enamel.",
    "Hoya delivers all raw material; elsewhere too much calcium is found in the earth.",
    "Packing needs a pair of workers at the end of the week, or pots break.",
]
KEYS = ("kiln", "clay", "packing")


def rows(texts: list[str], prefix: str = "") -> list[Lesson]:
    return [
        proposal(text, 2 * at + 1, key=prefix + key)
        for at, (key, text) in enumerate(zip(KEYS, texts, strict=True))
    ]


@pytest.fixture
def home(tmp_path: Path) -> CaptureHome:
    made = CaptureHome(tmp_path)
    made.put(SAID)
    made.with_memory(lambda memory: memory.state().run(lambda _: None))
    return made


def die_at(event: int) -> None:
    """End this process at its event of a number: before or after a write."""
    count = 0

    def counted(real: Callable[..., Any]) -> Callable[..., Any]:
        def write(*given: Any, **named: Any) -> Any:
            nonlocal count
            count += 1
            if count == event:
                os._exit(9)
            done = real(*given, **named)
            count += 1
            if count == event:
                os._exit(9)
            return done

        return write

    for kind, name in (
        (Captures, "keep_draft"),
        (Captures, "keep_line"),
        (Memory, "save"),
        (Jobs, "end"),
    ):
        setattr(kind, name, counted(getattr(kind, name)))


def killed(event: int, work: Callable[[], object]) -> bool:
    """Let a process work, and die at an event; return whether it came so far."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            die_at(event)
            work()
            code = 0
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    assert code in (0, 9)
    return code == 9


@pytest.mark.parametrize("event", range(1, 17))
def test_a_command_that_is_killed_is_finished_by_the_next_one(
    home: CaptureHome, event: int
) -> None:
    home.reply_with(*rows(FIRST))
    was_killed = killed(event, home.capture)
    home.reply_with(*rows(AGAIN, "other-"))
    home.chat.asked.clear()

    home.capture()
    home.capture()

    was_kept = event > 1
    assert len(home.chat.asked) == (0 if was_kept else 1)
    assert sorted(home.pending()) == sorted(FIRST if was_kept else AGAIN)
    assert was_killed is (event <= 14)


@pytest.mark.parametrize("event", range(1, 17))
def test_a_leader_that_is_killed_is_finished_by_the_next_one(
    home: CaptureHome, event: int
) -> None:
    """Its job goes on by itself, since the model is not asked again."""
    file = home.put(SAID)
    home.with_memory(lambda m: queue_capture(m, "claude", "session-one", str(file)))
    home.sandbox.ahead_s += 60
    home.reply_with(*rows(FIRST))

    def lead() -> None:
        with home.sandbox.memory() as memory:
            runner = JobRunner(memory, lambda _: home.chat, open_sessions=home.sessions)
            runner.run(should_stop=lambda: False)
            runner.close()

    assert killed(event, lead)
    home.reply_with(*rows(AGAIN, "other-"))
    home.chat.asked.clear()

    lead()
    lead()

    jobs = home.with_memory(lambda memory: Jobs(memory.state()).all())
    [state] = [job.state for job in jobs if job.kind == CAPTURE]
    assert home.chat.asked == []
    if event == 1:  # what it replied was lost, and it is not asked again unasked
        assert (state, home.pending()) == (INTERRUPTED, [])
    else:
        assert sorted(home.pending()) == sorted(FIRST)
    # Between the row and the end of its job, nothing is left to do.
    assert state == (DONE if 1 < event < 14 or event == 16 else INTERRUPTED)


def test_new_lines_are_asked_about_and_the_kept_ones_are_not(home: CaptureHome) -> None:
    home.reply_with(*rows(FIRST))
    assert killed(4, home.capture)
    more = [(USER, "Red glaze is never mixed with blue, the result is mud.")]
    home.put([*more, (ASSISTANT, "No red with blue, then.")])
    red = "Red glaze is never mixed with blue, because the result is mud."
    home.reply_with(proposal(red, 7, key="red"))
    home.chat.asked.clear()

    home.capture()

    [asked] = home.chat.asked
    lines = json.loads(asked[-1].text)["transcript"]
    assert [line["line"] for line in lines] == [7, 8]
    assert sorted(home.pending()) == sorted([*FIRST, red])


def test_what_was_rejected_in_between_does_not_come_back(home: CaptureHome) -> None:
    home.reply_with(*rows(FIRST))
    assert killed(4, home.capture)
    [claim] = home.with_memory(lambda memory: memory.curation.pending())
    home.with_memory(lambda memory: memory.curation.reject(claim.id))

    home.capture()

    assert sorted(home.pending()) == sorted(FIRST[1:])


@pytest.mark.parametrize("selector", [{"session": "session-one"}, {"name": "kiln"}])
def test_a_purge_reaches_what_is_kept(
    home: CaptureHome, selector: dict[str, str]
) -> None:
    """The text of a draft is in `state.db` until notes say it."""
    home.reply_with(*rows(FIRST))
    assert killed(4, home.capture)  # the first one is saved, and kept all the same
    assert home.pending() == FIRST[:1]

    with home.sandbox.memory() as memory:
        memory.curation.purge(MemorySelector(**selector))

    for file in home.sandbox.home.rglob("*"):
        if file.is_file():
            assert b"kiln is never opened" not in file.read_bytes(), file
    home.capture()
    whole = selector.get("session")
    assert sorted(home.pending()) == sorted([] if whole else FIRST[1:])


def test_no_secret_is_kept(home: CaptureHome) -> None:
    secret = "The password of the shop is Kiln-Vase-77-Hoya!, says the owner."
    home.reply_with(proposal(secret, 1, key="secret"), *rows(FIRST))

    assert killed(2, home.capture)

    kept = [
        file.read_bytes() for file in home.sandbox.home.rglob("*") if file.is_file()
    ]
    assert any(FIRST[0].encode() in data for data in kept)
    for file in home.sandbox.home.rglob("*"):
        if file.is_file():
            assert b"Vase-77" not in file.read_bytes(), file


def begin_purge(home: CaptureHome) -> int:
    """Purge the session in another process, as ``hm forget --purge --session`` does.

    Returns:
        The process, once it has ended or waits for the capture.
    """
    told, tell = os.pipe()
    child = os.fork()
    if child == 0:
        real, code = purge.capture_lock, 1

        def capture_lock(*given: str) -> AbstractContextManager[None]:
            os.write(tell, b"x")
            return real(*given)

        try:
            with (
                mock.patch.object(purge, "capture_lock", capture_lock),
                home.sandbox.memory() as memory,
            ):
                memory.curation.purge(MemorySelector(session="session-one"))
            code = 0
        finally:
            os.write(tell, b"x")
            os._exit(code)
    os.read(told, 1)
    os.close(told)
    os.close(tell)
    return child


def end_of(child: int) -> int:
    """Return the exit code of a process."""
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status)


@pytest.mark.parametrize("written", [1, 2, 3])
@pytest.mark.parametrize("is_killed", [False, True])
def test_a_session_that_is_purged_while_its_capture_writes_leaves_nothing(
    home: CaptureHome, written: int, *, is_killed: bool
) -> None:
    """Neither a proposal, nor a row that says how far it was read, nor its draft.

    The purge comes when a memory is about to be saved; the capture goes on, or dies
    with that memory in its note.
    """
    home.reply_with(*rows(FIRST))
    (at_save, reach_save), (purging, begin) = os.pipe(), os.pipe()
    capture = os.fork()
    if capture == 0:
        real, count = Memory.save, 0

        def save(memory: Memory, *given: Any, **named: Any) -> Any:
            nonlocal count
            count += 1
            if count == written:
                os.write(reach_save, b"x")
                os.read(purging, 1)
            done = real(memory, *given, **named)
            if count == written and is_killed:
                os._exit(9)
            return done

        try:
            with mock.patch.object(Memory, "save", save):
                home.capture()
        finally:
            os._exit(0)
    os.read(at_save, 1)
    purging_process = begin_purge(home)
    os.write(begin, b"x")

    assert end_of(capture) == (9 if is_killed else 0)
    assert end_of(purging_process) == 0
    for fd in (at_save, reach_save, purging, begin):
        os.close(fd)

    assert home.pending() == []
    assert rows_kept(home) == 0
    for file in home.sandbox.home.rglob("*"):
        if file.is_file():
            data = file.read_bytes()
            assert not any(each.encode() in data for each in FIRST), file
    assert home.capture().why == "the session was purged"


def test_a_session_of_which_only_a_draft_is_kept_is_purged(home: CaptureHome) -> None:
    home.reply_with(*rows(FIRST))
    assert killed(2, home.capture)
    assert (home.pending(), rows_kept(home) > 0) == ([], True)

    home.with_memory(
        lambda memory: memory.curation.purge(MemorySelector(session="session-one"))
    )

    assert rows_kept(home) == 0
    assert home.capture().why == "the session was purged"


def test_a_session_that_only_waits_to_be_captured_is_purged(home: CaptureHome) -> None:
    file = home.base / "transcript"
    home.with_memory(lambda m: queue_capture(m, "claude", "session-one", str(file)))

    home.with_memory(
        lambda memory: memory.curation.purge(MemorySelector(session="session-one"))
    )

    assert home.with_memory(lambda memory: Jobs(memory.state()).all()) == []
    assert home.capture().why == "the session was purged"
    assert b"session-one" not in (home.sandbox.home / "state.db").read_bytes()


def test_a_draft_that_repeats_a_purged_text_is_never_on_the_disk(
    home: CaptureHome,
) -> None:
    """Another session said the same; the model is asked after the purge."""
    new = NewMemory(key="kiln", content=FIRST[0], scope="projects/lamp")
    home.with_memory(lambda m: m.save(new))
    home.with_memory(lambda m: m.curation.purge(MemorySelector(name="kiln")))
    home.reply_with(*rows(FIRST, "other-"))

    assert killed(2, home.capture)

    assert rows_kept(home) == 2
    for file in home.sandbox.home.rglob("*"):
        if file.is_file():
            assert FIRST[0].encode() not in file.read_bytes(), file


def rows_kept(home: CaptureHome) -> int:
    """Return how many rows there are of the session."""
    count: int = home.with_memory(
        lambda memory: Captures(memory.state()).count({"session-one"})
    )
    return count


def test_the_draft_of_a_purged_session_is_dropped_by_the_next_capture(
    home: CaptureHome,
) -> None:
    home.reply_with(*rows(FIRST))
    assert killed(4, home.capture)
    assert rows_kept(home) > 0
    home.with_memory(
        lambda memory: ErasedMessages(memory.state()).add([("session-one", "")])
    )

    home.capture()

    assert rows_kept(home) == 0


def test_a_purged_session_keeps_no_row(home: CaptureHome) -> None:
    """Whoever writes one asks in the same transaction."""

    def keep(memory: Memory) -> None:
        captures = Captures(memory.state())
        ErasedMessages(memory.state()).add([("session-one", "")])
        captures.keep_draft("claude", "session-one", 4, ["a proposal"])
        assert captures.count({"session-one"}) == 0
        captures.keep_line("claude", "session-one", 4, now_s=1.0)
        assert captures.count({"session-one"}) == 0
        captures.keep_line("claude", "session-two", 4, now_s=1.0)
        assert captures.count({"session-two"}) == 1

    home.with_memory(keep)
