"""The words retriever: which chunks hold the terms of a query, and where.

Full-text search finds the candidates and ranks them roughly. What it saw in each (how
often, in which subchunk) is returned too, so that ``search/`` can score a chunk without
reading its text again.
"""

from __future__ import annotations

from hivemind_memory.index.sqlite.expressions import by_term, match_expression
from hivemind_memory.model.late_typing import NamedTuple
from hivemind_memory.model.matches import (
    ChunkLocation,
    TermCount,
    WordCandidate,
    WordForm,
    WordMatches,
)
from hivemind_memory.model.terms import REASON_WEIGHT
from hivemind_memory.sqlite.connection import (
    select_int,
    translated_errors,
    version_of,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    import apsw

    from hivemind_memory.index.sqlite.expressions import Locations
    from hivemind_memory.index.sqlite.filters import SqlFilter
    from hivemind_memory.index.sqlite.stats import CorpusStats
    from hivemind_memory.index.sqlite.visible_ranks import VisibleRanks
    from hivemind_memory.model.terms import QueryTerm


MAX_COUNTS = 10_000
"""Tokens whose counts are cached until the file changes."""

LOCATION = """
  chunks.id, files.path, chunks.start_line, chunks.end_line,
  coalesce(chunks.day, files.day), chunks.entry_id,
  files.scope, files.status, files.ages, files.importance,
  files.type, files.key, files.memory_id,
  files.source, chunks.source
"""
"""The columns of a ``ChunkLocation``."""

_SELECT = """
SELECT seen(chunks_fts), chunks_fts.rank, files.path, chunks.start_line, chunks.id
FROM chunks_fts
JOIN chunks ON chunks.id = chunks_fts.rowid
JOIN files ON files.id = chunks.file_id AND files.state = 0
WHERE chunks_fts MATCH ?{ranked}{where}
ORDER BY chunks_fts.rank
LIMIT ?
"""
_SEEN = """
SELECT rowid, seen(chunks_fts) FROM chunks_fts
WHERE chunks_fts MATCH ? AND rowid IN (SELECT value FROM json_each(?))
"""
PLACES = f"""
SELECT {LOCATION}, chunks.subchunks
FROM chunks JOIN files ON files.id = chunks.file_id
WHERE chunks.id IN (SELECT value FROM json_each(?))
"""
"""A ``ChunkLocation`` and its subchunks, for each of the chunks of a JSON array."""

MAX_TIED_ROWS = 1_000
"""Rows beyond the limit that are read because they tie with the last one: the first by
path and line are kept, whatever numbers the index gave them. Of a larger tie, those
that the index has had longest."""

_VISIBLE_RANK = " AND chunks_fts.rank MATCH 'visible_rank()'"
"""Ranks for a limited caller: the rank of the table counts hidden notes too, and where
it cuts would reveal them."""


class RowMatches(NamedTuple):
    """Where the phrases of a query are in one row."""

    locations: Locations
    length: int
    breadcrumbs_length: int
    reason_length: int


class WordRetriever:
    """Looks words up in one connection; holds the callback that sees the matches."""

    def __init__(
        self,
        connection: apsw.Connection,
        path: str,
        tokens_of: Callable[[str], list[str]],
    ) -> None:
        self._connection = connection
        self._path = path
        self._tokens_of = tokens_of
        self._row: RowMatches | None = None
        self._should_see = True
        self._totals = (0, 0, 0, 0)
        self._known: Sequence[TermCount] = ()
        self._phrases = 0
        self._document_counts: dict[str, int] = {}
        self._counted_at = (-1, -1)
        self._visible_ranks: VisibleRanks | None = None
        connection.register_fts5_function("seen", self._record_row)
        connection.register_fts5_function("visible_rank", self._rank_row)

    def find(
        self,
        terms: Sequence[QueryTerm],
        *,
        limit: int,
        matching: SqlFilter,
        visible: CorpusStats | None,
        only_if_all_known: bool = False,
    ) -> WordMatches:
        """Return the best *limit* candidates for *terms*, best first.

        Args:
            terms: Of the query.
            limit: Candidates at most.
            matching: What may be found.
            visible: What the figures are counted over; None: everything.
            only_if_all_known: If a term is unknown, find nothing and say so: the
                caller looks other terms up instead.
        """
        with translated_errors(self._path):
            asked = self._count(terms, visible)
            known = tuple(term for term in asked if term.chunks)
            if not known or (only_if_all_known and len(known) < len(asked)):
                return WordMatches(asked=asked, known=known)
            return self._find(asked, known, limit, matching, visible)

    def _find(
        self,
        asked: tuple[TermCount, ...],
        known: tuple[TermCount, ...],
        limit: int,
        matching: SqlFilter,
        visible: CorpusStats | None,
    ) -> WordMatches:
        """Do what ``find`` says, with the terms counted; *known* are those found."""
        phrases, expression = match_expression(known)
        self._totals = (0, 0, 0, 0)
        self._known = known
        self._phrases = sum(1 + len(term.forms) for term in known)
        self._visible_ranks = None
        if visible is not None:
            from hivemind_memory.index.sqlite.visible_ranks import VisibleRanks

            self._visible_ranks = VisibleRanks(phrases, visible)
        kept = self._best_rows(expression, limit, matching, is_limited=bool(visible))
        rows, text_tokens, breadcrumbs_tokens, _ = (
            self._totals if visible is None else visible.totals
        )
        return WordMatches(
            asked=asked,
            known=known,
            chunk_count=rows,
            mean_length=text_tokens / max(1, rows),
            mean_breadcrumbs_length=breadcrumbs_tokens / max(1, rows),
            candidates=self._candidates(expression, kept),
        )

    def _best_rows(
        self, expression: str, limit: int, matching: SqlFilter, *, is_limited: bool
    ) -> dict[int, RowMatches | None]:
        """Return the chunks that rank best, in order, and what was seen in them.

        A thousand may tie with the last one. Nothing is looked up in those: the few
        of them that are kept are read again.
        """
        sql = _SELECT.format(
            ranked=_VISIBLE_RANK if is_limited else "", where=matching.sql
        )
        values = (expression, *matching.values, limit + MAX_TIED_ROWS)
        ranked: list[tuple[float, str, int, int, RowMatches | None]] = []
        self._should_see = True
        for _, rank, path, line, chunk in self._connection.execute(sql, values):
            if len(ranked) >= limit:
                if rank != ranked[-1][0]:
                    break
                self._should_see = False
            ranked.append((rank, path, line, chunk, self._row))
        # By place where ranks are equal: the index numbers chunks as they came.
        ranked.sort(key=lambda row: row[:3])
        return {chunk: seen for _, _, _, chunk, seen in ranked[:limit]}

    def _candidates(
        self, expression: str, rows: dict[int, RowMatches | None]
    ) -> list[WordCandidate]:
        """Return candidates for rows, with what was seen in them."""
        unseen = [chunk for chunk, seen in rows.items() if seen is None]
        if unseen:
            self._should_see = True
            values = (expression, as_json(unseen))
            for chunk, _ in self._connection.execute(_SEEN, values):
                rows[chunk] = self._row
        found = self._connection.execute(PLACES, (as_json(rows),))
        places = {row[0]: row for row in found}
        return [
            candidate_of(ChunkLocation(*places[chunk][:-1]), seen, places[chunk][-1])
            for chunk, seen in rows.items()
            if seen is not None and chunk in places
        ]

    def _count(
        self, terms: Sequence[QueryTerm], visible: CorpusStats | None
    ) -> tuple[TermCount, ...]:
        """Return each term with its tokens and the number of chunks that hold it."""
        self._forget_counts_if_changed()
        count = self._document_count if visible is None else visible.documents
        counted: dict[tuple[str, ...], TermCount] = {}
        for term in terms:
            tokens = tuple(self._tokens_of(term.text))
            if not tokens or tokens in counted:
                continue
            rows = min(map(count, tokens))
            forms = self._forms(term, tokens, count) if term.forms else ()
            if not rows and not forms and term.last_form:
                last = term._replace(forms=(term.last_form,))
                forms = self._forms(last, tokens, count)
            rows += sum(form.chunks for form in forms)
            counted[tokens] = TermCount(
                term.text, tokens, rows, term.is_phrase, term.is_generic, forms
            )
        return tuple(counted.values())

    def _forms(
        self,
        term: QueryTerm,
        tokens: tuple[str, ...],
        count: Callable[[str], int],
    ) -> tuple[WordForm, ...]:
        """Return the other forms of a term that some chunk holds, each once."""
        found = {tokens: WordForm(term.text, tokens, 0)}
        for text in term.forms:
            of_form = tuple(self._tokens_of(text))
            if of_form and of_form not in found:
                found[of_form] = WordForm(text, of_form, min(map(count, of_form)))
        return tuple(form for form in found.values() if form.chunks)

    def _document_count(self, token: str) -> int:
        """Return how many chunks hold *token*; FTS5 reads all their postings for it."""
        known = self._document_counts.get(token)
        if known is None:
            known = self._document_counts[token] = select_int(
                self._connection, "SELECT doc FROM vocabulary WHERE term = ?", token
            )
        return known

    def _forget_counts_if_changed(self) -> None:
        """Drop the counts of an earlier state of the file."""
        version = version_of(self._connection)
        if version != self._counted_at or len(self._document_counts) > MAX_COUNTS:
            self._counted_at = version
            self._document_counts.clear()

    def _rank_row(self, api: apsw.FTS5ExtensionApi, *_: object) -> float:
        """Return the rank of a row for a limited caller."""
        ranks = self._visible_ranks
        return ranks.rank_of(api) if ranks is not None else 0.0

    def _record_row(self, api: apsw.FTS5ExtensionApi, *_: object) -> None:
        """Record what a row holds; called once for each row that is returned."""
        self._row = None
        if not self._should_see:
            return
        if not self._totals[0]:
            self._totals = (
                api.row_count,
                api.column_total_size(0) + api.column_total_size(1),
                api.column_total_size(2),
                api.column_total_size(3),
            )
        # A term that brings candidates is in the expression twice, the second time
        # behind all of them.
        locations = [api.phrase_locations(phrase) for phrase in range(self._phrases)]
        if self._phrases > len(self._known):
            locations = by_term(locations, self._known)
        self._row = RowMatches(
            locations,
            api.column_size(0) + api.column_size(1),
            api.column_size(2),
            api.column_size(3),
        )


def chunk_locations(
    connection: apsw.Connection, chunks: Sequence[int]
) -> dict[int, ChunkLocation]:
    """Return where chunks stand; deleted ones are left out."""
    marks = ",".join("?" * len(chunks))
    return {
        row[0]: ChunkLocation(*row)
        for row in connection.execute(
            f"""
            SELECT {LOCATION}
            FROM chunks JOIN files ON files.id = file_id AND state = 0
            WHERE chunks.id IN ({marks})
            """,
            tuple(chunks),
        )
    }


def texts_of(
    connection: apsw.Connection, chunks: Sequence[int], visible: SqlFilter
) -> dict[int, tuple[str, str]]:
    """Return chunk -> (text, headings, one a line)."""
    sql = "SELECT chunks.id, text, headings FROM chunks"
    marks = ",".join("?" * len(chunks))
    where = f" WHERE chunks.id IN ({marks})"
    if visible.sql:
        where = f" JOIN files ON files.id = file_id{where}{visible.sql}"
    rows = connection.execute(f"{sql}{where}", (*chunks, *visible.values))
    return {chunk: (text, headings) for chunk, text, headings in rows}


def candidate_of(
    place: ChunkLocation, seen: RowMatches, subchunks: bytes
) -> WordCandidate:
    """Return what was seen in one row: counts by term, lengths, and by subchunk."""
    counts: list[tuple[int, float]] = []
    is_by_reason = False
    for in_body, in_extra, in_breadcrumbs, in_reason in seen.locations:
        in_text, beside = len(in_body) + len(in_extra), len(in_breadcrumbs)
        if in_reason:
            is_by_reason = is_by_reason or not (in_text or beside)
            counts.append((in_text, beside + REASON_WEIGHT * len(in_reason)))
        else:
            counts.append((in_text, beside))
    return WordCandidate(
        place,
        counts,
        seen.length,
        seen.breadcrumbs_length,
        _count_in_subchunks(seen.locations, subchunks) if subchunks else [],
        seen.reason_length,
        is_by_reason,
    )


def _count_in_subchunks(
    locations: Locations, subchunks: bytes
) -> list[tuple[int, dict[int, int]]]:
    """Return, for each subchunk that holds a term, its tokens and its counts by term.

    Args:
        locations: For each term, for each column, where it is.
        subchunks: Four numbers for each subchunk; see ``rows``.
    """
    # The modules array and bisect would cost a cold search more than they save here.
    bounds = memoryview(subchunks).cast("H").tolist()
    last = len(bounds) // 4 - 1
    seen: dict[int, dict[int, int]] = {}
    for column in (0, 1):
        starts, ends = bounds[2 * column :: 4], bounds[2 * column + 1 :: 4]
        for term, found in enumerate(locations):
            at = 0
            for offset in found[column]:  # in order
                while at < last and starts[at + 1] <= offset:
                    at += 1
                if starts[at] <= offset < ends[at]:
                    counts = seen.setdefault(at, {})
                    counts[term] = counts.get(term, 0) + 1
    if not seen and any(
        start > end for start, end in zip(bounds[::4], bounds[1::4], strict=True)
    ):
        return [(1, {})]  # what holds the words only links: no passage of its own
    lengths = {
        at: sum(
            bounds[4 * at + end] - bounds[4 * at + start]
            for start, end in ((0, 1), (2, 3))
        )
        for at in seen
    }
    return [(lengths[at], counts) for at, counts in seen.items()]


def as_json(chunks: Iterable[int]) -> str:
    """Return chunks as a JSON array, which a statement takes as one value."""
    return f"[{','.join(map(str, chunks))}]"
