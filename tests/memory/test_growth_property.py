"""Hostile notes that grow byte by byte have the rows of an index made from nothing."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hivemind_memory.files.folder import NotesFolder
from hivemind_memory.index.sqlite.index import SqliteIndex
from hivemind_memory.markdown import blocks
from hivemind_memory.memory.note_indexer import ChunkSettings
from hivemind_memory.memory.sync import Syncer
from hivemind_memory.sqlite.connection import IN_MEMORY
from tests.support.sandbox import TABLES, Rows
from tests.support.tiers import examples

ID = "01JDK3R8Z6000000000000000"
COMMENTS = [
    f"<!-- hm id={ID}{digit} source={source} at=2026-11-2{digit}T14:03:11+01:00 -->"
    for digit, source in enumerate(["agent", "human", "https://a.org", "external"])
]
COMMENTS += [
    COMMENTS[0].replace(" at=", " tags=red,blue at="),
    COMMENTS[1].replace(" at=", " ref=a/b.md at="),
    COMMENTS[2].replace(" -->", " forgotten=yes -->"),
]
ENTRIES = [f"\n\n{comment}\n" for comment in COMMENTS]
FRAGMENTS = [
    *ENTRIES,
    *ENTRIES,
    *COMMENTS,
    *(f"\r\n\r\n{comment}\r\n" for comment in COMMENTS[:2]),
    *("# One", "## Two", "### Three", "#### Four", "#", "===", "---", "***"),
    *(
        "```",
        "~~~",
        "````py",
        "    code",
        "\t",
        "> ",
        "- ",
        "1. ",
        "| a | b |",
        "|-|-|",
    ),
    *("<!--", "-->", "<!-- hm ", "<!-- [[hidden]] -->", "<div>", "</div>", "<pre>"),
    *("[[egret]]", "[[ibis|the ibis]]", "![[stork#nest]]", "[[", "]]", "[[a-", "z]]"),
    *("[a]: ./b.md", "[a]: [[c]].md", "[1]: https://a.org 'x'", "[^1]: [[foot]]"),
    *("password: hunter2hunter2", "AKIAIOSFODNN7EXAMPLE", "token = [[tok]]abc123XYZ9"),
    *(
        "-----BEGIN PRIVATE KEY-----",
        "-----END PRIVATE KEY-----",
        "Zm9vYmFyYmF6cXV1eA==",
    ),
    *(
        "the heron stands in the reeds ",
        "a word " * 20,
        "x" * 130,
        "C++ snake_case v1.2",
    ),
    *("café", "日本語の文", "😀", "\x00", "\x0c", "\u2028", "\ufeff", "\r", "\\", "`"),
]
JOINTS = ["\n", "\n", "\n", "\n\n", "\n\n\n", "\r\n", " ", ""]
BEGINNINGS = [
    "",
    "",
    "",
    "# Day\n\n",
    "\ufeff",
    "---\ntitle: t\n---\n",
    "---\nbroken",
    "--",
]


STEADY = "".join(
    f"{entry}The heron stands {entry[10:12]} in the reeds." for entry in ENTRIES
)
"""Entries that stay as they are: enough for some blocks."""


@st.composite
def growing(draw: st.DrawFn) -> list[bytes]:
    """Return what a note holds, one time after the other."""
    begin = draw(st.sampled_from(BEGINNINGS)) + STEADY[draw(st.integers(0, 400)) :]
    piece = st.tuples(st.sampled_from(FRAGMENTS), st.sampled_from(JOINTS))
    pieces = draw(st.lists(piece, min_size=4, max_size=30))
    data = begin.encode() + "".join(map("".join, pieces)).encode()
    if draw(st.integers(0, 9)) == 0:
        at = draw(st.integers(0, len(data)))
        broken = draw(st.sampled_from([b"\xff", b"\xe2\x82", b"\xc3"]))
        data = data[:at] + broken + data[at:]
    if draw(st.booleans()):
        ends = st.integers(len(begin.encode()), len(data))
        held = [
            data[:end] for end in sorted(draw(st.lists(ends, min_size=2, max_size=6)))
        ]
    else:
        held = [begin.encode()]
        for step in pieces:
            held.append(held[-1] + "".join(step).encode())
        held = held[-draw(st.integers(2, 8)) :]
    if draw(st.integers(0, 4)) == 0:
        at = draw(st.integers(0, len(held) - 1))
        place = draw(st.integers(0, len(held[at])))
        held.insert(at, held[at][:place] + b"[[other]]" + held[at][place + 9 :])
    return held


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks so short that short notes have many."""
    monkeypatch.setattr(blocks, "BLOCK_CHARS", 150)


def rows_in(index: SqliteIndex) -> dict[str, Rows]:
    """Return everything that an index holds of the notes but their signatures."""
    return {
        name: list(index.connection.execute(sql))
        for name, sql in TABLES.items()
        if name != "signatures"
    }


def sync_all(index: SqliteIndex, notes: Path) -> None:
    """Index what has changed, as a process does that has read nothing before."""
    Syncer(
        NotesFolder(str(notes)),
        str(notes.parent / "journal"),
        ChunkSettings(limit_chars=120, overlap_chars=30),
        time.time,
    ).sync(index)


@settings(
    max_examples=examples(40),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(held=growing())
def test_a_note_that_grows_has_the_rows_of_an_index_made_from_nothing(
    tmp_path: Path, small_blocks: None, held: list[bytes]
) -> None:
    """Wherever the bytes end meanwhile: in a link, a comment, a letter or a fence."""
    notes = tmp_path / "memory"
    notes.mkdir(exist_ok=True)
    note = notes / "day.md"
    note.unlink(missing_ok=True)
    grown = SqliteIndex(IN_MEMORY, now=time.time)
    for data in held:
        note.write_bytes(data)
        sync_all(grown, notes)
        fresh = SqliteIndex(IN_MEMORY, now=time.time)
        sync_all(fresh, notes)
        assert rows_in(grown) == rows_in(fresh)
        fresh.close()
    grown.close()
