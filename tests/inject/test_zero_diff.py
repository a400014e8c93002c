"""Git sees nothing: every state of a CLAUDE.md times everything people do."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from hivemind_memory.inject.injector import Injector
from tests.inject.conftest import Place
from tests.inject.repos import (
    MARK,
    OPERATIONS,
    STATES,
    git,
    linked,
    no_object_has_the_section,
    status,
    tracked,
)
from tests.support.tiers import pairs

SETTINGS = (
    "config",
    "info/exclude",
    "info/attributes",
    "info/hivemind-attributes",
    "hooks/pre-commit",
    "hooks/pre-push",
    "hooks/reference-transaction",
)


def tree(worktree: Path) -> str:
    """Everything that the newest commit holds."""
    return git(worktree, "ls-tree", "-r", "HEAD")


def common_dir(worktree: Path) -> Path:
    return (worktree / git(worktree, "rev-parse", "--git-common-dir").strip()).resolve()


def settings(worktree: Path) -> list[bytes]:
    """The files of git's own that an injection may change."""
    files = [common_dir(worktree) / name for name in SETTINGS]
    return [file.read_bytes() if file.exists() else b"" for file in files]


def contents(worktree: Path) -> dict[str, tuple[bytes, int, bool]]:
    """Every file of a worktree: bytes, mode, whether it is a link."""
    return {
        str(path.relative_to(worktree)): (
            path.read_bytes(),
            path.stat().st_mode,
            path.is_symlink(),
        )
        for path in worktree.rglob("*")
        if path.is_file() and ".git" not in path.parts
    }


@pytest.mark.parametrize(
    ("state", "operation"),
    pairs(STATES, OPERATIONS, every=4),
    ids=lambda one: one.__name__,
)
def test_git_does_the_same_with_and_without_a_section(
    state: Callable[[Path], Path],
    operation: Callable[[Path], str],
    place: Place,
) -> None:
    """Status, outcome and commits are those of a twin that never was injected."""
    with place.plain(state) as twin:
        before, expected = status(twin), operation(twin)
        after, committed = status(twin), tree(twin)

    with place.injected(state) as (worktree, file):
        assert MARK in file.read_bytes()
        assert status(worktree) == before
        assert operation(worktree) == expected
        assert status(worktree) == after
        assert tree(worktree) == committed
        place.inject(worktree)
        assert status(worktree) == after
        assert no_object_has_the_section(worktree)


@pytest.mark.parametrize("state", [tracked, linked], ids=lambda one: one.__name__)
def test_an_agent_that_runs_git_without_filters_sees_no_change(
    state: Callable[[Path], Path], tmp_path: Path, injector: Injector
) -> None:
    """Claude Code does, and told its model of a changed CLAUDE.md at every start."""
    worktree = state(tmp_path)

    injector.inject(str(worktree))

    plain = ("-c", "filter.hivemind.clean=", "--no-optional-locks")
    assert git(worktree, *plain, "status", "--short") == ""


@pytest.mark.parametrize("state", STATES, ids=lambda one: one.__name__)
def test_ejecting_gives_every_byte_and_setting_back(
    state: Callable[[Path], Path], tmp_path: Path, injector: Injector
) -> None:
    """Whoever tries this must be able to forget that they did."""
    worktree = state(tmp_path)
    before = contents(worktree), settings(worktree), status(worktree)

    injector.inject(str(worktree))
    injector.inject(str(worktree))
    done = injector.eject(str(worktree))

    assert (contents(worktree), settings(worktree), status(worktree)) == before
    assert done.is_git_restored
    assert done.warnings == ()


@pytest.mark.parametrize("state", STATES, ids=lambda one: one.__name__)
def test_the_same_memories_write_nothing(
    state: Callable[[Path], Path], place: Place
) -> None:
    """Not even the same bytes again: a tool that watches the file would wake."""
    with place.injected(state) as (worktree, file):
        paths = [file, *(common_dir(worktree) / name for name in SETTINGS)]
        signatures = [p.stat().st_mtime_ns for p in paths if p.exists()]
        inodes = [p.stat().st_ino for p in paths if p.exists()]

        again = place.inject(worktree)

        assert again.outcome == "unchanged"
        assert [p.stat().st_mtime_ns for p in paths if p.exists()] == signatures
        assert [p.stat().st_ino for p in paths if p.exists()] == inodes
