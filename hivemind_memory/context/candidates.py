"""Collects the memories that a section may show.

They are the pinned ones, the preferences, the project's own, and what else matches the
worktree's facets. Text from outside is never among them: the author of a web page must
not reach an agent before its user does. Collecting does not count as a recall, because
no agent and no person asked.
"""

from __future__ import annotations

from hivemind_memory.context.facet_search import search_facets
from hivemind_memory.context.facets import PROJECT
from hivemind_memory.context.origins import AGENT, Origins, agent_of, session_of
from hivemind_memory.context.told_memories import (
    ToldMemories,
    read_own_lines,
)
from hivemind_memory.curation.replaced import is_over
from hivemind_memory.errors import NoteNotFoundError, NoteUnreadableError
from hivemind_memory.model.injection import Excerpt, FacetScore, LeftOut
from hivemind_memory.model.memories import claim_of, claim_text
from hivemind_memory.model.memory_types import (
    FIRST,
    LESSON,
    PREFERENCE,
    SEARCH_ONLY,
    find_type,
    types_of_config,
)
from hivemind_memory.model.note_path import GLOBAL_NOTE
from hivemind_memory.model.scope import GLOBAL, scope_of
from hivemind_memory.model.trust import is_trusted
from hivemind_memory.model.value import replaced
from hivemind_memory.patterns.lazy_pattern import lazy_re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from hivemind_memory.memory import Memory
    from hivemind_memory.model.injection import Facet
    from hivemind_memory.model.memories import MemoryRow
    from hivemind_memory.model.query import Hit

_HEADING = lazy_re(r" {0,3}#{1,6}(?:[ \t]|$)")
"""Of CommonMark; ``#tag`` is text."""

_ALWAYS = FacetScore(facet="always", value=1.0)
_LESSON = FacetScore(facet="lesson", value=1.0)
_PREFERENCE = FacetScore(facet="preference", value=1.0)
_SAVED_WEIGHT = 0.2
"""What a typed memory of importance 1 gets on top of its matches. Every text of a
project belongs to it alike, and a passing remark must not come before a decision; a
match of the branch weighs more."""


class Candidates:
    """Everything that was found, before the selection.

    Attributes:
        always: Pinned memories and identities, then lessons.
        has_more: A facet of the worktree has more answers than were read.
    """

    def __init__(self, *, always: list[Excerpt], preferences: list[Excerpt]) -> None:
        """Take what is told whatever a worktree is about."""
        self.always = always
        self.preferences = preferences
        self.others: list[Excerpt] = []
        self.left_out: list[LeftOut] = []
        self.warnings: list[str] = []
        self.has_more = False


def find_candidates(memory: Memory, facets: Sequence[Facet]) -> Candidates:
    """Return the memories that a section for these facets may show."""
    memory.index_handle.expect_more()
    origins = Origins(memory)
    typed = _TypedMemories(memory, origins)
    preferences = typed.preferences()
    found = Candidates(
        always=typed.always(),
        preferences=[*_preferences(memory, origins), *preferences],
    )
    taken = {excerpt.path for excerpt in (*found.always, *preferences)}
    # Of the worktree: the process may be in another repository, or in none.
    own = memory.caller.project or GLOBAL
    answers = search_facets(memory, facets, own)
    found.warnings, found.has_more = answers.warnings, answers.has_more
    for excerpt in _merge(answers.hits, own):
        if excerpt.path in taken or typed.is_search_only(excerpt.path):
            continue
        if typed.is_untrusted(excerpt.path) or origins.is_external(excerpt):
            found.left_out.append(LeftOut(excerpt=excerpt, why="external"))
        elif excerpt.path in typed.copies:
            found.left_out.append(LeftOut(excerpt=excerpt, why="twin"))
        elif excerpt.path in typed.replaced:
            found.left_out.append(LeftOut(excerpt=excerpt, why="replaced"))
        elif typed.is_over(excerpt.path):
            found.left_out.append(LeftOut(excerpt=excerpt, why="over"))
        else:
            session = typed.session_of(excerpt.path) or origins.session_of(excerpt)
            agent = origins.agent_of(excerpt)
            written = replaced(excerpt, session=session, agent=agent)
            found.others.append(typed.weigh(written))
    return found


def is_empty(memory: Memory, found: Candidates) -> bool:
    """Return whether the memory contains nothing but the headings of a new note."""
    if found.always or found.preferences or found.others or found.left_out:
        return False
    notes = memory.list()
    return not any(n.chunk_count for n in notes if n.path != GLOBAL_NOTE)


class _TypedMemories:
    """The typed memories that the worktree's agents may see."""

    def __init__(self, memory: Memory, origins: Origins) -> None:
        self._memory = memory
        self._origins = origins
        self._types = types_of_config(memory.settings.types)
        self._today = memory.clocks.today()
        self._told = ToldMemories(memory, memory.caller.scopes, self._today)
        self._rows = self._told.rows
        self.copies = self._told.copies
        """Other notes with the key of a memory: copies of its file."""
        self.replaced = self._told.replaced
        """Memories that others replace."""

    def always(self) -> list[Excerpt]:
        """Return pinned memories, identities and lessons, in this order.

        In each group the most important comes first, the newest of equals.
        """
        rows = self._told.told
        pinned = [row for row in rows if row.is_pinned]
        rest = [row for row in rows if not row.is_pinned]
        kept = [*pinned, *(row for row in rest if self._placement(row) == FIRST)]
        lessons = [row for row in rest if self._placement(row) == LESSON]
        excerpts = [self._excerpt(row, _ALWAYS) for row in kept]
        excerpts += [self._excerpt(row, _LESSON) for row in lessons]
        return [excerpt for excerpt in excerpts if excerpt is not None]

    def preferences(self) -> list[Excerpt]:
        """Return how people want things, the most important first."""
        excerpts = [
            self._excerpt(row, _PREFERENCE)
            for row in self._told.told
            if not row.is_pinned and self._placement(row) == PREFERENCE
        ]
        return [excerpt for excerpt in excerpts if excerpt is not None]

    def weigh(self, excerpt: Excerpt) -> Excerpt:
        """Return a text with what it gets for being a typed memory, if it is one."""
        row = self._rows.get(excerpt.path)
        if row is None or not row.type:
            return excerpt
        saved = FacetScore(facet="saved", value=_SAVED_WEIGHT * row.importance)
        return replaced(
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
        return row.session if row is not None and row.source == AGENT else ""

    def is_over(self, path: str) -> bool:
        """Return whether a memory has expired or is done."""
        row = self._rows.get(path)
        return row is not None and is_over(row, self._today)

    def _placement(self, row: MemoryRow) -> str:
        """Return how a memory of its type gets into a section."""
        kind = find_type(row.type, self._types) if row.type else None
        return kind.injected if kind else ""

    def _excerpt(self, row: MemoryRow, reason: FacetScore) -> Excerpt | None:
        """Return a whole memory; None if it is empty or no longer there."""
        first, lines = read_own_lines(self._memory, row.path)
        if not lines:
            return None
        excerpt = Excerpt(
            path=row.path,
            start_line=first,
            end_line=first + len(lines) - 1,
            text="\n".join(lines),
            date=row.created[:10],
            score=reason.value,
            reasons=(reason,),
            type=row.type,
            key=row.key,
            id=row.memory_id,
            claim=claim_text(claim_of(row.claim)),
            session=self.session_of(row.path),
            is_kept=reason is _ALWAYS,
            is_preference=reason is _PREFERENCE,
        )
        agent = self._origins.agent_of(excerpt) if row.source == AGENT else ""
        return replaced(excerpt, agent=agent)


def _preferences(memory: Memory, origins: Origins) -> list[Excerpt]:
    """Return the chunks of ``global.md`` that contain text, in their order."""
    excerpts = []
    for start_line, end_line, body in _global_bodies(memory):
        origin = origins.entry_at(GLOBAL_NOTE, start_line)
        excerpt = Excerpt(
            path=GLOBAL_NOTE,
            start_line=start_line,
            end_line=end_line,
            text=body,
            date=origin.at[:10] if origin else "",
            score=_PREFERENCE.value,
            reasons=(_PREFERENCE,),
            id=origin.id if origin else "",
            session=session_of(origin),
            agent=agent_of(origin),
            is_preference=True,
        )
        if _has_text(body) and not origins.is_external(excerpt):
            excerpts.append(excerpt)
    return excerpts


def _global_bodies(memory: Memory) -> list[tuple[int, int, str]]:
    """Return first line, last line and body of each chunk of ``global.md``."""
    if not memory.settings.chunk_overlap_chars:  # a body would repeat lines
        bodies = memory.lists.bodies(GLOBAL_NOTE)
        if bodies is not None:
            return bodies
    try:
        text = memory.read(GLOBAL_NOTE).text
    except (NoteNotFoundError, NoteUnreadableError):
        return []
    if not _has_text(text):
        return []
    # Of a long note the chunker loads a Markdown parser, which takes 40 ms.
    from hivemind_memory.markdown.note_parser import parse_note

    limit_chars = memory.settings.chunk_chars
    note = parse_note(GLOBAL_NOTE, text.encode(), limit_chars=limit_chars)
    return [
        (chunk.start_line, chunk.end_line, chunk.body)
        for chunk in note.chunks
        if chunk.provenance is None or not chunk.provenance.is_forgotten
    ]


def _has_text(body: str) -> bool:
    """Return whether a chunk contains more than headings and comments."""
    from hivemind_memory.markdown.text import without_comments

    lines = without_comments(body).split("\n")
    return any(line.strip() and not _HEADING.match(line) for line in lines)


def _merge(answers: Sequence[tuple[Facet, Hit]], own: str) -> list[Excerpt]:
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
        is_member = facet.name == PROJECT and own == scope_of(hit.path) != GLOBAL
        value = facet.weight * (1.0 if is_member else hit.score)
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
            id=hit.id,
            score=sum(reason.value for reason in reasons[place]),
            reasons=tuple(reasons[place]),
        )
        for place, hit in hits.items()
    ]
