"""Writes, searches and forgets memories in the namespaces of platforms."""

from __future__ import annotations

from contextlib import suppress

from hivemind_memory.model.curation import MemorySelector, NewMemory
from hivemind_memory.model.filters import SearchFilter
from hivemind_memory.model.query import Query
from hivemind_memory.model.scope import scope_text
from hivemind_memory.model.trust import HUMAN
from hivemind_memory.model.value import value
from hivemind_memory.plugin_api.names import check_name
from hivemind_memory.plugin_api.namespaces import (
    check_writable_scope,
    find_namespace,
    readable,
    sweep,
)
from hivemind_memory.plugin_api.parse import DEFAULT_ROWS, check_limit, moment_text
from hivemind_memory.plugin_api.refusal import (
    NO_MEMORY,
    NO_NAMESPACE,
    NOT_FOUND,
    RefusedError,
)
from hivemind_memory.plugin_api.rows import (
    AGENT,
    KINDS,
    USER,
    day_after,
    end_of,
    key_of,
    made_uuid,
    read_uuid,
    row_of,
    ulid_of_uuid,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from hivemind_memory.memory.memory import Memory
    from hivemind_memory.model.memories import MemoryRow
    from hivemind_memory.plugin_api.rows import NewRow, Row

NO_NAMESPACES = "namespaces is empty (workspace-server must intersect, not the plugin)"
_HITS_PER_ROW = 4
"""Hits that are asked for: a memory may be several, and some have ended."""


@value
class RowQuestion:
    """What a platform searches for."""

    scopes: Mapping[str, str]
    """Scope -> the name by which it was asked for."""

    text: str = ""
    """Empty: the newest are wanted."""

    kinds: tuple[str, ...] = KINDS
    limit: int = DEFAULT_ROWS


def write_row(
    memory: Memory, name: str, new: NewRow, *, by: str = "", session: str = ""
) -> str:
    """Write a memory in a namespace, or in the place of the one with its id there.

    Args:
        memory: As the caller sees it.
        name: The namespace.
        new: The memory.
        by: Who writes it.
        session: Name of the writer's session.

    Returns:
        Its id.

    Raises:
        RefusedError: There is no such namespace, it is not the caller's to change, or
            the id is that of a memory elsewhere; nothing was written.
        HivemindError: Nothing was saved; the message says why.
    """
    check_name(name)
    sweep(memory)
    namespace = find_namespace(memory, name)
    check_writable_scope(memory, namespace.scope)
    row_id = save_row(memory, namespace.scope, new, by=by, session=session)
    if readable(memory).get(name) is None:
        # It was deleted meanwhile: what is in it goes with it.
        with suppress(RefusedError):  # who deletes it may have been faster
            forget_in_scope(memory, namespace.scope, row_id)
        raise RefusedError(NO_NAMESPACE, NOT_FOUND)
    return row_id


def save_row(
    memory: Memory, scope: str, new: NewRow, *, by: str = "", session: str = ""
) -> str:
    """Save a memory in a scope that the caller may write to; return its id.

    Raises:
        HivemindError: Nothing was saved; the message says why.
    """
    if not new.content.strip():
        raise RefusedError("content is empty")
    row_id, clocks = new.id, memory.clocks
    if not row_id:
        row_id = made_uuid((clocks.randomness() + clocks.randomness())[:16])
    more: dict[str, object] = {
        "plugin_source": new.source,
        "propagation": new.propagation,
        "expires_at": "",
    }
    expires = ""
    if new.expires_at is not None:
        more["expires_at"] = moment_text(new.expires_at)
        end_s = max(0.0, new.expires_at)
        expires = day_after(end_s, clocks.local_offset_s(end_s))
    # Whoever has part of the memory only cannot speak for its owner.
    is_person = new.source == USER and memory.caller.is_owner
    memory.save(
        NewMemory(
            key=key_of(row_id),
            content=new.content,
            type=new.kind,
            scope=scope_text(scope),
            source=HUMAN if is_person else AGENT,
            expires=expires,
            is_pinned=new.is_pinned,
            by=by,
            session=session,
            more=more,
            is_upsert=True,
        )
    )
    return row_id


def question_in(
    memory: Memory,
    names: Iterable[str],
    *,
    text: str = "",
    kinds: Iterable[str] = (),
    limit: int = 0,
) -> RowQuestion:
    """Return what is searched for, in those of some namespaces that the caller reads.

    Args:
        memory: As the caller sees it.
        names: The namespaces.
        text: Empty: the newest are wanted.
        kinds: Of ``rows.KINDS``; none: all.
        limit: How many memories are wanted; 0: ``DEFAULT_ROWS``.

    Raises:
        RefusedError: No namespace is named, or the limit is out of range.
    """
    wanted = list(dict.fromkeys(names))
    if not wanted:
        raise RefusedError(NO_NAMESPACES)
    limit = check_limit(limit)
    known = readable(memory)
    found = [known[name] for name in map(check_name, wanted) if name in known]
    scopes = {namespace.scope: namespace.name for namespace in found}
    return RowQuestion(
        scopes=scopes, text=text, kinds=tuple(kinds) or KINDS, limit=limit
    )


def search_rows(memory: Memory, question: RowQuestion) -> list[Row]:
    """Return the memories that a question finds: pinned ones first, then the best.

    Without a text, the newest. What has ended is left out.
    """
    if not question.scopes:
        return []
    found = (
        _hits(memory, question) if question.text.strip() else _newest(memory, question)
    )
    return found[: question.limit]


def forget_row(
    memory: Memory,
    row_id: str,
    *,
    requested_by: str,
) -> None:
    """Forget a memory, if it is in the namespace that asks for it.

    Args:
        memory: As the caller sees it.
        row_id: Its id.
        requested_by: The namespace.

    Raises:
        RefusedError: There is no such memory there, or it is not the caller's.
        HivemindError: Nothing was changed; the message says why.
    """
    if not requested_by:
        raise RefusedError("requested_by_namespace is empty")
    namespace = readable(memory).get(check_name(requested_by))
    if namespace is None or not find_row(memory, namespace.scope, row_id):
        raise RefusedError(NO_MEMORY, NOT_FOUND)
    check_writable_scope(memory, namespace.scope)
    forget_in_scope(memory, namespace.scope, row_id)


def forget_in_scope(memory: Memory, scope: str, row_id: str) -> None:
    """Forget a memory of a scope.

    Raises:
        RefusedError: There is none.
        HivemindError: Nothing was changed; the message says why.
    """
    found = find_row(memory, scope, row_id)
    if found is None:
        raise RefusedError(NO_MEMORY, NOT_FOUND)
    memory.curation.forget(MemorySelector(name=found.path))


def find_row(memory: Memory, scope: str, row_id: str) -> MemoryRow | None:
    """Return the memory of an id in a scope; None: there is none."""
    fit = read_uuid(row_id)
    if fit is None:
        return None
    stored, scopes = memory.curation.stored, frozenset({scope})
    found = stored.rows(scopes, types=KINDS, key=key_of(fit))
    found = found or stored.rows(scopes, types=KINDS, memory_id=ulid_of_uuid(fit))
    return found[0] if found else None


def _newest(memory: Memory, question: RowQuestion) -> list[Row]:
    """Return the newest memories, pinned ones first."""
    rows = memory.curation.stored.rows(frozenset(question.scopes), types=question.kinds)
    # An id sorts by the time at which it was made, finer than `created`.
    rows.sort(key=lambda row: (row.is_pinned, row.memory_id), reverse=True)
    paths = ((row.path, None) for row in rows)
    found: list[Row] = []
    for row in _rows_at(memory, question, paths):
        found.append(row)
        if len(found) == question.limit:
            break
    return found


def _hits(memory: Memory, question: RowQuestion) -> list[Row]:
    """Return the memories that match a text, pinned ones first."""
    found: dict[str, Row] = {}
    for is_pinned in (True, False):
        wanted = question.limit * _HITS_PER_ROW
        while True:
            answer = memory.search(
                Query(
                    text=question.text,
                    max_results=wanted,
                    keeps_repetitions=True,
                    search_filter=SearchFilter(
                        types=question.kinds,
                        scopes=frozenset(question.scopes),
                        is_pinned=is_pinned,
                    ),
                )
            )
            hits = ((hit.path, hit.score) for hit in answer.hits)
            rows = {row.id: row for row in _rows_at(memory, question, hits)}
            is_enough = len({**found, **rows}) >= question.limit
            if is_enough or len(answer.hits) < wanted:
                break
            wanted *= _HITS_PER_ROW
        for row_id, row in rows.items():
            found.setdefault(row_id, row)
        if len(found) >= question.limit:
            break
    return list(found.values())


def _rows_at(
    memory: Memory,
    question: RowQuestion,
    paths: Iterable[tuple[str, float | None]],
) -> Iterator[Row]:
    """Yield the memories of some notes that have not ended, each once, in order."""
    stored, now_s = memory.curation.stored, memory.clocks.now()
    seen = set()
    for path, score in paths:
        if path in seen:
            continue
        seen.add(path)
        found = stored.load(path)
        # By what the note says now: it may have been edited since it was found.
        if found is None or found.type not in question.kinds:
            continue
        end_s = end_of(found)
        if end_s is not None and end_s <= now_s:
            continue
        row = row_of(found, question.scopes.get(found.scope, ""), score)
        if row is not None and row.namespace:
            yield row
