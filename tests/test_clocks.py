"""No test depends on how fast the machine is."""

from __future__ import annotations

import ast
from pathlib import Path

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
COMPARE_WORK = {
    "tests/redaction/test_linear.py",
    "tests/redaction/test_properties.py",
}
"""They set the processor time of a text against that of half the text."""


def test_no_test_reads_a_stopwatch() -> None:
    """A bound in seconds fails on a busy machine, and says nothing on a quiet one.

    A test counts calls, puts events in order, or sets the clock of a memory; what only
    has to end waits with ``tests.support.waiting``. Speed is measured in benchmarks/.
    """
    found = [
        f"{name}:{node.lineno}"
        for name in project_files()
        if name.parts[0] == "tests" and name.name.startswith("test_")
        if name.as_posix() not in COMPARE_WORK
        for node in ast.walk(ast.parse((ROOT / name).read_text(encoding="utf-8")))
        if _reads_stopwatch(node)
    ]

    assert found == []


def _reads_stopwatch(node: ast.AST) -> bool:
    """Whether an expression or an import takes a stopwatch from ``time``."""
    if isinstance(node, ast.Attribute):
        is_time = isinstance(node.value, ast.Name) and node.value.id == "time"
        return is_time and node.attr in STOPWATCHES
    if isinstance(node, ast.ImportFrom):
        return node.module in {"time", "timeit"} and any(
            alias.name in STOPWATCHES for alias in node.names
        )
    return isinstance(node, ast.Import) and any(
        alias.name == "timeit" for alias in node.names
    )
