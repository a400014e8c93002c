"""No test reads a stopwatch."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.support.code_tree import walk
from tests.support.tree import project_files

ROOT = Path(__file__).parents[1]
STOPWATCHES = {
    "monotonic",
    "monotonic_ns",
    "perf_counter",
    "perf_counter_ns",
    "process_time",
    "process_time_ns",
    "thread_time",
    "thread_time_ns",
    "timeit",
}
LOOPS = {"get_event_loop", "get_running_loop", "new_event_loop"}
"""What returns an event loop, whose ``time`` is a stopwatch."""

MAY_READ = {
    "tests/cli/test_asking_faults.py": "gives up on a command that hangs",
    "tests/transcripts/test_reading.py": "gives up on a program that hangs",
    "tests/connect/conftest.py": "gives up on a program that hangs",
    "tests/mcp_server/agents.py": "gives up on a server that hangs",
    "tests/mcp_server/test_large_arguments.py": "compares processor time of calls",
    "tests/redaction/test_linear.py": "compares processor time of text and half text",
    "tests/redaction/test_properties.py": "compares processor time of text and half",
    "tests/support/cpu.py": "compares processor time of a text and its twentieth",
    "tests/support/index_race.py": "runs for as long as it is told",
    "tests/support/kill_rig.py": "spreads its kills over the time that work takes",
    "tests/support/processes.py": "runs for as long as it is told, and reports times",
    "tests/support/sandbox.py": "hands the program its stopwatch",
    "tests/support/typed_memory.py": "hands the program its stopwatch",
    "tests/support/waiting.py": "gives up on a hang",
    "tests/watch/fakes.py": "hands the program its stopwatch",
}
"""File -> why it may; none of them sets a bound in seconds on a result."""


def test_no_test_reads_a_stopwatch() -> None:
    """A bound in seconds fails on a busy machine, and says nothing on a quiet one.

    A test counts calls, puts events in order, or sets the clock of a memory; what only
    has to end waits with ``tests.support.waiting``. Speed is measured in benchmarks/.
    """
    names = [
        name.as_posix()
        for name in project_files()
        if name.parts[0] == "tests" and name.suffix == ".py"
    ]
    found = {
        name: lines
        for name in names
        if (lines := stopwatches_in((ROOT / name).read_text(encoding="utf-8")))
    }

    assert "tests/test_clocks.py" in names
    assert found.keys() == MAY_READ.keys(), found


@pytest.mark.parametrize(
    "source",
    [
        "import time\nx = time.monotonic()",
        "import time as t\nx = t.perf_counter_ns()",
        "import time\nclock = time.process_time",
        "from time import monotonic as now\nx = 1",
        "import timeit as measure\nx = 1",
        "from timeit import timeit\nx = 1",
        "import asyncio\nx = asyncio.get_running_loop().time()",
        "def elapsed(loop):\n    return loop.time()",
        "def elapsed(self):\n    return self._loop.time()",
    ],
)
def test_every_way_to_read_a_stopwatch_is_found(source: str) -> None:
    """Under another name, through an event loop, or passed on."""
    assert stopwatches_in(source)


@pytest.mark.parametrize(
    "source",
    [
        "import time\nx = time.time()",
        "from datetime import datetime\nx = datetime.now().time()",
        "def later(clock):\n    return clock.monotonic()",
    ],
)
def test_a_clock_of_the_day_or_of_a_test_is_no_stopwatch(source: str) -> None:
    """A file's age and a fake's time are what many tests are about."""
    assert stopwatches_in(source) == []


def stopwatches_in(source: str) -> list[int]:
    """Return the lines on which Python source takes a stopwatch."""
    nodes = list(walk(ast.parse(source)))
    modules = {
        alias.asname or alias.name
        for node in nodes
        if isinstance(node, ast.Import)
        for alias in node.names
        if alias.name == "time"
    }
    return [node.lineno for node in nodes if _reads_stopwatch(node, modules)]


def _reads_stopwatch(node: ast.AST, modules: set[str]) -> bool:
    """Whether an expression or an import takes a stopwatch; *modules* name ``time``."""
    if isinstance(node, ast.Attribute):
        if node.attr == "time":
            return _is_loop(node.value)
        is_time = isinstance(node.value, ast.Name) and node.value.id in modules
        return is_time and node.attr in STOPWATCHES
    if isinstance(node, ast.ImportFrom):
        return node.module in {"time", "timeit"} and any(
            alias.name in STOPWATCHES for alias in node.names
        )
    return isinstance(node, ast.Import) and any(
        alias.name == "timeit" for alias in node.names
    )


def _is_loop(node: ast.expr) -> bool:
    """Whether an expression looks like an event loop."""
    if isinstance(node, ast.Call):
        name = node.func
        return isinstance(name, ast.Attribute | ast.Name) and (
            (name.attr if isinstance(name, ast.Attribute) else name.id) in LOOPS
        )
    name = node
    said = name.attr if isinstance(name, ast.Attribute) else getattr(name, "id", "")
    return said.strip("_").endswith("loop")
