"""Contract of the index: vectors are stored once and found by nearness."""

from __future__ import annotations

from hivemind_memory.markdown.subchunks import text_hash
from hivemind_memory.model.note_path import NotePath
from tests.index.steps import SPACE, OpenIndex, fill, put, vector


class VectorsContract:
    """Vectors are stored once and found by nearness."""

    def test_every_text_gets_a_vector_once(self, open_index: OpenIndex) -> None:
        """A provider is paid by the text."""
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
        """A note that is moved costs nothing."""
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
        """And a space that has no vectors answers None, so the words answer alone."""
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

    def test_ties_of_vectors_are_decided_by_path_and_line(
        self, open_index: OpenIndex
    ) -> None:
        """As those of words are."""
        index = open_index()
        for name in ("e", "b", "d", "a", "c"):
            put(index, f"{name}.md", "# Port\n\nkettle\n")
        fill(index)

        matches = index.view().find_vectors(SPACE, vector("other"), limit=3, also=())

        assert matches is not None
        places = index.chunk_locations(list(matches.cosines))
        found = sorted(one.path for one in places.values())
        assert found == ["a.md", "b.md", "c.md"]
