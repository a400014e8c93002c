"""Contract of the index: notes go in, are replaced, and every process sees the same."""

from __future__ import annotations

from hivemind_memory.index.port import TouchedNote
from hivemind_memory.model.note_path import NotePath
from tests.index.steps import OpenIndex, found, put


class NotesContract:
    """Notes go in, are replaced, and every process sees the same."""

    def test_a_note_goes_in_and_every_process_finds_it(
        self, open_index: OpenIndex
    ) -> None:
        """What one process has indexed, no other needs to index again."""
        writer, reader = open_index(), open_index()

        text = "# Ports\n\npostgres listens on 5433\n"
        written = put(writer, "a.md", text)

        assert written == writer.count_chunks() == 1
        assert [note.chunk_count for note in reader.lists().note_rows()] == [1]
        assert reader.files().signatures == {"a.md": (1, 2, len(text), 4)}
        assert found(reader.view(), "postgres") == ["a.md"]

    def test_a_note_is_replaced_as_a_whole(self, open_index: OpenIndex) -> None:
        """No chunk of the earlier text may be found."""
        index = open_index()
        put(index, "a.md", "the old text\n")

        put(index, "a.md", "another one\n")

        assert found(index.view(), "old") == []
        assert found(index.view(), "another") == ["a.md"]
        assert index.notes_at([NotePath("a.md")])[NotePath("a.md")].digest != ""

    def test_a_removed_note_is_gone(self, open_index: OpenIndex) -> None:
        """From the words, the list of files and the digests alike."""
        index = open_index()
        put(index, "a.md", "some text\n")

        index.remove([NotePath("a.md")])

        assert found(index.view(), "text") == []
        assert not index.files().signatures
        assert not index.has_unfinished()
        assert index.notes_at([NotePath("a.md")]) == {}

    def test_a_touched_note_has_its_new_signature(self, open_index: OpenIndex) -> None:
        """Only if it is the text that was indexed: another digest changes nothing."""
        index = open_index()
        put(index, "a.md", "some text\n")
        path = NotePath("a.md")
        digest = index.notes_at([path])[path].digest

        index.touch([TouchedNote(path, (5, 6, 7, 8), digest, is_settled=False)])
        index.touch([TouchedNote(path, (9, 9, 9, 9), "other", is_settled=True)])

        assert index.files().signatures == {"a.md": (5, 6, 7, 8)}
        assert index.files().unsettled == {"a.md"}

    def test_a_write_can_be_refused_inside_its_transaction(
        self, open_index: OpenIndex
    ) -> None:
        """Another process may have indexed a newer text since the caller looked."""
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
        """New rules apply to notes that did not change."""
        index = open_index()
        put(index, "a.md", "some text\n")

        index.mark_stale()

        assert index.files().unsettled == {"a.md"}
        assert index.notes_at([NotePath("a.md")])[NotePath("a.md")].digest == ""

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
                [
                    TouchedNote(
                        name, (5, 6, 7, 8), other.notes_at([name])[name].digest, False
                    )
                ]
            ),
            "removed": lambda: other.remove([name]),
            "all stale": other.mark_stale,
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
        """An answer never mixes what was before a write with what came after."""
        reader, writer = open_index(), open_index()
        put(writer, "a.md", "some text\n")

        with reader.snapshot():
            before = found(reader.view(), "text")
            put(writer, "b.md", "more text\n")
            during = found(reader.view(), "text")

        assert before == during == ["a.md"]
        assert found(reader.view(), "text") == ["a.md", "b.md"]
