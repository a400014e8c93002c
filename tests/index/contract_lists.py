"""Contract of the index: lists come a part at a time, and numbers are of all."""

from __future__ import annotations

import random
from collections import Counter

from hivemind_memory.curation.status_names import status_name
from hivemind_memory.index.port import Index
from hivemind_memory.model.filters import Access, SearchFilter
from hivemind_memory.model.listing import RowFilter
from hivemind_memory.model.memories import FORGOTTEN, MemoryRow
from hivemind_memory.model.note_path import NotePath
from hivemind_memory.model.scope import scope_of
from tests.index.steps import OpenIndex, put

TODAY = 20_000  # 2024-10-04
_FOLDERS = ("", "projects/shop/", "projects/shop/deep/", "teams/red/", "inbox/", "Ä b/")
_STATUSES = ("active", "superseded", "pending", "forgotten", "expired", "done")
_TYPES = ("fact", "todo", "decision", "")


class ListsContract:
    """Lists come a part at a time, and numbers are of all."""

    def test_a_part_of_a_list_says_how_many_there_are(
        self, open_index: OpenIndex
    ) -> None:
        """Also behind the last part; free text is in no list of memories."""
        index = open_index()
        for at in range(5):
            created = f"2026-01-0{at + 1}"
            head = f"type: fact\nkey: k{at}\ncreated: {created}"
            put(index, f"m{at}.md", f"---\n{head}\n---\nx\n")
        put(index, "free.md", "free text\n")
        wanted, lists = RowFilter(today=TODAY), index.lists()

        parts = [lists.memory_page(wanted, offset=at, limit=2) for at in (0, 4, 6)]

        paths = [[row.path for row in rows] for rows, _ in parts]
        assert paths == [["m4.md", "m3.md"], ["m0.md"], []]
        assert [count for _, count in parts] == [5, 5, 5]

    def test_lists_are_those_of_all_rows_whatever_changes_here_or_elsewhere(
        self, open_index: OpenIndex
    ) -> None:
        """A list is made by the index, and a model makes it of every row again."""
        chance = random.Random(7)
        writers = [open_index(), open_index()]
        reader = open_index()
        for at in range(120):
            _change(chance.choice([*writers, reader]), chance)
            if at % 4 == 0:
                rows = reader.memories()
                for _ in range(4):
                    _compare_page(reader, rows, chance)
                _compare_counts(reader, rows, chance)
                _compare_folders(reader, rows, chance)

    def test_notes_that_are_not_utf8_and_those_of_inboxes_are_known(
        self, open_index: OpenIndex
    ) -> None:
        """No note has to be read for that."""
        index = open_index()
        put(index, "good.md", "good\n")
        put(index, "bad.md", "bad\n", is_utf8=False)
        put(index, "inbox/claim.md", "a claim\n")
        put(index, "inbox/hidden.md", "---\nforgotten: 2026-01-01\n---\na claim\n")

        assert index.lists().not_utf8() == (["bad.md"], [])
        assert index.lists().pending_notes() == ["inbox/claim.md"]
        put(index, "bad.md", "good now\n")
        assert index.lists().not_utf8() == ([], [])

    def test_of_two_that_contradict_each_other_the_older_is_known(
        self, open_index: OpenIndex
    ) -> None:
        """Each pair once; what is hidden, free text or not there disputes nothing."""
        index, head = open_index(), "type: fact\nkey: {}\ncreated: 2026-01-0{}"
        notes = {
            "a": (1, ""),
            "b": (2, "contradicts: [a]"),
            "c": (1, "contradicts: [d, none]"),
            "d": (3, "contradicts: [c]"),
            "e": (4, "contradicts: [a]\nforgotten: 2026-01-05"),
            "teams/red/f": (5, "contradicts: [b]"),
        }
        for path, (day, more) in notes.items():
            said = head.format(path.rpartition("/")[2], day)
            put(index, f"{path}.md", f"---\n{said}\n{more}\n---\ntext\n")
        put(index, "free.md", "---\ncontradicts: [a]\n---\ntext\n")

        everywhere = index.lists().disputes(None)
        here = index.lists().disputes(frozenset({""}))

        assert {tuple(dispute) for dispute in everywhere} == {
            ("b.md", "a.md", "a.md"),
            ("c.md", "d.md", "c.md"),
            ("teams/red/f.md", "b.md", "b.md"),
        }
        assert [dispute.path for dispute in here] == ["b.md", "c.md"]
        put(index, "b.md", "---\ntype: fact\nkey: b\n---\ntext\n")
        assert len(index.lists().disputes(None)) == 2

    def test_the_newest_are_those_of_now_whoever_has_changed_the_index(
        self, open_index: OpenIndex
    ) -> None:
        """A list that was asked for before is not shown again after a change."""
        reader, writer = open_index(), open_index()
        wanted = SearchFilter(since_day=0)

        def newest() -> tuple[list[str], int]:
            source = reader.hit_source()
            places, count = source.newest_chunks(Access(), wanted, TODAY, limit=2)
            return [place.path for place in places], count

        for at in range(1, 4):
            head = f"type: fact\nkey: k{at}\ncreated: 2026-01-0{at}"
            put(writer, f"m{at}.md", f"---\n{head}\n---\nx\n")
            newest()
        assert newest() == newest() == (["m3.md", "m2.md"], 3)
        put(reader, "m2.md", "---\ntype: fact\ncreated: 2026-01-09\n---\nx\n")
        assert newest() == (["m2.md", "m3.md"], 3)
        writer.remove([NotePath("m3.md")])
        assert newest() == (["m2.md", "m1.md"], 2)

    def test_bodies_are_those_of_one_note_in_its_order(
        self, open_index: OpenIndex
    ) -> None:
        """Without the comment that says who wrote an entry."""
        index = open_index()
        entry = "<!-- hm id=01JD3Y7Q8Z5X4W3V2T1S0R9QP1 source=human at=2026-11-21 -->"
        put(index, "a.md", f"# A\n\none\n\n\n{entry}\ntwo\n")
        put(index, "b.md", "# B\n\nthree\n")

        bodies = index.hit_source().bodies("a.md")

        assert bodies == [(1, 5, "# A\n\none"), (6, 7, "two")]
        assert index.hit_source().bodies("none.md") == []

    def test_titles_of_some_notes_are_those_of_all(self, open_index: OpenIndex) -> None:
        """A page of a list asks for no other."""
        index = open_index()
        for name in ("a", "b", "c's"):
            put(index, f"{name}.md", f"# Title of {name}\n\ntext\n")
        source = index.hit_source()

        assert source.titles(["c's.md", "a.md", "none.md"]) == {
            "a.md": "Title of a",
            "c's.md": "Title of c's",
        }
        assert source.titles([]) == {}
        assert len(source.titles()) == 3


def _change(index: Index, chance: random.Random) -> None:
    """Put a note in, replace it or remove it."""
    path = f"{chance.choice(_FOLDERS)}n{chance.randrange(12)}.md"
    if chance.random() < 0.2:
        index.remove([NotePath(path)])
        return
    day = f"2024-10-{chance.randrange(1, 9):02}"
    head = {
        "type": chance.choice(_TYPES),
        "key": f"k{chance.randrange(5)}",
        "created": chance.choice([f"{day}T09:00:00+02:00", day, ""]),
        "source": chance.choice(["human", "agent", ""]),
        "id": chance.choice(["", f"01JD{chance.randrange(9):022d}"]),
        chance.choice(["expires", "done", "x"]): day,
        chance.choice(["superseded_by", *"xxx"]): "other",
        chance.choice(["forgotten", *"yyyyy"]): day,
    }
    lines = "\n".join(f"{name}: {text}" for name, text in head.items() if text)
    put(index, path, f"---\n{lines}\n---\ntext {chance.random()}\n")


def _compare_page(index: Index, rows: list[MemoryRow], chance: random.Random) -> None:
    """Compare a part of a list with the same part of all rows that fit."""
    wanted = RowFilter(
        today=TODAY,
        scopes=chance.choice(
            [None, frozenset({"", "teams/red"}), frozenset({"projects/shop"})]
        ),
        types=frozenset(chance.sample(_TYPES[:3], chance.choice([0, 0, 1, 2]))),
        statuses=tuple(chance.sample(_STATUSES, chance.randrange(1, 7))),
        source=chance.choice(["", "", "human"]),
        folder=chance.choice(["", "", "projects/shop", "projects"]),
        first_day=chance.choice(["", "2024-10-04"]),
    )
    offset, limit = chance.randrange(6), chance.choice([None, 1, 5])

    found = index.lists().memory_page(wanted, offset=offset, limit=limit)

    fitting = [
        row
        for row in rows
        if row.type
        and (not wanted.types or row.type in wanted.types)
        and (wanted.scopes is None or row.scope in wanted.scopes)
        and status_name(row, TODAY) in wanted.statuses
        and wanted.source in ("", row.source)
        and (not wanted.folder or row.path.startswith(f"{wanted.folder}/"))
        and row.created >= wanted.first_day
    ]
    end = None if limit is None else offset + limit
    assert found == (fitting[offset:end], len(fitting)), wanted


def _compare_counts(index: Index, rows: list[MemoryRow], chance: random.Random) -> None:
    """Compare the numbers of memories with those of all rows."""
    values = {
        "scope": lambda row: row.scope,
        "type": lambda row: row.type,
        "status": lambda row: row.status,
        "source": lambda row: row.source,
        "day": lambda row: row.created[:10],
    }
    fields = chance.sample(list(values), chance.randrange(1, 5))
    for scopes in (None, frozenset({"teams/red"})):
        expected = Counter(
            tuple(values[field](row) for field in fields)
            for row in rows
            if scopes is None or row.scope in scopes
        )
        assert index.lists().count_memories(*fields, scopes=scopes) == expected


def _compare_folders(
    index: Index, rows: list[MemoryRow], chance: random.Random
) -> None:
    """Compare folders and their notes with all that is indexed."""
    hidden = {row.path for row in rows if row.status == FORGOTTEN}
    for scopes in (None, frozenset({"", "projects/shop"})):
        shown = sorted(
            path
            for path in index.files().signatures
            if path not in hidden and (scopes is None or scope_of(path) in scopes)
        )
        folders = Counter(path.rpartition("/")[0] for path in shown)
        assert index.lists().count_by_folder(scopes) == folders
        folder = chance.choice(_FOLDERS).removesuffix("/")
        here = [path for path in shown if path.rpartition("/")[0] == folder]
        found = index.lists().notes_in(folder, scopes, 3)
        assert [note.path for note in found] == here[:3]
        found = index.lists().notes_in(folder, scopes, 2, 1)
        assert [note.path for note in found] == here[1:3]
    found = index.lists().note_rows()
    assert {note.path for note in found} == set(index.files().signatures)
