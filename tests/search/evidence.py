"""Evidence of the retrievers, made up: for the steps behind them."""

from __future__ import annotations

from hypothesis import strategies as st

from hivemind_memory.model.matches import (
    ChunkLocation,
    TermCount,
    VectorMatches,
    WordCandidate,
    WordMatches,
)

TODAY = 20_000


def place(
    chunk: int, *, day: int | None = None, path: str = "", line: int = 1
) -> ChunkLocation:
    return ChunkLocation(chunk, path or f"{chunk}.md", line, line + 3, day)


def term(text: str, chunks: int, *, is_phrase: bool = False) -> TermCount:
    return TermCount(text, (text,), chunks, is_phrase)


def candidate(
    chunk: int,
    *counts: tuple[int, int],
    length: int = 100,
    subchunks: list[tuple[int, dict[int, int]]] | None = None,
    day: int | None = None,
) -> WordCandidate:
    return WordCandidate(
        place(chunk, day=day), list(counts), length, 5, subchunks or []
    )


def matches(
    terms: list[TermCount], *candidates: WordCandidate, total: int = 1000
) -> WordMatches:
    return WordMatches(
        asked=tuple(terms),
        known=tuple(term for term in terms if term.chunks),
        chunk_count=total,
        mean_length=100.0,
        mean_breadcrumbs_length=5.0,
        candidates=candidates,
    )


def vectors(cosines: dict[int, float], *, total: int = 1000) -> VectorMatches:
    return VectorMatches(
        cosines=cosines,
        subchunk_cosines=dict(cosines),
        background=0.1,
        deviation=0.1,
        chunk_count=total,
    )


cosine = st.floats(-1, 1)
raw_score = st.floats(0, 1)
chunks = st.integers(1, 30)


@st.composite
def both_retrievers(draw: st.DrawFn) -> tuple[dict[int, float], VectorMatches]:
    """Return raw scores by words, and cosines, of some of the same chunks."""
    words = draw(st.dictionaries(chunks, raw_score, max_size=15))
    own = draw(st.dictionaries(chunks, cosine, min_size=1, max_size=15))
    subchunks = {
        chunk: max(value, draw(cosine)) if draw(st.booleans()) else value
        for chunk, value in own.items()
    }
    found = VectorMatches(
        cosines=own,
        subchunk_cosines=subchunks,
        background=draw(st.floats(-0.2, 0.8)),
        deviation=draw(st.floats(0, 0.3)),
        chunk_count=draw(st.integers(1, 10_000)),
    )
    return words, found


@st.composite
def word_matches(draw: st.DrawFn) -> WordMatches:
    """Return what a retriever of words may have seen."""
    total = draw(st.integers(1, 2_000))
    terms = [
        term(
            f"t{n}",
            draw(st.integers(0, total)),
            is_phrase=n > 0 and draw(st.booleans()),
        )
        for n in range(draw(st.integers(1, 6)))
    ]
    known = [one for one in terms if one.chunks]
    count = st.integers(0, 9)
    found = []
    for chunk in draw(st.lists(chunks, unique=True, max_size=12 if known else 0)):
        counts = [(draw(count), draw(st.integers(0, 2))) for _ in known]
        subchunks = [
            (draw(st.integers(1, 60)), {n: draw(st.integers(1, 3)) for n in wanted})
            for wanted in draw(
                st.lists(
                    st.lists(st.integers(0, len(known) - 1), min_size=1, unique=True),
                    max_size=4,
                )
            )
        ]
        found.append(
            WordCandidate(
                place(chunk, day=draw(st.none() | st.integers(TODAY - 4000, TODAY))),
                counts,
                draw(st.integers(1, 500)),
                draw(st.integers(1, 20)),
                subchunks,
            )
        )
    return WordMatches(
        asked=tuple(terms),
        known=tuple(known),
        chunk_count=total if known else 0,
        mean_length=draw(st.floats(1, 300)),
        mean_breadcrumbs_length=draw(st.floats(0, 20)),
        candidates=found,
    )
