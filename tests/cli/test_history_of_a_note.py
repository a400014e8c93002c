"""hm history of a note that no agent wrote and that says no date."""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import Hm


def test_a_note_without_a_date_is_said_to_have_none(hm: Hm, home: Path) -> None:
    """It printed `no date  active`."""
    (home / "memory").mkdir(parents=True, exist_ok=True)
    (home / "memory/plain.md").write_text("# Plain\n\nA note of a person.\n")

    ran = hm("history", "plain.md")

    first = ran.out.splitlines()[0]
    assert first == "active; the note does not say when it was written"
