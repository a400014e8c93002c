"""What replaces or disputes what, among the answers to one question."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from hivemind_memory.model.matches import ChunkLocation
from hivemind_memory.model.memories import (
    ACTIVE,
    CONTRADICTS,
    PENDING,
    RELATED,
    SUPERSEDED,
    UPDATES,
)
from hivemind_memory.search.fusion import FusedScore
from hivemind_memory.search.ranking import RankedChunk
from hivemind_memory.search.supersession import supersede

Edge = tuple[str, str, str]
SCOPES = ("", "projects/a", "teams/red")
KINDS = (UPDATES, CONTRADICTS, RELATED)


def ranked(
    path: str, raw_score: float = 0.5, *, chunk: int = 0, **place: object
) -> RankedChunk:
    """Return a candidate; its note is active unless it is told otherwise."""
    number = chunk or sum(map(ord, path))
    said = {"day": 20_000, **place}
    where = ChunkLocation(number, path, 1, 3, **said)  # type: ignore[arg-type]
    return RankedChunk(where, FusedScore(raw_score, 0.0), None, None, raw_score, 1.0)


def paths(kept: list[RankedChunk]) -> list[str]:
    return [one.place.path for one in kept]


def test_a_note_leaves_when_the_one_that_replaced_it_answers_too() -> None:
    """Two of one matter, one of them wrong, are worse than one."""
    old, new = ranked("old.md", 0.9, memory_id="1"), ranked("new.md", 0.2)

    kept, gone, _ = supersede([old, new], [("new.md", UPDATES, "1")])

    assert (paths(kept), gone) == (["new.md"], 1)


def test_a_replaced_memory_that_stands_alone_is_an_answer() -> None:
    """What was once decided is better than nothing."""
    old = ranked("superseded/k--1.md", key="k", status=SUPERSEDED)

    assert supersede([old], [])[:2] == ([old], 0)


def test_the_older_version_of_a_key_leaves_when_the_key_answers() -> None:
    """Of the same scope only: another scope has a key of its own."""
    new = ranked("k.md", key="k")
    old = ranked("superseded/k--1.md", 0.9, key="k", status=SUPERSEDED)
    other = ranked(
        "teams/red/superseded/k--2.md",
        key="k",
        status=SUPERSEDED,
        scope="teams/red",
    )

    kept, gone, _ = supersede([old, new, other], [])

    assert (paths(kept), gone) == (["k.md", "teams/red/superseded/k--2.md"], 1)


def test_a_claim_that_waits_replaces_nothing() -> None:
    """Whoever wrote a web page must not make an older answer vanish."""
    old = ranked("superseded/k--1.md", key="k", status=SUPERSEDED)
    claim = ranked("inbox/k--2.md", key="k", status=PENDING)

    kept, gone, _ = supersede([old, claim], [])

    assert (len(kept), gone) == (2, 0)


def test_a_name_that_several_answer_to_means_one_of_them() -> None:
    """Else replacing a key in a project would hide what a team says under it."""
    near = ranked("projects/a/k.md", key="k", scope="projects/a")
    far = ranked("teams/red/k.md", key="k", scope="teams/red")
    new = ranked("projects/a/new.md", scope="projects/a")

    kept, _, _ = supersede([near, far, new], [("projects/a/new.md", UPDATES, "k")])

    assert sorted(paths(kept)) == ["projects/a/new.md", "teams/red/k.md"]


def test_of_notes_that_replace_each_other_one_stays() -> None:
    """A person may write a circle, and what they know must not vanish with it."""
    one = ranked("one.md", 0.9, day=10)
    two = ranked("two.md", 0.5, day=20)
    edges = [("one.md", UPDATES, "two"), ("two.md", UPDATES, "one")]

    kept, gone, _ = supersede([one, two], edges)

    assert (paths(kept), gone) == (["two.md"], 1)


def test_of_two_that_dispute_the_older_goes_below_and_is_marked() -> None:
    """The newer is more likely right; a person sees that there is a dispute."""
    old, new = ranked("old.md", 0.9, day=10), ranked("new.md", 0.5, day=20)

    kept, gone, _ = supersede([old, new], [("old.md", CONTRADICTS, "new")])

    assert (paths(kept), gone) == (["new.md", "old.md"], 0)
    assert [one.disputed_by for one in kept] == ["", "new.md:1-3"]


def test_in_a_list_without_a_query_a_dispute_is_marked() -> None:
    """Nothing there has a score; the newer is above in any case."""
    old, new = ranked("old.md", 0.0, day=10), ranked("new.md", 0.0, day=20)

    kept, gone, _ = supersede([new, old], [("new.md", CONTRADICTS, "old")])

    assert (paths(kept), gone) == (["new.md", "old.md"], 0)
    assert [one.disputed_by for one in kept] == ["", "new.md:1-3"]


def test_who_is_disputed_twice_is_below_both() -> None:
    """A factor for the first dispute must not stand in for the second."""
    old = ranked("old.md", 1.0, day=10)
    middle, new = ranked("middle.md", 0.9, day=20), ranked("new.md", 0.5, day=30)
    edges = [("middle.md", CONTRADICTS, "old"), ("new.md", CONTRADICTS, "old")]

    kept, _, _ = supersede([old, middle, new], edges)

    assert paths(kept) == ["middle.md", "new.md", "old.md"]


def test_a_dispute_goes_down_through_a_chain() -> None:
    """The one in the middle sinks first, and the oldest below where it is then."""
    old, middle = ranked("old.md", 0.9, day=10), ranked("middle.md", 0.8, day=20)
    new = ranked("new.md", 0.1, day=30)
    edges = [("middle.md", CONTRADICTS, "old"), ("new.md", CONTRADICTS, "middle")]

    kept, _, _ = supersede([old, middle, new], edges)

    assert paths(kept) == ["new.md", "middle.md", "old.md"]


# -- whatever people write --------------------------------------------------------


@dataclass
class Candidates:
    """Some candidates and edges between them and what is not there."""

    ranked: list[RankedChunk]
    edges: list[Edge]


@st.composite
def candidates(draw: st.DrawFn) -> Candidates:
    """Return notes of one or two chunks, keys that clash, edges in circles."""
    notes = draw(st.lists(st.integers(0, 9), unique=True, max_size=7))
    found = []
    for note in notes:
        scope = draw(st.sampled_from(SCOPES))
        place = {
            "scope": scope,
            "key": draw(st.sampled_from((None, "k1", "k2"))),
            "status": draw(st.sampled_from((ACTIVE, ACTIVE, SUPERSEDED, PENDING))),
            "day": draw(st.none() | st.integers(1, 4)),
            "memory_id": draw(st.sampled_from((None, f"id-{note}"))),
        }
        path = f"{scope}/n{note}.md".removeprefix("/")
        for chunk in range(draw(st.integers(1, 2))):
            raw_score = draw(st.floats(0.01, 1.0))
            found.append(ranked(path, raw_score, chunk=10 * note + chunk, **place))
    found.sort(key=lambda one: -one.weight)
    names = [f"n{n}" for n in range(10)] + [f"id-{n}" for n in range(10)]
    names += ["k1", "k2", "", "nothing"]
    ends = st.sampled_from(sorted({one.place.path for one in found}) or ["x.md"])
    edges = st.tuples(ends, st.sampled_from(KINDS), st.sampled_from(names) | ends)
    return Candidates(found, draw(st.lists(edges, max_size=12)))


@given(candidates())
def test_no_note_is_lost_that_nothing_replaces(case: Candidates) -> None:
    """And where something was replaced, something that is newer is left."""
    kept, gone, _ = supersede(case.ranked, case.edges)

    left = {one.place.chunk_id for one in kept}
    lost = [one for one in case.ranked if one.place.chunk_id not in left]
    assert len(lost) == gone
    assert bool(kept) == bool(case.ranked)
    targets = {target for _, kind, target in case.edges if kind == UPDATES}
    for candidate in lost:
        place = candidate.place
        names = {
            place.path,
            place.path.removesuffix(".md"),
            place.path.rpartition("/")[2].removesuffix(".md"),
            place.key,
            place.memory_id,
        }
        is_older = place.status == SUPERSEDED and place.key
        assert targets & names or is_older


@given(candidates())
def test_the_order_is_that_of_the_weights(case: Candidates) -> None:
    """What a caller reads first weighs most; nothing rises."""
    kept, _, _ = supersede(case.ranked, case.edges)

    weights = [one.weight for one in kept]
    before = {one.place.chunk_id: one.weight for one in case.ranked}
    assert weights == sorted(weights, reverse=True)
    assert all(one.weight <= before[one.place.chunk_id] for one in kept)


@given(candidates())
def test_twice_is_once(case: Candidates) -> None:
    """The step may not wear its candidates down. The index says ids and paths."""
    plain = [one for one in case.edges if one[2].endswith(".md") or "-" in one[2]]
    once, _, _ = supersede(case.ranked, plain)

    twice, gone, _ = supersede(once, plain)

    assert gone == 0
    assert twice == once


@given(candidates())
def test_without_an_edge_or_a_key_nothing_changes(case: Candidates) -> None:
    """Questions that use none of this pay nothing for it."""
    plain = [
        candidate._replace(place=candidate.place._replace(key=None, status=ACTIVE))
        for candidate in case.ranked
    ]

    assert supersede(plain, [])[:2] == (plain, 0)


@given(candidates(), st.sets(st.integers(0, 9)))
def test_what_is_hidden_replaces_nothing(case: Candidates, numbers: set[int]) -> None:
    """And whoever replaced something is left."""
    named = {f"n{number}.md" for number in numbers}
    paths_ = {one.place.path for one in case.ranked}
    hidden = {path for path in paths_ if path.rpartition("/")[2] in named}

    kept, count, by = supersede(case.ranked, case.edges, hidden)

    assert by <= set(paths(kept)) - hidden
    assert bool(by) == bool(count)
