"""What is long is summarised on a terminal, what takes long says how far it is."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from hivemind_memory.backup.restore import restore_backup
from hivemind_memory.cli.commands import forget
from hivemind_memory.files.places import places_of
from tests.cli.conftest import Hm


def test_a_long_receipt_of_a_purge_is_cut_on_a_terminal_alone(
    hm: Hm, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pipe, --json and --verbose have all of it."""
    for number in range(30):
        hm("write", "--session", "s1", "--file", "log.md", f"Line {number} of wombats.")
    plan = ("forget", "--session", "s1", "--purge", "--dry-run")

    piped = hm(*plan)
    monkeypatch.setattr(forget, "is_terminal", lambda stream: stream is sys.stdout)
    shown, whole = hm(*plan), hm(*plan, "--verbose")

    assert piped.out.count("would purge log.md") == 30
    assert shown.out.count("would purge log.md") == 10
    assert "and 20 more; --verbose lists them all" in shown.out
    assert whole.out == piped.out


def test_restoring_a_backup_says_how_far_it_is(
    hm: Hm, notes: Path, home: Path, tmp_path: Path
) -> None:
    """A home of 10,000 notes takes a minute on a slow disk."""
    assert hm("backup", str(tmp_path / "b.tar.gz")).code == 0
    seen: list[tuple[str, int, int]] = []
    places = places_of(str(tmp_path / "other"), None, "")

    done = restore_backup(
        places, str(tmp_path / "b.tar.gz"), lambda *state: seen.append(state)
    )

    assert done.notes == 4
    assert seen[0] == ("reading the backup", 0, 1)
    counts = [count for phase, count, _ in seen if phase == "restoring"]
    assert counts == list(range(len(counts)))
    assert len(counts) >= done.notes


def test_text_and_names_in_another_encoding_are_named_with_the_remedy(
    hm: Hm, notes: Path
) -> None:
    """Windows and old programs write them, and letters are not found then."""
    (notes / "latin.md").write_bytes("Café au lait.".encode("latin-1"))
    with open(os.fsencode(notes) + b"/caf\xe9.md", "wb") as file:
        file.write(b"Tea.")

    hm("sync")
    diagnosis, status = hm("doctor").out, hm("status").out

    assert "1 note is not UTF-8" in diagnosis
    assert "latin.md" in diagnosis
    assert "iconv -f latin1" in diagnosis
    assert "rename the file in UTF-8" in status
    assert "latin.md: save it as UTF-8, as with `iconv" in status
