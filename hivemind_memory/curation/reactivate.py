"""Reactivates replaced versions when their replacement is forgotten, and the reverse.

So a poisoned session is undone as a whole: what it saved is hidden, and what was known
before is active again. The active copy is written first and the other removed after: a
process killed between the two leaves two files of one id, which count as one.
"""

from __future__ import annotations

from hivemind_memory.curation.lookup import CurationTarget, read_target
from hivemind_memory.curation.own_name import free_own_name
from hivemind_memory.curation.row_target import read_row
from hivemind_memory.errors import HivemindError
from hivemind_memory.files.paths import path_in_scope
from hivemind_memory.model.curation import MEMORY
from hivemind_memory.model.memories import ACTIVE, SUPERSEDED
from hivemind_memory.model.note_path import NotePath
from hivemind_memory.model.scope import SUPERSEDED as SUPERSEDED_FOLDER
from hivemind_memory.model.value import replaced
from hivemind_memory.notes.memory_file import (
    read_memory_file,
    remove_note,
    superseded_text,
)
from hivemind_memory.notes.slug import name_with_id, names_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from hivemind_memory.curation.context import BatchResult, CurationContext
    from hivemind_memory.model.curation import AffectedItem
    from hivemind_memory.model.ports import MemoryIndex

    Move = tuple[CurationTarget, NotePath]
    "A memory as it was, and where it is now."


_MAX_CHAIN = 1_000
"""Older versions that are looked at: each is a file, read under the lock of the key."""


def reactivate_older(
    context: CurationContext, forgotten: Sequence[CurationTarget], batch: BatchResult
) -> list[AffectedItem]:
    """Make active what the forgotten memories had replaced; return what that was."""
    gone = {target.id for target in forgotten}

    def activate(index: MemoryIndex, target: CurationTarget) -> Move | None:
        older = _newest_older(context, index, target, gone)
        if older is None or _active_memories(index, target):
            return None
        # What was forgotten is reported where it was seen.
        batch.paths.update(free_own_name(context.folder, older.scope, older.key))
        return older, _activate(context, older)

    return _for_each_key(context, forgotten, activate, batch, "what {} had replaced")


def deactivate_older(
    context: CurationContext, hidden: Sequence[CurationTarget], batch: BatchResult
) -> list[AffectedItem]:
    """Move back to ``superseded/`` what became active when these were forgotten.

    Nothing is moved if another memory is active as well: then none is shown again.
    """

    def deactivate(index: MemoryIndex, target: CurationTarget) -> Move | None:
        active = _active_memories(index, target)
        chain = older_ids(context, index, target)
        if len(active) != 1 or active[0].id not in chain:
            return None
        [now] = active
        return now, _deactivate(context, now, by=chain[now.id])

    return _for_each_key(context, hidden, deactivate, batch, "{}")


def older_ids(
    context: CurationContext, index: MemoryIndex, target: CurationTarget
) -> dict[str, str]:
    """Return the ids of all older versions, newest first -> id of what replaced it."""
    return {memory_id: by for memory_id, by, _ in _older(context, index, target)}


def _older(
    context: CurationContext, index: MemoryIndex, target: CurationTarget
) -> Iterator[tuple[str, str, CurationTarget | None]]:
    """Yield each older version, newest first: its id, what replaced it, and itself.

    Each is read when it is asked for; None: its file is gone.
    """
    seen = {target.id}
    waiting = [(older, target.id) for older in target.supersedes]
    while waiting and len(seen) <= _MAX_CHAIN:
        memory_id, by = waiting.pop(0)
        if memory_id in seen:
            continue
        seen.add(memory_id)
        older = _with_id(context, index, target, memory_id)
        if older is not None:
            waiting += [(old_ref, memory_id) for old_ref in older.supersedes]
        yield memory_id, by, older


def _for_each_key(
    context: CurationContext,
    targets: Sequence[CurationTarget],
    move: Callable[[MemoryIndex, CurationTarget], Move | None],
    batch: BatchResult,
    failure: str,
) -> list[AffectedItem]:
    """Call *move* for each active memory under its lock; return what was moved."""
    found = []
    for target in targets:
        if target.kind != MEMORY or target.status != ACTIVE or not target.key:
            continue
        try:
            effect = f"The other versions of {target.path} were not changed"
            with context.key_lock(target.scope, target.key, effect):
                moved = move(context.index.fresh(), target)
        except HivemindError as error:
            batch.fail(failure.format(target.path), error)
            continue
        if moved is not None:
            before, path = moved
            batch.paths |= {path, before.path}
            now = read_target(context, path, MEMORY, before.why) or before
            found.append(replaced(now, path=path, key=before.key).as_affected())
    return found


def _newest_older(
    context: CurationContext,
    index: MemoryIndex,
    target: CurationTarget,
    gone: set[str],
) -> CurationTarget | None:
    """Return the newest older version that is not forgotten itself."""
    for memory_id, _, older in _older(context, index, target):
        if older is None or memory_id in gone or older.forgotten:
            continue
        return older if older.status == SUPERSEDED else None
    return None


def _with_id(
    context: CurationContext,
    index: MemoryIndex,
    target: CurationTarget,
    memory_id: str,
) -> CurationTarget | None:
    """Return the memory of an id, in the scope and with the key of another."""
    for row in index.memories(memory_id=memory_id, scopes=frozenset({target.scope})):
        if row.key == target.key:
            read = read_row(context, row, "older")
            return replaced(read, key=row.key) if read else None
    return None


def _active_memories(
    index: MemoryIndex, target: CurationTarget
) -> list[CurationTarget]:
    """Return the other memories that are active under the same key."""
    rows = index.memories(
        key=target.key, scopes=frozenset({target.scope}), statuses={ACTIVE}
    )
    return [
        CurationTarget(
            kind=MEMORY, path=NotePath(row.path), id=row.memory_id, key=row.key
        )
        for row in rows
        # A memory that was saved meanwhile may have the file that the target had.
        if (row.path, row.memory_id) != (target.path, target.id)
    ]


def _activate(context: CurationContext, older: CurationTarget) -> NotePath:
    """Move a replaced memory to where active ones are; return its new path."""
    folder = context.folder
    file = read_memory_file(folder, older.path)
    data = file.with_values({"superseded_by": None, "superseded": None})
    names = [*names_of(older.key), name_with_id(older.key, older.id)]
    paths = [folder.spelled(path_in_scope(older.scope, name)) for name in names]
    path = next(
        (candidate for candidate in paths if folder.signature(candidate) is None),
        paths[-1],
    )
    folder.replace(path, data, expected=None)
    remove_note(folder, older.path, expected=file.signature)
    return path


def _deactivate(context: CurationContext, now: CurationTarget, *, by: str) -> NotePath:
    """Move an active memory to where replaced ones are; return its new path."""
    folder = context.folder
    file = read_memory_file(folder, now.path)
    data = superseded_text(file, now.key, by=by, at=context.now_iso())
    name = f"{SUPERSEDED_FOLDER}/{name_with_id(now.key, now.id)}"
    path = folder.spelled(path_in_scope(now.scope, name))
    folder.replace(path, data, expected=folder.signature(path))
    remove_note(folder, now.path, expected=file.signature)
    return path
