"""Contract of the index: memories, entries and edges are found by their names."""

from __future__ import annotations

from hivemind_memory.access.rules import Caller, access_of
from tests.index.steps import OpenIndex, put


class MemoriesContract:
    """Memories, entries and edges are found by their names."""

    def test_memories_are_found_by_what_they_say(self, open_index: OpenIndex) -> None:
        """Newest first; a note without a type is no memory."""
        index = open_index()
        put(index, "a.md", "---\ntype: fact\nkey: port\ncreated: 2026-01-01\n---\na\n")
        put(index, "b.md", "---\ntype: fact\nkey: host\ncreated: 2026-01-02\n---\nb\n")
        put(index, "free.md", "free text\n")

        assert [row.path for row in index.memories()] == ["b.md", "a.md"]
        assert [row.path for row in index.memories(key="port")] == ["a.md"]
        assert index.memories(scopes=frozenset({"teams/red"})) == []
        assert [row.key for row in index.memories(path="a.md")] == ["port"]

    def test_a_ref_is_an_id_a_key_a_path_or_a_name(self, open_index: OpenIndex) -> None:
        """People and agents name a memory in any of these ways."""
        index = open_index()
        memory_id = "01JD0000000000000000000000"
        put(index, "deep/a.md", f"---\nid: {memory_id}\ntype: fact\nkey: k\n---\nx\n")

        for ref in (memory_id, "k", "deep/a.md", "deep/a", "a"):
            row = index.resolve_ref(ref, scopes=None)
            assert row is not None, ref
            assert row.path == "deep/a.md"
        assert index.resolve_ref("k", scopes=frozenset({"teams/red"})) is None

    def test_edges_are_seen_from_both_ends(self, open_index: OpenIndex) -> None:
        """A superseded memory says by what."""
        index = open_index()
        put(index, "old.md", "---\ntype: fact\nkey: old\n---\nx\n")
        put(index, "new.md", "---\ntype: fact\nkey: new\nsupersedes: old\n---\ny\n")

        [edge] = index.edges_of("new.md", scopes=None)

        ends = ("new.md", "old.md")
        assert (edge.from_path, edge.to_path) == ends
        [same] = index.edges_of("old.md", scopes=None)
        assert (same.kind, same.from_path, same.to_path) == (edge.kind, *ends)
        assert index.has_strong_edges()
        everything = access_of(Caller(is_owner=True), frozenset())
        assert index.strong_edges(["new.md"], everything) == [
            ("new.md", edge.kind, "old.md")
        ]

    def test_an_entry_is_found_by_its_id(self, open_index: OpenIndex) -> None:
        """The id is all that a receipt names."""
        index = open_index()
        entry = "01JD0000000000000000000000"
        head = f"<!-- hm id={entry} by=x at=2026-01-02T03:04:05+01:00 source=agent -->"
        put(index, "a.md", f"{head}\nsome text\n")

        assert index.entry_path(entry, None) == "a.md"
        assert index.entry_path(entry, frozenset({"teams/red"})) == ""
