"""Forgetting and restoring: the text stays in its note and is hidden, or shown again.

A typed memory gets ``forgotten:`` in its front matter, an entry ``forgotten=`` in its
comment; nothing else in the file changes. What a person wrote without either cannot be
hidden, for it would need a mark in their text.

What a forgotten session had replaced comes into force again, and back.

So a poisoned session is undone whole: what it said is hidden, and what was known
before it is known again. The copy in force is written first and the other taken away
then: a process that is killed between leaves two files of one id, which counts as one.
"""

from __future__ import annotations

from dataclasses import replace

from hivemind_memory.curation.context import BatchResult, ForgetContext, change_memory
from hivemind_memory.curation.lookup import CurationTarget, read_target
from hivemind_memory.curation.select import find_targets
from hivemind_memory.errors import HivemindError, KeyTakenError
from hivemind_memory.model.curation import (
    ENTRY,
    MEMORY,
    AffectedItem,
    ForgetResult,
    MemorySelector,
    RestoreResult,
)
from hivemind_memory.model.memories import ACTIVE, SUPERSEDED
from hivemind_memory.model.note_path import NotePath
from hivemind_memory.model.scope import SUPERSEDED as SUPERSEDED_FOLDER
from hivemind_memory.notes.entry_edits import (
    change_entries,
    with_forgotten,
    without_forgotten,
)
from hivemind_memory.notes.memory_file import (
    read_memory_file,
    remove_note,
    superseded_text,
)
from hivemind_memory.notes.slug import name_with_id, names_of
from hivemind_memory.notes.status import is_forgotten

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from hivemind_memory.model.ports import MemoryIndex
    from hivemind_memory.notes.memory_file import MemoryFile


def forget(forget_context: ForgetContext, selector: MemorySelector) -> ForgetResult:
    """Hide memories from search, injection and lists; ``restore`` undoes it.

    A key means its older versions and waiting claims too. Of a whole scope, what a
    person wrote without a front matter stays, for it cannot be hidden. Where a session,
    a source or a day is forgotten, what it had replaced comes into force again.

    Raises:
        MemoryNotFoundError: There is nothing like that, or not for this caller.
        NotSavedError: Nothing was changed, and why.
        ScopeError: It names a scope that the caller does not have.
        UsageError: It names nothing, several by one key, or what cannot be hidden.
    """
    context = forget_context.context
    targets = find_targets(context, context.fresh_index(), selector)
    fresh = [target for target in targets if not target.forgotten]
    batch, at = BatchResult(), context.now_iso()

    def hidden(file: MemoryFile) -> bytes | None:
        is_hidden = is_forgotten(file.front.values)
        return None if is_hidden else file.with_values({"forgotten": at})

    for target in _memories(fresh):
        _change(forget_context, target, hidden, batch)
    _change_entries(
        forget_context, fresh, lambda data, ids: with_forgotten(data, ids, at), batch
    )
    batch.check()
    reinstated = []
    if selector.is_set and not selector.is_whole_scope:
        reinstated = reactivate_older(forget_context, fresh, batch)
    return ForgetResult(
        memories=tuple(batch.done),
        reinstated=tuple(reinstated),
        already=len(targets) - len(fresh),
        failed=tuple(batch.failed),
        changed_paths=tuple(sorted(batch.paths)),
        is_indexed=forget_context.index(sorted(batch.paths)),
    )


def restore(forget_context: ForgetContext, selector: MemorySelector) -> RestoreResult:
    """Show forgotten memories again, the newest first where a key had several.

    Raises:
        KeyTakenError: Another memory is in force under the key; nothing was changed.
        MemoryNotFoundError: There is nothing like that, or not for this caller.
        NotSavedError: Nothing was changed, and why.
        ScopeError: It names a scope that the caller does not have.
        UsageError: It names nothing, or several by one key.
    """
    context = forget_context.context
    targets = find_targets(context, context.fresh_index(), selector)
    hidden = [target for target in targets if target.forgotten]
    batch = BatchResult()
    replaced = []
    if selector.is_set:
        replaced = deactivate_reactivated(forget_context, hidden, batch)
    memories = sorted(_memories(hidden), key=lambda one: one.created, reverse=True)
    if selector.name:
        memories = _of_one_moment(memories)
    for target in memories:
        _change(
            forget_context, target, _shown, batch, is_checked=target.standing == ACTIVE
        )
    _change_entries(forget_context, hidden, without_forgotten, batch, is_final=False)
    batch.check()
    return RestoreResult(
        memories=tuple(batch.done),
        replaced=tuple(replaced),
        already=len(targets) - len(hidden),
        failed=tuple(batch.failed),
        changed_paths=tuple(sorted(batch.paths)),
        is_indexed=forget_context.index(sorted(batch.paths)),
    )


def _memories(targets: Sequence[CurationTarget]) -> list[CurationTarget]:
    """Return those that are files."""
    return [target for target in targets if target.kind != ENTRY]


def _of_one_moment(memories: list[CurationTarget]) -> list[CurationTarget]:
    """Return the newest memory that was in force, and what was forgotten with it.

    A key that was forgotten, saved anew and forgotten again had two in force.
    """
    first = next((one for one in memories if one.standing == ACTIVE), None)
    if first is None:
        return memories
    return [
        one
        for one in memories
        if one is first or (one.standing != ACTIVE and one.forgotten == first.forgotten)
    ]


def _shown(file: MemoryFile) -> bytes | None:
    """Return a file that is no longer forgotten."""
    if "forgotten" not in file.front.values:
        return None
    return file.with_values({"forgotten": None})


def _change(
    forget_context: ForgetContext,
    target: CurationTarget,
    change: Callable[[MemoryFile], bytes | None],
    batch: BatchResult,
    *,
    is_checked: bool = False,
) -> None:
    """Change one memory in the turn of its key."""
    try:
        with forget_context.context.key_lock(target.scope, target.key):
            if is_checked:
                _refuse_second(forget_context, target)
            path = change_memory(forget_context, target, change)
    except HivemindError as error:
        batch.fail(target.path, error)
        return
    if path:
        batch.paths.add(path)
        batch.done.append(target.as_affected())


def _refuse_second(forget_context: ForgetContext, target: CurationTarget) -> None:
    """Raise if another memory is in force under a key. The turn is held."""
    if not target.key:
        return
    for row in forget_context.context.fresh_index().memories(
        key=target.key, scopes=frozenset({target.scope}), statuses={ACTIVE}
    ):
        if row.path != target.path:
            raise KeyTakenError(
                f"{target.key!r} was not restored: {row.path} is in force under that"
                " key.",
                hint="Forget that one first, or save the text anew with a reason.",
            )


def _change_entries(
    forget_context: ForgetContext,
    targets: Sequence[CurationTarget],
    change: Callable[[bytes, Collection[str]], bytes],
    batch: BatchResult,
    *,
    is_final: bool = True,
) -> None:
    """Change entries, all of a note at once."""
    ids: dict[NotePath, set[str]] = {}
    entries = [target for target in targets if target.kind == ENTRY]
    for target in entries:
        ids.setdefault(target.path, set()).add(target.id)
    if not ids:
        return
    context = forget_context.context
    try:
        changed = change_entries(
            context.folder,
            forget_context.journal,
            ids,
            change,
            now_s=context.clocks.now(),
            final={target.id for target in entries} if is_final else (),
        )
    except HivemindError as error:
        batch.fail("the entries", error)
        return
    for what, problem in changed.failed.items():
        batch.fail(what, problem)
    if changed.journal_problem is not None:
        batch.fail("the journal", changed.journal_problem)
    batch.paths.update(changed.paths)
    batch.done += [one.as_affected() for one in entries if one.path in changed.paths]


_MAX_CHAIN = 1_000


def reactivate_older(
    forget_context: ForgetContext,
    forgotten: Sequence[CurationTarget],
    batch: BatchResult,
) -> list[AffectedItem]:
    """Put into force what the forgotten memories had replaced; return what that was."""
    gone = {target.id for target in forgotten}
    found = []
    for target in forgotten:
        if target.kind != MEMORY or target.standing != ACTIVE or not target.key:
            continue
        try:
            with forget_context.context.key_lock(target.scope, target.key):
                index = forget_context.context.fresh_index()
                older = _newest_before(forget_context, index, target, gone)
                if older is None or _active_memory(index, target):
                    continue
                path = _activate(forget_context, older)
        except HivemindError as error:
            batch.fail(f"what {target.path} had replaced", error)
            continue
        batch.paths |= {path, older.path}
        found.append(_as_it_stands(forget_context, older, path))
    return found


def deactivate_reactivated(
    forget_context: ForgetContext, hidden: Sequence[CurationTarget], batch: BatchResult
) -> list[AffectedItem]:
    """Take out of force what came into it when these memories were forgotten."""
    found = []
    for target in hidden:
        if target.kind != MEMORY or target.standing != ACTIVE or not target.key:
            continue
        try:
            with forget_context.context.key_lock(target.scope, target.key):
                index = forget_context.context.fresh_index()
                now = _active_memory(index, target)
                chain = older_ids(forget_context, index, target)
                if now is None or now.id not in chain:
                    continue
                path = _deactivate(forget_context, now, by=chain[now.id])
        except HivemindError as error:
            batch.fail(target.path, error)
            continue
        batch.paths |= {path, now.path}
        found.append(_as_it_stands(forget_context, now, path))
    return found


def _as_it_stands(
    forget_context: ForgetContext, target: CurationTarget, path: NotePath
) -> AffectedItem:
    """Return a memory as it is told, at the place and on the lines where it is now."""
    now = read_target(forget_context.context, path, MEMORY, target.why) or target
    return replace(now, path=path, key=target.key).as_affected()


def _newest_before(
    forget_context: ForgetContext,
    index: MemoryIndex,
    target: CurationTarget,
    gone: set[str],
) -> CurationTarget | None:
    """Return the newest of the replaced ones that is not forgotten itself."""
    for memory_id in older_ids(forget_context, index, target):
        older = _with_id(forget_context, index, target, memory_id)
        if older is None or memory_id in gone or older.forgotten:
            continue
        return older if older.standing == SUPERSEDED else None
    return None


def older_ids(
    forget_context: ForgetContext, index: MemoryIndex, target: CurationTarget
) -> dict[str, str]:
    """Return id -> what replaced it, of all that a memory came after, newest first."""
    chain: dict[str, str] = {}
    waiting = [(older, target.id) for older in target.supersedes]
    while waiting and len(chain) < _MAX_CHAIN:
        memory_id, by = waiting.pop(0)
        if memory_id in chain or memory_id == target.id:
            continue
        chain[memory_id] = by
        older = _with_id(forget_context, index, target, memory_id)
        if older is not None:
            waiting += [(one, memory_id) for one in older.supersedes]
    return chain


def _with_id(
    forget_context: ForgetContext,
    index: MemoryIndex,
    target: CurationTarget,
    memory_id: str,
) -> CurationTarget | None:
    """Return the memory of an id in a memory's scope and of its key."""
    for row in index.memories(memory_id=memory_id, scopes=frozenset({target.scope})):
        if row.key == target.key:
            read = read_target(forget_context.context, row.path, MEMORY, "older")
            return replace(read, key=row.key) if read else None
    return None


def _active_memory(index: MemoryIndex, target: CurationTarget) -> CurationTarget | None:
    """Return what is in force under a memory's key."""
    for row in index.memories(
        key=target.key, scopes=frozenset({target.scope}), statuses={ACTIVE}
    ):
        if row.path != target.path:
            return CurationTarget(
                kind=MEMORY, path=NotePath(row.path), id=row.memory_id, key=row.key
            )
    return None


def _activate(forget_context: ForgetContext, older: CurationTarget) -> NotePath:
    """Move a replaced memory to where one in force lies."""
    folder = forget_context.context.folder
    file = read_memory_file(folder, older.path)
    data = file.with_values({"superseded_by": None, "superseded": None})
    path = _free_path(forget_context, older)
    folder.replace(path, data, expected=None)
    remove_note(folder, older.path, expected=file.stamp)
    return path


def _deactivate(
    forget_context: ForgetContext, now: CurationTarget, *, by: str
) -> NotePath:
    """Move a memory in force to where the replaced ones lie."""
    context = forget_context.context
    file = read_memory_file(context.folder, now.path)
    data = superseded_text(file, now.key, by=by, at=context.now_iso())
    name = f"{SUPERSEDED_FOLDER}/{name_with_id(now.key, now.id)}"
    path = NotePath(f"{now.scope}/{name}" if now.scope else name)
    context.folder.replace(path, data, expected=context.folder.stamp(path))
    remove_note(context.folder, now.path, expected=file.stamp)
    return path


def _free_path(forget_context: ForgetContext, older: CurationTarget) -> NotePath:
    """Return a path that a memory in force may take and no file has."""
    scope = older.scope
    names = [*names_of(older.key), name_with_id(older.key, older.id)]
    for name in names:
        path = NotePath(f"{scope}/{name}" if scope else name)
        if forget_context.context.folder.stamp(path) is None:
            return path
    return NotePath(f"{scope}/{names[-1]}" if scope else names[-1])
