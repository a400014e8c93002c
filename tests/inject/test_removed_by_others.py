"""What git shows after something else than the program has removed a section.

Git compares a file's size with the one in its index before it runs a filter. So a file
that loses its section behind the program's back looks changed until git's index is
updated.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from hivemind_memory.cli import main
from hivemind_memory.inject.injector import Injector
from hivemind_memory.opening import open_injector, open_memory
from tests.inject.repos import (
    MARK,
    autocrlf,
    crlf,
    edited,
    git,
    linked,
    make_repo,
    rebase,
    staged,
    status,
    submodule,
    symlinked,
    tracked,
)

CHANGED = " M CLAUDE.md\n"


def save_an_old_buffer(file: Path, old: bytes) -> None:
    """An editor had the file open since before the injection."""
    file.write_bytes(old)


def move_an_old_file_over_it(file: Path, old: bytes) -> None:
    other = file.with_name("old.tmp")
    other.write_bytes(old)
    other.replace(file)


def delete_it_with_sed(file: Path, old: bytes) -> None:
    command = ["sed", "-i", "/hivemind:begin/,/hivemind:end/d", str(file)]
    subprocess.run(command, check=True)


def check_out_a_part(file: Path, old: bytes) -> None:
    """Git writes the part that it restores through the filter."""
    file.write_bytes(file.read_bytes().replace(b"Use tabs.", b"Use spaces."))
    command = ["git", "checkout", "-p", "--", file.name]
    subprocess.run(command, cwd=file.parent, input=b"y\n", check=True)


WAYS: tuple[Callable[[Path, bytes], None], ...] = (
    save_an_old_buffer,
    move_an_old_file_over_it,
    delete_it_with_sed,
    check_out_a_part,
)


def inject_and_remove(
    worktree: Path,
    injector: Injector,
    way: Callable[[Path, bytes], None] = save_an_old_buffer,
) -> Path:
    """Inject, then remove the section behind the program's back; return the file."""
    file = (worktree / "CLAUDE.md").resolve()
    old = file.read_bytes()
    injector.inject(str(worktree))
    status(worktree)  # git updates its index whenever somebody asks
    assert MARK in file.read_bytes()
    way(file, old)
    assert file.read_bytes() == old
    return file


def staged_modes(worktree: Path) -> str:
    """The modes and objects in git's index."""
    return git(worktree, "ls-files", "--stage")


@pytest.mark.parametrize("way", WAYS, ids=lambda one: one.__name__)
def test_eject_corrects_git_after_a_section_was_removed(
    way: Callable[[Path, bytes], None], tmp_path: Path, injector: Injector
) -> None:
    """Git called an unchanged file modified and refused to rebase; eject left it so."""
    worktree = tracked(tmp_path)
    inject_and_remove(worktree, injector, way)
    assert status(worktree) == CHANGED

    done = injector.eject(str(worktree))

    assert status(worktree) == ""
    assert done.files == ()
    assert done.is_git_restored
    assert done.warnings == (
        "git status showed CLAUDE.md as changed; it no longer does",
    )
    rebase(worktree)
    assert "Raise the price" in git(worktree, "log", "--format=%s")
    assert injector.eject(str(worktree)).warnings == ()


@pytest.mark.parametrize(
    "state",
    [linked, submodule, crlf, autocrlf, symlinked],
    ids=lambda one: one.__name__,
)
def test_eject_corrects_git_in_every_kind_of_worktree(
    state: Callable[[Path], Path], tmp_path: Path, injector: Injector
) -> None:
    """Each worktree has its own index, and git compares the target of a link."""
    worktree = state(tmp_path)
    file = inject_and_remove(worktree, injector)
    assert status(worktree) == f" M {file.name}\n"

    injector.eject(str(worktree))

    assert status(worktree) == ""


@pytest.mark.parametrize("state", [edited, staged], ids=lambda one: one.__name__)
def test_a_real_change_stays_one(
    state: Callable[[Path], Path], tmp_path: Path, injector: Injector
) -> None:
    """Only what git stores already is called unchanged."""
    worktree = state(tmp_path)
    before = status(worktree), staged_modes(worktree)
    inject_and_remove(worktree, injector)

    done = injector.eject(str(worktree))

    assert (status(worktree), staged_modes(worktree)) == before
    is_staged = state is staged
    assert len(done.warnings) == is_staged


@pytest.mark.parametrize("is_removed", [False, True], ids=["ejected", "removed"])
def test_a_changed_mode_is_not_staged(
    tmp_path: Path, injector: Injector, *, is_removed: bool
) -> None:
    """Updating the index for the size staged the user's `chmod` as well."""
    worktree = tracked(tmp_path)
    file = worktree / "CLAUDE.md"
    file.chmod(0o755)
    before = staged_modes(worktree)

    if is_removed:
        inject_and_remove(worktree, injector)
    else:
        injector.inject(str(worktree))
    assert (status(worktree), staged_modes(worktree)) == (CHANGED, before)
    done = injector.eject(str(worktree))

    assert (status(worktree), staged_modes(worktree)) == (CHANGED, before)
    assert done.warnings == ()
    file.chmod(0o644)
    assert status(worktree) == ""


def test_injecting_elsewhere_corrects_git(
    tmp_path: Path, noted_home: Path, injector: Injector
) -> None:
    """The file that had the section before is looked at in any case."""
    worktree = tracked(tmp_path)
    inject_and_remove(worktree, injector)
    assert status(worktree) == CHANGED

    target = {"inject_target": "CLAUDE.local.md"}
    with open_memory(home=str(noted_home), flags=target) as memory:
        done = open_injector(memory).inject(str(worktree))

    assert done.file == "CLAUDE.local.md"
    assert status(worktree) == ""


def test_injecting_nothing_corrects_git(
    tmp_path: Path, noted_home: Path, injector: Injector
) -> None:
    """With an empty memory there is no section to write."""
    worktree = tracked(tmp_path)
    inject_and_remove(worktree, injector)
    assert status(worktree) == CHANGED

    for note in (noted_home / "memory").glob("*.md"):
        note.unlink()
    with open_memory(home=str(noted_home)) as memory:
        memory.sync()
        done = open_injector(memory).inject(str(worktree))

    assert done.outcome == "nothing"
    assert status(worktree) == ""


def test_git_add_corrects_it_too(tmp_path: Path, injector: Injector) -> None:
    """The documentation names it for a file that eject does not know."""
    worktree = tracked(tmp_path)
    inject_and_remove(worktree, injector)
    assert status(worktree) == CHANGED

    git(worktree, "add", "CLAUDE.md")

    assert status(worktree) == ""


def test_the_command_says_what_it_corrected(
    tmp_path: Path,
    noted_home: Path,
    injector: Injector,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Nothing was removed, and yet something happened."""
    worktree = make_repo(tmp_path / "shop")
    inject_and_remove(worktree, injector)
    monkeypatch.setenv("HIVEMIND_HOME", str(noted_home))

    assert main.main(["eject", str(worktree)]) == 0

    section, talk = capsys.readouterr()
    assert section == "There is no section to remove.\n"
    assert talk == "git status showed CLAUDE.md as changed; it no longer does\n"
