"""A save whose key is taken quotes the memory that has it, without its secrets."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Hm

SECRET = "gh" + "p_A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"


@pytest.mark.parametrize("agent", ["", "1"])
def test_a_secret_that_a_person_wrote_is_not_quoted(
    hm: Hm, home: Path, monkeypatch: pytest.MonkeyPatch, agent: str
) -> None:
    """`release.md says: Use ghp_…` went to an agent, though a search masks it."""
    hm("save", "-g", "release", "Red.")
    note = home / "memory" / "release.md"
    note.write_text(note.read_text().replace("Red.", f"Use {SECRET} for it."))
    if agent:
        monkeypatch.setenv("CLAUDECODE", agent)

    taken = hm("save", "-g", "release", "Blue.")

    assert taken.code != 0
    assert "release.md says: Use [redacted:" in taken.err
    assert SECRET[:12] not in taken.err + taken.out
