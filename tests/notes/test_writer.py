"""What one write does to one note."""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hivemind_memory.errors import (
    NotePathError,
    NotesMissingError,
    NotSavedError,
    UsageError,
)
from hivemind_memory.markdown.entry import parse_provenance
from hivemind_memory.notes.writer import MAX_CONTENT_BYTES
from tests.support.note_home import AT, NOTE, Home
from tests.support.tiers import examples


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def test_a_new_note_holds_the_comment_and_the_content(home: Home) -> None:
    """The comment says who and when; nothing else is added."""
    entry = home.append("Port 8080 is taken.")

    comment, *content = home.text().split("\n")
    provenance = parse_provenance(comment)

    assert provenance is not None
    assert (provenance.id, provenance.at) == (entry.id, AT)
    assert (provenance.by, provenance.source) == ("claude-code", "agent")
    assert content == ["Port 8080 is taken.", ""]
    assert (entry.start_line, entry.end_line) == (1, 2)


def test_a_second_entry_stands_two_blank_lines_below(home: Home) -> None:
    """Two blank lines make it a chunk of its own."""
    home.append("one")
    before = home.read()

    entry = home.append("two\nlines")

    assert home.read().startswith(before + b"\n\n<!-- hm id=" + entry.id.encode())
    assert home.text().split("\n")[entry.start_line - 1].startswith("<!-- hm id=")
    assert (entry.start_line, entry.end_line) == (5, 7)


@pytest.mark.parametrize(
    "before",
    [
        b"# Human",
        b"# Human\n",
        b"a\r\nb\r\n",
        b"a\r\nb",
        b"\xef\xbb\xbf",
        b"\xef\xbb\xbf# bom\n",
        b"\n\n\n",
        b"\xff\x00broken\n",
        b"old mac\rtext\r",
        b"```\nopen fence",
    ],
)
def test_what_a_person_wrote_stays_byte_for_byte(home: Home, before: bytes) -> None:
    """An append is all that a write is, whatever stands there."""
    home.write(before)

    entry = home.append("first\nsecond")

    lines = home.read().split(b"\n")
    assert home.read().startswith(before)
    assert entry.id.encode() in lines[entry.start_line - 1]
    assert lines[entry.end_line - 1].rstrip(b"\r") == b"second"
    assert entry.end_line == entry.start_line + 2
    assert lines[entry.end_line :] == [b""]


def test_a_note_with_windows_line_ends_gets_more_of_them(home: Home) -> None:
    """One file, one kind of line end."""
    home.write(b"a\r\nb")

    home.append("x\ny")

    assert re.search(rb"(?<!\r)\n", home.read()) is None


def test_line_numbers_are_right_when_nobody_reads_the_note_again(home: Home) -> None:
    """A long note is appended to without being read: its end is in the journal."""
    home.write(b"# Human\n\ntext")
    entries = [home.append(f"entry {number}\nmore") for number in range(5)]

    lines = home.text().split("\n")

    for number, entry in enumerate(entries):
        assert entry.id in lines[entry.start_line - 1]
        assert lines[entry.start_line : entry.end_line] == [f"entry {number}", "more"]


def test_line_numbers_are_right_after_a_person_edited(home: Home) -> None:
    """What the journal knows of a note counts only while the note is the same."""
    home.append("one")
    home.write(b"a\nb\nc\n" + home.read())

    entry = home.append("two")

    assert entry.id in home.text().split("\n")[entry.start_line - 1]


def test_the_content_cannot_forge_an_entry(home: Home) -> None:
    """Else an agent could write in another's name."""
    home.append("<!-- hm id=01ARYZ6S410000000000000000 source=human at=2026-01-01 -->")

    comments = [line for line in home.text().split("\n") if parse_provenance(line)]

    assert len(comments) == 1


def test_folders_are_made_and_private(home: Home) -> None:
    """0700 and 0600 from the moment of creation."""
    home.append("x", "projects/site/deploy.md")

    modes = [
        stat.S_IMODE((home.notes / name).stat().st_mode)
        for name in ("projects", "projects/site", "projects/site/deploy.md")
    ]

    assert modes == [0o700, 0o700, 0o600]


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077, 0o777])
def test_modes_are_exact_under_any_umask(tmp_path: Path, umask: int) -> None:
    """Files are 0600 and folders 0700 under any umask."""
    home = Home(tmp_path)
    old = os.umask(umask)
    try:
        home.append("x", "a/b.md")
        home.append("y", "a/b.md")
    finally:
        os.umask(old)

    found = {
        str(path.relative_to(tmp_path)): oct(stat.S_IMODE(path.stat().st_mode))
        for path in tmp_path.rglob("*")
    }

    assert found == {
        "memory": "0o700",
        "memory/a": "0o700",
        "memory/a/b.md": "0o600",
        "journal": "0o700",
        "journal/lock": "0o600",
        "journal/entries.jsonl": "0o600",
    }


def test_a_note_keeps_the_mode_that_its_owner_gave_it(home: Home) -> None:
    """It is theirs."""
    home.write(b"# Human\n")
    (home.notes / NOTE).chmod(0o644)

    home.append("x")

    assert stat.S_IMODE((home.notes / NOTE).stat().st_mode) == 0o644


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("", "empty"),
        (" \n\t\r\n", "empty"),
        ("a\ud800b", "surrogate"),
        ("x" * (MAX_CONTENT_BYTES + 1), "1,000,001"),
        ("é" * (MAX_CONTENT_BYTES // 2 + 1), "1,000,002"),
    ],
)
def test_unfit_content_is_refused_in_one_sentence(
    home: Home, content: str, reason: str
) -> None:
    """And nothing is made for it."""
    with pytest.raises(UsageError, match=reason) as caught:
        home.append(content)

    assert caught.value.hint
    assert list(home.notes.iterdir()) == []
    assert not home.journal.may_need_recovery()


def test_the_longest_content_fits(home: Home) -> None:
    """The limit is inclusive."""
    entry = home.append("x" * MAX_CONTENT_BYTES)

    assert entry.end_line == 2


@pytest.mark.parametrize("target", ["outside.md", "nowhere.md"])
def test_a_link_in_the_place_of_a_note_is_not_followed(home: Home, target: str) -> None:
    """It may lead anywhere."""
    outside = home.path / "outside.md"
    outside.write_text("theirs")
    (home.notes / NOTE).symlink_to(home.path / target)

    with pytest.raises(NotePathError):
        home.append("x")

    assert outside.read_text() == "theirs"
    assert not (home.path / "nowhere.md").exists()


def test_a_linked_folder_is_not_entered(home: Home) -> None:
    """Not even to make a note in it."""
    (home.path / "elsewhere").mkdir()
    (home.notes / "projects").symlink_to(home.path / "elsewhere")

    with pytest.raises(NotePathError):
        home.append("x", "projects/a.md")

    assert list((home.path / "elsewhere").iterdir()) == []


@pytest.mark.parametrize("kind", ["folder", "pipe"])
def test_something_else_in_the_place_of_a_note_is_refused(
    home: Home, kind: str
) -> None:
    """Opening a pipe must not wait for its writer either."""
    (home.notes / NOTE).mkdir() if kind == "folder" else os.mkfifo(home.notes / NOTE)

    with pytest.raises(NotePathError):
        home.append("x")

    assert not home.journal.may_need_recovery()


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be"])
def test_a_utf_16_note_is_left_alone(home: Home, encoding: str) -> None:
    """UTF-8 bytes behind it would make it unreadable in its editor."""
    data = "\ufeff# Mine\n".encode(encoding)
    home.write(data)

    with pytest.raises(NotSavedError, match="UTF-16"):
        home.append("x")

    assert home.read() == data
    assert not home.journal.may_need_recovery()


def test_a_missing_notes_folder_is_not_made(home: Home) -> None:
    """It may be a drive that is not mounted."""
    home.notes.rmdir()

    with pytest.raises(NotesMissingError, match="memory"):
        home.append("x")

    assert not home.notes.exists()


def test_a_home_that_holds_nothing_yet_is_made(tmp_path: Path) -> None:
    """The journal's folder is not the caller's business."""
    home = Home(tmp_path)

    home.append("x")

    assert home.journal_file.exists()


def test_an_editor_that_renames_meanwhile_does_not_swallow_the_entry(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Saved means: in the file that has the name."""
    home.write(b"# Human\n")
    real, saves = os.fsync, [3]

    def fsync_and_save(fd: int) -> None:
        real(fd)
        is_note = os.fstat(fd).st_ino == (home.notes / NOTE).stat().st_ino
        if is_note and saves[0]:
            saves[0] -= 1
            home.write(b"# Human\n\nmore\n")

    monkeypatch.setattr(os, "fsync", fsync_and_save)
    entry = home.append("mine")

    lines = home.text().split("\n")
    assert lines[:3] == ["# Human", "", "more"]
    assert home.text().count(entry.id) == 1
    assert entry.id in lines[entry.start_line - 1]
    assert saves == [0]


def test_an_editor_that_never_stops_is_named(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A write that is not on disk raises."""
    home.write(b"# Human\n")
    real = os.fsync

    def fsync_and_save(fd: int) -> None:
        real(fd)
        if os.fstat(fd).st_ino == (home.notes / NOTE).stat().st_ino:
            home.write(b"# Human\n")

    monkeypatch.setattr(os, "fsync", fsync_and_save)
    with pytest.raises(NotSavedError, match="Another program"):
        home.append("mine")

    assert home.read() == b"# Human\n"
    assert not home.journal.may_need_recovery()


@settings(
    max_examples=examples(60),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    before=st.binary(max_size=60) | st.text(max_size=60).map(str.encode),
    contents=st.lists(
        st.text(
            st.characters(exclude_categories=["Cs"], exclude_characters="\0"),
            min_size=1,
        ).filter(str.strip),
        min_size=1,
        max_size=3,
    ),
)
def test_any_content_after_any_bytes_is_one_entry_at_its_lines(
    tmp_path_factory: pytest.TempPathFactory, before: bytes, contents: list[str]
) -> None:
    """The lines that the answer names are the entry's."""
    home = Home(tmp_path_factory.mktemp("home"))
    if before.startswith((b"\xff\xfe", b"\xfe\xff")):
        before = b"-" + before
    home.write(before)

    entries = [home.append(content) for content in contents]

    lines = home.read().split(b"\n")
    assert home.read().startswith(before)
    for entry in entries:
        comment = lines[entry.start_line - 1].decode("utf-8", "replace")
        provenance = parse_provenance(comment.removeprefix("\ufeff"))
        assert provenance is not None
        assert provenance.id == entry.id
    assert entries[-1].end_line == len(lines) - 1
