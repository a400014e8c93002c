"""The lane of words: which chunks hold the terms of a question, and where.

Full-text search finds the candidates and ranks them roughly; what it saw in each (how
often, in which unit) is handed up, so that ``search/`` can weigh it without reading
the text again.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from typing import NamedTuple

from hivemind_memory.index.sqlite.visibility import ALL_VISIBLE
from hivemind_memory.model.matches import (
    ChunkLocation,
    TermCount,
    WordCandidate,
    WordMatches,
)
from hivemind_memory.sqlite.connection import select_int, version_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import apsw

    from hivemind_memory.index.sqlite.visibility import Visibility
    from hivemind_memory.model.terms import QueryTerm

    Locations = list[list[list[int]]]
    """For each phrase, for each column: offsets in tokens."""

ROW_BUDGET = 1_000
"""Rows that the rarest terms of a question may bring before the common ones stop
bringing candidates of their own (they still count in the candidates found).
benchmarks/speed.py shows what it saves."""

MAX_COUNTS = 10_000
"""Tokens whose counts are kept between two changes of the file."""

_LOCATION = """
  chunks.id, files.path, chunks.start_line, chunks.end_line,
  coalesce(chunks.day, files.day), chunks.entry_id,
  files.scope, files.standing, files.ages, files.importance,
  files.type, files.key, files.memory_id,
  files.source, chunks.source
"""
"""The columns of a ``ChunkLocation``."""

_SELECT = f"""
SELECT seen(chunks_fts),
  {_LOCATION},
  chunks.units
FROM chunks_fts
JOIN chunks ON chunks.id = chunks_fts.rowid
JOIN files ON files.id = chunks.file_id AND files.state = 0
WHERE chunks_fts MATCH ?{{where}}
ORDER BY chunks_fts.rank
LIMIT ?
"""

HIDDEN_FACTOR = 4
"""The rough ranking knows of what a caller may not see; so many times more candidates
make up for it."""


class _RowMatches(NamedTuple):
    """What the callback saw in one row."""

    locations: Locations
    length: int
    breadcrumbs_length: int


class WordRetriever:
    """Looks words up in one connection; holds the callback that sees the matches."""

    def __init__(
        self, connection: apsw.Connection, tokens_of: Callable[[str], list[str]]
    ) -> None:
        self._connection = connection
        self._tokens_of = tokens_of
        self._row: _RowMatches | None = None
        self._totals = (0, 0, 0)
        self._phrases = 0
        self._document_counts: dict[str, int] = {}
        self._counted_at = (-1, -1)
        connection.register_fts5_function("seen", self._record_row)

    def find(
        self,
        terms: Sequence[QueryTerm],
        *,
        limit: int,
        visibility: Visibility = ALL_VISIBLE,
    ) -> WordMatches:
        """Return the best *limit* candidates for *terms*, best first."""
        asked = self._count(terms, visibility)
        known = tuple(term for term in asked if term.chunks)
        if not known:
            return WordMatches(asked=asked)
        self._totals = (0, 0, 0)
        self._phrases = len(known)
        candidates = []
        if visibility.visible_stats is not None:
            limit *= HIDDEN_FACTOR
        for _, *place, units in self._connection.execute(
            _SELECT.format(where=visibility.matching.sql),
            (_expression(known), *visibility.matching.values, limit),
        ):
            seen = self._row
            if seen is None:  # pragma: no cover - the callback runs for every row
                continue
            candidates.append(
                WordCandidate(
                    ChunkLocation(*place),
                    *_counted(seen, units),
                )
            )
        rows, text_tokens, trail_tokens = (
            self._totals
            if visibility.visible_stats is None
            else visibility.visible_stats.totals
        )
        return WordMatches(
            asked=asked,
            known=known,
            chunk_count=rows,
            mean_length=text_tokens / max(1, rows),
            mean_breadcrumbs_length=trail_tokens / max(1, rows),
            candidates=candidates,
        )

    def _count(
        self, terms: Sequence[QueryTerm], visibility: Visibility
    ) -> tuple[TermCount, ...]:
        """Return each term with its tokens and the number of chunks that hold it."""
        self._forget_counts_if_changed()
        count = (
            self._document_count
            if visibility.visible_stats is None
            else visibility.visible_stats.documents
        )
        counted: dict[tuple[str, ...], TermCount] = {}
        for term in terms:
            tokens = tuple(self._tokens_of(term.text))
            if not tokens or tokens in counted:
                continue
            rows = min(count(token) for token in tokens)
            counted[tokens] = TermCount(term.text, tokens, rows, term.is_phrase)
        return tuple(counted.values())

    def _document_count(self, token: str) -> int:
        """Return how many chunks hold *token*; the engine reads them all to tell."""
        known = self._document_counts.get(token)
        if known is None:
            known = self._document_counts[token] = select_int(
                self._connection, "SELECT doc FROM vocabulary WHERE term = ?", token
            )
        return known

    def _forget_counts_if_changed(self) -> None:
        """Forget what was counted before the file changed."""
        version = version_of(self._connection)
        if version != self._counted_at or len(self._document_counts) > MAX_COUNTS:
            self._counted_at = version
            self._document_counts.clear()

    def _record_row(self, api: apsw.FTS5ExtensionApi, *_: object) -> None:
        """Note what a row holds; called once for each row that is returned."""
        if not self._totals[0]:
            self._totals = (
                api.row_count,
                api.column_total_size(0) + api.column_total_size(1),
                api.column_total_size(2),
            )
        # A term that brings candidates stands in the expression twice, the second time
        # behind all of them.
        self._row = _RowMatches(
            [api.phrase_locations(phrase) for phrase in range(self._phrases)],
            api.column_size(0) + api.column_size(1),
            api.column_size(2),
        )


def chunk_locations(
    connection: apsw.Connection, chunks: Sequence[int]
) -> dict[int, ChunkLocation]:
    """Return where chunks stand; those that went are left out."""
    marks = ",".join("?" * len(chunks))
    return {
        row[0]: ChunkLocation(*row)
        for row in connection.execute(
            f"""
            SELECT {_LOCATION}
            FROM chunks JOIN files ON files.id = file_id AND state = 0
            WHERE chunks.id IN ({marks})
            """,
            tuple(chunks),
        )
    }


def _expression(known: Sequence[TermCount]) -> str:
    """Return the full-text expression for terms that are in the index.

    The rarest terms bring the candidates. A common one that would go over the budget
    is joined by AND to what the rare ones found: it is seen where it stands, and
    brings no rows of its own.
    """
    everything = " OR ".join(_quoted(term) for term in known)
    rows = 0
    bringing: list[TermCount] = []
    for term in sorted(known, key=lambda term: term.chunks):
        if bringing and rows + term.chunks > ROW_BUDGET:
            break
        bringing.append(term)
        rows += term.chunks
    if len(bringing) == len(known):
        return everything
    rare = " OR ".join(_quoted(term) for term in bringing)
    return f"({everything}) AND ({rare})"


def _quoted(term: TermCount) -> str:
    """Return a term as a string of the full-text language: no operator survives."""
    return '"' + term.text.replace('"', '""') + '"'


def _counted(
    seen: _RowMatches, units: bytes
) -> tuple[list[tuple[int, int]], int, int, list[tuple[int, dict[int, int]]]]:
    """Return what was seen in one row: by term, the lengths, and by unit."""
    counts = [
        (len(in_body) + len(in_extra), len(in_trail))
        for in_body, in_extra, in_trail in seen.locations
    ]
    in_units = _seen_in_units(seen.locations, units) if units else []
    return counts, seen.length, seen.breadcrumbs_length, in_units


def _seen_in_units(
    locations: Locations, units: bytes
) -> list[tuple[int, dict[int, int]]]:
    """Return, for each unit that holds a term, its tokens and its counts by term."""
    bounds = array("H")
    bounds.frombytes(units)
    seen: dict[int, dict[int, int]] = {}
    for column in (0, 1):
        starts, ends = bounds[2 * column :: 4], bounds[2 * column + 1 :: 4]
        for term, found in enumerate(locations):
            for offset in found[column]:
                unit = bisect_right(starts, offset) - 1
                if unit >= 0 and offset < ends[unit]:
                    counts = seen.setdefault(unit, {})
                    counts[term] = counts.get(term, 0) + 1
    return [
        (
            bounds[4 * unit + 1]
            - bounds[4 * unit]
            + bounds[4 * unit + 3]
            - bounds[4 * unit + 2],
            counts,
        )
        for unit, counts in seen.items()
    ]
