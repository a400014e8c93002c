"""What a program in Python finds under the public names."""

from __future__ import annotations

from pathlib import Path

import pytest

from hivemind_memory import (
    Caller,
    HivemindError,
    MemorySelector,
    NewMemory,
    Query,
    open_memory,
)


def test_a_memory_is_saved_found_replaced_and_forgotten_by_public_names(
    tmp_path: Path,
) -> None:
    """A library user needs no module whose name may change."""
    home = tmp_path / "home"
    (home / "memory").mkdir(parents=True)
    with open_memory(home=str(home), flags={"embedding_provider": "none"}) as memory:
        saved = memory.save(NewMemory(key="deploy-day", content="On Tuesdays."))
        with pytest.raises(HivemindError) as taken:
            memory.save(NewMemory(key="deploy-day", content="On Mondays."))
        new = NewMemory(key="deploy-day", content="On Mondays.", reason="the fair")
        replaced = memory.save(new)
        [hit] = memory.search(Query(text="mondays")).hits
        private = NewMemory(key="pay", content="Salaries.", visibility="private")
        memory.save(private)
        with memory.as_caller(Caller(is_root=False, is_member=False)) as visitor:
            seen = visitor.search(Query(text="salaries")).hits
        forgotten = memory.forget(MemorySelector(name="deploy-day"))

        assert taken.value.hint
        assert (replaced.superseded, hit.key) == (saved.id, "deploy-day")
        assert not seen
        assert {one.key for one in forgotten.memories} == {"deploy-day"}
        assert not memory.search(Query(text="mondays")).hits
