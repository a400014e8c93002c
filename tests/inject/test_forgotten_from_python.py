"""What hides or purges a memory writes the sections again, whoever calls it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from hivemind_memory import open_memory
from hivemind_memory.access.rules import OWNER
from hivemind_memory.inject.injector import Injector
from hivemind_memory.memory.memory import Memory
from hivemind_memory.model.curation import MemorySelector, NewMemory
from hivemind_memory.model.injection_outcomes import WRITTEN
from hivemind_memory.opening import open_injector
from tests.inject.repos import absent, make_repo, tracked

TEXT = "Ropes of twelve meters are tied to the gutter before anybody climbs."
WANTED = MemorySelector(name="rope")


def as_owner(memory: Memory) -> None:
    with memory.as_caller(OWNER) as seen:
        seen.forget(WANTED)


def current(memory: Memory) -> None:
    memory.current().forget(WANTED)


def by_hand(worktree: Path, injector: Injector) -> None:
    """Remove the file that ``hm inject`` has created."""
    (worktree / "CLAUDE.md").unlink()


def ejected(worktree: Path, injector: Injector) -> None:
    """Remove the section, the filters and the hooks."""
    assert injector.eject(str(worktree)).is_git_restored


FORGET, UNDO, PURGE = (
    pytest.param(lambda memory: memory.forget(WANTED), id="forget"),
    pytest.param(lambda memory: memory.curation.undo(""), id="undo"),
    pytest.param(lambda memory: memory.curation.purge(WANTED), id="purge"),
)


@pytest.mark.parametrize("hide", [FORGET, UNDO, PURGE])
@pytest.mark.parametrize("gone", [ejected, by_hand])
def test_a_section_that_was_removed_stays_so_until_the_next_injection(
    noted_home: Path,
    tmp_path: Path,
    hide: Callable[[Memory], object],
    gone: Callable[[Path, Injector], None],
) -> None:
    """Neither file, filters nor hooks come back, whatever is forgotten."""
    worktree = absent(tmp_path)
    with open_memory(home=str(noted_home)) as memory:
        memory.save(NewMemory(key="ladder", content="Ladders lean.", type="lesson"))
        memory.save(NewMemory(key="rope", content=TEXT, type="lesson"))
        injector = open_injector(memory)
        injector.inject(str(worktree))
        gone(worktree, injector)
        left = files_of(worktree)

        hide(memory)

        assert files_of(worktree) == left
        assert injector.inject(str(worktree)).outcome == WRITTEN
        assert "Ladders lean." in (worktree / "CLAUDE.md").read_text()


def test_a_section_is_rewritten_where_it_is_whatever_file_is_chosen_now(
    noted_home: Path, tmp_path: Path
) -> None:
    """No second file gets one, and the first keeps no memory that is forgotten."""
    worktree = make_repo(tmp_path / "repo")
    config = noted_home / "config.json"
    with open_memory(home=str(noted_home)) as memory:
        memory.save(NewMemory(key="ladder", content="Ladders lean.", type="lesson"))
        memory.save(NewMemory(key="rope", content=TEXT, type="lesson"))
        open_injector(memory).inject(str(worktree))
    config.write_text('{"inject_target": "NOTES.md"}')
    with open_memory(home=str(noted_home)) as memory:
        memory.forget(WANTED)

    assert not (worktree / "NOTES.md").exists()
    text = (worktree / "CLAUDE.md").read_text()
    assert TEXT not in text
    assert "Ladders lean." in text


def files_of(worktree: Path) -> dict[str, bytes]:
    """Return every file, those of git too; not what the index and the hashes hold."""
    return {
        str(path.relative_to(worktree)): b""
        if path.name in {"index", "hivemind-words"}
        else path.read_bytes()
        for path in worktree.rglob("*")
        if path.is_file()
    }


@pytest.mark.parametrize(
    "hide",
    [
        FORGET,
        pytest.param(as_owner, id="as another caller"),
        pytest.param(current, id="as its caller now"),
        UNDO,
        PURGE,
    ],
)
def test_a_memory_that_is_hidden_from_python_goes_from_the_section(
    noted_home: Path, tmp_path: Path, hide: Callable[[Memory], object]
) -> None:
    """Nothing has to be passed for that: a caller could forget to."""
    worktree = tracked(tmp_path)
    with open_memory(home=str(noted_home)) as memory:
        memory.save(NewMemory(key="rope", content=TEXT, type="lesson"))
        open_injector(memory).inject(str(worktree))
        assert TEXT in (worktree / "CLAUDE.md").read_text()

        hide(memory)

    assert TEXT not in (worktree / "CLAUDE.md").read_text()
