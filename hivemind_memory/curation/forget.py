"""Forgets and restores memories: the text stays in its note, hidden or shown again.

A typed memory gets ``forgotten:`` in its front matter, an entry ``forgotten=`` in its
comment; nothing else in the file changes. Text that a person wrote without either
cannot be hidden, because that would need a mark in it.
"""

from __future__ import annotations

from functools import partial

from hivemind_memory.access.rules import check_person
from hivemind_memory.curation.change_recording import forgets_of
from hivemind_memory.curation.changed_items import planned_forget
from hivemind_memory.curation.context import BatchResult
from hivemind_memory.curation.lookup import read_target
from hivemind_memory.curation.lookup_errors import not_found
from hivemind_memory.curation.own_name import take_own_name
from hivemind_memory.curation.reactivate import deactivate_older, reactivate_older
from hivemind_memory.curation.read_version import check_read, read_first
from hivemind_memory.curation.selection import entry_ids, find_targets
from hivemind_memory.errors import (
    HivemindError,
    KeyTakenError,
    NoteNotFoundError,
    NotSavedError,
    VersionChangedError,
)
from hivemind_memory.files.errors import MAX_ATTEMPTS, kept_changing
from hivemind_memory.model.curation import ENTRY, ForgetResult, RestoreResult
from hivemind_memory.model.memories import ACTIVE
from hivemind_memory.model.note_path import NotePath
from hivemind_memory.model.value import replaced
from hivemind_memory.notes.entry_edits import (
    change_entries,
    entries_in,
    unmark_forgotten,
    with_forgotten,
)
from hivemind_memory.notes.memory_file import read_memory_file
from hivemind_memory.notes.memory_header import is_forgotten
from hivemind_memory.notes.tombstones import normal_form

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from hivemind_memory.curation.context import CurationContext
    from hivemind_memory.curation.lookup import CurationTarget
    from hivemind_memory.curation.read_version import ReadVersion
    from hivemind_memory.model.curation import MemorySelector
    from hivemind_memory.notes.memory_file import MemoryFile


def forget(
    context: CurationContext,
    selector: MemorySelector,
    *,
    is_dry_run: bool = False,
    read: ReadVersion | None = None,
) -> ForgetResult:
    """Hide memories from searches, injection and lists; ``restore`` undoes it.

    A key includes its older versions and pending claims. A whole scope does not include
    what a person wrote without front matter. If a session, a source or a day is
    forgotten, the versions that it had replaced become active again.

    Raises:
        MemoryNotFoundError: Nothing the caller sees matches.
        NotSavedError: Nothing was changed; the message says why.
        ScopeError: The selector names a scope that the caller does not have.
        UsageError: The selector is empty, its key is in several scopes, or it names
            what cannot be hidden.
        VersionChangedError: What was read has changed; nothing was hidden.
    """
    index = context.index.fresh(is_lookup=not selector.is_set)
    targets = find_targets(context, index, selector)
    shown = [target for target in targets if not target.forgotten]
    already = len(targets) - len(shown)
    if is_dry_run:
        return replaced(planned_forget(shown), already=already)
    is_set = selector.is_set and not selector.is_whole_scope
    hidden = hide_targets(
        context,
        read_first(shown, read),
        is_reactivating=is_set,
        check=partial(check_read, context, read),
    )
    return replaced(hidden, already=already)


def hide_targets(
    context: CurationContext,
    shown: Sequence[CurationTarget],
    *,
    is_reactivating: bool,
    check: Callable[[CurationTarget, str, str], None] = lambda *_: None,
) -> ForgetResult:
    """Hide targets that are not forgotten yet.

    Args:
        context: Of the caller, who may write to all of them.
        shown: The targets.
        is_reactivating: Make the versions active again that they had replaced.
        check: Raises if a target must not be hidden as it is now; takes it, its path
            and its text, under the lock of its key. A ``VersionChangedError`` ends it.

    Raises:
        HivemindError: Nothing was changed; the message says why.
    """
    batch, at = BatchResult(), context.now_iso()

    def hide(target: CurationTarget, file: MemoryFile) -> bytes | None:
        if is_forgotten(file.front.values):
            return None
        check(target, file.path, file.body)
        return file.with_values({"forgotten": at})

    def hide_entries(data: bytes, ids: Collection[str]) -> bytes:
        entries = {entry.provenance.id: entry for entry in entries_in(data)}
        for target in shown:
            if target.kind == ENTRY and target.id in ids and target.id in entries:
                check(target, target.path, entries[target.id].content)
        return with_forgotten(data, ids, at)

    for target in shown:
        if target.kind != ENTRY:
            _change_memory(context, target, partial(hide, target), batch)
    _change_entries(context, shown, hide_entries, batch)
    batch.check()
    reactivated = []
    if is_reactivating:
        reactivated = reactivate_older(context, shown, batch)
    return ForgetResult(
        memories=tuple(batch.done),
        reactivated=tuple(reactivated),
        failed=tuple(batch.failed),
        changed_paths=tuple(sorted(batch.paths)),
        is_indexed=context.update_index(sorted(batch.paths)),
    )


def restore(context: CurationContext, selector: MemorySelector) -> RestoreResult:
    """Show forgotten memories again; of a key with several, the newest.

    Raises:
        KeyTakenError: Another memory is active under the key; nothing was changed.
        MemoryNotFoundError: Nothing the caller sees matches.
        NotSavedError: Nothing was changed; the message says why.
        ScopeError: The selector names a scope that the caller does not have.
        UsageError: The selector is empty, its key is in several scopes, or an agent
            restores what another forgot.
    """
    index = context.index.fresh(is_lookup=not selector.is_set)
    targets = find_targets(context, index, selector)
    hidden = [target for target in targets if target.forgotten]
    forgets = forgets_of(context, hidden)
    if hidden and not (forgets and forgets[0][0].actor == context.actor):
        check_person(context.caller, "Restoring what someone else forgot")
    if forgets:
        newest, chosen = forgets[0]
        is_deactivating = bool(newest.others)
    else:
        # An earlier version of the program hid them, or the records are gone.
        chosen = _forgotten_together(hidden) if selector.name else hidden
        is_deactivating = selector.is_set
    return replaced(
        show_targets(context, chosen, is_deactivating=is_deactivating),
        already=len(targets) - len(hidden),
        left=tuple(change.id for change, _ in forgets[1:]),
    )


def show_targets(
    context: CurationContext,
    hidden: Sequence[CurationTarget],
    *,
    is_deactivating: bool,
) -> RestoreResult:
    """Show targets that are forgotten.

    Args:
        context: Of the caller, who may write to all of them.
        hidden: The targets.
        is_deactivating: Versions that became active when these were forgotten are
            superseded again.

    Raises:
        HivemindError: Nothing was changed; the message says why.
    """
    batch = BatchResult()
    superseded = deactivate_older(context, hidden, batch) if is_deactivating else []
    for target in hidden:
        if target.kind != ENTRY:
            is_active = target.status == ACTIVE
            _change_memory(context, target, _show, batch, is_activating=is_active)
    _change_entries(context, hidden, unmark_forgotten, batch, is_final=False)
    batch.check()
    return RestoreResult(
        memories=tuple(batch.done),
        superseded=tuple(superseded),
        failed=tuple(batch.failed),
        changed_paths=tuple(sorted(batch.paths)),
        is_indexed=context.update_index(sorted(batch.paths)),
    )


def _show(file: MemoryFile) -> bytes | None:
    """Return the bytes of a file without the mark; None if it has none."""
    if "forgotten" not in file.front.values:
        return None
    return file.with_values({"forgotten": None})


def _forgotten_together(hidden: list[CurationTarget]) -> list[CurationTarget]:
    """Return entries, and the newest memory that was active with what went with it.

    A key that was forgotten, saved again and forgotten again has two such memories.
    """
    memories = [target for target in hidden if target.kind != ENTRY]
    memories.sort(key=lambda memory: memory.created, reverse=True)
    first = next((memory for memory in memories if memory.status == ACTIVE), None)
    if first is None:
        return hidden
    return [
        target
        for target in hidden
        if target.kind == ENTRY
        or target is first
        or (target.status != ACTIVE and target.forgotten == first.forgotten)
    ]


def _change_memory(
    context: CurationContext,
    target: CurationTarget,
    change: Callable[[MemoryFile], bytes | None],
    batch: BatchResult,
    *,
    is_activating: bool = False,
) -> None:
    """Change one memory under the lock of its key.

    Args:
        context: Of the caller.
        target: The memory.
        change: Returns the new bytes of its file; None: it stays as it is.
        batch: Takes what was done.
        is_activating: It is to be the active memory of its key.
    """
    try:
        effect = f"{target.path} was not changed"
        with context.key_lock(target.scope, target.key, effect):
            if is_activating and target.key:
                _refuse_second(context, target)
                target = _in_own_file(context, target, batch)
            path = _rewrite(context, target, change)
    except VersionChangedError:
        raise
    except HivemindError as error:
        batch.fail(target.path, error)
        return
    if path is not None:
        batch.paths.add(path)
        done = replaced(target, path=path)
        if target.forgotten:
            # The mark was a line of the front matter, so the text is on other lines
            # now. What is hidden is named by the lines that were seen.
            now = read_target(context, path, target.kind) or target
            done = replaced(done, start_line=now.start_line, end_line=now.end_line)
        batch.done.append(done.as_affected())


def _in_own_file(
    context: CurationContext, target: CurationTarget, batch: BatchResult
) -> CurationTarget:
    """Return a memory that is about to be active, in the file named after its key."""
    there = read_target(context, target.path, target.kind)
    is_moved = target.id and (there is None or there.id != target.id)
    path = _current_path(context, target) if is_moved else target.path
    own, moved = take_own_name(
        context.folder, path, target.scope, target.key, target.id
    )
    batch.paths.update(moved)
    return replaced(target, path=own)


def _refuse_second(context: CurationContext, target: CurationTarget) -> None:
    """Raise if another memory is active under the key, whose lock is held."""
    if not target.key:
        return
    for row in context.index.fresh(is_lookup=True).memories(
        key=target.key, scopes=frozenset({target.scope}), statuses={ACTIVE}
    ):
        # Another memory may have taken the file that it had when it was looked up.
        is_other = row.memory_id != target.id if target.id else row.path != target.path
        if is_other:
            raise KeyTakenError(
                f"{target.key!r} was not restored: {row.path} is active under that"
                " key.",
                hint="Forget that one first, or save the text again with a reason.",
            )


def _rewrite(
    context: CurationContext,
    target: CurationTarget,
    change: Callable[[MemoryFile], bytes | None],
) -> NotePath | None:
    """Rewrite the file of a memory; return its path, or None if it stays as it is.

    The lock of its key is held. A file that was moved meanwhile is found by its id.

    Raises:
        MemoryNotFoundError: It is gone.
        NotSavedError: It is unchanged; the message says why.
    """
    path = target.path
    for _ in range(MAX_ATTEMPTS):
        try:
            file = read_memory_file(context.folder, path)
        except NoteNotFoundError:
            path = _current_path(context, target)
            continue
        if file.front.values.get("id") not in (target.id, None) and (
            target.id or normal_form(file.body) != normal_form(target.text)
        ):
            path = _current_path(context, target)
            continue
        data = change(file)
        if data is None:
            return None
        try:
            context.folder.replace(path, data, expected=file.signature)
        except NotSavedError:
            if context.folder.signature(path) == file.signature:
                raise
        else:
            return path
    raise kept_changing(path)


def _current_path(context: CurationContext, target: CurationTarget) -> NotePath:
    """Return where a memory is now.

    Raises:
        MemoryNotFoundError: It is gone.
    """
    if target.id:
        for row in context.index.fresh(is_lookup=True).memories(
            memory_id=target.id, scopes=frozenset({target.scope})
        ):
            return NotePath(row.path)
    raise not_found(target.id or target.key or target.path)


def _change_entries(
    context: CurationContext,
    targets: Sequence[CurationTarget],
    change: Callable[[bytes, Collection[str]], bytes],
    batch: BatchResult,
    *,
    is_final: bool = True,
) -> None:
    """Change entries, all of a note at once."""
    ids = entry_ids(targets)
    if not ids:
        return
    try:
        changed = change_entries(
            context.folder,
            context.journal(),
            ids,
            change,
            now_s=context.clocks.now(),
            final=set().union(*ids.values()) if is_final else (),
        )
    except VersionChangedError:
        raise
    except HivemindError as error:
        batch.fail("the entries", error)
        return
    for what, problem in changed.failed.items():
        batch.fail(what, problem)
    if changed.journal_problem is not None:
        batch.fail("the journal", changed.journal_problem)
    batch.paths.update(changed.paths)
    batch.done += [
        target.as_affected()
        for target in targets
        if target.kind == ENTRY and target.path in changed.paths
    ]
