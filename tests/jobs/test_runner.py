"""Jobs: which there are, when they run, how they end. A fake clock and a fake model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn
from unittest import mock

import pytest

from hivemind_memory.errors import (
    ChatError,
    ChatNotReadyError,
    ChatReplyError,
    StateUnusableError,
)
from hivemind_memory.jobs.again import run_again
from hivemind_memory.jobs.brief import BRIEFING
from hivemind_memory.jobs.chosen import chosen_jobs
from hivemind_memory.jobs.compare import LINKS, RECENT_S
from hivemind_memory.jobs.runner import JobRunner
from hivemind_memory.jobs.status import read_model_status
from hivemind_memory.model.chat import ChatMessage
from hivemind_memory.providers.chat_errors import LONGEST_REST_S
from hivemind_memory.state.jobs import (
    DONE,
    FAILED,
    INTERRUPTED,
    MAX_TRIES,
    RUNNING,
    WAITING,
    Job,
    Jobs,
)
from hivemind_memory.state.model_requests import ModelRequests
from hivemind_memory.state.model_rest import ModelRest
from hivemind_memory.testing import FakeChat
from tests.support.chat_server import ChatServer
from tests.support.model_home import NEW, OLD, ModelHome
from tests.support.sandbox import Sandbox, utc_clocks

_YEAR_S = 365 * 86_400.0


@pytest.fixture
def model(tmp_path: Path) -> ModelHome:
    home = ModelHome(Sandbox(tmp_path / "model"))
    home.save("deploy-day", OLD)
    home.run()
    return home


def jobs_of(home: ModelHome) -> list[Job]:
    return home.with_memory(lambda memory: Jobs(memory.state()).all())


def last(home: ModelHome) -> Job:
    return jobs_of(home)[-1]


def test_each_saved_memory_is_a_job_once(model: ModelHome) -> None:
    """Whatever runs, and however often."""
    model.save("deploy-time", NEW)
    for _ in range(3):
        model.run()

    assert [job.state for job in jobs_of(model)] == [DONE, DONE]
    assert len(model.chat.asked) == 1


def test_what_fails_is_tried_again_ever_later_and_given_up(model: ModelHome) -> None:
    model.save("deploy-time", NEW)
    model.chat.failure = ChatError("The server is down.")
    waits = []
    while last(model).state == WAITING if waits else True:
        wait_s = model.run()
        waits.append(round(wait_s or 0))
        model.sandbox.ahead_s += (wait_s or 0) + 1

    assert waits == [60, 120, 240, 480, 0]
    assert last(model).state == FAILED
    assert last(model).problem == "The server is down."
    assert len(model.chat.asked) == MAX_TRIES


def test_a_reply_of_no_use_is_asked_for_twice(model: ModelHome) -> None:
    """It costs as much as a good one."""
    model.save("deploy-time", NEW)
    model.chat.failure = ChatReplyError("It answered, but not with JSON.")

    for _ in range(4):
        model.run()
        model.sandbox.ahead_s += 600

    assert last(model).state == FAILED
    assert len(model.chat.asked) == 2


def test_a_reply_without_a_list_leaves_the_memory_to_be_compared(
    model: ModelHome,
) -> None:
    """It passed for one that relates the memory to no other."""
    model.save("deploy-time", NEW)
    model.chat.reply = lambda _: {"id": "01A", "kind": "related_to", "weight": 1}
    model.run()

    assert last(model).state == WAITING
    assert "without a list of relations" in last(model).problem


def test_a_failure_of_the_network_is_no_reply_of_no_use(model: ModelHome) -> None:
    """The job was given up at the first bad reply if a server had been down before."""
    model.save("deploy-time", NEW)
    replies = ChatReplyError("It answered, but not with JSON.")
    down = ChatError("The server is down.")
    for failure in (down, replies, down, None):
        model.chat.failure = failure
        model.run()
        assert last(model).state == (WAITING if failure else DONE)
        model.sandbox.ahead_s += 3_600


def test_a_server_that_asks_to_wait_is_waited_for(model: ModelHome) -> None:
    model.save("deploy-time", NEW)
    model.chat.failure = ChatError("Too many requests.", retry_after_s=3_600)

    assert model.run() == pytest.approx(3_600, abs=5)


def test_a_server_that_asks_to_wait_for_years_is_waited_for_an_hour(
    model: ModelHome,
) -> None:
    """``Retry-After: 999999999`` stopped all jobs for a day. No try is counted: the
    server may mean a day, and the job would be given up by then."""
    model.save("deploy-time", NEW)
    model.chat.failure = ChatError("Too many requests.", retry_after_s=999_999_999)

    for _ in range(MAX_TRIES + 2):
        assert model.run() == pytest.approx(LONGEST_REST_S, abs=5)
        model.sandbox.ahead_s += LONGEST_REST_S + 1
    model.chat.failure = None
    model.run()

    assert last(model).state == DONE


@contextmanager
def leader(model: ModelHome) -> Iterator[JobRunner]:
    """Yield what runs jobs all the while."""
    with model.sandbox.memory() as memory:
        runner = JobRunner(memory, lambda _: model.chat)
        try:
            yield runner
        finally:
            runner.close()


def test_a_job_that_waits_is_run_at_once_if_a_person_says_so(model: ModelHome) -> None:
    """The rest is over then, too. There was no way but to end the leader."""
    model.save("deploy-time", NEW)
    model.chat.failure = ChatError("Too many requests.", retry_after_s=3_600)
    with leader(model) as runner:
        assert runner.run(should_stop=lambda: False) == pytest.approx(3_600, abs=5)
        job = last(model)
        rest = model.with_memory(lambda memory: ModelRest(memory.state()).read())
        assert (job.state, rest.why) == (WAITING, "Too many requests.")
        assert rest.until_s == pytest.approx(job.due_at, abs=1)
        assert not runner.is_due()
        model.chat.failure = None

        assert model.with_memory(lambda memory: run_again(memory, job.number)) == 1

        assert runner.is_due()
        runner.run(should_stop=lambda: False)
    assert last(model).state == DONE


def test_a_briefing_that_a_person_wants_at_once_is_not_put_off(
    model: ModelHome,
) -> None:
    for number in range(3):
        model.save(f"rack-{number}", f"Rack {number} is in the cellar.")
    model.run()
    [job] = [job for job in jobs_of(model) if job.kind == BRIEFING]
    assert job.state == WAITING

    model.with_memory(lambda memory: run_again(memory, job.number))
    model.run()

    [job] = [job for job in jobs_of(model) if job.kind == BRIEFING]
    assert job.tries == 1


def test_no_job_waits_for_years_after_the_clock_was_set_back(model: ModelHome) -> None:
    """A notebook that wakes with a wrong date put its jobs off until that day."""
    model.sandbox.ahead_s = _YEAR_S
    model.save("deploy-time", NEW)
    model.chat.failure = ChatError("The server is down.")
    model.run()
    model.sandbox.ahead_s = 0
    model.chat.failure = None

    model.run()

    assert {job.state for job in jobs_of(model)} == {DONE}


def test_a_rest_ends_when_the_clock_is_set_back(model: ModelHome) -> None:
    """In a leader that runs all the while."""
    model.sandbox.ahead_s = _YEAR_S
    model.save("deploy-time", NEW)
    model.chat.failure = ChatNotReadyError("All are used.", retry_after_s=9_000)
    with model.sandbox.memory() as memory:
        runner = JobRunner(memory, lambda _: model.chat)
        try:
            assert runner.run(should_stop=lambda: False) == pytest.approx(9_000, abs=30)
            model.sandbox.ahead_s = 0
            model.chat.failure = None
            runner.run(should_stop=lambda: False)
        finally:
            runner.close()

    assert last(model).state == DONE


def test_what_was_not_asked_is_no_try(model: ModelHome) -> None:
    """Nothing is given up because a day has too few requests."""
    model.save("deploy-time", NEW)
    model.chat.failure = ChatNotReadyError("All are used.", retry_after_s=9_000)
    for _ in range(MAX_TRIES + 2):
        assert model.run() == pytest.approx(9_000, abs=30)
        model.sandbox.ahead_s += 9_001
    model.chat.failure = None

    model.run()

    assert last(model).state == DONE


class Killed(BaseException):
    """Stands for SIGKILL: nothing handles it."""


def kill(*_: object, **__: object) -> NoReturn:
    """End the process."""
    raise Killed


@pytest.mark.parametrize("at", ["prepare", "ask"])
def test_a_job_is_interrupted_only_if_its_process_died_after_it_was_sent(
    model: ModelHome, monkeypatch: pytest.MonkeyPatch, at: str
) -> None:
    """Loading a library takes 0.7 s, and most jobs were killed meanwhile."""
    model.save("deploy-time", NEW)
    with monkeypatch.context() as patch:
        patch.setattr(model.chat, at, kill)
        with pytest.raises(Killed):
            model.run()
    assert last(model).state == RUNNING

    model.run()

    assert last(model).state == (DONE if at == "prepare" else INTERRUPTED)
    assert len(model.chat.asked) == (at == "prepare")


def test_a_process_that_is_killed_again_and_again_is_left_to_a_person(
    model: ModelHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    model.save("deploy-time", NEW)
    with monkeypatch.context() as patch:
        patch.setattr(model.chat, "prepare", kill)
        for _ in range(MAX_TRIES):
            with pytest.raises(Killed):
                model.run()

    model.run()

    assert last(model).state == INTERRUPTED


def test_a_job_that_another_process_took_meanwhile_is_not_sent(
    model: ModelHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It took this one for gone while a library was loaded."""
    model.save("deploy-time", NEW)
    other = FakeChat()
    waiting = [model.run]

    def prepare() -> None:
        if waiting:
            waiting.pop()(other)

    monkeypatch.setattr(model.chat, "prepare", prepare)
    model.run()

    assert (len(other.asked), len(model.chat.asked)) == (1, 0)
    assert last(model).state == DONE


def test_a_job_whose_process_died_is_not_run_again_unless_a_person_says_so(
    model: ModelHome,
) -> None:
    """The model may have been asked."""
    saved = model.save("deploy-time", NEW)
    with model.sandbox.memory() as memory:
        jobs = Jobs(memory.state())
        now_s = model.sandbox.now()
        jobs.add("links", [saved.id], now_s=now_s)
        taken = jobs.take("a process that dies", now_s=now_s)
        assert taken is not None
        assert taken.ref == saved.id
        assert jobs.mark_sent(taken, "a process that dies")

    model.run()

    assert last(model).state == INTERRUPTED
    assert model.chat.asked == []
    with model.sandbox.memory() as memory:
        assert run_again(memory, None) == 1
    model.run()
    assert last(model).state == DONE
    assert len(model.chat.asked) == 1


def test_two_runners_never_have_the_same_job(model: ModelHome) -> None:
    with model.sandbox.memory() as memory:
        jobs = Jobs(memory.state())
        jobs.add("links", ["A", "B"], now_s=0)
        taken = [jobs.take(f"runner {n}", now_s=1) for n in range(3)]

    assert [job.ref for job in taken if job] == ["A", "B"]
    assert {job.state for job in taken if job} == {RUNNING}


def test_old_saves_are_not_compared_and_old_jobs_are_deleted(
    model: ModelHome,
) -> None:
    model.save("deploy-time", NEW)
    model.sandbox.ahead_s = RECENT_S + 100
    model.run()
    assert len(jobs_of(model)) == 1

    model.sandbox.ahead_s += 2 * 86_400
    model.run()
    assert jobs_of(model) == []


def test_without_a_chosen_model_there_are_no_jobs(tmp_path: Path) -> None:
    """Nothing is loaded, read or written."""
    sandbox = Sandbox(tmp_path)
    with sandbox.memory() as memory:
        assert chosen_jobs(memory) is None
    with sandbox.memory(llm_provider="openai", enabled=False) as memory:
        assert chosen_jobs(memory) is None


def test_a_failing_job_stops_no_other(model: ModelHome) -> None:
    model.save("deploy-time", NEW)
    model.save("deploy-hour", f"{NEW} At ten.")
    replies = iter([ZeroDivisionError(), {"relations": []}])

    def reply(_: object) -> dict[str, object]:
        found = next(replies)
        if isinstance(found, Exception):
            raise found
        return found

    model.chat.reply = reply
    model.run()

    compared = [job.state for job in jobs_of(model) if job.kind == LINKS]
    assert compared == [DONE, FAILED, DONE]


# -- the requests of a day ---------------------------------------------------------


def requests(sandbox: Sandbox, now_s: float, per_day: int = 3) -> ModelRequests:
    with sandbox.memory() as memory:
        clocks = utc_clocks(lambda: now_s, lambda: 0.0)
        return ModelRequests(memory.state(), clocks, per_day=per_day)


def test_a_day_has_so_many_requests_in_all_processes(tmp_path: Path) -> None:
    sandbox = Sandbox(tmp_path)
    noon = 20_000 * 86_400 + 43_200.0

    taken = [requests(sandbox, noon).take_request() for _ in range(5)]
    tomorrow = requests(sandbox, noon + 86_400).take_request()

    assert taken == [0, 0, 0, 43_200, 43_200]
    assert tomorrow == 0
    assert requests(sandbox, noon).count_today() == 3


def test_no_requests_at_all_can_be_allowed(tmp_path: Path) -> None:
    assert requests(Sandbox(tmp_path), 1e9, per_day=0).take_request() > 0


# -- with a server and a real client -------------------------------------------------


@pytest.mark.parametrize("provider", ["openai", "ollama"])
def test_a_whole_job_over_the_wire(tmp_path: Path, provider: str) -> None:
    """From the save to the link, with the count of the day."""
    with ChatServer() as server:
        home = ModelHome(Sandbox(tmp_path))
        home.sandbox.flags |= {
            "llm_provider": provider,
            "llm_base_url": server.url_for(provider),
        }
        first = home.save("deploy-day", OLD)
        relation = {"id": first.id, "kind": "contradicts", "weight": 0.9}
        server.reply = lambda _: {"relations": [relation]}
        home.save("deploy-time", NEW)
        with home.sandbox.memory() as memory:
            open_jobs = chosen_jobs(memory)
            assert open_jobs is not None
            runner = open_jobs()
            assert isinstance(runner, JobRunner)
            runner.run(should_stop=lambda: False)
            runner.close()
            status = read_model_status(memory)

    assert home.edges("deploy-time") == [("contradicts", "deploy-day", "model")]
    assert status.requests_today == len(server.requests) == 1
    assert "1 of 200 requests today" in status.line


def test_requests_that_nobody_could_count_are_not_shown(model: ModelHome) -> None:
    """They were shown as "0 of 0 requests today"."""
    broken = StateUnusableError("state.db cannot be read.")
    with (
        model.sandbox.memory(llm_api_key="k") as memory,
        mock.patch.object(Jobs, "all", side_effect=broken),
    ):
        status = read_model_status(memory)

    assert status.line == status.name != "none"
    assert (status.requests_today, status.requests_per_day) == (None, 200)


def test_a_reply_that_comes_after_the_job_was_given_up_is_not_used(
    model: ModelHome,
) -> None:
    """The next leader asks again; both would have their links written."""
    model.save("deploy-time", NEW)
    model.reply_with("related_to")
    reply = model.chat.reply
    with model.sandbox.memory() as memory:
        runner = JobRunner(memory, lambda _: model.chat)

        def late(messages: Sequence[ChatMessage]) -> dict[str, object]:
            runner.abandon()
            return reply(messages)

        model.chat.reply = late
        runner.run(should_stop=lambda: False)
        runner.close()

    assert model.edges("deploy-time") == []
    assert (last(model).state, last(model).tries) == (WAITING, 1)
    model.chat.reply = reply
    model.run()
    assert model.edges("deploy-time") == [("related_to", "deploy-day", "model")]
