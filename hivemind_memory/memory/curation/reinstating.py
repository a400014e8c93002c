"""What a forgotten session had replaced comes into force again, and back.

So a poisoned session is undone whole: what it said is hidden, and what was known
before it is known again. The copy in force is written first and the other taken away
then: a process that is killed between leaves two files of one id, which counts as one.
"""

from __future__ import annotations

from dataclasses import replace

from hivemind_memory.errors import HivemindError
from hivemind_memory.memory.curation.targets import Target, read_target
from hivemind_memory.model.erasing import MEMORY, Affected
from hivemind_memory.model.note_path import NotePath
from hivemind_memory.model.scope import SUPERSEDED as SUPERSEDED_FOLDER
from hivemind_memory.model.standing import ACTIVE, SUPERSEDED
from hivemind_memory.notes.memory_file import read_memory_file, superseded_text
from hivemind_memory.notes.note_edits import remove_note
from hivemind_memory.notes.slugs import name_with_id, names_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from hivemind_memory.memory.curation.eraser import Eraser, Tally
    from hivemind_memory.model.ports import MemoryIndex

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
