"""Answers one query: its hits, and a report on the answer.

The steps themselves are pure and live in ``search``; they are called here in order,
with what the index finds.
"""

from __future__ import annotations

from functools import partial

from hivemind_memory.memory.choose_hits import choose_active
from hivemind_memory.memory.freshness import MAX_SCANS
from hivemind_memory.memory.freshness_result import Freshness
from hivemind_memory.memory.make_hits import make_hits, with_successors
from hivemind_memory.memory.retrieve import RetrievedCandidates, retrieve
from hivemind_memory.model.late_typing import NamedTuple
from hivemind_memory.model.matches import QueryVector
from hivemind_memory.model.query import (
    DroppedCandidates,
    SearchAnswer,
    SearchReport,
)
from hivemind_memory.model.terms import may_name_time
from hivemind_memory.model.value import replaced
from hivemind_memory.search.confidence import assess
from hivemind_memory.search.hit_selection import SPARE
from hivemind_memory.search.nearness import near_scopes
from hivemind_memory.search.ranking import by_evidence, rank

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from hivemind_memory.access.rules import Caller, ProjectHere
    from hivemind_memory.index.port import Index, IndexView
    from hivemind_memory.memory.chosen_reranker import ChosenReranker
    from hivemind_memory.memory.index_fallback import OpenIndex
    from hivemind_memory.memory.open_index import IndexHandle
    from hivemind_memory.memory.rerank import Reranking
    from hivemind_memory.model.clocks import AskedAt, Clocks
    from hivemind_memory.model.filters import Access, SearchFilter
    from hivemind_memory.model.matches import WordMatches
    from hivemind_memory.model.query import Query, SearchSettings
    from hivemind_memory.model.results import RecoveredEntry
    from hivemind_memory.model.time_spans import TimeSpan
    from hivemind_memory.search.ranking import Ranking


MORE_FACTOR = 4
"""How many times as many candidates are retrieved if those of before repeat each other
and leave an answer short."""

_UNFIT = "the vector of the query does not fit those of the notes; see `hm doctor`"
_OFF = "the memory is switched off: `hm config set enabled true` switches it on"
OFF = SearchAnswer(
    hits=(),
    report=SearchReport(mode="off", reason=_OFF, why_empty=_OFF, is_fresh=True),
)
"""The answer of a memory that is switched off."""

NO_PROVIDER = QueryVector(None, "", "")
"""None is chosen: words were asked for, so there is nothing to say."""


class Asker(NamedTuple):
    """On whose behalf a query is answered."""

    access: Access
    """What the caller may see."""

    caller: Caller
    """Who asks."""

    here: ProjectHere
    """The project that the process is in."""

    def near(self, view: IndexView) -> Mapping[str, float]:
        """Return the nearness of free text in the scopes of the caller, by scope.

        A person at a shell reads every scope, and has the project of the repository
        that the shell is in. It is looked up only where a note may be in it.
        """
        caller, project = self.caller, self.caller.project
        if caller.is_owner and not project and view.has_other_scopes():
            project = self.here.known()
        return near_scopes((caller.workspace, project, *caller.teams))


def ask(
    query: Query,
    handle: IndexHandle,
    *,
    query_vector: QueryVector,
    settings: SearchSettings,
    asker: Asker,
    asked_at: AskedAt,
    is_fresh: bool,
    reranker: ChosenReranker | None = None,
) -> SearchAnswer:
    """Return the answer to *query* from an index that is updated first.

    Args:
        query: What is asked.
        handle: The index, with one in memory if it cannot be used.
        query_vector: The vector of the query, or why there is none.
        settings: How hits are found.
        asker: What the caller may see, and what is near to it.
        asked_at: Tells how old memories are, and how long it took.
        is_fresh: Update the index first; else it answers as it is.
        reranker: Reads the best candidates; None: nothing does.
    """
    reranking = None
    # No person waits for a literal query, and its answer may not depend on who leads.
    if reranker is not None and not query.is_literal:
        from hivemind_memory.memory.rerank import Reranking

        reranking = Reranking(reranker.reranker, reranker.access)
    if query.min_score is not None:
        settings = replaced(settings, min_score=query.min_score)
    answer_of = partial(
        _answer,
        query,
        query_vector=query_vector,
        settings=settings,
        asker=asker,
        asked_at=asked_at,
        reranking=reranking,
    )
    is_behind = False

    def answer(opened: OpenIndex) -> SearchAnswer:
        nonlocal is_behind
        found, is_behind = _ask(
            opened, handle, answer_of, access=asker.access, is_fresh=is_fresh
        )
        return found

    with handle.lock:
        found = handle.run_with_fallback(answer)
        handle.clear_notice()
    if is_behind and handle.wait_for_rest():
        with handle.lock:
            found = handle.run_with_fallback(answer)
    if reranking is None:
        return found

    def answer_again() -> SearchAnswer:
        with handle.lock:
            return handle.run_with_fallback(answer)

    return reranking.improve(found, query.text, answer_again, asked_at)


def _ask(
    opened: OpenIndex,
    handle: IndexHandle,
    answer_of: Callable[[OpenIndex, Freshness], SearchAnswer],
    *,
    access: Access,
    is_fresh: bool,
) -> tuple[SearchAnswer, bool]:
    """Return the answer of one open index, and whether notes are left for later.

    Of those, only what the caller may see counts: it is all that could change the
    answer, and another project's large notes are not worth waiting for.
    """
    freshness_check = handle.freshness_check() if is_fresh else None
    freshness = Freshness(is_verified=is_fresh)
    recovered: tuple[RecoveredEntry, ...] = ()
    scans = 0
    while True:
        scans += 1
        if freshness_check is not None:
            opened, freshness = handle.ensure_fresh(opened, leaves_outdated=True)
            recovered += freshness.recovered
        # All of one state of the index, the one that was compared with the folder.
        with opened.index.snapshot():
            # What reads outdated notes again changes the index all the time, and
            # nothing that was compared.
            is_verified = (
                freshness_check is None
                or bool(freshness.outdated)
                or freshness_check.is_verified(opened.index)
            )
            if not is_verified and not freshness.warning and scans < MAX_SCANS:
                continue
            if not is_verified and not freshness.warning:
                freshness = replaced(freshness, is_verified=False)
            found = answer_of(opened, replaced(freshness, recovered=recovered))
            if freshness.outdated or freshness.warning or not is_fresh:
                from hivemind_memory.memory import outdated_hits

                stale: Collection[str] = freshness.stale
                folder = handle.syncer.folder
                if not is_fresh:
                    stale = outdated_hits.changed_notes(found, opened.index, folder)
                if freshness.warning or not is_fresh:
                    found = outdated_hits.without_unsaid(found, stale, folder)
                found = outdated_hits.replace_outdated_text(
                    found,
                    opened.index,
                    handle.syncer,
                    has_outdated_rows=bool(freshness.outdated) or not is_fresh,
                )
            left = (*freshness.stale, *freshness.outdated)
            return found, bool(access.readable(left))


def _answer(
    query: Query,
    opened: OpenIndex,
    freshness: Freshness,
    *,
    query_vector: QueryVector,
    settings: SearchSettings,
    asker: Asker,
    asked_at: AskedAt,
    reranking: Reranking | None,
) -> SearchAnswer:
    """Return the answer of one state of the index; see ``ask``."""
    index, access, clocks = opened.index, asker.access, asked_at.clocks
    view = index.view(access, query.search_filter, clocks.today())
    scopes = asker.near(view) if settings.nearness_weight else {}
    wanted, filled = query.max_results, 0
    while True:
        retrieved = retrieve(
            index,
            query.text,
            query_vector,
            wanted=wanted,
            view=view,
            near=scopes,
            is_literal=query.is_literal,
        )
        is_list = not retrieved.words.asked and query.search_filter.is_narrow
        if is_list:
            ranking, unread = _listed(index, query, access, clocks, wanted)
        else:
            ranking, unread = _ranked(retrieved, query, settings, clocks, scopes), 0
            if reranking is not None:
                ranking = reranking.apply(ranking, index)
        choice, texts, superseded = choose_active(
            index,
            ranking,
            query,
            # The order of a list is that of time, and stays.
            replaced(settings, diversity=False) if is_list else settings,
            access,
        )
        same_text = sum(map(len, choice.also.values()))
        left, filled = filled, len(choice.hits) + choice.joined + same_text
        # Repetitions and neighbors fill the places of candidates that were not
        # retrieved.
        is_short = len(choice.hits) < query.max_results <= filled
        if not is_short or filled == left or not (unread or retrieved.has_more):
            break
        wanted = MORE_FACTOR * max(wanted, filled)
    is_hybrid = retrieved.vectors is not None and not is_list
    assessed = assess(
        by_evidence(ranking.ranked),
        choice.hits,
        words=retrieved.words,
        fusion=settings.fusion if is_hybrid else "",
        corrected=retrieved.corrected,
    )
    hits = with_successors(
        index, make_hits(index, choice, texts, query, assessed.confidences), access
    )
    stale = len(access.readable(freshness.stale))
    report = SearchReport(
        mode="list" if is_list else "hybrid" if is_hybrid else "keyword",
        reason=""
        if is_hybrid or is_list
        else query_vector.reason or (_UNFIT if query_vector.vector else ""),
        why_empty="" if hits else _why_empty(retrieved, ranking, query.search_filter),
        is_fresh=freshness.is_verified and not stale,
        confidence=assessed.level,
        stale_notes=stale,
        skipped_notes=len(access.readable(freshness.skipped)),
        pending_vectors=view.pending_chunks(query_vector.fingerprint)
        if query_vector.fingerprint and not is_list
        else 0,
        retrievers=()
        if is_list
        else (("words", "vectors") if is_hybrid else ("words",)),
        ignored_terms=retrieved.ignored,
        suggestions=() if hits else _suggestions(view, retrieved.words),
        cut=DroppedCandidates(
            below_min_score=ranking.below_min_score,
            superseded=superseded,
            overlapping=choice.overlapping,
            near_copies=choice.near_copies,
            same_text=same_text,
            over_limit=choice.over_limit + unread,
        ),
        warnings=(
            *(
                notice
                for notice in (opened.warning, opened.notice, freshness.warning)
                if notice
            ),
            *_freshness_notices(freshness, access),
            *(
                f'no note contains "{word}": showing results for "{meant}"'
                for word, meant in retrieved.corrections.items()
                if hits
            ),
        ),
        took_ms=1000 * asked_at.took_s(),
    )
    return SearchAnswer(hits=hits, report=report)


def _ranked(
    retrieved: RetrievedCandidates,
    query: Query,
    settings: SearchSettings,
    clocks: Clocks,
    scopes: Mapping[str, float],
) -> Ranking:
    """Return the candidates that match the words or the meaning, best first."""
    return rank(
        retrieved.words,
        retrieved.vectors,
        retrieved.places,
        settings=settings,
        today=clocks.today(),
        spans=_time_spans(query.text, clocks.today()),
        near=scopes,
    )


def _listed(
    index: Index, query: Query, access: Access, clocks: Clocks, wanted: int
) -> tuple[Ranking, int]:
    """Return the newest of what fits the filters, and how many more there are."""
    from hivemind_memory.search.ranking import list_in_order

    places, count = index.hit_source().newest_chunks(
        access, query.search_filter, clocks.today(), limit=wanted + SPARE
    )
    return list_in_order(places), count - len(places)


def _time_spans(query: str, today: int) -> tuple[TimeSpan, ...]:
    """Return the times that a query names."""
    if not may_name_time(query):
        return ()
    from hivemind_memory.model.time_spans import time_spans

    return time_spans(query, today)


def _freshness_notices(freshness: Freshness, access: Access) -> tuple[str, ...]:
    """Return what the answer has to say of entries that came back and large notes."""
    if not freshness.recovered and not freshness.left and not freshness.outdated:
        return ()
    from hivemind_memory.memory.search_notices import freshness_notices

    return freshness_notices(freshness, access)


def _suggestions(view: IndexView, words: WordMatches) -> tuple[str, ...]:
    """Return words of the memory that the query may have meant."""
    from hivemind_memory.memory.unknown_words import suggest

    return suggest(view, words)


def _why_empty(
    retrieved: RetrievedCandidates, ranking: Ranking, search_filter: SearchFilter
) -> str:
    """Return why nothing was found, in one sentence."""
    from hivemind_memory.memory.search_notices import why_empty

    return why_empty(retrieved, ranking, search_filter)
