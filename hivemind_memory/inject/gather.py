"""Asks the memory what matters in a worktree: candidates for its section.

Counts as nobody's recall: the injector asks, and no agent or person.
"""

from __future__ import annotations

from hivemind_memory.errors import NoteNotFoundError, NoteUnreadableError
from hivemind_memory.inject.outcomes import LeftOut, Quote, Reason
from hivemind_memory.inject.typed import Typed, is_untrusted
from hivemind_memory.model.query import Query
from hivemind_memory.model.standing import UNTRUSTED
from hivemind_memory.notes.entries import OPENING, parse_provenance

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from hivemind_memory.inject.outcomes import Facet
    from hivemind_memory.memory import Memory
    from hivemind_memory.model.query import Hit

PREFERENCES_NOTE = "global.md"
_PREFERENCE = Reason(facet="preference", value=1.0)
_MOST_HITS = 20
_PATIENCE_S = 3.0
"""Further facets are not asked after this: a provider far away may take long."""

_EXTERNAL = "external"


class Gathered:
    """What was found, before the choice."""

    def __init__(self) -> None:
        self.always: list[Quote] = []
        """What is pinned and who somebody is, then lessons."""
        self.preferences: list[Quote] = []
        self.others: list[Quote] = []
        self.left_out: list[LeftOut] = []
        self.warnings: list[str] = []


def gather(memory: Memory, facets: Sequence[Facet]) -> Gathered:
    """Return what is always told, the preferences, and all that answers a facet.

    Text from outside is never among them: whoever wrote a web page must not speak to
    an agent before its person does.
    """
    found = Gathered()
    sources = _Sources(memory)
    rows = {row.path: row for row in memory.memories()}
    typed = Typed(memory, rows.values())
    found.always = typed.always()
    taken = {quote.path for quote in found.always}
    found.preferences = _preferences(memory)
    for quote in _merged(_asked(memory, facets, found)):
        if quote.path in taken or typed.is_search_only(quote.path):
            continue
        if typed.is_untrusted(quote.path) or sources.is_external(quote):
            found.left_out.append(LeftOut(quote=quote, why=_EXTERNAL))
        elif typed.is_over(quote.path):
            found.left_out.append(LeftOut(quote=quote, why="over"))
        else:
            found.others.append(quote)
    return found


def is_empty(memory: Memory, gathered: Gathered) -> bool:
    """Whether the memory holds nothing at all, the first note's frame apart."""
    found = (gathered.always, gathered.preferences, gathered.others, gathered.left_out)
    if any(found):
        return False
    notes = memory.list()
    return not any(n.chunk_count for n in notes if n.path != PREFERENCES_NOTE)


def _preferences(memory: Memory) -> list[Quote]:
    """Return the chunks of ``global.md`` that say something, in their order."""
    # The chunker brings a Markdown parser with it, which only this needs.
    from hivemind_memory.model.note_path import NotePath
    from hivemind_memory.notes.chunker import parse_note

    try:
        text = memory.read(PREFERENCES_NOTE).text
    except (NoteNotFoundError, NoteUnreadableError):
        return []
    note = parse_note(
        NotePath(PREFERENCES_NOTE),
        text.encode(),
        limit_chars=memory.settings.chunk_chars,
    )
    if is_untrusted(note.front_matter.get("source")):
        return []
    quotes = []
    for chunk in note.chunks:
        origin = chunk.provenance
        if origin and (origin.is_forgotten or origin.source in UNTRUSTED):
            continue
        if not _says_something(chunk.body):
            continue
        quotes.append(
            Quote(
                path=PREFERENCES_NOTE,
                first_line=chunk.first_line,
                last_line=chunk.last_line,
                text=chunk.body,
                date=origin.at[:10] if origin else "",
                score=_PREFERENCE.value,
                reasons=(_PREFERENCE,),
                is_preference=True,
            )
        )
    return quotes


def _says_something(body: str) -> bool:
    """Whether a chunk is more than headings and comments."""
    text = body
    while "<!--" in text:
        before, _, rest = text.partition("<!--")
        text = before + rest.partition("-->")[2]
    lines = text.split("\n")
    return any(line.strip() and not line.startswith("#") for line in lines)


def _asked(
    memory: Memory, facets: Sequence[Facet], found: Gathered
) -> list[tuple[Facet, Hit]]:
    """Return every hit of every facet."""
    spent_ms, answers = 0.0, []
    for facet in facets:
        if spent_ms > 1000 * _PATIENCE_S:
            found.warnings.append(f"the {facet.name} was not asked for: too slow")
            continue
        answer = memory.search(Query(text=facet.text, max_results=_MOST_HITS))
        spent_ms += answer.report.took_ms
        for warning in answer.report.warnings:
            if warning not in found.warnings:
                found.warnings.append(warning)
        answers += [(facet, hit) for hit in answer.hits]
    return answers


def _merged(answers: Sequence[tuple[Facet, Hit]]) -> list[Quote]:
    """Return one quote for each place, its score the sum over the facets."""
    hits: dict[tuple[str, int, int], Hit] = {}
    reasons: dict[tuple[str, int, int], list[Reason]] = {}
    for facet, hit in answers:
        if hit.path == PREFERENCES_NOTE or hit.standing != "active":
            continue
        if not _says_something(hit.snippet):
            continue
        place = (hit.path, hit.start_line, hit.end_line)
        hits.setdefault(place, hit)
        value = facet.weight * hit.score
        reasons.setdefault(place, []).append(Reason(facet=facet.name, value=value))
    return [
        Quote(
            path=hit.path,
            first_line=hit.start_line,
            last_line=hit.end_line,
            text=hit.snippet,
            date=hit.date,
            type=hit.type,
            key=hit.key,
            score=sum(reason.value for reason in reasons[place]),
            reasons=tuple(reasons[place]),
        )
        for place, hit in hits.items()
    ]


class _Sources:
    """Tells where a text comes from; each note is read once."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._lines: dict[str, list[str]] = {}
        self._is_external: dict[str, bool] = {}

    def is_external(self, quote: Quote) -> bool:
        """Whether a text came from outside, as its entry or its note says."""
        if quote.path not in self._lines:
            self._read(quote.path)
        if self._is_external[quote.path]:
            return True
        # An entry goes on to the next one, so the last comment above tells.
        for line in reversed(self._lines[quote.path][: quote.first_line]):
            if line.startswith(OPENING) and (origin := parse_provenance(line)):
                return origin.source in UNTRUSTED
        return False

    def _read(self, path: str) -> None:
        """Keep the lines of a note, and what its front matter says."""
        from hivemind_memory.notes.front_matter import split_front_matter

        try:
            text = self._memory.read(path).text
        except (NoteNotFoundError, NoteUnreadableError):
            text = ""
        self._lines[path] = text.split("\n")
        values = split_front_matter(text).values if text.startswith("---") else {}
        self._is_external[path] = is_untrusted(values.get("source"))
