"""A path that is printed means its note, whatever keys there are."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Hm, hm, home  # noqa: F401 - fixtures


@pytest.fixture
def taken(hm: Hm, home: Path) -> Hm:  # noqa: F811 - the fixtures above
    """A memory whose place and path are the keys of others, typed by hand."""
    hm("save", "-g", "victim", "The good one.")
    for key in ("victim.md:9", "victim.md"):
        note = home / "memory" / f"other-{key.replace(':', '-')}.md"
        note.write_text(f"---\ntype: lesson\nkey: {key}\n---\nThe other one.\n")
    return hm


@pytest.mark.parametrize("name", ["victim.md", "victim.md:9", "victim.md:9-9"])
def test_a_printed_path_means_its_note(taken: Hm, name: str) -> None:
    """An agent could save a key that another memory was then forgotten by."""
    assert "The good one." in taken("show", name).out
    assert "The good one." in taken("get", name).out
    taken("save", "-g", "--related", name, "third", "A third thing.")
    assert "related_to: victim.md\n" in taken("show", "third").out
    assert "(victim)" in taken("forget", name, "--yes").out
    assert "(victim)" in taken("restore", name).out


def test_a_link_with_a_path_leads_to_its_note(taken: Hm, home: Path) -> None:  # noqa: F811
    """As a name does in a command."""
    text = "---\ntype: lesson\nid: 1\nrelated: '[[victim.md]]'\n---\nIt follows.\n"
    (home / "memory" / "follows.md").write_text(text)

    assert "related_to: victim.md\n" in taken("show", "follows").out


@pytest.mark.parametrize("key", ["a.md", "b.md:9", "c.md:2-3", "notes/D.MD", "x y.md"])
def test_a_key_that_reads_as_a_path_is_refused(hm: Hm, key: str) -> None:  # noqa: F811
    """Whoever prints it as a place would mean another memory."""
    refused = hm("save", "-g", key, "A text.")

    assert refused.code == 2
    assert "could be taken for the path of a note" in refused.err
    assert "Nothing was saved" in refused.err
    assert hm("save", "-g", "deploy:8080", "A port.").code == 0


def test_a_note_that_has_such_a_key_is_still_changed(taken: Hm) -> None:
    """A person typed it; only new ones are refused."""
    changed = taken("save", "-g", "--reason", "moved", "victim.md:9", "Another text.")

    assert changed.code == 0
