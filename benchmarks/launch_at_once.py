"""Many launches at once of one agent in one worktree: one session, one section.

    python -m benchmarks.launch_at_once --launches 200

Every launch is a process of its own, and there is a tmux server for them alone. Prints
one line, and ends with 1 if there was an error, a second session, a second section, or
a change that git shows.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.inject_at_once import NOTE, git


def prepared(place: Path) -> dict[str, str]:
    """Make a home, a repository and an agent; return the environment for them."""
    home, worktree = place / "home", place / "shop"
    (home / "memory").mkdir(parents=True)
    (home / "memory" / "shop.md").write_text(NOTE, encoding="utf-8")
    git(place, "init", "-q", str(worktree))
    (worktree / "CLAUDE.md").write_text("# Mine\n", encoding="utf-8")
    git(worktree, "add", "-A")
    git(worktree, "commit", "-q", "-m", "Sell things")
    (place / "bin").mkdir()
    agent = place / "bin" / "claude"
    agent.write_text("#!/bin/sh\ncat CLAUDE.md\nexec sleep 100000\n", encoding="utf-8")
    agent.chmod(0o755)
    environ = {
        **os.environ,
        "HIVEMIND_HOME": str(home),
        "HIVEMIND_EMBEDDING_PROVIDER": "none",
        "PATH": f"{place / 'bin'}:{os.environ['PATH']}",
        "TMUX_TMPDIR": str(place),
    }
    environ.pop("TMUX", None)
    return environ


def one_round(place: Path, launches: int) -> bool:
    """Launch; say what happened, and return whether all was well."""
    environ, worktree = prepared(place), place / "shop"
    hm = [sys.executable, "-m", "hivemind_memory.cli"]
    command = [*hm, "launch", "claude", "--worktree", str(worktree)]
    pipe = subprocess.PIPE
    started = time.perf_counter()
    running = [
        subprocess.Popen(command, env=environ, stdout=pipe, stderr=pipe)
        for _ in range(launches)
    ]
    ended = [(*one.communicate(), one.returncode) for one in running]
    took_s = time.perf_counter() - started
    failed = [err.decode() for _, err, code in ended if code]
    found = sum(b" since " in err for _, err, _ in ended)
    listed = subprocess.run(
        ["tmux", "list-sessions"], env=environ, capture_output=True, check=False
    )
    sessions = len(listed.stdout.splitlines())
    sections = (worktree / "CLAUDE.md").read_bytes().count(b"<!-- hivemind:begin")
    shown = git(worktree, "status", "--porcelain").strip()
    subprocess.run(["tmux", "kill-server"], env=environ, check=False)
    print(
        f"{launches} launches in {took_s:.1f} s: {len(failed)} errors, {sessions}"
        f" session, {found} found it, {sections} section, status {shown or 'clean'!r}",
        *failed[:3],
        sep="\n",
        flush=True,
    )
    is_one = sessions == sections == 1 and found == launches - 1
    return is_one and not failed and not shown


def main() -> int:
    """Run the rounds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--launches", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=1)
    chosen = parser.parse_args()
    if shutil.which("tmux") is None:
        print("tmux is not installed, so nothing was launched")
        return 1
    is_well = True
    for _ in range(chosen.rounds):
        with tempfile.TemporaryDirectory() as place:
            is_well = one_round(Path(place), chosen.launches) and is_well
    return 0 if is_well else 1


if __name__ == "__main__":
    sys.exit(main())
