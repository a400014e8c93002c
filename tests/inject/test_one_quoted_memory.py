"""Ordinary pushes pass, though a line of them equals a memory."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from hivemind_memory import open_memory
from hivemind_memory.inject.find_copies import VERSION
from hivemind_memory.opening import open_injector
from tests.inject.repos import add_remote, tracked
from tests.inject.test_escape import shell
from tests.inject.test_quoted_memories import BOTH, MEMORY, OTHER, REFUSED, TOLD
from tests.support.tiers import mostly_thorough

LICENCE = (
    "Copyright 2026 the authors of Shop. Licensed under the Apache License, Version 2.0"
)
ON_PURPOSE = "git -c hivemind.check=false"
COMMIT = f"git add -A && {ON_PURPOSE} commit -q -m all"
REVERT = "git revert --no-edit HEAD"
PUSH = "git push -q origin main"
UPSTREAM = (
    f"git add -A; {ON_PURPOSE} commit -q -m theirs; {ON_PURPOSE} push -q origin main"
)


def _worktree(folder: Path, *memories: str) -> Path:
    """Make a worktree with a remote, whose section quotes some memories."""
    made = tracked(folder)
    add_remote(folder, made)
    _inject(folder, made, *memories)
    return made


def _inject(folder: Path, worktree: Path, *memories: str) -> None:
    """Inject some memories."""
    notes = folder / "home" / "memory"
    notes.mkdir(parents=True, exist_ok=True)
    text = "".join(f"\n## Point {at}\n\n{one}\n" for at, one in enumerate(memories))
    (notes / "global.md").write_text(f"# Global\n{text}")
    with open_memory(home=str(folder / "home")) as memory:
        open_injector(memory).inject(str(worktree))
    section = (worktree / "CLAUDE.md").read_text()
    assert all(one.split("\n")[0] in section for one in memories)


@pytest.mark.parametrize(
    ("memory", "script"),
    [
        (
            "Name: Jane Doe-Smith",
            "GIT_COMMITTER_NAME='Jane Doe-Smith' git commit -q -s --allow-empty -m x",
        ),
        ("Timezone: Europe/Berlin", f"echo TZ=Europe/Berlin > .env; {COMMIT}"),
        ("Run make test.", f"echo '- run: make test' > ci.yml; {COMMIT}"),
        ("Run make test.", "git commit -q --allow-empty -m 'Run make test'"),
        ("How it works", f"echo '# How it works' > guide.md; {COMMIT}"),
        ("codename: sparkplugs", f"echo 'codename = \"sparkplugs\"' > a.py; {COMMIT}"),
        (
            "from __future__ import annotations",
            f"echo 'from __future__ import annotations' > a.py; {COMMIT}",
        ),
        ("Licence: Apache License 2.0", f"echo 'Apache License 2.0' > a; {COMMIT}"),
    ],
)
def test_a_short_memory_is_not_compared(
    memory: str, script: str, tmp_path: Path
) -> None:
    """A name, a value, a command, a heading and a line of code are in other texts."""
    worktree = _worktree(tmp_path, memory, OTHER)

    done = shell(worktree, f"{script} && {PUSH}")

    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize(
    ("memory", "script"),
    [
        (LICENCE, f"for n in a b; do echo '# {LICENCE}' > $n.py; done; {COMMIT}"),
        (MEMORY, f"echo '{MEMORY}' >> README.rst; {COMMIT}"),
        (MEMORY, f"{ON_PURPOSE} commit -q --allow-empty -m '{MEMORY}'"),
        (MEMORY, f"{ON_PURPOSE} tag -a v1 -m '{MEMORY}' && git push -q origin v1"),
        (
            MEMORY,
            f"echo '{MEMORY}' > a; {COMMIT} && {REVERT} && {REVERT}",
        ),
        (MEMORY, f"for n in 1 2 3 4 5 6 7; do echo '{MEMORY}' > $n; done; {COMMIT}"),
    ],
)
def test_one_memory_is_told_and_let_through(
    memory: str, script: str, tmp_path: Path
) -> None:
    """By the push."""
    worktree = _worktree(tmp_path, memory, OTHER)

    done = shell(worktree, f"({script}) && {PUSH}")

    assert done.returncode == 0, done.stderr
    assert TOLD in done.stderr
    assert b"refused" not in done.stderr


@pytest.mark.parametrize(
    "script",
    mostly_thorough(
        [
            "mkdir docs; git mv guide.rst docs/tutorial.rst",
            "git mv guide.rst other.rst; echo more >> other.rst",
            "sed -i 's/^/# /' guide.rst",
            "sed -i 's/$/ See below./' guide.rst",
            "fold -s -w 30 guide.rst > a; mv a guide.rst",
            "head -n 1 guide.rst > a.rst; sed -i 1d guide.rst",
            "(echo top; tail -n 1 guide.rst; head -n 1 guide.rst) > a; mv a guide.rst",
        ],
        every=3,
    ),
)
def test_lines_that_the_same_commit_removes_are_not_new(
    script: str, tmp_path: Path
) -> None:
    """A file that is renamed and a line that is edited or moved had the text before."""
    worktree = _worktree(tmp_path, MEMORY, OTHER)
    (worktree / "guide.rst").write_text(BOTH)
    assert shell(worktree, UPSTREAM).returncode == 0

    done = shell(worktree, f"{script}; {COMMIT} && {PUSH}")

    assert (done.returncode, done.stderr) == (0, b"")


def test_a_copy_of_what_is_committed_already_is_not_new(tmp_path: Path) -> None:
    """Whoever committed it decided, and the text is out already."""
    worktree = _worktree(tmp_path, MEMORY, OTHER)
    (worktree / "guide.rst").write_text(BOTH)
    assert shell(worktree, UPSTREAM).returncode == 0
    assert shell(worktree, f"git mv guide.rst a.rst; {COMMIT}").returncode == 0

    (worktree / "b.rst").write_text(BOTH)
    done = shell(worktree, f"{COMMIT} && {PUSH}")

    assert (done.returncode, done.stderr) == (0, b"")


def test_two_memories_in_two_commits_are_refused_by_the_push(tmp_path: Path) -> None:
    """Both together do not leave."""
    worktree = _worktree(tmp_path, MEMORY, OTHER)
    for name, text in (("a", MEMORY), ("b", OTHER)):
        (worktree / name).write_text(text)
        done = shell(worktree, COMMIT)
        assert (done.returncode, done.stderr) == (0, b"")

    pushed = shell(worktree, PUSH)

    assert pushed.returncode != 0
    assert REFUSED + b"b:1: Ask" in pushed.stderr
    assert b"\n    a:1: The portcullis" in pushed.stderr


def test_two_texts_of_one_memory_count_once(tmp_path: Path) -> None:
    """Of an edited memory that is injected again the former text is no second one."""
    worktree = _worktree(tmp_path, MEMORY)
    _inject(tmp_path, worktree, f"{MEMORY[:-1]} again.")
    kept = (worktree / ".git" / "info" / "hivemind-words").read_text()
    assert kept.count("\nmemory ") == 2  # what both texts say, and the new one
    (worktree / "a").write_text(MEMORY)

    done = shell(worktree, f"{COMMIT} && {PUSH}")

    assert (done.returncode, done.stderr.startswith(TOLD)) == (0, True)


def test_a_warning_about_many_files_is_short(tmp_path: Path) -> None:
    """It names five of them."""
    worktree = _worktree(tmp_path, MEMORY)
    for name in range(9):
        (worktree / f"{name}.txt").write_text(MEMORY)

    said = shell(worktree, f"{COMMIT} && {PUSH}").stderr.decode()

    assert said.count(".txt:1: ") == 5
    assert "\n    and in 4 more\n" in said


def test_a_file_of_hashes_from_the_version_before_is_read(tmp_path: Path) -> None:
    """Its memories are compared, those that are too short are not."""
    worktree = _worktree(tmp_path, MEMORY, OTHER)
    kept = worktree / ".git" / "info" / "hivemind-words"
    older = re.sub(r"(?m)^(memory \S+ \S+ \S+ ).*$", r"\1", kept.read_text())
    older = older.replace(VERSION, "hivemind-words 2")
    kept.write_text(f"{older}memory 0 {'0' * 16} {'ab' * 8} {'cd' * 8}\n")
    (worktree / "a").write_text(BOTH)
    refused = shell(worktree, f"{COMMIT} && {PUSH}")
    assert REFUSED + b"a:1: The portcullis" in refused.stderr

    _inject(tmp_path, worktree, MEMORY, OTHER, LICENCE)

    assert kept.read_text().startswith(f"{VERSION}\n")
    assert kept.read_text().count("\nmemory ") == 3
    assert shell(worktree, f"{COMMIT} && {PUSH}").returncode != 0


@pytest.mark.parametrize("first", ["hivemind-words 1", "hivemind-words 9", "x"])
def test_a_file_of_hashes_that_cannot_be_read_stops_no_commit(
    first: str, tmp_path: Path
) -> None:
    """Each hook says that it compared nothing."""
    worktree = _worktree(tmp_path, MEMORY, OTHER)
    kept = worktree / ".git" / "info" / "hivemind-words"
    kept.write_text(kept.read_text().replace(VERSION, first))
    (worktree / "a").write_text(BOTH)

    done = shell(worktree, f"{COMMIT} && {PUSH}")

    assert done.returncode == 0
    assert done.stderr.count(b"was not compared; run `hm inject`") == 2
