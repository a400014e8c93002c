"""Forgetting and restoring: the text stays in its note and is hidden, or shown again.

A typed memory gets ``forgotten:`` in its front matter, an entry ``forgotten=`` in its
comment; nothing else in the file changes. What a person wrote without either cannot be
hidden, for it would need a mark in their text.
"""

from __future__ import annotations

from hivemind_memory.errors import HivemindError, KeyTakenError
from hivemind_memory.memory.curation.eraser import Eraser, Tally, change_memory
from hivemind_memory.memory.curation.gathering import find_targets
from hivemind_memory.memory.curation.reinstating import (
    reinstate_older,
    replace_reinstated,
)
from hivemind_memory.memory.curation.targets import Target
from hivemind_memory.model.erasing import ENTRY, Forgotten, Restored, Which
from hivemind_memory.model.standing import ACTIVE
from hivemind_memory.notes.entry_changes import change_entries
from hivemind_memory.notes.entry_edits import with_forgotten, without_forgotten

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from hivemind_memory.model.note_path import NotePath
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
