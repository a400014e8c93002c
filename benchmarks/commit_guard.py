"""What keeping the section out of commits costs git in a repository of 50,000 files.

Each command runs in a repository without a section, in one whose CLAUDE.md has one, and
for comparison with the filter named for every file. Prints the median in seconds.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from hivemind_memory import open_memory
from hivemind_memory.opening import open_injector

FILES = 50_000
MARKDOWN = 2_500
REPEATS = 5
COMMANDS = {
    "status": "git status --short",
    "add one file": "echo x >> src/0/1.py; git add src/0/1.py",
    "commit one file": "echo x >> src/0/1.py; git commit -q -a -m one",
    "add all Markdown": "for d in docs/*; do echo x >> $d/1.md; done; git add docs",
    "checkout and back": "git checkout -q other; git checkout -q main",
}


def git(folder: Path, *words: str) -> None:
    subprocess.run(["git", "-C", str(folder), *words], check=True, capture_output=True)


def build(folder: Path, files: int) -> None:
    """Make a repository, one file in twenty Markdown."""
    git(folder.parent, "init", "-q", "-b", "main", str(folder))
    for number in range(files):
        kind, name = ("docs", "md") if number % 20 == 0 else ("src", "py")
        below = folder / kind / str(number // 500)
        below.mkdir(parents=True, exist_ok=True)
        (below / f"{number % 500}.{name}").write_text(f"line {number}\n" * 20)
    (folder / "CLAUDE.md").write_text("# Rules\n")
    (folder / "src" / "0" / "1.py").touch()
    (folder / "docs" / "0" / "1.md").touch()
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "all")
    git(folder, "branch", "other")


def seconds(folder: Path, script: str) -> float:
    begun = time.perf_counter()
    subprocess.run(["sh", "-c", script], cwd=folder, check=True, capture_output=True)
    return time.perf_counter() - begun


def main() -> None:
    files = int(sys.argv[1]) if len(sys.argv) > 1 else FILES
    for who in ("AUTHOR", "COMMITTER"):
        os.environ[f"GIT_{who}_NAME"] = os.environ[f"GIT_{who}_EMAIL"] = "a"
    os.environ["HIVEMIND_EMBEDDING_PROVIDER"] = "none"
    with tempfile.TemporaryDirectory() as made:
        top = Path(made)
        for kind in ("plain", "section", "every file"):
            folder = top / kind.replace(" ", "-")
            build(folder, files)
            if kind != "plain":
                with open_memory(home=str(top / "home")) as memory:
                    memory.write("We deploy on Tuesdays.")
                    begun = time.perf_counter()
                    open_injector(memory).inject(str(folder))
                    first = time.perf_counter() - begun
                    begun = time.perf_counter()
                    open_injector(memory).inject(str(folder))
                    again = time.perf_counter() - begun
                print(f"{kind:12} inject {first:.2f}, again {again:.2f}")
            if kind == "every file":
                attributes = folder / ".git" / "info" / "attributes"
                attributes.write_text("* filter=hivemind-copies\n")
            for name, script in COMMANDS.items():
                taken = [seconds(folder, script) for _ in range(REPEATS)]
                print(f"{kind:12} {name:18} {statistics.median(taken):.3f}")
            again = seconds(folder, "git rm -rq --cached . && git add -A")
            print(f"{kind:12} {'add all again':18} {again:.3f}", flush=True)


if __name__ == "__main__":
    main()
