"""Searches for each facet of a worktree; keeps what is about it.

A search for a person may show the nearest there is and let them judge. What is put
before an agent unasked must be meant: so no word of a facet is corrected, and a project
that is called ``blog`` gets no text from elsewhere only because it has that word, and
one with the commit "init" none about ``git init``.
"""

from __future__ import annotations

from hivemind_memory.context.facets import COMMIT, PROJECT
from hivemind_memory.context.query_words import shared_words, telling_words, words_of
from hivemind_memory.model.filters import DEFAULT_FILTER, SearchFilter
from hivemind_memory.model.generic_words import is_generic
from hivemind_memory.model.late_typing import NamedTuple
from hivemind_memory.model.memory_types import NEWEST, RELEVANT, all_types
from hivemind_memory.model.query import STRONG, Query
from hivemind_memory.model.scope import GLOBAL, scope_of
from hivemind_memory.model.terms import query_terms
from hivemind_memory.search.confidence import STRONG_FROM, WEAK_FROM

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hivemind_memory.memory import Memory
    from hivemind_memory.model.injection import Facet
    from hivemind_memory.model.query import Hit, SearchAnswer

_MAX_HITS = 20
_MAX_MENTIONS = 200
"""Passages that are read to see whether a name is a common word."""

_SEARCH_BUDGET_S = 3.0
"""No further facet is searched for after this: a remote provider may be slow."""

RELATED_SHARE = 0.5
"""Least confidence of a hit from elsewhere, as a share of the best hit's."""


COMMON_FROM = 8
"""Notes that have a name in passing, from which on it is a common word."""


class FacetAnswers(NamedTuple):
    """What was found for the facets."""

    hits: list[tuple[Facet, Hit]]
    warnings: list[str]
    has_more: bool
    """A facet has more answers than were read."""


def search_facets(memory: Memory, facets: Sequence[Facet], own: str) -> FacetAnswers:
    """Return the best hits of every facet, and what was not looked at.

    Args:
        memory: Of the caller.
        facets: By descending weight.
        own: Scope of the project; what is in it matches, whatever words it holds.
    """
    spent_ms = 0.0
    found: list[tuple[Facet, Hit]] = []
    warnings: list[str] = []
    read: list[tuple[SearchAnswer, Sequence[Hit]]] = []
    names = tuple(facet.text for facet in facets if facet.is_name)
    for facet in facets:
        if spent_ms > 1000 * _SEARCH_BUDGET_S:
            warnings.append(f"the {facet.name} was not searched for: too slow")
            continue
        answer = _narrowed(memory, facet.text, DEFAULT_FILTER)
        spent_ms += answer.report.took_ms
        warnings += [text for text in answer.report.warnings if text not in warnings]
        related = list(_related(answer, facet, names, own))
        by_name = [
            hit
            for hit in related
            if facet.is_name and _is_by_name(hit, facet.text.casefold(), own)
        ]
        if by_name and _is_common(memory, facet.text):
            related = [hit for hit in related if hit not in by_name]
        read.append((answer, related))
        found += [(facet, hit) for hit in related]
        if facet.name == PROJECT:
            known = {(hit.path, hit.start_line) for hit in answer.hits}
            for narrowed in _of_project(memory, facet, own, answer):
                read.append((narrowed, narrowed.hits))
                more = [h for h in narrowed.hits if (h.path, h.start_line) not in known]
                known |= {(hit.path, hit.start_line) for hit in more}
                found += [(facet, hit) for hit in more]
    return FacetAnswers(found, warnings, _has_more(read, own))


def _has_more(read: Sequence[tuple[SearchAnswer, Sequence[Hit]]], own: str) -> bool:
    """Return whether more memories match than were read.

    What one answer was too short for, another may have. The lists of the project say
    how many it has. Of the rest, less matches behind a hit that is no match.

    Args:
        read: The answers, and what of each matches.
        own: Scope of the project.
    """
    cut = [(answer, hits) for answer, hits in read if answer.report.cut.over_limit]
    lists = [answer for answer, _ in cut if answer.report.mode == "list"]
    known = {(hit.path, hit.start_line) for _, hits in read for hit in hits}
    here = sum(scope_of(path) == own for path, _ in known)
    total = max(
        (len(answer.hits) + answer.report.cut.over_limit for answer in lists),
        default=here,
    )
    if here < total:
        return True
    for answer, matching in cut:
        elsewhere = [hit for hit in answer.hits if scope_of(hit.path) != own]
        unread_here = 0 if own == GLOBAL else here - len(answer.hits) + len(elsewhere)
        is_elsewhere = answer.report.cut.over_limit > unread_here
        if is_elsewhere and (own == GLOBAL or not elsewhere):
            elsewhere = list(answer.hits)
        if is_elsewhere and elsewhere[-1] in matching:
            return True
    return False


def _related(
    answer: SearchAnswer, facet: Facet, names: Sequence[str], own: str
) -> Iterator[Hit]:
    """Yield what was kept in the project, and of the rest what really answers."""
    holds_all_words = len(query_terms(facet.text).terms) == 1
    best = max((hit.confidence for hit in answer.hits), default=0.0)
    is_strong = answer.report.confidence == STRONG
    is_known = is_strong or (answer.is_weak and best >= WEAK_FROM)
    telling = telling_words(facet.text, names)
    of_names = {word for name in names for word in words_of(name)}
    beside = [
        word
        for word in words_of(facet.text)
        if word not in of_names and not is_generic(word)
    ]
    for hit in answer.hits:
        is_near = holds_all_words or hit.confidence >= RELATED_SHARE * best
        if own == scope_of(hit.path) != GLOBAL:
            # The path of each note of a project has its name, which answers no commit.
            if facet.is_name or _answers(hit, beside):
                yield hit
        elif is_known and is_near and _is_meant(hit, facet, telling):
            yield hit


def _answers(hit: Hit, words: Sequence[str]) -> bool:
    """Return whether a note of the project has one of some words, or is near them."""
    if "words" not in hit.retrievers:
        return bool(words)
    return shared_words(words, _text_of(hit)) > 0


def _is_by_name(hit: Hit, name: str, own: str) -> bool:
    """Return whether a hit is for a word of a name, in free text from elsewhere.

    A note or folder right in the notes folder was named so by a person.
    """
    is_free = not hit.type and scope_of(hit.path) != own
    return is_free and name not in _outermost(hit)


def _outermost(hit: Hit) -> list[str]:
    """Return the words of the name of the note, or of the outermost folder it is in."""
    return words_of(hit.path.partition("/")[0].removesuffix(".md"))


def _is_common(memory: Memory, name: str) -> bool:
    """Return whether so many notes have a name in passing that it is a word as others.

    A page of a manual on the console is not about a project of that name.
    """
    words = words_of(name)
    if len(words) > 1:
        return False
    anywhere = SearchFilter(scope=GLOBAL)
    answer = _narrowed(memory, name, anywhere, max_results=_MAX_MENTIONS)
    about = {hit.path for hit in answer.hits if is_about(hit, name)}
    return len({hit.path for hit in answer.hits} - about) >= COMMON_FROM


def _is_meant(hit: Hit, facet: Facet, telling: Sequence[str]) -> bool:
    """Return whether a hit from elsewhere is about the work.

    A memory that was saved with a type may have one word of the work, or the project's
    name, anywhere. Free text must be a strong answer with two words of the work; by
    vectors alone, a strong answer. Of a branch or a file with one word, it must be the
    subject. A commit with one word is no question.
    """
    if facet.is_name:
        return bool(hit.type) or is_about(hit, facet.text)
    if "words" not in hit.retrievers:
        return bool(telling) and (bool(hit.type) or hit.confidence >= STRONG_FROM)
    shared = shared_words(telling, _text_of(hit))
    if hit.type:
        return shared > 0 or not telling
    if len(telling) == 1:
        return facet.name != COMMIT and _is_subject(hit, telling[0])
    return shared > 1 and hit.confidence >= STRONG_FROM


def _text_of(hit: Hit) -> str:
    """Return all that a hit says, and where it is."""
    return " ".join((hit.path, hit.key, *hit.headings, hit.snippet))


def is_about(hit: Hit, name: str) -> bool:
    """Return whether a hit is about a project, by its name.

    A single word must be the name, the key or a heading of the note, or a word of the
    name of a note or folder that is not in another one: those a person has named.
    Several words, side by side, are no chance anywhere.
    """
    words = words_of(name)
    if len(words) == 1:
        return words[0] in _outermost(hit) or _is_subject(hit, words[0])
    places = (hit.path, hit.key, *hit.headings, hit.snippet)
    return any(_has_run(words_of(place), words) for place in places)


def _is_subject(hit: Hit, word: str) -> bool:
    """Return whether one word is the name, the key or a heading of a note."""
    name = hit.path.rpartition("/")[2].removesuffix(".md")
    return any(words_of(title) == [word] for title in (name, hit.key, *hit.headings))


def _has_run(words: Sequence[str], run: Sequence[str]) -> bool:
    """Return whether some words stand side by side among others, in their order."""
    size = len(run)
    starts = range(len(words) - size + 1)
    return bool(run) and any(words[at : at + size] == run for at in starts)


def _of_project(
    memory: Memory, facet: Facet, own: str, answer: SearchAnswer
) -> Iterator[SearchAnswer]:
    """Yield what else a project's section may show: its newest, and typed memories."""
    types = _matched_types(memory)
    if own != GLOBAL:
        yield _narrowed(memory, "", SearchFilter(scope=own))
        yield _narrowed(memory, "", SearchFilter(scope=own, types=types))
    if len(answer.hits) == _MAX_HITS:
        yield _narrowed(memory, facet.text, SearchFilter(types=types))


def _narrowed(
    memory: Memory, text: str, wanted: SearchFilter, max_results: int = _MAX_HITS
) -> SearchAnswer:
    """Return the best hits that a filter lets through; without a text the newest."""
    # Which of the places a section may quote is known only later.
    return memory.search(
        Query(
            text=text,
            max_results=max_results,
            search_filter=wanted,
            keeps_repetitions=True,
            is_literal=True,
        )
    )


def _matched_types(memory: Memory) -> tuple[str, ...]:
    """Return the types that come into a section when they match.

    A busy memory has hundreds of entries that are newer than a decision, or match the
    project's name as well.
    """
    kinds = all_types(memory.types).values()
    return tuple(kind.name for kind in kinds if kind.injected in (NEWEST, RELEVANT))
