"""A memory that was moved since the index was asked is never taken for another."""

from __future__ import annotations

from pathlib import Path

import pytest

from hivemind_memory.curation.row_target import read_row
from hivemind_memory.curation.selection import find_targets
from hivemind_memory.model.curation import MemorySelector
from tests.support.typed_memory import ScannedIndex, Shelf


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    return Shelf(tmp_path / "home")


def test_a_forget_by_id_does_not_hide_the_version_that_has_taken_the_file(
    shelf: Shelf,
) -> None:
    """Another process saves the key between the lookup and the read."""
    first = shelf.save("k", "the first")
    stale = ScannedIndex(shelf.notes).frozen()
    shelf.save("k", "the second", reason="new")

    [target] = find_targets(shelf.context(), stale, MemorySelector(name=first.id))

    assert (target.id, target.text.strip()) == (first.id, "the first")
    assert target.path.startswith("superseded/")


def test_a_memory_that_is_gone_is_not_read_from_the_file_of_another(
    shelf: Shelf,
) -> None:
    """Its old version was deleted by hand."""
    shelf.save("k", "the first")
    [row] = ScannedIndex(shelf.notes).memories(key="k")
    shelf.save("k", "the second", reason="new")
    for old in (shelf.notes / "superseded").iterdir():
        old.unlink()

    assert read_row(shelf.context(), row) is None
