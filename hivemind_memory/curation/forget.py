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

from hivemind_memory.curation.context import Eraser, Tally, change_memory
from hivemind_memory.curation.lookup import Target, read_target
from hivemind_memory.curation.select import find_targets
from hivemind_memory.errors import HivemindError, KeyTakenError
from hivemind_memory.model.curation import (
    ENTRY,
    MEMORY,
    Affected,
    Forgotten,
    Restored,
    Which,
)
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
from hivemind_memory.notes.status import ACTIVE, SUPERSEDED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from hivemind_memory.model.ports import MemoryIndex
    from hivemind_memory.notes.memory_file import MemoryFile


def forget(eraser: Eraser, which: Which) -> Forgotten:
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
    desk = eraser.desk
    targets = find_targets(desk, desk.look(), which)
    fresh = [target for target in targets if not target.forgotten]
    tally, at = Tally(), desk.now_iso()

    def hidden(file: MemoryFile) -> bytes | None:
        is_hidden = file.front.values.get("forgotten") not in (None, False, "")
        return None if is_hidden else file.with_values({"forgotten": at})

    for target in _memories(fresh):
        _change(eraser, target, hidden, tally)
    _change_entries(
        eraser, fresh, lambda data, ids: with_forgotten(data, ids, at), tally
    )
    tally.check()
    reinstated = []
    if which.is_set and not which.is_whole_scope:
        reinstated = reinstate_older(eraser, fresh, tally)
    return Forgotten(
        memories=tuple(tally.done),
        reinstated=tuple(reinstated),
        already=len(targets) - len(fresh),
        failed=tuple(tally.failed),
        changed_paths=tuple(sorted(tally.paths)),
        is_indexed=eraser.index(sorted(tally.paths)),
    )


def restore(eraser: Eraser, which: Which) -> Restored:
    """Show forgotten memories again, the newest first where a key had several.

    Raises:
        KeyTakenError: Another memory is in force under the key; nothing was changed.
        MemoryNotFoundError: There is nothing like that, or not for this caller.
        NotSavedError: Nothing was changed, and why.
        ScopeError: It names a scope that the caller does not have.
        UsageError: It names nothing, or several by one key.
    """
    desk = eraser.desk
    targets = find_targets(desk, desk.look(), which)
    hidden = [target for target in targets if target.forgotten]
    tally = Tally()
    replaced = []
    if which.is_set:
        replaced = replace_reinstated(eraser, hidden, tally)
    memories = sorted(_memories(hidden), key=lambda one: one.created, reverse=True)
    if which.name:
        memories = _of_one_moment(memories)
    for target in memories:
        _change(eraser, target, _shown, tally, is_checked=target.standing == ACTIVE)
    _change_entries(eraser, hidden, without_forgotten, tally, is_final=False)
    tally.check()
    return Restored(
        memories=tuple(tally.done),
        replaced=tuple(replaced),
        already=len(targets) - len(hidden),
        failed=tuple(tally.failed),
        changed_paths=tuple(sorted(tally.paths)),
        is_indexed=eraser.index(sorted(tally.paths)),
    )


def _memories(targets: Sequence[Target]) -> list[Target]:
    """Return those that are files."""
    return [target for target in targets if target.kind != ENTRY]


def _of_one_moment(memories: list[Target]) -> list[Target]:
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
    eraser: Eraser,
    target: Target,
    change: Callable[[MemoryFile], bytes | None],
    tally: Tally,
    *,
    is_checked: bool = False,
) -> None:
    """Change one memory in the turn of its key."""
    try:
        with eraser.desk.turn(target.scope, target.key):
            if is_checked:
                _refuse_second(eraser, target)
            path = change_memory(eraser, target, change)
    except HivemindError as error:
        tally.fail(target.path, error)
        return
    if path:
        tally.paths.add(path)
        tally.done.append(target.told())


def _refuse_second(eraser: Eraser, target: Target) -> None:
    """Raise if another memory is in force under a key. The turn is held."""
    if not target.key:
        return
    for row in eraser.desk.look().memories(
        key=target.key, scopes=frozenset({target.scope}), standings={ACTIVE}
    ):
        if row.path != target.path:
            raise KeyTakenError(
                f"{target.key!r} was not restored: {row.path} is in force under that"
                " key.",
                hint="Forget that one first, or save the text anew with a reason.",
            )


def _change_entries(
    eraser: Eraser,
    targets: Sequence[Target],
    change: Callable[[bytes, Collection[str]], bytes],
    tally: Tally,
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
    desk = eraser.desk
    try:
        changed = change_entries(
            desk.folder,
            eraser.journal,
            ids,
            change,
            now_s=desk.clocks.now(),
            final={target.id for target in entries} if is_final else (),
        )
    except HivemindError as error:
        tally.fail("the entries", error)
        return
    for what, problem in changed.failed.items():
        tally.fail(what, problem)
    if changed.journal_problem is not None:
        tally.fail("the journal", changed.journal_problem)
    tally.paths.update(changed.paths)
    tally.done += [one.told() for one in entries if one.path in changed.paths]


_LONGEST_CHAIN = 1_000


def reinstate_older(
    eraser: Eraser, forgotten: Sequence[Target], tally: Tally
) -> list[Affected]:
    """Put into force what the forgotten memories had replaced; return what that was."""
    gone = {target.id for target in forgotten}
    found = []
    for target in forgotten:
        if target.kind != MEMORY or target.standing != ACTIVE or not target.key:
            continue
        try:
            with eraser.desk.turn(target.scope, target.key):
                index = eraser.desk.look()
                older = _newest_before(eraser, index, target, gone)
                if older is None or _in_force(index, target):
                    continue
                path = _put_into_force(eraser, older)
        except HivemindError as error:
            tally.fail(f"what {target.path} had replaced", error)
            continue
        tally.paths |= {path, older.path}
        found.append(_as_it_stands(eraser, older, path))
    return found


def replace_reinstated(
    eraser: Eraser, hidden: Sequence[Target], tally: Tally
) -> list[Affected]:
    """Take out of force what came into it when these memories were forgotten."""
    found = []
    for target in hidden:
        if target.kind != MEMORY or target.standing != ACTIVE or not target.key:
            continue
        try:
            with eraser.desk.turn(target.scope, target.key):
                index = eraser.desk.look()
                now = _in_force(index, target)
                chain = older_ids(eraser, index, target)
                if now is None or now.id not in chain:
                    continue
                path = _put_out_of_force(eraser, now, by=chain[now.id])
        except HivemindError as error:
            tally.fail(target.path, error)
            continue
        tally.paths |= {path, now.path}
        found.append(_as_it_stands(eraser, now, path))
    return found


def _as_it_stands(eraser: Eraser, target: Target, path: NotePath) -> Affected:
    """Return a memory as it is told, at the place and on the lines where it is now."""
    now = read_target(eraser.desk, path, MEMORY, target.why) or target
    return replace(now, path=path, key=target.key).told()


def _newest_before(
    eraser: Eraser, index: MemoryIndex, target: Target, gone: set[str]
) -> Target | None:
    """Return the newest of the replaced ones that is not forgotten itself."""
    for memory_id in older_ids(eraser, index, target):
        older = _with_id(eraser, index, target, memory_id)
        if older is None or memory_id in gone or older.forgotten:
            continue
        return older if older.standing == SUPERSEDED else None
    return None


def older_ids(eraser: Eraser, index: MemoryIndex, target: Target) -> dict[str, str]:
    """Return id -> what replaced it, of all that a memory came after, newest first."""
    chain: dict[str, str] = {}
    waiting = [(older, target.id) for older in target.supersedes]
    while waiting and len(chain) < _LONGEST_CHAIN:
        memory_id, by = waiting.pop(0)
        if memory_id in chain or memory_id == target.id:
            continue
        chain[memory_id] = by
        older = _with_id(eraser, index, target, memory_id)
        if older is not None:
            waiting += [(one, memory_id) for one in older.supersedes]
    return chain


def _with_id(
    eraser: Eraser, index: MemoryIndex, target: Target, memory_id: str
) -> Target | None:
    """Return the memory of an id in a memory's scope and of its key."""
    for row in index.memories(memory_id=memory_id, scopes=frozenset({target.scope})):
        if row.key == target.key:
            read = read_target(eraser.desk, row.path, MEMORY, "older")
            return replace(read, key=row.key) if read else None
    return None


def _in_force(index: MemoryIndex, target: Target) -> Target | None:
    """Return what is in force under a memory's key."""
    for row in index.memories(
        key=target.key, scopes=frozenset({target.scope}), standings={ACTIVE}
    ):
        if row.path != target.path:
            return Target(
                kind=MEMORY, path=NotePath(row.path), id=row.memory_id, key=row.key
            )
    return None


def _put_into_force(eraser: Eraser, older: Target) -> NotePath:
    """Move a replaced memory to where one in force lies."""
    folder = eraser.desk.folder
    file = read_memory_file(folder, older.path)
    data = file.with_values({"superseded_by": None, "superseded": None})
    path = _free_path(eraser, older)
    folder.replace(path, data, expected=None)
    remove_note(folder, older.path, expected=file.stamp)
    return path


def _put_out_of_force(eraser: Eraser, now: Target, *, by: str) -> NotePath:
    """Move a memory in force to where the replaced ones lie."""
    desk = eraser.desk
    file = read_memory_file(desk.folder, now.path)
    data = superseded_text(file, now.key, by=by, at=desk.now_iso())
    name = f"{SUPERSEDED_FOLDER}/{name_with_id(now.key, now.id)}"
    path = NotePath(f"{now.scope}/{name}" if now.scope else name)
    desk.folder.replace(path, data, expected=desk.folder.stamp(path))
    remove_note(desk.folder, now.path, expected=file.stamp)
    return path


def _free_path(eraser: Eraser, older: Target) -> NotePath:
    """Return a path that a memory in force may take and no file has."""
    scope = older.scope
    names = [*names_of(older.key), name_with_id(older.key, older.id)]
    for name in names:
        path = NotePath(f"{scope}/{name}" if scope else name)
        if eraser.desk.folder.stamp(path) is None:
            return path
    return NotePath(f"{scope}/{names[-1]}" if scope else names[-1])
