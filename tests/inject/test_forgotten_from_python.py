"""What hides or purges a memory writes the sections again, whoever calls it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from hivemind_memory import open_memory
from hivemind_memory.access.rules import OWNER
from hivemind_memory.memory.memory import Memory
from hivemind_memory.model.curation import MemorySelector, NewMemory
from hivemind_memory.opening import open_injector
from tests.inject.repos import tracked

TEXT = "Ropes of twelve meters are tied to the gutter before anybody climbs."
WANTED = MemorySelector(name="rope")


def as_owner(memory: Memory) -> None:
    with memory.as_caller(OWNER) as seen:
        seen.forget(WANTED)


def current(memory: Memory) -> None:
    memory.current().forget(WANTED)


@pytest.mark.parametrize(
    "hide",
    [
        pytest.param(lambda memory: memory.forget(WANTED), id="forget"),
        pytest.param(as_owner, id="as another caller"),
        pytest.param(current, id="as its caller now"),
        pytest.param(lambda memory: memory.curation.undo(""), id="undo"),
        pytest.param(lambda memory: memory.curation.purge(WANTED), id="purge"),
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
