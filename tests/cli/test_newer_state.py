"""A ``state.db`` of a newer version is spoken of where a person looks."""

from __future__ import annotations

from pathlib import Path

import apsw
import pytest

from tests.cli.conftest import Hm


@pytest.fixture
def newer(hm: Hm, notes: Path) -> Path:
    """Notes with a memory, and a state.db that this version cannot read."""
    hm("save", "deploy-day", "We deploy on Tuesdays.")
    connection = apsw.Connection(str(notes.parent / "state.db"))
    connection.execute("PRAGMA user_version = 9999")
    connection.close()
    return notes


@pytest.mark.parametrize(
    "words",
    [
        ("search", "deploy"),
        ("search", "--json", "deploy"),
        ("status",),
        ("status", "--json"),
    ],
    ids=" ".join,
)
def test_a_newer_state_is_named_once_with_what_is_missing(
    hm: Hm, newer: Path, words: tuple[str, ...]
) -> None:
    """A search and the status were silent about it; only a save spoke."""
    ran = hm(*words)

    assert ran.code == 0
    assert ran.err.count("state.db was made by a newer version of this program") == 1
    assert "no change can be undone; upgrade hivemind-memory" in ran.err
    assert "state.db" not in ran.out


def test_a_state_that_is_missing_or_of_this_version_is_not_spoken_of(
    hm: Hm, notes: Path
) -> None:
    """Nothing is wrong, and a status makes no file."""
    missing = hm("status")
    was_made = (notes.parent / "state.db").exists()
    hm("save", "deploy-day", "We deploy on Tuesdays.")
    found = hm("search", "deploy")

    assert not was_made
    assert "newer version" not in missing.err + found.err + hm("status").err
