"""Collects the memories that a section may show.

They are the pinned ones, the preferences, and what matches the worktree's facets. Text
from outside is never among them: the author of a web page must not reach an agent
before its user does. Collecting does not count as a recall, because no agent and no
person asked.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

from hivemind_memory.context.facets import PROJECT
from hivemind_memory.errors import NoteNotFoundError, NoteUnreadableError
from hivemind_memory.markdown.entry import OPENING, parse_provenance
from hivemind_memory.markdown.front_matter import split_front_matter
from hivemind_memory.model.filters import SearchFilter
from hivemind_memory.model.injection import Excerpt, FacetScore, LeftOut
from hivemind_memory.model.memories import ACTIVE, claim_of, claim_text
from hivemind_memory.model.memory_types import (
    FIRST,
    LESSON,
    NEWEST,
    RELEVANT,
    SEARCH_ONLY,
    all_types,
    find_type,
    types_of_config,
)
from hivemind_memory.model.note_path import GLOBAL_NOTE
from hivemind_memory.model.query import Query
from hivemind_memory.model.trust import is_trusted
from hivemind_memory.notes.memory_header import is_expired_or_done

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from hivemind_memory.memory import Memory
    from hivemind_memory.model.injection import Facet
    from hivemind_memory.model.memories import MemoryRow
    from hivemind_memory.model.note import Provenance
    from hivemind_memory.model.query import Hit

_HEADING = re.compile(r" {0,3}#{1,6}(?:[ \t]|$)")
"""Of CommonMark; ``#tag`` is text."""

_MAX_HITS = 20
_SEARCH_BUDGET_S = 3.0
"""No further facet is searched for after this: a remote provider may be slow."""

_AGENT = "agent"
_ALWAYS = FacetScore(facet="always", value=1.0)
_LESSON = FacetScore(facet="lesson", value=1.0)
_PREFERENCE = FacetScore(facet="preference", value=1.0)
_SAVED_WEIGHT = 0.2
"""What a typed memory of importance 1 gets on top of its matches. Every text of a
project matches the project's name nearly alike, through its path, and a passing remark
must not come before a decision for being short; a match of the branch weighs more."""


@dataclass(slots=True, kw_only=True)
class Candidates:
    """Everything that was found, before the selection."""

    always: list[Excerpt] = field(default_factory=list)
    """Pinned memories and identities, then lessons."""

    preferences: list[Excerpt] = field(default_factory=list)
    others: list[Excerpt] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    has_more: bool = False
    """A facet of the worktree has more answers than were read."""


def find_candidates(memory: Memory, facets: Sequence[Facet]) -> Candidates:
    """Return the memories that a section for these facets may show."""
    typed = _TypedMemories(memory)
    found = Candidates(always=typed.always(), preferences=_preferences(memory))
    taken = {excerpt.path for excerpt in found.always}
    origins = _Origins(memory)
    for excerpt in _merge(_search_all(memory, facets, found)):
        if excerpt.path in taken or typed.is_search_only(excerpt.path):
            continue
        if typed.is_untrusted(excerpt.path) or origins.is_external(excerpt):
            found.left_out.append(LeftOut(excerpt=excerpt, why="external"))
        elif typed.is_over(excerpt.path):
            found.left_out.append(LeftOut(excerpt=excerpt, why="over"))
        else:
            session = typed.session_of(excerpt.path) or origins.session_of(excerpt)
            found.others.append(typed.weigh(replace(excerpt, session=session)))
    return found


def is_empty(memory: Memory, found: Candidates) -> bool:
    """Return whether the memory contains nothing but the headings of a new note."""
    if found.always or found.preferences or found.others or found.left_out:
        return False
    notes = memory.list()
    return not any(n.chunk_count for n in notes if n.path != GLOBAL_NOTE)


class _TypedMemories:
    """The typed memories that the worktree's agents may see."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._rows = {row.path: row for row in memory.memories()}
        self._types = types_of_config(memory.settings.types)
        self._today = memory.clocks.today()

    def always(self) -> list[Excerpt]:
        """Return pinned memories, identities and lessons, in this order.

        In each group the most important comes first, the newest of equals.
        """
        rows = [
            row
            for row in self._rows.values()
            if row.status == ACTIVE
            and is_trusted(row.source)
            and not self.is_over(row.path)
        ]
        rows.sort(key=lambda row: (row.created, row.path), reverse=True)
        rows.sort(key=lambda row: -row.importance)
        pinned = [row for row in rows if row.is_pinned]
        rest = [row for row in rows if not row.is_pinned]
        kept = [*pinned, *(row for row in rest if self._placement(row) == FIRST)]
        lessons = [row for row in rest if self._placement(row) == LESSON]
        excerpts = [self._excerpt(row, _ALWAYS) for row in kept]
        excerpts += [self._excerpt(row, _LESSON) for row in lessons]
        return [excerpt for excerpt in excerpts if excerpt is not None]

    def weigh(self, excerpt: Excerpt) -> Excerpt:
        """Return a text with what it gets for being a typed memory, if it is one."""
        row = self._rows.get(excerpt.path)
        if row is None or not row.type:
            return excerpt
        saved = FacetScore(facet="saved", value=_SAVED_WEIGHT * row.importance)
        return replace(
            excerpt,
            score=excerpt.score + saved.value,
            reasons=(*excerpt.reasons, saved),
        )

    def is_search_only(self, path: str) -> bool:
        """Return whether only a search shows a note."""
        row = self._rows.get(path)
        return row is not None and self._placement(row) == SEARCH_ONLY

    def is_untrusted(self, path: str) -> bool:
        """Return whether a note names a source outside."""
        row = self._rows.get(path)
        return row is not None and not is_trusted(row.source)

    def session_of(self, path: str) -> str:
        """Return the agent's session that saved a memory; empty: none did."""
        row = self._rows.get(path)
        return row.session if row is not None and row.source == _AGENT else ""

    def is_over(self, path: str) -> bool:
        """Return whether a memory has expired or is done."""
        row = self._rows.get(path)
        return row is not None and is_expired_or_done(
            row.expires_day, row.done_day, today=self._today
        )

    def _placement(self, row: MemoryRow) -> str:
        """Return how a memory of its type gets into a section."""
        kind = find_type(row.type, self._types) if row.type else None
        return kind.injected if kind else ""

    def _excerpt(self, row: MemoryRow, reason: FacetScore) -> Excerpt | None:
        """Return a whole memory; None if it is empty or no longer there."""
        try:
            text = self._memory.read(row.path).text
        except (NoteNotFoundError, NoteUnreadableError):
            return None
        lines = text.split("\n")
        start = split_front_matter(text).line_count
        while start < len(lines) and not lines[start].strip():
            start += 1
        stop = start
        # An entry that was appended to the file has a source of its own, perhaps an
        # external one, so the memory ends before it.
        while stop < len(lines) and not parse_provenance(lines[stop]):
            stop += 1
        while stop > start and not lines[stop - 1].strip():
            stop -= 1
        if start == stop:
            return None
        return Excerpt(
            path=row.path,
            start_line=start + 1,
            end_line=stop,
            text="\n".join(lines[start:stop]),
            date=row.created[:10],
            score=reason.value,
            reasons=(reason,),
            type=row.type,
            key=row.key,
            claim=claim_text(claim_of(row.claim)),
            session=self.session_of(row.path),
            is_kept=reason is _ALWAYS,
        )


def _preferences(memory: Memory) -> list[Excerpt]:
    """Return the chunks of ``global.md`` that contain text, in their order."""
    # The chunker imports a Markdown parser, which only this needs.
    from hivemind_memory.markdown.note_parser import parse_note

    try:
        text = memory.read(GLOBAL_NOTE).text
    except (NoteNotFoundError, NoteUnreadableError):
        return []
    note = parse_note(
        GLOBAL_NOTE,
        text.encode(),
        limit_chars=memory.settings.chunk_chars,
    )
    if not is_trusted(note.front_matter.get("source")):
        return []
    excerpts = []
    for chunk in note.chunks:
        origin = chunk.provenance
        if origin and (origin.is_forgotten or not is_trusted(origin.source)):
            continue
        if not _has_text(chunk.body):
            continue
        excerpts.append(
            Excerpt(
                path=GLOBAL_NOTE,
                start_line=chunk.start_line,
                end_line=chunk.end_line,
                text=chunk.body,
                date=origin.at[:10] if origin else "",
                score=_PREFERENCE.value,
                reasons=(_PREFERENCE,),
                session=_session_of(origin),
                is_preference=True,
            )
        )
    return excerpts


def _session_of(origin: Provenance | None) -> str:
    """Return the agent's session that wrote an entry; empty: none did."""
    return origin.session if origin and origin.source == _AGENT else ""


def _has_text(body: str) -> bool:
    """Return whether a chunk contains more than headings and comments."""
    from hivemind_memory.markdown.text import without_comments

    lines = without_comments(body).split("\n")
    return any(line.strip() and not _HEADING.match(line) for line in lines)


def _search_all(
    memory: Memory, facets: Sequence[Facet], found: Candidates
) -> list[tuple[Facet, Hit]]:
    """Return the best hits of every facet; adds to *found* what was not looked at."""
    spent_ms, answers = 0.0, []
    for facet in facets:
        if spent_ms > 1000 * _SEARCH_BUDGET_S:
            found.warnings.append(f"the {facet.name} was not searched for: too slow")
            continue
        answer = memory.search(Query(text=facet.text, max_results=_MAX_HITS))
        spent_ms += answer.report.took_ms
        for warning in answer.report.warnings:
            if warning not in found.warnings:
                found.warnings.append(warning)
        found.has_more |= answer.report.cut.over_limit > 0
        answers += [(facet, hit) for hit in answer.hits]
        if facet.name == PROJECT and len(answer.hits) == _MAX_HITS:
            answers += _typed_hits(memory, facet, answer.hits)
    return answers


def _typed_hits(
    memory: Memory, facet: Facet, found: Sequence[Hit]
) -> list[tuple[Facet, Hit]]:
    """Return the typed memories that match a facet and are not among the hits.

    A busy project has hundreds of entries that match its name as well as a decision.
    """
    kinds = all_types(memory.types).values()
    types = tuple(one.name for one in kinds if one.injected in (NEWEST, RELEVANT))
    query = Query(
        text=facet.text, max_results=_MAX_HITS, search_filter=SearchFilter(types=types)
    )
    known = {(hit.path, hit.start_line) for hit in found}
    hits = memory.search(query).hits
    return [(facet, hit) for hit in hits if (hit.path, hit.start_line) not in known]


def _merge(answers: Sequence[tuple[Facet, Hit]]) -> list[Excerpt]:
    """Return one excerpt for each place, its score the sum over the facets."""
    hits: dict[tuple[str, int, int], Hit] = {}
    reasons: dict[tuple[str, int, int], list[FacetScore]] = {}
    for facet, hit in answers:
        if hit.path == GLOBAL_NOTE or hit.status != "active":
            continue
        if not _has_text(hit.snippet):
            continue
        place = (hit.path, hit.start_line, hit.end_line)
        hits.setdefault(place, hit)
        value = facet.weight * hit.score
        reasons.setdefault(place, []).append(FacetScore(facet=facet.name, value=value))
    return [
        Excerpt(
            path=hit.path,
            start_line=hit.start_line,
            end_line=hit.end_line,
            text=hit.snippet,
            date=hit.date,
            type=hit.type,
            key=hit.key,
            claim=claim_text(hit.claim),
            score=sum(reason.value for reason in reasons[place]),
            reasons=tuple(reasons[place]),
        )
        for place, hit in hits.items()
    ]


class _Origins:
    """Finds out whether a text is external; reads each note once."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._notes: dict[str, tuple[list[str], bool]] = {}

    def is_external(self, excerpt: Excerpt) -> bool:
        """Return whether the entry or the note of a text names a source outside."""
        origin = self._entry(excerpt)
        is_external = self._notes[excerpt.path][1]
        return is_external or (origin is not None and not is_trusted(origin.source))

    def session_of(self, excerpt: Excerpt) -> str:
        """Return the agent's session that wrote a text; empty: none did."""
        return _session_of(self._entry(excerpt))

    def _entry(self, excerpt: Excerpt) -> Provenance | None:
        """Return the provenance of the entry that a text is in, if it is in one."""
        if excerpt.path not in self._notes:
            self._notes[excerpt.path] = self._read(excerpt.path)
        # An entry reaches to the next one, so the nearest comment above decides.
        for line in reversed(self._notes[excerpt.path][0][: excerpt.start_line]):
            if line.startswith(OPENING) and (origin := parse_provenance(line)):
                return origin
        return None

    def _read(self, path: str) -> tuple[list[str], bool]:
        """Return the lines of a note, and whether its front matter is untrusted."""
        try:
            text = self._memory.read(path).text
        except (NoteNotFoundError, NoteUnreadableError):
            text = ""
        values = split_front_matter(text).values if text.startswith("---") else {}
        return text.split("\n"), not is_trusted(values.get("source"))
