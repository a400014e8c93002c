"""Contract of the index: words are found, counted and ranked."""

from __future__ import annotations

from hivemind_memory.model.terms import QueryTerm
from tests.index.steps import OpenIndex, found, put


class WordsContract:
    """Words are found, counted and ranked."""

    def test_words_are_counted_over_all_chunks(self, open_index: OpenIndex) -> None:
        """In how many chunks a word stands decides what it weighs."""
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

    def test_a_question_with_an_unknown_word_is_only_tried(
        self, open_index: OpenIndex
    ) -> None:
        """The caller looks other words up instead, and the search would be wasted."""
        index = open_index()
        put(index, "a.md", "we deploy by hand\n")
        terms = [QueryTerm("deploy"), QueryTerm("nowhere")]

        tried = index.view().find_words(terms, limit=10, only_if_all_known=True)

        assert [(one.text, one.chunks) for one in tried.asked] == [
            ("deploy", 1),
            ("nowhere", 0),
        ]
        assert not tried.candidates
        known = index.view().find_words(terms[:1], limit=10, only_if_all_known=True)
        assert known.candidates

    def test_a_word_and_its_other_forms_are_counted_together(
        self, open_index: OpenIndex
    ) -> None:
        """As one term, whichever of them a chunk holds."""
        index = open_index()
        put(index, "a.md", "we went, and went home\n")
        put(index, "b.md", "they go and went\n")
        put(index, "c.md", "home again\n")
        terms = [QueryTerm("go", forms=("went", "gone", "goes")), QueryTerm("home")]

        matches = index.view().find_words(terms, limit=10)

        [go, home] = matches.known
        assert (go.chunks, home.chunks) == (3, 2)
        assert [form.text for form in go.forms] == ["went"]
        counts = {one.place.path: one.counts for one in matches.candidates}
        assert counts["a.md"] == [(2, 0), (1, 0)]
        assert counts["b.md"] == [(2, 0), (0, 0)]
        assert counts["c.md"] == [(0, 0), (1, 0)]

    def test_a_place_and_a_text_belong_to_each_chunk(
        self, open_index: OpenIndex
    ) -> None:
        """A hit cites its lines; a chunk that is gone has none."""
        index = open_index()
        put(index, "a.md", "# Ports\n\npostgres listens on 5433\n")
        [candidate] = (
            index.view().find_words([QueryTerm("postgres")], limit=1).candidates
        )
        chunk = candidate.place.chunk_id

        assert index.chunk_locations([chunk, 10**9]) == {chunk: candidate.place}
        text, headings = index.texts([chunk])[chunk]
        assert "postgres listens on 5433" in text
        assert headings == "Ports"

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

        best_first = ["both.md", "short.md", "long.md"]
        assert [one.place.path for one in candidates] == best_first
        for path in ("short.md", "long.md", "both.md"):
            put(index, path, f"{texts[path]}\n")
        again = index.view().find_words(terms, limit=9).candidates
        assert [one.place.path for one in again] == best_first

    def test_ties_at_the_limit_are_decided_by_path_and_line(
        self, open_index: OpenIndex
    ) -> None:
        """Not by the order in which notes were indexed, which a rebuild changes."""
        index = open_index()
        for name in ("e", "b", "d", "a", "c"):
            put(index, f"{name}.md", "# Port\n\nkettle\n")
        put(index, "z.md", "# Port\n\nkettle kettle kettle\n")

        words = index.view().find_words([QueryTerm("kettle")], limit=4)

        expected = ["z.md", "a.md", "b.md", "c.md"]
        assert [one.place.path for one in words.candidates] == expected

    def test_the_vocabulary_knows_longer_words(self, open_index: OpenIndex) -> None:
        """A part of a word finds the whole, and suggestions name real spellings."""
        index = open_index()
        put(index, "a.md", "the harbourmaster waits\n")
        words = index.view().vocabulary()

        for part, anywhere in (("harbour", False), ("bourm", True)):
            [longer] = words.longer_words(part, limit=5, anywhere=anywhere)
            assert found(index.view(), longer) == ["a.md"]
        assert words.longer_words("bourm", limit=5, anywhere=False) == []
        assert words.shortest_spelling("wait") == "waits"
        put(index, "b.md", "\u00c9clairs and \u00e9clair wait\n")
        words = index.view().vocabulary()
        assert words.shortest_spelling("wait") == "wait"
        assert words.shortest_spelling("eclair") == "\u00e9clair"
        assert ("the", 1) in words.near_tokens("teh", ["", "h"])
        assert words.near_tokens("teh", ["zz"]) == []
