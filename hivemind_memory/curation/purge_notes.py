"""The part of a purge that goes through the notes and the journal."""

from __future__ import annotations

from dataclasses import dataclass

from hivemind_memory.curation.lookup import CurationTarget, notes_in
from hivemind_memory.curation.purge_plan import (
    PurgePlan,
    hashes_in,
)
from hivemind_memory.errors import (
    HivemindError,
    NoteNotFoundError,
    NotSavedError,
)
from hivemind_memory.markdown.text import decode
from hivemind_memory.model.curation import ENTRY, FailedItem
from hivemind_memory.model.note_path import NotePath
from hivemind_memory.notes.entry_edits import change_entries, without_entries
from hivemind_memory.notes.memory_file import remove_note

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hivemind_memory.curation.context import ForgetContext
    from hivemind_memory.memory.sync import ChunkSettings


_ATTEMPTS = 10


_MAX_QUOTED = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryRemoval:
    """What became of the entries."""

    journal_texts: int = 0
    left: tuple[FailedItem, ...] = ()


def remove_files(
    forget_context: ForgetContext,
    targets: Sequence[CurationTarget],
    plan: PurgePlan,
    chunking: ChunkSettings,
) -> list[FailedItem]:
    """Take the files of memories and whole notes away; return what is left."""
    left = []
    for target in targets:
        if target.kind == ENTRY:
            continue
        try:
            with forget_context.context.key_lock(target.scope, target.key):
                _remove_file(forget_context, target, plan, chunking)
        except NoteNotFoundError:
            continue
        except HivemindError as error:
            left.append(FailedItem(what=target.path, why=str(error)))
    return left


def _remove_file(
    forget_context: ForgetContext,
    target: CurationTarget,
    plan: PurgePlan,
    chunking: ChunkSettings,
) -> None:
    """Take one file away, whatever was saved to it since the look."""
    folder = forget_context.context.folder
    for attempt in range(_ATTEMPTS):
        data, stamp = folder.read(target.path)
        plan.hashes |= hashes_in(target.path, data, None, chunking)
        try:
            remove_note(folder, target.path, expected=stamp)
        except NotSavedError:
            if folder.stamp(target.path) == stamp or attempt == _ATTEMPTS - 1:
                raise
        else:
            return


def remove_entries(
    forget_context: ForgetContext, targets: Sequence[CurationTarget], plan: PurgePlan
) -> EntryRemoval:
    """Take entries out of their notes, and all that is meant out of the journal."""
    ids: dict[NotePath, set[str]] = {}
    for target in targets:
        if target.kind == ENTRY:
            ids.setdefault(target.path, set()).add(target.id)
    gone = {*plan.ids, *_journalled(forget_context, plan)}
    texts = count_journal(forget_context, plan)
    context = forget_context.context
    try:
        changed = change_entries(
            context.folder,
            forget_context.journal,
            ids,
            without_entries,
            now_s=context.clocks.now(),
            final=gone,
        )
    except HivemindError as error:
        return EntryRemoval(
            left=(FailedItem(what="entries and journal", why=str(error)),)
        )
    left = [FailedItem(what=what, why=str(why)) for what, why in changed.failed.items()]
    if changed.journal_problem is not None:
        left.append(FailedItem(what="journal", why=str(changed.journal_problem)))
    return EntryRemoval(journal_texts=texts, left=tuple(left))


def count_journal(forget_context: ForgetContext, plan: PurgePlan) -> int:
    """Return how many texts of it the journal keeps."""
    gone = {*plan.ids, *_journalled(forget_context, plan)}
    return sum(entry.id in gone for entry in forget_context.journal.entries())


def _journalled(forget_context: ForgetContext, plan: PurgePlan) -> Iterator[str]:
    """Yield the ids of entries that were written to notes that go as a whole."""
    for entry in forget_context.journal.entries():
        is_ours = entry.root == forget_context.context.folder.root
        if is_ours and not plan.paths.isdisjoint((entry.path, entry.target)):
            yield entry.id


def notes_quoting(
    forget_context: ForgetContext,
    targets: Sequence[CurationTarget],
    probes: Sequence[str],
) -> Iterator[FailedItem]:
    """Yield notes that hold a line of it and are not ours to change."""
    gone = {(one.path, line) for one in targets for line in _lines(one)}
    whole = {one.path for one in targets if one.kind != ENTRY}
    found = 0
    for path, data in notes_in(
        forget_context.context, forget_context.context.caller.scopes
    ):
        text = decode(data) if probes else ""
        if path in whole or not any(probe in text for probe in probes):
            continue
        for number, line in enumerate(text.split("\n"), start=1):
            if (path, number) in gone or not any(probe in line for probe in probes):
                continue
            found += 1
            if found <= _MAX_QUOTED:
                why = "the same words stand here: change it by hand if they must go"
                yield FailedItem(what=f"{path}:{number}", why=why)


def _lines(target: CurationTarget) -> range:
    """Return the lines on which a target stands."""
    return range(target.start_line, target.end_line + 1)
