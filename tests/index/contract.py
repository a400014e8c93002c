"""What every engine of the index must do, said through the port alone.

A test module makes a subclass of ``IndexContract`` for its engine, with a fixture
``open_index`` that returns a function: each call opens the same index once more, as
another process would.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable

from hivemind_memory.access.rules import Caller, access_of
from hivemind_memory.index.port import FileRecord, Index, IndexView
from hivemind_memory.markdown.note_parser import parse_note
from hivemind_memory.markdown.subchunks import text_hash
from hivemind_memory.model.filters import SearchFilter
from hivemind_memory.model.note_path import NotePath
from hivemind_memory.model.scope import scope_of
from hivemind_memory.model.terms import QueryTerm
from hivemind_memory.notes.memory_header import header_of
from hivemind_memory.providers.vectors import pack
from hivemind_memory.testing import hash_text

OpenIndex = Callable[[], Index]
SPACE = "a space"
TODAY = 20_000


def put(index: Index, path: str, text: str) -> int:
    """Index a note as a sync does; return the chunks written."""
    name = NotePath(path)
    note = parse_note(name, text.encode(), limit_chars=800)
    bodies = (chunk.body for chunk in note.chunks)
    record = FileRecord(
        signature=(1, 2, len(text), 4),
        digest=hashlib.sha256(text.encode()).hexdigest(),
        is_settled=True,
        day=TODAY - 10,
        scope=scope_of(path),
        header=header_of(name, note.front_matter, bodies, {}),
    )
    return index.replace([(note, record)])


def found(view: IndexView, *words: str) -> list[str]:
    """Return the notes in which a view finds any of the words."""
    matches = view.find_words([QueryTerm(word) for word in words], limit=100)
    return sorted(one.place.path for one in matches.candidates)


def vector(text: str) -> bytes:
    return pack(hash_text(text))


def fill(index: Index) -> list[str]:
    """Store a vector for every text that has none; return the texts."""
    store, texts = index.vector_store(), []
    while pending := store.pending_texts(SPACE, 3):
        texts += [text for _, text in pending]
        store.store(SPACE, 64, {name: vector(text) for name, text in pending})
    return texts


class IndexContract:
    """Run against one engine by a subclass."""

    # -- notes -----------------------------------------------------------------

    def test_a_note_goes_in_and_every_process_finds_it(
        self, open_index: OpenIndex
    ) -> None:
        writer, reader = open_index(), open_index()

        text = "# Ports\n\npostgres listens on 5433\n"
        written = put(writer, "a.md", text)

        assert written == writer.count_chunks() == 1
        assert reader.chunk_counts() == {"a.md": 1}
        assert reader.files().signatures == {"a.md": (1, 2, len(text), 4)}
        assert found(reader.view(), "postgres") == ["a.md"]

    def test_a_note_is_replaced_as_a_whole(self, open_index: OpenIndex) -> None:
        index = open_index()
        put(index, "a.md", "the old text\n")

        put(index, "a.md", "another one\n")

        assert found(index.view(), "old") == []
        assert found(index.view(), "another") == ["a.md"]
        assert index.digest_of(NotePath("a.md")) != ""

    def test_a_removed_note_is_gone(self, open_index: OpenIndex) -> None:
        index = open_index()
        put(index, "a.md", "some text\n")

        index.remove([NotePath("a.md")])

        assert found(index.view(), "text") == []
        assert not index.files().signatures
        assert not index.has_unfinished()
        assert index.digest_of(NotePath("a.md")) == ""

    def test_a_touched_note_has_its_new_signature(self, open_index: OpenIndex) -> None:
        index = open_index()
        put(index, "a.md", "some text\n")
        digest = index.digest_of(NotePath("a.md"))
        signature = (5, 6, 7, 8)

        index.touch(NotePath("a.md"), signature, digest=digest, is_settled=False)
        index.touch(NotePath("a.md"), (9, 9, 9, 9), digest="other", is_settled=True)

        assert index.files().signatures == {"a.md": (5, 6, 7, 8)}
        assert index.files().unsettled == {"a.md"}

    def test_a_write_can_be_refused_inside_its_transaction(
        self, open_index: OpenIndex
    ) -> None:
        index = open_index()
        put(index, "a.md", "some text\n")
        asked = []

        def refuse(path: NotePath, signature: object, digest: str) -> bool:
            asked.append((path, signature, bool(digest)))
            return False

        index.remove([NotePath("a.md"), NotePath("b.md")], refuse)

        assert asked == [("a.md", (1, 2, 10, 4), True), ("b.md", None, False)]
        assert found(index.view(), "text") == ["a.md"]
        assert not index.has_unfinished()

    def test_every_note_can_be_marked_stale(self, open_index: OpenIndex) -> None:
        index = open_index()
        put(index, "a.md", "some text\n")

        index.mark_all_stale()

        assert index.files().unsettled == {"a.md"}
        assert index.digest_of(NotePath("a.md")) == ""

    def test_any_change_to_a_note_drops_the_digest_of_a_scan(
        self, open_index: OpenIndex
    ) -> None:
        """What a search concludes from it would be wrong."""
        index, other = open_index(), open_index()
        name = NotePath("a.md")
        left = {}
        for change, make in {
            "a note put in": lambda: put(other, "b.md", "more\n"),
            "a note replaced": lambda: put(other, "a.md", "other text\n"),
            "a large note": lambda: put(other, "c.md", "# h\n\ntext\n\n" * 1_200),
            "touched": lambda: other.touch(
                name, (5, 6, 7, 8), digest=other.digest_of(name), is_settled=False
            ),
            "removed": lambda: other.remove([name]),
            "all stale": other.mark_all_stale,
        }.items():
            put(index, "a.md", "some text\n")
            index.record_scan(index.version(), "digest")
            assert other.scan_digest() == "digest", change

            make()

            left[change] = index.scan_digest()

        assert set(left.values()) == {""}

    def test_the_digest_of_a_scan_is_refused_once_the_index_has_changed(
        self, open_index: OpenIndex
    ) -> None:
        """The scan was compared with what it held before."""
        index, other = open_index(), open_index()
        put(index, "a.md", "some text\n")
        version = index.version()
        put(other, "a.md", "other text\n")

        index.record_scan(version, "digest")

        assert index.scan_digest() == ""
        assert index.version() is not version

    def test_recording_a_scan_is_no_change_of_what_was_read(
        self, open_index: OpenIndex
    ) -> None:
        """Else the answer after it would look again."""
        index, other = open_index(), open_index()
        put(index, "a.md", "some text\n")
        version, files = index.version(), index.files()

        index.record_scan(version, "digest")

        assert index.version() is version
        assert index.files() is files
        put(other, "b.md", "more\n")
        assert index.version() is not version

    def test_a_snapshot_sees_one_state(self, open_index: OpenIndex) -> None:
        reader, writer = open_index(), open_index()
        put(writer, "a.md", "some text\n")

        with reader.snapshot():
            before = found(reader.view(), "text")
            put(writer, "b.md", "more text\n")
            during = found(reader.view(), "text")

        assert before == during == ["a.md"]
        assert found(reader.view(), "text") == ["a.md", "b.md"]

    # -- words -----------------------------------------------------------------

    def test_words_are_counted_over_all_chunks(self, open_index: OpenIndex) -> None:
        index = open_index()
        put(index, "a.md", "deployed on Tuesdays\n")
        put(index, "b.md", "we deploy by hand\n")

        matches = index.view().find_words(
            [QueryTerm("deploy"), QueryTerm("nowhere")], limit=10
        )

        assert [(one.text, one.chunks) for one in matches.asked] == [
            ("deploy", 2),
            ("nowhere", 0),
        ]
        assert matches.chunk_count == len(matches.candidates) == 2

    def test_a_place_and_a_text_belong_to_each_chunk(
        self, open_index: OpenIndex
    ) -> None:
        index = open_index()
        put(index, "a.md", "# Ports\n\npostgres listens on 5433\n")
        [candidate] = (
            index.view().find_words([QueryTerm("postgres")], limit=1).candidates
        )
        chunk = candidate.place.chunk_id

        assert index.chunk_locations([chunk, 10**9]) == {chunk: candidate.place}
        text, headings = index.texts([chunk])[chunk]
        assert ("postgres listens on 5433" in text, headings) == (True, "Ports")

    def test_the_better_match_comes_first(self, open_index: OpenIndex) -> None:
        """Whatever the order in which notes were indexed."""
        index = open_index()
        texts = {
            "both.md": "postgres port\n",
            "long.md": f"port {'and many other words ' * 20}\n",
            "short.md": "port\n",
        }
        for path in ("long.md", "both.md", "short.md"):
            put(index, path, texts[path])
        terms = [QueryTerm("postgres"), QueryTerm("port")]

        candidates = index.view().find_words(terms, limit=9).candidates

        assert [one.place.path for one in candidates] == [
            *("both.md", "short.md", "long.md"),
        ]
        for path in ("short.md", "long.md", "both.md"):
            put(index, path, f"{texts[path]}\n")
        again = index.view().find_words(terms, limit=9).candidates
        assert [one.place.path for one in again] == [
            *("both.md", "short.md", "long.md"),
        ]

    def test_ties_at_the_limit_are_decided_by_path_and_line(
        self, open_index: OpenIndex
    ) -> None:
        """Not by the order in which notes were indexed, which a rebuild changes."""
        index = open_index()
        for name in ("e", "b", "d", "a", "c"):
            put(index, f"{name}.md", "# Port\n\nkettle\n")
        put(index, "z.md", "# Port\n\nkettle kettle kettle\n")
        fill(index)

        words = index.view().find_words([QueryTerm("kettle")], limit=4)
        vectors = index.view().find_vectors(SPACE, vector("other"), limit=3, also=())

        assert [one.place.path for one in words.candidates] == [
            *("z.md", "a.md", "b.md", "c.md"),
        ]
        assert vectors is not None
        by_chunk = {
            one.place.chunk_id: one.place.path
            for one in index.view()
            .find_words([QueryTerm("kettle")], limit=9)
            .candidates
        }
        near = {by_chunk[chunk] for chunk in vectors.cosines} - {"z.md"}
        assert near in ({"a.md", "b.md"}, {"a.md", "b.md", "c.md"})

    def test_the_vocabulary_knows_longer_words(self, open_index: OpenIndex) -> None:
        index = open_index()
        put(index, "a.md", "the harbourmaster waits\n")
        words = index.view().vocabulary()

        for part, anywhere in (("harbour", False), ("bourm", True)):
            [longer] = words.longer_words(part, limit=5, anywhere=anywhere)
            assert found(index.view(), longer) == ["a.md"]
        assert words.longer_words("bourm", limit=5, anywhere=False) == []
        assert words.shortest_spelling("wait") == "waits"
        assert ("the", 1) in words.all()

    # -- vectors ---------------------------------------------------------------

    def test_every_text_gets_a_vector_once(self, open_index: OpenIndex) -> None:
        index = open_index()
        put(index, "a.md", "- one item\n- another item\n")
        put(index, "b.md", "one item\n")
        store = index.vector_store()
        assert store.count_pending_chunks(SPACE) == 2

        texts = fill(index)

        assert sorted(texts) == sorted(set(texts))
        assert store.count_pending(SPACE) == store.count_pending_chunks(SPACE) == 0
        assert (store.count_vectors(SPACE), store.dims(SPACE)) == (2, 64)
        assert (index.spaces(), index.fingerprints()) == ({SPACE: 2}, [SPACE])

    def test_the_cache_outlives_the_note(self, open_index: OpenIndex) -> None:
        index = open_index()
        put(index, "a.md", "the same text\n")
        fill(index)
        index.remove([NotePath("a.md")])

        put(index, "b.md", "the same text\n")

        name = text_hash("the same text")
        assert index.vector_store().cached(SPACE, [name]) == {
            name: vector("the same text")
        }
        assert fill(index) == []

    def test_the_nearest_vector_is_found(self, open_index: OpenIndex) -> None:
        index = open_index()
        for number in range(9):
            put(index, f"{number}.md", f"number {number} alone\n")
        fill(index)

        matches = index.view().find_vectors(
            SPACE, vector("number 7 alone"), limit=1, also=()
        )

        assert matches is not None
        [(chunk, cosine)] = matches.cosines.items()
        assert index.chunk_locations([chunk])[chunk].path == "7.md"
        assert (round(cosine, 5), matches.chunk_count) == (1, 9)
        assert index.view().find_vectors("other", vector("x"), limit=1, also=()) is None

    # -- filters and visibility ------------------------------------------------

    def test_a_filter_narrows_what_is_found(self, open_index: OpenIndex) -> None:
        index = open_index()
        put(index, "free.md", "some text\n")
        put(index, "fact.md", "---\ntype: fact\n---\nsome text\n")
        put(index, "over.md", "---\ntype: fact\nexpires: 2020-01-01\n---\nsome text\n")
        put(index, "inbox/claim.md", "---\ntype: fact\n---\nsome text\n")
        put(index, "projects/shop/a.md", "some text\n")

        def under(**asked: object) -> list[str]:
            return found(index.view(None, SearchFilter(**asked), TODAY), "text")

        assert under() == ["fact.md", "free.md", "projects/shop/a.md"]
        assert under(types=("fact",)) == ["fact.md"]
        assert under(scope="projects/shop") == ["projects/shop/a.md"]
        assert "over.md" in under(has_expired=True)
        assert "inbox/claim.md" in under(has_pending=True)
        assert under(since_day=TODAY) == under(until_day=TODAY - 11) == []

    def test_hidden_notes_are_in_no_figure(self, open_index: OpenIndex) -> None:
        whole, visible = open_index(), Caller(project="projects/shop")
        put(whole, "projects/shop/a.md", "the kettle boils\n")
        put(whole, "projects/site/b.md", "the kettle whistles xylophone\n")
        fill(whole)
        view = whole.view(access_of(visible, frozenset()))

        matches = view.find_words(
            [QueryTerm("kettle"), QueryTerm("xylophone")], limit=9
        )
        vectors = view.find_vectors(SPACE, vector("kettle"), limit=9, also=())

        assert [one.place.path for one in matches.candidates] == ["projects/shop/a.md"]
        assert [one.chunks for one in matches.asked] == [1, 0]
        assert matches.chunk_count == 1
        assert vectors is not None
        assert (vectors.chunk_count, len(vectors.cosines)) == (1, 1)
        assert not view.vocabulary().is_seen("xylophon")
        assert view.pending_chunks(SPACE) == 0

    def test_a_visitor_finds_what_is_public(self, open_index: OpenIndex) -> None:
        index = open_index()
        put(index, "open.md", "some text\n")
        put(index, "closed.md", "---\nvisibility: private\n---\nsome text\n")
        put(index, "projects/shop/inherits.md", "some text\n")
        put(index, "projects/shop/says.md", "---\nvisibility: public\n---\nsome text\n")
        visitor = Caller(project="projects/shop", is_member=False)

        view = index.view(access_of(visitor, frozenset({"projects/shop"})))

        assert found(view, "text") == ["open.md", "projects/shop/says.md"]

    # -- memories and edges ----------------------------------------------------

    def test_memories_are_found_by_what_they_say(self, open_index: OpenIndex) -> None:
        index = open_index()
        put(index, "a.md", "---\ntype: fact\nkey: port\ncreated: 2026-01-01\n---\na\n")
        put(index, "b.md", "---\ntype: fact\nkey: host\ncreated: 2026-01-02\n---\nb\n")
        put(index, "free.md", "free text\n")

        assert [row.path for row in index.memories()] == ["b.md", "a.md"]
        assert [row.path for row in index.memories(key="port")] == ["a.md"]
        assert index.memories(scopes=frozenset({"teams/red"})) == []
        assert [row.key for row in index.memories(path="a.md")] == ["port"]

    def test_a_ref_is_an_id_a_key_a_path_or_a_name(self, open_index: OpenIndex) -> None:
        index = open_index()
        memory_id = "01JD0000000000000000000000"
        put(index, "deep/a.md", f"---\nid: {memory_id}\ntype: fact\nkey: k\n---\nx\n")

        for ref in (memory_id, "k", "deep/a.md", "deep/a", "a"):
            row = index.resolve_ref(ref, scopes=None)
            assert row is not None, ref
            assert row.path == "deep/a.md"
        assert index.resolve_ref("k", scopes=frozenset({"teams/red"})) is None

    def test_edges_are_seen_from_both_ends(self, open_index: OpenIndex) -> None:
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
        index = open_index()
        entry = "01JD0000000000000000000000"
        head = f"<!-- hm id={entry} by=x at=2026-01-02T03:04:05+01:00 source=agent -->"
        put(index, "a.md", f"{head}\nsome text\n")

        assert index.entry_path(entry, None) == "a.md"
        assert index.entry_path(entry, frozenset({"teams/red"})) == ""

    # -- the rest --------------------------------------------------------------

    def test_meta_is_shared(self, open_index: OpenIndex) -> None:
        one, other = open_index(), open_index()

        one.set_meta("chunking", "800/80")

        assert other.get_meta("chunking") == "800/80"
        assert other.get_meta("nothing") == ""

    def test_a_new_index_is_sound_and_still_there(self, open_index: OpenIndex) -> None:
        index = open_index()
        put(index, "a.md", "some text\n")

        assert index.is_still_there()
        assert [problem for _, problem in index.check() if problem] == []
