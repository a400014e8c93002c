"""An entry is marked or taken out, and no other byte of its note changes."""

from __future__ import annotations

import multiprocessing
import os
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hivemind_memory.errors import NotSavedError
from hivemind_memory.markdown.entry import new_entry_text, new_ulid
from hivemind_memory.markdown.note_parser import parse_note
from hivemind_memory.model.note import Provenance
from hivemind_memory.model.note_path import NotePath
from hivemind_memory.notes.entry_edits import (
    change_entries,
    entries_in,
    unmark_forgotten,
    with_forgotten,
    without_entries,
)
from hivemind_memory.notes.memory_file import edit_note
from tests.support.note_home import NOTE, Home
from tests.support.tiers import examples

AT = "2026-11-22T00:00:00+01:00"
# Bytes that are no UTF-8 come in as these.
RAW = st.text(
    alphabet=st.sampled_from("ab #`~-\r\n\t<>!\udcff\udc80é數") | st.characters()
)
CONTENTS = st.lists(
    st.sampled_from(["# Head", "```", "- item", "a", "", "---", "> q", "<!-- hm", "é"])
    | st.text(max_size=8),
    min_size=1,
    max_size=6,
).map("\n".join)


def raw(text: str) -> bytes:
    return text.encode("utf-8", "replace").replace(b"?", b"\xff")


def provenance(number: int) -> Provenance:
    entry_id = new_ulid(1.8e9 + number, os.urandom(10))
    return Provenance(id=entry_id, at=AT, by="x")


def written(
    before: bytes, contents: list[str], newline: str
) -> tuple[bytes, list[bytes]]:
    """Return a note with entries, and what it was before each."""
    data, states = before, []
    for number, content in enumerate(contents):
        states.append(data)
        text = new_entry_text(
            provenance(number),
            content,
            newline=newline,
            ends_with_newline=data.endswith(b"\n"),
            is_empty=not data.removeprefix(b"\xef\xbb\xbf"),
        )
        data += text.encode()
    return data, states


@settings(deadline=None, max_examples=examples(150))
@given(
    RAW,
    st.lists(CONTENTS.filter(str.strip), min_size=1, max_size=5),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
)
def test_marking_and_unmarking_gives_the_same_bytes(
    text: str, contents: list[str], newline: str, has_bom: bool
) -> None:
    """Whatever a note holds: other encodings, open fences, CRLF, a BOM."""
    before = (b"\xef\xbb\xbf" if has_bom else b"") + raw(text)
    data, _ = written(before, contents, newline)

    for entry in entries_in(data):
        marked = with_forgotten(data, {entry.provenance.id}, AT)
        assert [
            one.provenance.id
            for one in entries_in(marked)
            if one.provenance.is_forgotten
        ] == [entry.provenance.id]
        assert len(marked) == len(data) + len(f" forgotten={AT}")
        assert unmark_forgotten(marked, {entry.provenance.id}) == data


@settings(deadline=None, max_examples=examples(150))
@given(
    RAW,
    st.lists(CONTENTS.filter(str.strip), min_size=1, max_size=4),
    st.sampled_from(["\n", "\r\n"]),
)
def test_taking_the_last_entry_out_undoes_its_writing(
    text: str, contents: list[str], newline: str
) -> None:
    """But for the newline that a note without one got."""
    before = raw(text)
    data, states = written(before, contents, newline)
    entries = entries_in(data)
    if len(entries) != len(contents):
        return  # the note's own text takes the comment in, as an open front matter

    for entry, state in reversed(list(zip(entries, states, strict=True))):
        data = without_entries(data, {entry.provenance.id})
        blank = not state.removeprefix(b"\xef\xbb\xbf").strip()
        if blank:
            assert not data.removeprefix(b"\xef\xbb\xbf").strip()
        else:
            assert data in (state, state + newline.encode())


@settings(deadline=None, max_examples=examples(100))
@given(RAW, st.lists(CONTENTS.filter(str.strip), min_size=1, max_size=5), st.data())
def test_what_is_taken_out_is_what_a_search_would_find(
    text: str, contents: list[str], data: st.DataObject
) -> None:
    """Chunks and edits agree on where an entry begins and ends."""
    note, _ = written(raw(text), contents, "\n")
    entries = entries_in(note)
    chunks = parse_note(NOTE, note, limit_chars=800).chunks
    assert [one.provenance for one in entries] == list(
        dict.fromkeys(chunk.provenance for chunk in chunks if chunk.provenance)
    )
    if not entries:
        return
    gone = data.draw(st.sampled_from(entries)).provenance.id

    rest = without_entries(note, {gone})

    kept = [one.content for one in entries if one.provenance.id != gone]
    assert [one.content for one in entries_in(rest)] == kept


def test_a_comment_that_only_looks_like_one_is_left_alone() -> None:
    """Without a blank line above it is text of the entry before."""
    entry = provenance(1)
    fake = provenance(2)
    text = new_entry_text(entry, "real", is_empty=True)
    text += f"<!-- hm id={fake.id} source=agent at={AT} -->\nfake\n"

    assert [one.provenance.id for one in entries_in(text.encode())] == [entry.id]
    assert with_forgotten(text.encode(), {fake.id}, AT) == text.encode()


def test_an_entry_below_an_open_fence_is_an_entry() -> None:
    """As where chunks are cut: a fence that is left open ends with its entry."""
    first, second = provenance(1), provenance(2)
    text = new_entry_text(first, "```\nopen", is_empty=True)
    text += new_entry_text(second, "next")

    rest = without_entries(text.encode(), {first.id}).decode()

    assert rest == new_entry_text(second, "next", is_empty=True)


def test_a_note_of_blank_lines_is_taken_away(tmp_path: Path) -> None:
    """It was made for the entry alone."""
    home = Home(tmp_path)
    entry = home.append("alone")

    edit_note(home.folder, NOTE, lambda data: without_entries(data, {entry.id}))

    assert not (home.notes / NOTE).exists()


def test_a_disk_that_refuses_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The note is as it was; nobody tries ten times."""
    home = Home(tmp_path)
    home.append("one")
    calls = []

    def refuse(*_: object, **__: object) -> None:
        calls.append(1)
        raise NotSavedError("the disk is full.", effect="Nothing was saved")

    monkeypatch.setattr(type(home.folder), "replace", refuse)
    before = home.read()

    with pytest.raises(NotSavedError, match="disk is full"):
        edit_note(home.folder, NOTE, lambda data: data + b"x")

    assert (home.read(), len(calls)) == (before, 1)


def _append_many(path: str, count: int) -> None:
    home = Home(Path(path), clock=[time.time()])
    for number in range(count):
        home.append(f"entry {os.getpid()} {number}")


@pytest.mark.thorough
def test_no_append_is_lost_while_entries_are_taken_out(tmp_path: Path) -> None:
    """Both take the lock of writers."""
    home = Home(tmp_path, clock=[time.time()])
    gone = [home.append(f"gone {number}").id for number in range(30)]
    context = multiprocessing.get_context("spawn")
    writers = [
        context.Process(target=_append_many, args=(str(tmp_path), 40)) for _ in range(2)
    ]
    for writer in writers:
        writer.start()

    for entry_id in gone:
        change_entries(
            home.folder,
            home.journal,
            {NotePath(NOTE): {entry_id}},
            without_entries,
            now_s=home.clock[0],
            final={entry_id},
        )
    for writer in writers:
        writer.join(60)

    assert [writer.exitcode for writer in writers] == [0, 0]
    contents = [entry.content for entry in entries_in(home.read())]
    assert len(contents) == 80
    assert len({one for one in contents if one.startswith("entry")}) == 80
    assert home.recover() == ()
    assert {entry.id for entry in home.journal.entries()}.isdisjoint(gone)
