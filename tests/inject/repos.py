"""Worktrees in every state that a CLAUDE.md can be in, and what people do with them.

Each builder makes the same repository whenever it is called, so that a worktree with a
section can be compared with a twin that never had one.
"""

from __future__ import annotations

import atexit
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from tempfile import mkdtemp

MARK = b"hivemind:begin"
GIT_OF_NOBODY = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    **{f"GIT_{who}_NAME": "Ann" for who in ("AUTHOR", "COMMITTER")},
    **{f"GIT_{who}_EMAIL": "ann@example.com" for who in ("AUTHOR", "COMMITTER")},
    # Twins are made one after the other, and a commit's name holds its time.
    **{
        f"GIT_{who}_DATE": "2026-11-21T12:00:00+00:00"
        for who in ("AUTHOR", "COMMITTER")
    },
}
"""Variables with which git has nobody's settings."""

TEXT = "# Shop\n\nUse tabs.\n"
OTHER_TEXT = "# Shop\n\nUse tabs.\n\nNever force-push.\n"


def git(folder: Path, *words: str, check: bool = True) -> str:
    """Run git; return what it prints, standard error included."""
    done = subprocess.run(
        ["git", "-c", "protocol.file.allow=always", "-C", str(folder), *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    text = done.stdout.decode("utf-8", "replace")
    assert not check or done.returncode == 0, text
    return text


def status(worktree: Path) -> str:
    """Return what ``git status`` prints for programs."""
    return git(worktree, "status", "--porcelain", "--untracked-files=all")


def no_object_has_the_section(worktree: Path) -> bool:
    """Whether nothing that git ever stored holds the section: no commit, no stash."""
    done = subprocess.run(
        ["git", "-C", str(worktree), "cat-file", "--batch", "--batch-all-objects"],
        capture_output=True,
        check=True,
    )
    return MARK not in done.stdout


_MADE = mkdtemp()
atexit.register(shutil.rmtree, _MADE, ignore_errors=True)


def make_repo(folder: Path, *, text: bytes | None = TEXT.encode()) -> Path:
    """Make a repository whose branch ``upstream`` is one commit ahead of ``main``."""
    name = "none" if text is None else text.hex()
    made = Path(_MADE) / name
    if not made.exists():  # a copy is ten processes cheaper than a repository
        _make_repo(made, text)
    shutil.copytree(made, folder, symlinks=True)
    git(folder, "update-index", "-q", "--refresh")
    return folder


def _make_repo(folder: Path, text: bytes | None) -> Path:
    """Make the first of its kind."""
    folder.mkdir(parents=True)
    git(folder, "init", "-q", "-b", "main", "--template=")
    (folder / "shop.py").write_text("price = 1\n")
    if text is not None:
        (folder / "CLAUDE.md").write_bytes(text)
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "Sell things")
    git(folder, "checkout", "-q", "-b", "upstream")
    (folder / "shop.py").write_text("price = 2\n")
    newline = "\r\n" if text is not None and b"\r\n" in text else "\n"
    (folder / "CLAUDE.md").write_text(OTHER_TEXT, newline=newline)
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "Raise the price")
    git(folder, "checkout", "-q", "main")


def absent(folder: Path) -> Path:
    return make_repo(folder / "repo", text=None)


def ignored(folder: Path) -> Path:
    repo = make_repo(folder / "repo", text=None)
    (repo / ".gitignore").write_text("CLAUDE.md\n")
    git(repo, "add", ".gitignore")
    git(repo, "commit", "-q", "-m", "Ignore")
    (repo / "CLAUDE.md").write_text("mine alone\n")
    return repo


def untracked(folder: Path) -> Path:
    repo = make_repo(folder / "repo", text=None)
    (repo / "CLAUDE.md").write_text("not yet added\n")
    return repo


def tracked(folder: Path) -> Path:
    return make_repo(folder / "repo")


def edited(folder: Path) -> Path:
    repo = make_repo(folder / "repo")
    (repo / "CLAUDE.md").write_text(f"{TEXT}\nMy own edit.\n")
    return repo


def staged(folder: Path) -> Path:
    repo = edited(folder)
    git(repo, "add", "CLAUDE.md")
    return repo


def linked(folder: Path) -> Path:
    repo = make_repo(folder / "repo")
    git(repo, "worktree", "add", "-q", "-b", "task", str(folder / "task"))
    return folder / "task"


def submodule(folder: Path) -> Path:
    inner = make_repo(folder / "inner")
    outer = make_repo(folder / "outer")
    git(outer, "submodule", "add", "-q", str(inner), "sub")
    git(outer, "commit", "-q", "-m", "Use the other one")
    sub = outer / "sub"
    git(sub, "branch", "-q", "upstream", "origin/upstream")
    return sub


def bare(folder: Path) -> Path:
    repo = make_repo(folder / "repo")
    git(folder, "clone", "-q", "--bare", str(repo), str(folder / "bare.git"))
    git(folder / "bare.git", "worktree", "add", "-q", str(folder / "tree"), "main")
    return folder / "tree"


def crlf(folder: Path) -> Path:
    return make_repo(folder / "repo", text=TEXT.replace("\n", "\r\n").encode())


def autocrlf(folder: Path) -> Path:
    made = make_repo(folder / "made")
    words = ("-c", "core.autocrlf=true", "clone", "-q", str(made), str(folder / "repo"))
    git(folder, *words)
    repo = folder / "repo"
    git(repo, "config", "core.autocrlf", "true")
    git(repo, "branch", "-q", "upstream", "origin/upstream")
    assert b"\r\n" in (repo / "CLAUDE.md").read_bytes()
    return repo


def symlinked(folder: Path) -> Path:
    repo = make_repo(folder / "repo", text=None)
    (repo / "AGENTS.md").write_text(TEXT)
    (repo / "CLAUDE.md").symlink_to("AGENTS.md")
    git(repo, "add", "-A")
    git(repo, "commit", "-q", "-m", "One file for all agents")
    return repo


def read_only(folder: Path) -> Path:
    repo = make_repo(folder / "repo")
    (repo / "CLAUDE.md").chmod(0o444)
    return repo


def no_last_newline(folder: Path) -> Path:
    return make_repo(folder / "repo", text=TEXT.rstrip().encode())


def beside_agents(folder: Path) -> Path:
    repo = make_repo(folder / "repo", text=None)
    (repo / "AGENTS.md").write_text(TEXT)
    git(repo, "add", "-A")
    git(repo, "commit", "-q", "-m", "Tell the agents")
    return repo


STATES: tuple[Callable[[Path], Path], ...] = (
    absent,
    ignored,
    untracked,
    tracked,
    edited,
    staged,
    linked,
    submodule,
    bare,
    crlf,
    autocrlf,
    symlinked,
    read_only,
    no_last_newline,
    beside_agents,
)


def look(repo: Path) -> str:
    return status(repo)


def diff(repo: Path) -> str:
    return git(repo, "diff") + git(repo, "diff", "HEAD", "--stat")


def commit(repo: Path) -> str:
    (repo / "new.py").write_text("new = True\n")
    git(repo, "add", "-A")
    return git(repo, "commit", "-q", "-m", "All of it")


def stash(repo: Path) -> str:
    (repo / "shop.py").write_text("price = 3\n")
    git(repo, "stash", "--include-untracked")
    middle = status(repo)
    return middle + git(repo, "stash", "pop", "-q", check=False)


def checkout(repo: Path) -> str:
    # Fails the same way in both where an edit of the person's own is in the way.
    words = ("checkout", "-q", "--ignore-other-worktrees")
    there = git(repo, *words, "upstream", check=False)
    middle = status(repo)
    return there + middle + git(repo, *words, "-", check=False)


def merge(repo: Path) -> str:
    return git(repo, "merge", "-q", "--no-edit", "upstream", check=False)


def rebase(repo: Path) -> str:
    (repo / "mine.py").write_text("mine = True\n")
    git(repo, "add", "mine.py")
    git(repo, "commit", "-q", "-m", "Mine", "--", "mine.py")
    said = git(repo, "rebase", "-q", "upstream", check=False)
    return "\n".join(line for line in said.split("\n") if "hint:" not in line)


OPERATIONS: tuple[Callable[[Path], str], ...] = (
    look,
    diff,
    commit,
    stash,
    checkout,
    merge,
    rebase,
)


PUSH = (
    "git add -A; git -c hivemind.check=false commit -q -m all &&"
    " { git push -q origin HEAD ||"
    " { git reset -q --soft HEAD^; false; }; }"
)
"""Commit all on purpose and push it; a push that is refused leaves no commit."""


def add_remote(folder: Path, worktree: Path) -> None:
    """Give a worktree an empty remote ``origin``, and push its branch there."""
    git(folder, "init", "-q", "--bare", "remote")
    git(worktree, "remote", "add", "origin", "../remote")
    git(worktree, "push", "-q", "origin", "HEAD")
