"""Many launches at once on one worktree: exactly one section, and git sees nothing.

    python -m benchmarks.inject_at_once --launches 200 --rounds 3

Every launch is a process of its own. Prints one line a round, and ends with 1 if there
was an error, a second section, or a change that git shows.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

NOTE = "# Shop\n\nThe shop deploys on Tuesdays only.\n"


def git(folder: Path, *words: str) -> str:
    """Return what git prints."""
    command = ["git", "-c", "user.name=Ann", "-c", "user.email=ann@example.com"]
    done = subprocess.run(
        [*command, "-C", str(folder), *words], capture_output=True, check=True
    )
    return done.stdout.decode()


def one_round(place: Path, launches: int) -> tuple[bool, str]:
    """Return whether all was well, and what happened, in one line."""
    home, worktree = place / "home", place / "shop"
    (home / "memory").mkdir(parents=True)
    (home / "memory" / "shop.md").write_text(NOTE, encoding="utf-8")
    git(place, "init", "-q", str(worktree))
    (worktree / "CLAUDE.md").write_text("# Mine\n", encoding="utf-8")
    git(worktree, "add", "-A")
    git(worktree, "commit", "-q", "-m", "Sell things")
    environ = {
        **os.environ,
        "HIVEMIND_HOME": str(home),
        "HIVEMIND_EMBEDDING_PROVIDER": "none",
    }
    command = [sys.executable, "-m", "hivemind_memory.cli", "inject", str(worktree)]
    started = time.perf_counter()
    running = [
        subprocess.Popen(
            command, env=environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        for _ in range(launches)
    ]
    ended = [(*one.communicate(), one.returncode) for one in running]
    took_s = time.perf_counter() - started
    failed = [err.decode() for _, err, code in ended if code]
    written = sum(b"unchanged" not in out for out, _, code in ended if not code)
    text = (worktree / "CLAUDE.md").read_bytes()
    sections = text.count(b"<!-- hivemind:begin")
    shown = git(worktree, "status", "--porcelain")
    line = (
        f"{launches} launches in {took_s:.1f} s: {len(failed)} errors, {written} wrote,"
        f" {sections} section, status {shown.strip() or 'clean'!r}"
    )
    is_well = not failed and written == sections == 1 and not shown
    return is_well, "\n".join([line, *failed[:3]])


def main() -> int:
    """Run the rounds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--launches", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=1)
    chosen = parser.parse_args()
    is_well = True
    for _ in range(chosen.rounds):
        with tempfile.TemporaryDirectory() as place:
            is_good, line = one_round(Path(place), chosen.launches)
        is_well = is_well and is_good
        print(line, flush=True)
    return 0 if is_well else 1


if __name__ == "__main__":
    sys.exit(main())
