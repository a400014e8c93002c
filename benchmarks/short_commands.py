"""Measure the CPU time of short commands, beside a bare start of Python.

    python -m benchmarks.short_commands [--rounds 20] [--write-docs]

CPU time, that of git included, says more than the clock where other programs run. Each
round runs every command once, beside bare programs, so that a busy moment affects all.
The repository has a tracked CLAUDE.md with a section, six commits and changed files;
the memory has the 10,000 chunks of the corpus and 35 typed memories.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.corpus import corpus
from benchmarks.floors import bare_start, cold_query, floor_index
from benchmarks.measure import ROOT, machine, table, write_figures
from benchmarks.place import SETTINGS_OF_OTHERS, installed_hm

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SEARCH = "`hm search --json`"
COMMANDS = {
    "`hm inject`": ("inject",),
    "`hm hook session-start`": ("hook", "session-start"),
    "`hm exec -- true`": ("exec", "--", "true"),
    "`hm git-hook run`": ("git-hook", "run"),
    "`hm write`": ("write", "the queue of number # is full"),
    "`hm save`": ("save", "key-#", "the port of number # is 80#"),
    SEARCH: ("search", "--json", "function"),
    "`hm --version`": ("--version",),
    "`hm --help`": ("--help",),
}
BARE, WITH_SITE, FLOOR = "-I -S", "-c pass", "one FTS5 query"
PAGE = ROOT / "docs" / "performance.md"


def cpu_ms(words: Sequence[str], environ: Mapping[str, str], folder: Path) -> float:
    """Return the CPU time of a program and of all that it waited for.

    Raises:
        RuntimeError: It failed.
    """
    with open(os.devnull, "r+b") as nothing:
        process = subprocess.Popen(
            words,
            env=environ,
            cwd=folder,
            stdin=nothing,
            stdout=nothing,
            stderr=nothing,
        )
        _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        message = f"{words} exited with {process.returncode}"
        raise RuntimeError(message)
    return 1e3 * (usage.ru_utime + usage.ru_stime)


def make_repository(folder: Path, environ: Mapping[str, str]) -> None:
    """Make a repository as people work in: on a branch, with changes."""

    def git(*words: str) -> None:
        subprocess.run(["git", *words], cwd=folder, env=environ, check=True)

    folder.mkdir()
    git("init", "-q")
    for number in range(6):
        (folder / f"shop_{number}.py").write_text(f"price = {number}\n")
        (folder / "CLAUDE.md").write_text(f"# Shop\n\nUse tabs. {number}\n")
        git("add", "-A")
        git("commit", "-q", "-m", f"Change basket {number} and the checkout queue")
    git("checkout", "-q", "-b", "fix-checkout-queue")
    (folder / "shop_new.py").write_text("price = 9\n")
    (folder / "shop_1.py").write_text("price = 10\n")


def fill(hm: Sequence[str], environ: Mapping[str, str], folder: Path) -> None:
    """Save some typed memories, and inject for the first time."""
    texts = [
        (
            "decision",
            "Shop number # uses port 80# and retries # times: baskets are slow.",
        )
    ] * 25
    texts += [("lesson", "Never deploy shop # on Fridays: queue # stood still.")] * 5
    texts += [("preference", "Answer in style #: short, no emoji, metric units.")] * 5
    for number, (kind, text) in enumerate(texts):
        content = text.replace("#", str(number))
        words = ["save", f"{kind}-{number}", "--type", kind, content]
        cpu_ms([*hm, *words], environ, folder)
    cpu_ms([*hm, "inject", "--yes"], environ, folder)


def measure(place: Path, *, rounds: int) -> dict[str, float]:
    """Return the median CPU time of each command and each bare program, in ms."""
    made = corpus()
    shop, hm = place / "shop", installed_hm()
    kept = {
        name: text
        for name, text in os.environ.items()
        if not name.startswith((*SETTINGS_OF_OTHERS, "GIT_", "PYTHONDONTWRITE"))
    }
    environ = {
        **kept,
        "HOME": str(place),
        "HIVEMIND_HOME": str(place / "home"),
        "HIVEMIND_ASK_LEADER": "false",
        "GIT_CONFIG_NOSYSTEM": "1",
        **{f"GIT_{who}_NAME": "Ann" for who in ("AUTHOR", "COMMITTER")},
        **{f"GIT_{who}_EMAIL": "ann@example.com" for who in ("AUTHOR", "COMMITTER")},
    }
    make_repository(shop, environ)
    cpu_ms([*hm, "init"], environ, shop)
    shutil.copytree(made.notes, place / "home" / "memory", dirs_exist_ok=True)
    fill(hm, environ, shop)
    programs = {
        BARE: bare_start(),
        WITH_SITE: [sys.executable, "-c", "pass"],
        FLOOR: cold_query(floor_index(made), "function"),
        **{name: [*hm, *words] for name, words in COMMANDS.items()},
    }
    times: dict[str, list[float]] = {name: [] for name in programs}
    for turn in range(rounds + 1):
        names = list(programs) if turn % 2 else list(reversed(programs))
        for name in names:
            words = [word.replace("#", str(turn)) for word in programs[name]]
            took = cpu_ms(words, environ, shop)
            if turn:  # the first round is discarded
                times[name].append(took)
    return {name: statistics.median(found) for name, found in times.items()}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--write-docs", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        found = measure(Path(place), rounds=options.rounds)
    rows = [
        [
            name,
            f"{found[name]:.0f} ms",
            f"{found[name] / found[BARE]:.1f} ×",
            f"{found[name] / found[WITH_SITE]:.1f} ×",
        ]
        for name in COMMANDS
    ]
    heads = ["what", "CPU time", "to `python -I -S -c pass`", "to `python -c pass`"]
    notes = (
        f"Bare Python {found[BARE]:.1f} ms, with `site` {found[WITH_SITE]:.1f} ms."
        f" A search is {found[SEARCH] / found[FLOOR]:.1f} × Python, sqlite3 and one"
        f" FTS5 query ({found[FLOOR]:.1f} ms). {options.rounds} rounds; {machine()}."
    )
    figures = f"{table(heads, rows)}\n\n{notes}"
    print(figures)
    if options.write_docs:
        write_figures(PAGE, "benchmarks/short_commands.py", figures)


if __name__ == "__main__":
    main()
