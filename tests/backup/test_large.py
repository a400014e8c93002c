"""However large notes are, little of a backup is in memory; a bomb is refused early."""

from __future__ import annotations

import gzip
import tarfile
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest

from hivemind_memory.backup.restore import restore_backup
from hivemind_memory.backup.staged import PIECE_BYTES, Stage, StageError
from hivemind_memory.backup.write import write_backup
from hivemind_memory.errors import HivemindError
from hivemind_memory.files.places import Places
from hivemind_memory.opening import open_memory

AT = "2026-11-22T10:00:00+00:00"
LARGE = PIECE_BYTES * 24


def places_of(home: Path) -> Places:
    with open_memory(home=home, flags={"embedding_provider": "none"}) as memory:
        return memory.places


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home with an entry in a large note, and a large other file."""
    notes = tmp_path / "home" / "memory"
    notes.mkdir(parents=True)
    (notes / "large.md").write_bytes(b"zebra " * (LARGE // 6))
    (notes / "scan.pdf").write_bytes(b"%" * LARGE)
    with open_memory(home=tmp_path / "home") as memory:
        memory.write("The giraffe is tall.", file="animals.md")
    return tmp_path / "home"


def peak_of(call: Callable[[], object]) -> int:
    """Return how many bytes of memory a call takes at most."""
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_a_large_file_is_never_in_memory_as_a_whole(home: Path, tmp_path: Path) -> None:
    """A restore held the whole archive, and a backup each note."""
    file, other = str(tmp_path / "b.tar.gz"), places_of(tmp_path / "other")
    mine = places_of(home)

    backup = peak_of(lambda: write_backup(mine, file, at=AT))
    restore = peak_of(lambda: restore_backup(other, file))

    assert max(backup, restore) < LARGE // 2
    for name in ("large.md", "scan.pdf", "animals.md"):
        copy = tmp_path / "other" / "memory" / name
        assert copy.read_bytes() == (home / "memory" / name).read_bytes()


@pytest.mark.parametrize("before", [10, 30, 60])
def test_an_entry_between_two_pieces_of_a_note_is_found(
    home: Path, tmp_path: Path, before: int
) -> None:
    """It would be put back, and be there twice."""
    note = home / "memory" / "animals.md"
    note.write_bytes(b"x" * (PIECE_BYTES - before - 1) + b"\n" + note.read_bytes())
    write_backup(places_of(home), str(tmp_path / "b.tar.gz"), at=AT)

    done = restore_backup(places_of(tmp_path / "other"), str(tmp_path / "b.tar.gz"))

    assert done.put_back == ()


def member(name: str, size: int, kind: bytes = tarfile.REGTYPE) -> bytes:
    """Return the header of a member that claims to have a size."""
    info = tarfile.TarInfo(name)
    info.size, info.type = size, kind
    return info.tobuf(tarfile.GNU_FORMAT)


@pytest.mark.parametrize(
    ("packed", "sentence"),
    [
        (member("notes/a.md", 1 << 60), r"holds more than the [\d,]+ MB that are free"),
        (member("x", 1 << 40, tarfile.XHDTYPE), "header in it is too large"),
        (member("manifest.json", 1 << 20), "contents is too large for what it holds"),
    ],
)
def test_an_archive_that_claims_too_much_is_refused_early(
    tmp_path: Path, packed: bytes, sentence: str
) -> None:
    """It was unpacked until memory ran out; what it claims is not even read now."""
    file = tmp_path / "bomb.tar.gz"
    file.write_bytes(gzip.compress(packed + bytes(4096)))

    with pytest.raises(HivemindError, match=f"{sentence}.*Nothing was restored"):
        restore_backup(places_of(tmp_path / "other"), str(file))

    assert not (tmp_path / "other" / "memory").exists()


def test_a_restore_needs_room_for_what_is_not_there_yet(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It began to write, and had to remove it all again."""
    file, free = str(tmp_path / "b.tar.gz"), [LARGE * 9]
    write_backup(places_of(home), file, at=AT)
    other = places_of(tmp_path / "other")
    monkeypatch.setattr("hivemind_memory.backup.unpack.free_bytes", lambda _: free[0])

    def report(phase: str, _done: int, _total: int) -> None:
        assert phase == "reading the backup"
        free[0] = LARGE + 10_000

    with pytest.raises(HivemindError, match="MB that are free in"):
        restore_backup(other, file, report)
    free[0] = LARGE * 9
    assert restore_backup(other, file).files == 1


def test_a_full_disk_beside_the_archive_skips_no_large_note(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A backup without the note would count as made."""

    def full(*_: object, **__: object) -> None:
        message = "The disk is full."
        raise StageError(message, effect="No backup was written")

    monkeypatch.setattr(Stage, "hold_file", full)
    with pytest.raises(StageError, match=r"full\. No backup was written"):
        write_backup(places_of(home), str(tmp_path / "b.tar.gz"), at=AT)

    assert not (tmp_path / "b.tar.gz").exists()
    assert not list(tmp_path.glob(".hm-*"))
