"""Finds the briefing of a scope: as the language model wrote it, or else composed.

A composed one is made anew each time, from what is active now: what was forgotten or
purged is never in it, and there is nothing to keep up to date. What the model wrote is
shown as long as each of its memories is still told to agents and says the same. Which
memories a briefing may tell of is decided as for a section (``told_memories``).
Whatever shows a briefing calls ``find_briefing``.
"""

from __future__ import annotations

from collections import deque

from hivemind_memory.context.briefing_input import choose_told, read_told
from hivemind_memory.context.told_memories import ToldMemories, read_own_lines
from hivemind_memory.errors import StateUnusableError
from hivemind_memory.markdown.first_sentence import first_sentence
from hivemind_memory.model.briefing import Briefing, BriefingSource
from hivemind_memory.model.display import behind_text
from hivemind_memory.model.memory_types import (
    SEARCH_ONLY,
    all_types,
    find_type,
)
from hivemind_memory.model.scope import GLOBAL, scope_text
from hivemind_memory.model.value import replaced
from hivemind_memory.patterns.lazy_pattern import lazy_re
from hivemind_memory.redaction import mask
from hivemind_memory.search.similarity import ChosenTexts
from hivemind_memory.state.briefings import Briefings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from hivemind_memory.memory import Memory
    from hivemind_memory.model.memories import MemoryRow
    from hivemind_memory.model.memory_types import MemoryType

WORDS = 120
"""About as long as a briefing is; the last sentence may pass it."""

MAIN_WORDS = 80
"""Of them for who one is, what was decided and where it goes, before the rest."""

_PINNED = "pinned"
_MAIN = (_PINNED, "identity", "decision", "goal")
_FILL = ("preference", "lesson")
_WIDE = lazy_re(r"[\u0e00-\u0eff\u2e80-\ua4cf\uac00-\ud7ff\uf900-\ufaff]")
_CHARS_A_WORD = 2
"""Of scripts that put no spaces between words."""

NOTHING = "This scope has no memory that a briefing can include."


def find_briefing(memory: Memory, name: str = "") -> Briefing:
    """Return the briefing of a scope: the language model's if there is one that holds.

    Else the first sentences of its memories, by type: the same memories give the same
    text.

    Args:
        memory: As its caller sees it; a visitor, who reads no whole notes, gets none.
        name: Of the scope; empty: the caller's own, see ``find_scope``.

    Raises:
        ScopeError: It is not a scope, or the caller does not have it.
        NotesMissingError: There is no notes folder.
    """
    scope = find_scope(memory, name)
    at = memory.clocks.local_iso(memory.clocks.now())
    handle = memory.index_handle
    with handle.lock:
        told = told_in(memory, scope)
        warning = behind_text(handle.why_behind)
    if written := _find_written(memory, scope, told):
        return replaced(
            written, is_stale=written.is_stale or warning != "", warning=warning
        )
    sources = tuple(_in_order(_choose(memory, told), memory.types))
    return Briefing(
        scope=scope,
        body=_body_of(sources),
        why_empty="" if sources else NOTHING,
        generated_at=at,
        sources=sources,
        is_stale=warning != "",
        warning=warning,
    )


def briefing_fields(briefing: Briefing) -> dict[str, Any]:
    """Return a briefing as agents and programs get it, by the names of its fields."""
    return {
        "body": briefing.body,
        "scope": scope_text(briefing.scope),
        "generated_at": briefing.generated_at,
        "is_model": briefing.is_model,
        "model": briefing.model,
        "is_stale": briefing.is_stale,
        "sources": [source.id or source.path for source in briefing.sources],
        "why": briefing.why_empty,
        "warning": briefing.warning,
    }


def find_own_briefing(memory: Memory) -> Briefing | None:
    """Return what the language model wrote of the caller's own scope, for a section.

    The global one if it has none of its own. None: none holds. A composed one repeats
    what a section shows anyway.
    """
    for scope in dict.fromkeys((find_scope(memory, ""), GLOBAL)):
        with memory.index_handle.lock:
            told = told_in(memory, scope)
        if written := _find_written(memory, scope, told):
            return written
    return None


def is_kept(memory: Memory, written: Briefing) -> bool:
    """Return whether a briefing is still the one that is kept of its scope."""
    try:
        kept = Briefings(memory.state()).find(written.scope)
    except StateUnusableError:
        return False
    return (
        kept is not None
        and memory.clocks.local_iso(kept.made_at) == written.generated_at
        and mask(kept.body) == written.body
    )


def find_scope(memory: Memory, name: str) -> str:
    """Return the scope of a name; for an empty one the narrowest of the caller.

    The owner's is the project here.
    """
    if name:
        return memory.find_scope(name)
    caller = memory.caller
    if caller.is_owner:
        return memory.here.find(False)  # noqa: FBT003 - nothing is written
    return caller.workspace or caller.project or next(iter(caller.teams), GLOBAL)


def told_in(memory: Memory, scope: str) -> list[MemoryRow]:
    """Return the memories of a scope that agents are told, most important first."""
    seen = frozenset({scope, GLOBAL})  # what agents there see replaces something
    scopes = memory.caller.scopes
    seen = seen if scopes is None else seen & scopes
    told = ToldMemories(memory, seen, memory.clocks.today()).told
    return [row for row in told if row.scope == scope]


def label_of(source: BriefingSource) -> str:
    """Return what stands before the sentences of a type.

    >>> label_of(BriefingSource(id="", key="", type="decision", path="", sentence=""))
    'Decision'
    """
    return (source.type or "note").capitalize()


def _find_written(
    memory: Memory, scope: str, told: Sequence[MemoryRow]
) -> Briefing | None:
    """Return what the language model wrote; None: nothing that still holds.

    Args:
        memory: As its caller sees it.
        scope: Folder of a scope.
        told: What ``told_in`` returns of it.
    """
    if memory.settings.llm_provider == "none":
        return None
    state = memory.state()
    try:
        kept = Briefings(state).find(scope)
        if kept is None or not kept.body:
            return None
        rows = {row.memory_id or row.path: row for row in told}
        sources = []
        for ref, digest in kept.sources:
            found = read_told(memory, rows[ref]) if ref in rows else None
            if found is None or state.hash_of(found.words) != digest:
                return None
            sources.append(found)
        now = [found.ref for found in choose_told(memory, told)]
    except StateUnusableError:
        return None
    return Briefing(
        scope=scope,
        body=mask(kept.body),
        generated_at=memory.clocks.local_iso(kept.made_at),
        sources=tuple(
            BriefingSource(
                id=found.row.memory_id,
                key=mask(found.row.key),
                type=found.type,
                path=found.row.path,
                sentence="",
            )
            for found in sources
        ),
        is_model=True,
        model=kept.model,
        is_stale=now != [ref for ref, _ in kept.sources],
    )


def _choose(memory: Memory, rows: Iterable[MemoryRow]) -> Iterator[BriefingSource]:
    """Yield what is told, until the words are used up.

    The types of a group take turns, so that many decisions leave room for a goal.
    """
    waiting: dict[str, deque[MemoryRow]] = {}
    groups_of: dict[str, str] = {}
    for row in rows:
        if row.type not in groups_of:
            groups_of[row.type] = _group_of(row.type, memory.types)
        if group := _PINNED if row.is_pinned else groups_of[row.type]:
            waiting.setdefault(group, deque()).append(row)
    rest = tuple(name for name in all_types(memory.types) if name not in _MAIN + _FILL)
    said = ChosenTexts()
    used = 0
    for groups, limit in (
        (_MAIN, MAIN_WORDS),
        (_FILL, WORDS),
        (_MAIN, WORDS),
        (rest, WORDS),
    ):
        while used < limit and (left := [g for g in groups if waiting.get(g)]):
            for group in left:
                source = _source_of(memory, waiting[group].popleft())
                if source is None or used >= limit:
                    continue
                if said.has(source.sentence):
                    continue
                said.add(source.sentence)
                used += count_words(source.sentence)
                yield source


def _group_of(name: str, types: Mapping[str, MemoryType]) -> str:
    """Return the type of a name; empty: only a search shows such memories."""
    kind = find_type(name, types) if name else None
    return kind.name if kind and kind.injected != SEARCH_ONLY else ""


def _source_of(memory: Memory, row: MemoryRow) -> BriefingSource | None:
    """Return what a memory says first; None: it has no text."""
    _, lines = read_own_lines(memory, row.path)
    kind = find_type(row.type, memory.types) if row.type else None
    name = kind.name if kind else row.type
    # Masked as a whole: half of a secret is not recognized. And again: signs of
    # Markdown may have stood between the letters of one.
    sentence = mask(first_sentence(mask("\n".join(lines)), label=name))
    if not sentence:
        return None
    return BriefingSource(
        id=row.memory_id,
        key=mask(row.key),
        type=name,
        path=row.path,
        sentence=sentence,
    )


def _in_order(
    sources: Iterable[BriefingSource], types: Mapping[str, MemoryType]
) -> list[BriefingSource]:
    """Return what is told, the types one after the other."""
    names = list(dict.fromkeys((*_MAIN, *_FILL, *all_types(types))))
    return sorted(
        sources,
        key=lambda source: (
            names.index(source.type) if source.type in names else len(names)
        ),
    )


def _body_of(sources: Iterable[BriefingSource]) -> str:
    """Return the text: a paragraph for each type."""
    paragraphs: dict[str, list[str]] = {}
    for source in sources:
        paragraphs.setdefault(label_of(source), []).append(_ended(source.sentence))
    return "\n".join(f"{name}: {' '.join(said)}" for name, said in paragraphs.items())


def _ended(sentence: str) -> str:
    """Return a sentence with a full stop, so that another may follow it.

    >>> _ended("Use tabs"), _ended("Why? (Not known.)"), _ended("怎么办？")
    ('Use tabs.', 'Why? (Not known.)', '怎么办？')
    """
    last = sentence.rstrip("\"'”’»)]」』")[-1:]
    if last in ".!?…।؟。！？":
        return sentence
    return f"{sentence.rstrip(':;,')}{'。' if _WIDE.match(last) else '.'}"


def count_words(text: str) -> int:
    """Return how many words a text has, in any script."""
    wide = len(_WIDE.findall(text))
    return len(_WIDE.sub(" ", text).split()) + wide // _CHARS_A_WORD
