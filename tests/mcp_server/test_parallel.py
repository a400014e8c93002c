"""Calls in parallel: one server answers them on several threads."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import anyio
import pytest
from mcp import Client

from benchmarks import mcp_parallel
from hivemind_memory.mcp_server.server import MemoryServer
from tests.mcp_server.agents import text_of
from tests.support.sandbox import Sandbox

CLIENTS = 8
ROUNDS = 6


@pytest.mark.thorough
def test_no_call_fails_because_another_runs(server: MemoryServer) -> None:
    """Threads once shared one connection to `state.db`, and one call in nine failed."""
    failed: list[str] = []

    async def ask(client: Client, tool: str, **arguments: Any) -> None:
        result = await client.call_tool(tool, arguments)
        if result.is_error:
            failed.append(f"{tool}: {text_of(result)}")

    async def use(number: int) -> None:
        async with Client(server) as client:
            for turn in range(ROUNDS):
                name = f"{number}-{turn}"
                await ask(client, "memory_save", key=name, content=f"Crane {name}.")
                await ask(client, "memory_search", query="crane staging")
                await ask(client, "memory_write", content=f"Heron {name}.")
                await ask(client, "memory_history", key=name)

    async def run() -> None:
        async with anyio.create_task_group() as group:
            for number in range(CLIENTS):
                group.start_soon(use, number)

    anyio.run(run)

    assert failed == []


@pytest.mark.parametrize(("words", "code"), [((), 1), (("--some",), 0)])
def test_the_rig_fails_when_its_limit_leaves_calls_unmade(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: tuple[str, ...],
    code: int,
) -> None:
    """It once passed with half of them, and nobody saw that."""
    options = ("--clients", "1", "--calls", "4", "--seconds", "0", *words)
    monkeypatch.setattr("sys.argv", ["mcp_parallel", *options])

    assert mcp_parallel.main() == code

    assert "stdio: 0 of 4 calls" in capsys.readouterr().out


def test_the_rig_measures_the_first_call_of_each_client_apart(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It waits for servers that still start, and once counted in the median."""
    now = iter([0.0, 0.0, 9.0, 9.0, 9.0, 9.03, 9.03, 9.03, 9.07])
    clock = SimpleNamespace(monotonic=lambda: next(now))
    monkeypatch.setattr(mcp_parallel, "time", clock)

    outcome = anyio.run(mcp_parallel.use, Answering("baxba"), WORK, 3, 60.0)

    assert outcome.failures == []
    assert mcp_parallel.latency(outcome) == (
        "first calls: median 9000 ms, worst 9000 ms; then median 35 ms, p99 40 ms"
    )


def test_the_rig_counts_the_answer_to_another_call_as_a_failure() -> None:
    """It once passed when each caller got another one's answer."""
    outcome = anyio.run(mcp_parallel.use, Answering("debab"), WORK, 4, 1e9)

    assert [failure.split(":")[0] for failure in outcome.failures] == [
        "memory_save",
        "memory_search",
        "memory_history",
    ]


def test_the_rig_misses_a_text_that_was_acknowledged_and_not_written(
    tmp_path: Path,
) -> None:
    """It once passed when one write in five was made."""
    with Sandbox(tmp_path).memory() as memory:
        kept = memory.write("Heron hbaxbaz was seen.")
    told = {
        "Heron hbaxbaz was seen.": (kept.path, kept.id),
        "Heron hbaxdez was seen.": (kept.path, "an id"),
    }

    problems = mcp_parallel.where_not(str(tmp_path), told)

    assert all("hbaxdez" in problem for problem in problems)
    assert len(problems) == 2  # in no note, and not found


WORK = mcp_parallel.Work(number=0, project="reed-0", workspace="marsh-0", group=0)


class Answering:
    """A client whose answers are all about one word."""

    def __init__(self, word: str) -> None:
        self._word = word

    async def call_tool(self, tool: str, *_: object) -> SimpleNamespace:
        text = f"Crane c{self._word}z is tall."
        answer = {
            "id": "an id",
            "scope": WORK.own_scopes[tool == "memory_write"],
            "key": f"crane-{self._word}z",
            "hits": [{"snippet": text, "path": "projects/reed-0/crane.md"}],
            "memories": [{"text": text, "path": "projects/reed-0/crane.md"}],
        }
        return SimpleNamespace(is_error=False, structured_content=answer)
