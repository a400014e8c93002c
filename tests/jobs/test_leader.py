"""A leader runs the jobs; nothing else waits for the model, whatever it does."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from hivemind_memory import opening
from hivemind_memory.state.jobs import DONE, RUNNING, Jobs
from tests.support.chat_server import ChatServer
from tests.support.model_home import NEW, OLD, ModelHome
from tests.support.sandbox import Sandbox, ask, paths
from tests.support.waiting import wait_until


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with ChatServer() as running:
        yield running


@pytest.fixture
def home(tmp_path: Path, server: ChatServer) -> ModelHome:
    home = ModelHome(Sandbox(tmp_path))
    home.sandbox.flags |= {
        "llm_base_url": server.url_for("openai"),
        "debounce_ms": 0,
    }
    return home


@contextmanager
def leading(home: ModelHome) -> Iterator[None]:
    """Lead meanwhile, as `hm watch` does."""
    stop = threading.Event()
    with home.sandbox.memory() as memory:
        watcher = opening.open_watcher(memory)
        thread = threading.Thread(target=watcher.run, args=(stop, lambda _: None))
        thread.start()
        try:
            yield
        finally:
            stop.set()
            watcher.interrupt()
            thread.join()


def test_what_is_saved_while_a_leader_runs_is_linked(
    home: ModelHome, server: ChatServer
) -> None:
    with leading(home):
        first = home.save("deploy-day", OLD)
        relation = {"id": first.id, "kind": "related_to", "weight": 0.9}
        server.reply = lambda _: {"relations": [relation]}
        home.save("deploy-time", NEW)

        wait_until(lambda: bool(home.edges("deploy-time")))

    assert home.edges("deploy-time") == [("related_to", "deploy-day", "model")]


@pytest.mark.parametrize("fault", ["slow", "reset", "500", "huge", "prose"])
def test_saves_and_searches_go_on_whatever_the_model_does(
    home: ModelHome, server: ChatServer, fault: str
) -> None:
    """They know nothing of it; how fast they are is measured in benchmarks."""
    server.always = fault
    home.save("deploy-day", OLD)
    home.save("deploy-time", NEW)
    with leading(home):
        wait_until(lambda: bool(server.requests))
        for number in range(5):
            home.save(f"deploy-{number}", f"{NEW} At {number}.")
            found = home.with_memory(lambda m: ask(m, "when do we deploy"))
            assert found.report.warnings == ()
            assert f"deploy-{number}.md" in paths(found)


def test_a_leader_that_ends_while_the_model_thinks_puts_the_job_back(
    home: ModelHome, server: ChatServer
) -> None:
    """Agents save at the end of a session, and their server ends with it."""
    first = home.save("deploy-day", OLD)
    relation = {"id": first.id, "kind": "related_to", "weight": 0.9}
    server.reply = lambda _: {"relations": [relation]}
    home.save("deploy-time", NEW)
    server.script("slow")
    with leading(home):
        wait_until(lambda: bool(server.requests))
    assert RUNNING not in states(home)

    with leading(home):
        wait_until(lambda: states(home) == {DONE})

    assert home.edges("deploy-time") == [("related_to", "deploy-day", "model")]


def states(home: ModelHome) -> set[str]:
    """Return the states that jobs have."""
    return {job.state for job in home.with_memory(lambda m: Jobs(m.state()).all())}
