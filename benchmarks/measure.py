"""Measure things fairly, and write the results down.

What is compared is measured in turns (A B A B …) in one run: two figures of different
minutes say as much about the machine as about the programs.
"""

from __future__ import annotations

import os
import platform
import sqlite3
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

ROOT = Path(__file__).parent.parent

# Linux counts the memory of the caller until exec, so the caller must be small.
PEAK = """
import os, sys
pid = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ, file_actions=[
    (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)])
status, usage = os.wait4(pid, 0)[1:]
print(os.waitstatus_to_exitcode(status), usage.ru_maxrss)
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """How long something took, in ms, over several tries."""

    p50_ms: float
    p95_ms: float
    least_ms: float
    tries: int

    def __str__(self) -> str:
        """Return median and least, as the tables show them."""
        return f"{shown_ms(self.p50_ms)} (least {shown_ms(self.least_ms)})"


def timing(seconds: Sequence[float]) -> Timing:
    """Return median, 95th percentile and least of at least one measurement."""
    ordered = sorted(seconds)
    place = max(0, -(-95 * len(ordered) // 100) - 1)  # nearest rank
    return Timing(
        p50_ms=median(ordered) * 1e3,
        p95_ms=ordered[place] * 1e3,
        least_ms=ordered[0] * 1e3,
        tries=len(ordered),
    )


def in_turns(
    rounds: int, things: Mapping[str, Callable[[], object]]
) -> dict[str, Timing]:
    """Time all *things* once a round, in order, after one round that does not count."""
    seconds: dict[str, list[float]] = {name: [] for name in things}
    for count in range(rounds + 1):
        for name, thing in things.items():
            started = time.perf_counter()
            thing()
            took = time.perf_counter() - started
            if count:
                seconds[name].append(took)
    return {name: timing(values) for name, values in seconds.items()}


def run(argv: Sequence[str], *, env: Mapping[str, str] | None = None) -> str:
    """Run a program to its end and return what it printed.

    Raises:
        RuntimeError: It failed; with what it said.
    """
    done = subprocess.run(argv, env=env, capture_output=True, text=True, check=False)
    if done.returncode:
        message = f"{argv} exited with {done.returncode}: {done.stderr[-2000:]}"
        raise RuntimeError(message)
    return done.stdout


def peak_mib(argv: Sequence[str], *, env: Mapping[str, str] | None = None) -> float:
    """Return the peak of a program's resident memory, in MiB.

    Never less than that of a bare Python, some 9 MiB, which starts it.
    """
    command = [sys.executable, "-I", "-S", "-c", PEAK, *argv]
    code, peak = map(int, run(command, env=env).split())
    if code:
        message = f"{argv} exited with {code}"
        raise RuntimeError(message)
    return peak / (2**20 if sys.platform == "darwin" else 2**10)


def resident_mib(pid: int) -> float:
    """Return the resident memory of a process that runs, in MiB."""
    return int(run(["ps", "-o", "rss=", "-p", str(pid)])) / 1024


def machine() -> str:
    """Return one line: on what this was measured."""
    return (
        f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, "
        f"Python {platform.python_version()}, "
        f"SQLite {sqlite3.sqlite_version} (standard library), "
        f"load {os.getloadavg()[0]:.1f} at the end"
    )


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table, its columns aligned for those who read the source."""
    cells = [list(heads), *map(list, rows)]
    widths = [max(len(row[place]) for row in cells) for place in range(len(heads))]
    cells.insert(1, ["-" * width for width in widths])
    lines = (
        " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        for row in cells
    )
    return "\n".join(f"| {line} |" for line in lines)


def write_figures(page: Path, name: str, text: str) -> None:
    """Put *text* between the markers of *name* in a page of ``docs/``.

    Raises:
        ValueError: The page has no such pair of markers.
    """
    first, last = f"<!-- figures: {name} -->", "<!-- end of figures -->"
    before, mark, rest = page.read_text(encoding="utf-8").partition(first)
    _, end, after = rest.partition(last)
    if not mark or not end:
        message = f"{page} has no figures of {name}"
        raise ValueError(message)
    made = f"{before}{first}\n\n{text.strip()}\n\n{last}{after}"
    page.write_text(made, encoding="utf-8")


def shown_ms(value_ms: float) -> str:
    """Return a duration with three digits that count.

    >>> shown_ms(0.8123), shown_ms(23.46), shown_ms(1532)
    ('0.81 ms', '23.5 ms', '1.53 s')
    """
    if value_ms < 10:
        return f"{value_ms:.2f} ms"
    return f"{value_ms:.1f} ms" if value_ms < 1000 else f"{value_ms / 1e3:.2f} s"
