"""Records what came of using a memory, and finds those that worked again and again.

What was counted for an earlier version counts on only through minor corrections: a
text that says something else has proved nothing yet.
"""

from __future__ import annotations

from typing import NamedTuple

from hivemind_memory.access.read_only import check_not_read_only
from hivemind_memory.access.rules import check_enabled
from hivemind_memory.curation.lookup import load_memory
from hivemind_memory.curation.skill_memory import find_typed, why_refused
from hivemind_memory.curation.supersede import is_minor
from hivemind_memory.errors import MemoryNotFoundError, UsageError
from hivemind_memory.model.curation import StoredMemory
from hivemind_memory.model.display import escape_line, shorten
from hivemind_memory.model.memories import ACTIVE, STATUSES
from hivemind_memory.model.uses import (
    APPLIED,
    OUTCOMES,
    Use,
    UseCounts,
    UseResult,
    count_uses,
)
from hivemind_memory.projects.move_lock import no_moves
from hivemind_memory.redaction.redact import mask
from hivemind_memory.state.skills import SkillStore
from hivemind_memory.state.use_log import UseLog

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.curation.context import CurationContext
    from hivemind_memory.model.memories import MemoryRow
    from hivemind_memory.model.ports import MemoryIndex

_EFFECT = "Nothing was recorded"
_SHOWN_CHARS = 80
_MAX_VERSIONS = 100
"""Minor corrections through which uses are followed."""

_MAX_SESSION_CHARS = 200


class Uses:
    """The uses of the memories that one caller sees."""

    def __init__(self, context: CurationContext, needed: int) -> None:
        """Take the caller's context, and after how many sessions a skill is offered."""
        self._context = context
        self._needed = needed

    def record(
        self, ref: str, outcome: str, *, session: str = "", scope: str = ""
    ) -> UseResult:
        """Record what came of using a memory; see ``record_use``."""
        context = self._context
        with context.index.lock:
            return record_use(
                context,
                ref,
                outcome,
                session=session,
                scope=context.find_scope(scope) if scope else None,
                needed=self._needed,
            )

    def offers(self) -> list[OfferedSkill]:
        """Return the memories that can become skills; see ``offered_skills``."""
        with self._context.index.lock:
            return offered_skills(self._context, needed=self._needed)


class OfferedSkill(NamedTuple):
    """A memory that was applied with success often enough to become a skill."""

    memory: StoredMemory
    counts: UseCounts


def record_use(
    context: CurationContext,
    ref: str,
    outcome: str,
    *,
    session: str,
    scope: str | None,
    needed: int,
) -> UseResult:
    """Record what came of using a memory; it is in ``state.db`` when this returns.

    Args:
        context: Of the caller.
        ref: Key, id or path of the memory.
        outcome: One of ``OUTCOMES``.
        session: In which it was used, which counts once; empty: the day counts as one.
        scope: Look only there; None: in every scope that the caller reads.
        needed: Sessions after which it is offered as a skill.

    Raises:
        MemoryNotFoundError: The caller sees no such memory.
        StateUnusableError: It could not be recorded.
        UsageError: The outcome is none, or uses of the memory are not counted.
    """
    check_not_read_only(context.caller, _EFFECT)
    check_enabled(is_enabled=context.is_enabled, why_read_only=context.why_read_only)
    if outcome not in OUTCOMES:
        shown = escape_line(shorten(outcome, _SHOWN_CHARS))
        raise UsageError(
            f'The outcome "{shown}" is not one of {", ".join(OUTCOMES)}.',
            effect=_EFFECT,
        )
    with no_moves(context.places.shared_locks, _EFFECT):
        memory = _used_memory(context, ref, scope)
        now_s = context.clocks.now()
        use = Use(
            ref=memory.id,
            scope=memory.scope,
            session=_session_named(session) or _day_of(context, now_s),
            outcome=outcome,
            at_s=int(now_s),
        )
        is_new = UseLog(context.state()).record(use)
    counts = counts_of(context, memory)
    skill = _skill_of(context, memory)
    is_offered = (
        outcome == APPLIED
        and not skill
        and counts.is_enough(needed)
        and why_refused(context, context.index.fresh(is_lookup=True), memory) is None
    )
    return UseResult(
        id=memory.id,
        key=mask(memory.key),
        path=memory.path,
        outcome=outcome,
        is_new=is_new,
        counts=counts,
        needed=needed,
        is_offered=is_offered,
        skill=skill,
    )


def counts_of(context: CurationContext, memory: StoredMemory) -> UseCounts:
    """Return how often an active memory was used, minor corrections included.

    A session counts once, whichever of these versions it used.
    """
    uses = UseLog(context.state()).of(memory.scope, _same_versions(context, memory))
    newest_first = sorted(uses, key=lambda use: -use.at_s)
    counted = {(use.session, use.outcome): use for use in newest_first}.values()
    return count_uses([(use.outcome, _day_of(context, use.at_s)) for use in counted])


def offered_skills(context: CurationContext, *, needed: int) -> list[OfferedSkill]:
    """Return the memories that can become skills, of those the caller sees.

    Raises:
        StateUnusableError: The uses cannot be read now.
    """
    used = {(use.scope, use.ref) for use in UseLog(context.state()).all()}
    scopes = context.caller.scopes
    if not used or not context.caller.is_member:
        return []
    index = context.index.fresh(is_lookup=True)
    found: dict[str, OfferedSkill] = {}
    for scope, ref in sorted(used):
        if scopes is not None and scope not in scopes:
            continue
        for memory in _active_of(context, index, scope, ref):
            counts = counts_of(context, memory)
            if not counts.is_enough(needed) or _skill_of(context, memory):
                continue
            if why_refused(context, index, memory) is None:
                found[memory.path] = OfferedSkill(memory, counts)
    return list(found.values())


def _used_memory(context: CurationContext, ref: str, scope: str | None) -> StoredMemory:
    """Return the active memory that a name means, if its uses can be counted."""
    index = context.index.fresh(is_lookup=True)
    row = find_typed(context, index, ref, scope, effect=_EFFECT)
    _check_countable(row)
    memory = load_memory(context, row.path)
    if memory is None:
        raise MemoryNotFoundError(f"{row.path} cannot be read now.", effect=_EFFECT)
    return memory


def _check_countable(row: MemoryRow) -> None:
    """Raise a ``UsageError`` unless uses of a memory are counted."""
    if row.status != ACTIVE:
        raise UsageError(
            f"{row.path} is {STATUSES[row.status]}; only uses of an active memory are"
            " counted.",
            hint="Name it by its key, which means the newest version.",
            effect=_EFFECT,
        )
    if not row.type or not row.memory_id:
        what = "type" if not row.type else "id"
        raise UsageError(
            f"{row.path} has no {what} in its front matter, so its uses cannot be"
            " counted.",
            hint="`hm save KEY` makes a typed memory with an id.",
            effect=_EFFECT,
        )


def _same_versions(context: CurationContext, memory: StoredMemory) -> list[str]:
    """Return the ids of a memory and of the versions that it only corrects."""
    ids = [memory.id]
    index = context.index.fresh(is_lookup=True)
    while is_minor(memory.reason) and memory.supersedes and len(ids) < _MAX_VERSIONS:
        before = memory.supersedes[0]
        rows = index.memories(memory_id=before, scopes=frozenset({memory.scope}))
        older = load_memory(context, rows[0].path) if rows else None
        ids.append(before)
        if older is None or older.id in ids[:-1]:
            break
        memory = older
    return ids


def _active_of(
    context: CurationContext, index: MemoryIndex, scope: str, ref: str
) -> list[StoredMemory]:
    """Return the active memory of the key that the memory of an id has."""
    here = frozenset({scope})
    keys = {row.key for row in index.memories(memory_id=ref, scopes=here) if row.key}
    active = frozenset({ACTIVE})
    rows = [
        row
        for key in keys
        for row in index.memories(key=key, scopes=here, statuses=active)
    ]
    loaded = [load_memory(context, row.path) for row in rows]
    return [memory for memory in loaded if memory is not None and memory.id]


def _skill_of(context: CurationContext, memory: StoredMemory) -> str:
    """Return the name of the skill that a memory is; empty: it is none."""
    return next(
        (
            skill.name
            for skill in SkillStore(context.state()).all()
            if (skill.scope, skill.key) == (memory.scope, memory.key)
        ),
        "",
    )


def _session_named(session: str) -> str:
    """Return the name of a session as it is kept: one line, without secrets."""
    return shorten(" ".join(mask(session).split()), _MAX_SESSION_CHARS)


def _day_of(context: CurationContext, at_s: float) -> str:
    """Return the local day of a moment, as ``2026-11-21``."""
    return context.clocks.local_iso(at_s)[:10]
