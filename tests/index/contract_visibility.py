"""Contract of the index: a question sees only what it may, and what it asked for."""

from __future__ import annotations

from hivemind_memory.access.rules import Caller, access_of
from hivemind_memory.markdown.entry import new_ulid
from hivemind_memory.model.filters import SearchFilter
from hivemind_memory.model.terms import QueryTerm
from tests.index.steps import SPACE, TODAY, OpenIndex, fill, found, put, vector


class VisibilityContract:
    """A question sees only what it may, and what it asked for."""

    def test_a_filter_narrows_what_is_found(self, open_index: OpenIndex) -> None:
        """Expired memories and pending claims are found only when asked for."""
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

    def test_a_moment_narrows_what_is_found(self, open_index: OpenIndex) -> None:
        """An entry and a memory count by their id, other text by its note."""
        index, noon_ms = open_index(), 1_800_000_000_000
        ids = [new_ulid(noon_ms / 1000 + late, bytes(10)) for late in (0, 60)]
        head = "<!-- hm id={} source=agent at=2026-11-21T09:00:00+01:00 -->"
        entries = "\n\n".join(f"{head.format(one)}\nsome text\n" for one in ids)
        put(index, "day.md", entries)
        put(index, "fact.md", f"---\ntype: fact\nid: {ids[1]}\n---\nsome text\n")
        put(index, "free.md", "some text\n")

        def under(**asked: int) -> list[str]:
            return found(index.view(None, SearchFilter(**asked), TODAY), "text")

        assert under(since_ms=noon_ms) == ["day.md", "day.md", "fact.md"]
        assert under(since_ms=noon_ms + 1) == ["day.md", "fact.md"]
        assert under(since_ms=noon_ms + 60_001) == []
        assert under(until_ms=noon_ms) == ["day.md", "free.md"]
        assert under(until_ms=noon_ms - 1) == ["free.md"]

    def test_hidden_notes_are_in_no_figure(self, open_index: OpenIndex) -> None:
        """A count would tell that a hidden note exists."""
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
        """A note inherits what its project says, and may say otherwise."""
        index = open_index()
        put(index, "open.md", "some text\n")
        put(index, "closed.md", "---\nvisibility: private\n---\nsome text\n")
        put(index, "projects/shop/inherits.md", "some text\n")
        put(index, "projects/shop/says.md", "---\nvisibility: public\n---\nsome text\n")
        visitor = Caller(project="projects/shop", is_member=False)

        view = index.view(access_of(visitor, frozenset({"projects/shop"})))

        assert found(view, "text") == ["open.md", "projects/shop/says.md"]

    def test_a_near_chunk_is_the_candidate_that_words_make_of_it(
        self, open_index: OpenIndex
    ) -> None:
        """It is looked up in another way: same counts, lengths and subchunks."""
        index = open_index()
        for number in range(9):
            put(index, f"n{number}.md", "the kettle, a kettle of the kettles\n")
            put(index, f"projects/site/n{number}.md", "the kettle whistles\n")
        text = "# A kettle\n\n- the kettle boils\n- off when it boils\n\nboils over\n"
        put(index, "projects/shop/a.md", text)
        put(index, "projects/shop/b.md", f"---\nsource: external\n---\n{text}")
        put(index, "projects/shop/plain.md", "no such word\n")
        put(index, "projects/shop/inbox/claim.md", "the kettle waits\n")
        terms = [QueryTerm(word) for word in ("kettle", "boils", "absent", "when it")]
        terms.append(QueryTerm("waits", forms=("off", "over", "absent")))
        caller = Caller(project="projects/shop")
        for access in (None, access_of(caller, frozenset())):
            view = index.view(access, SearchFilter(), TODAY)
            whole = view.find_words(terms, limit=99)
            known = {each.place.chunk_id: each for each in whole.candidates}
            none = whole._replace(candidates=[])
            near = view.find_near_words(none, ["projects/shop", "teams/a"], limit=9)
            again = view.find_near_words(none, ["projects/shop"], limit=1)

            assert {each.place.path for each in near} == {
                "projects/shop/a.md",
                "projects/shop/b.md",
            }
            assert all(each == known[each.place.chunk_id] for each in near)
            assert len(again) == 1
            assert not view.find_near_words(whole, ["projects/shop"], limit=9)
            assert not view.find_near_words(none, ["projects/none"], limit=9)
