"""Recovers acknowledged entries that disappeared.

If anything removes an entry within ten minutes of its writing (a stale editor buffer, a
sync tool, a checkout), the entry comes back once, in ``recovered.md`` of its own scope,
by whatever name the folder of that goes now (``entry_scopes``).
Removing it there, or removing it later, is final.

An entry counts as lost only when it is in no note of its scope and its note has been
quiet for a while: a wrong answer would make a copy. An editor that is saving, a note
that was renamed, and an old entry that a person deletes must not look like a loss.
"""

from __future__ import annotations

import time

from hivemind_memory.errors import (
    HivemindError,
    NoteNotFoundError,
    NotePathError,
    NotSavedError,
)
from hivemind_memory.files.folder import NotesFolder
from hivemind_memory.markdown.entry import entry_ids, parse_provenance
from hivemind_memory.model.note_path import NotePath
from hivemind_memory.model.results import RECOVERY_WINDOW_S, RecoveredEntry
from hivemind_memory.model.scope import scope_of
from hivemind_memory.model.value import replaced, value
from hivemind_memory.notes.append import EntryDraft, append_entry
from hivemind_memory.notes.crashed_write import finish_crashed_write
from hivemind_memory.notes.entry_scopes import ScopeFolders, path_now
from hivemind_memory.notes.journal_records import (
    BEGUN,
    RETURNING,
    SAVED,
    is_recoverable,
)
from hivemind_memory.notes.recovered_entries import (
    add_recovered,
    recovered_entry,
    recovered_note,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from hivemind_memory.model.snapshot import FileSignature
    from hivemind_memory.notes.journal import Journal, JournalFile
    from hivemind_memory.notes.journal_records import JournalEntry


# How long a search waits for the lock; what it cannot do now, the next one does.
_WAIT_S = 2.0

_MAX_SEARCHED_BYTES = 100_000_000
"""Largest file that is searched for an entry which a person may have moved. Not
``max_note_mb``: what is in a note that is too large to be indexed is not lost."""

# An editor that saves in place empties the file first: a note that changed a moment ago
# and misses something is looked at again until it has not changed for so long.
_YOUNG_S = 2.0
_QUIET_S = 0.05
_LOOKS = 10


def recover(journal: Journal, now_s: float) -> tuple[RecoveredEntry, ...]:
    """Bring back acknowledged entries that have vanished, each of them once.

    Also finishes what a killed writer left, and forgets entries that have survived
    their ten minutes. If there is nothing to do it takes no lock and writes nothing.

    Raises:
        NotSavedError: An entry is missing and could not be put back now. The journal
            still has it.
    """
    try:
        return _recover(journal, now_s)
    except NotSavedError:
        raise
    except HivemindError as error:
        message = f"Lost entries could not be restored: {error}"
        raise NotSavedError(message, hint=error.hint) from error


def recover_within(
    session: JournalFile,
    now_s: float,
    seen: Sequence[LostEntry] | None = None,
    looked_at: AbstractSet[str] = frozenset(),
) -> tuple[RecoveredEntry, ...]:
    """Do what ``recover`` does, for who holds the lock already.

    Args:
        session: The journal, locked.
        now_s: Seconds since the epoch.
        seen: What was found before the lock was taken; None: look now, which may take
            some tenths of a second for each note that has just changed.
        looked_at: Ids of the entries that were looked for then; others stay.

    Raises:
        HivemindError: An entry could not be put back; the others were.
        OSError: The journal could not be rewritten.
    """
    entries = session.entries()
    if seen is None:
        seen = find_lost_entries(entries.values(), now_s)
        gone = [lost.entry_now for lost in seen]
        looked_at = entries.keys()
    else:
        gone = _still_lost(seen, entries)
    # First: a process killed in between has reported too much, which is settled later.
    add_recovered(session.folder, gone)
    back: list[JournalEntry] = []
    failed: dict[str, HivemindError] = {}
    for entry in gone:
        try:
            if _put_back(session, entry):
                back.append(entry)
        except HivemindError as error:
            if session.is_unfinished():
                raise  # what is in doubt is settled first
            failed[entry.id] = error  # the note of another scope may take its own
    gone_ids = {entry.id for entry in gone}
    undecided = {lost.entry.id for lost in seen} | (entries.keys() - looked_at)
    kept = {
        entry.id
        for entry in entries.values()
        if entry.state == SAVED
        and (is_recoverable(entry, now_s) or entry.id in undecided)
        and (entry.id not in gone_ids or entry.id in failed)
    }
    session.keep(kept, now_s)
    for problem in failed.values():
        raise problem
    return tuple(map(recovered_entry, back))


def _recover(
    journal: Journal, now_s: float, *, may_settle: bool = True
) -> tuple[RecoveredEntry, ...]:
    """Look without the lock first: nearly always that is all."""
    if not journal.may_need_recovery():
        return ()
    entries = journal.entries()
    lost = find_lost_entries(entries, now_s)
    is_in_doubt = _is_in_doubt(entries)
    if not (lost or is_in_doubt or _is_over(entries, now_s)):
        return ()
    if not lost and journal.is_busy():
        # A writer that is at work will leave nothing in doubt, and look after the rest.
        return ()
    looked_at = {entry.id for entry in entries if entry.state == SAVED}
    with journal.session(wait_s=_WAIT_S) as session:
        try:
            finish_crashed_write(session)
            if not is_in_doubt or (lost and not may_settle):
                return recover_within(session, now_s, lost, looked_at)
        except OSError as error:
            raise journal.write_error(error) from error
    # Nearly always the writer was at work a moment ago. Rewriting the journal for that
    # would make all processes read it again; an entry that was coming back when its
    # process was killed may be lost again.
    return _recover(journal, now_s, may_settle=False) if may_settle else ()


def _is_in_doubt(entries: Collection[JournalEntry]) -> bool:
    """Return whether a writer is at work, or was killed."""
    return any(entry.state in (BEGUN, RETURNING) for entry in entries)


def _is_over(entries: Collection[JournalEntry], now_s: float) -> bool:
    """Return whether no entry is in its ten minutes any more."""
    return not any(
        entry.state == SAVED and is_recoverable(entry, now_s) for entry in entries
    )


def _put_back(session: JournalFile, entry: JournalEntry) -> bool:
    """Append a vanished entry to its ``recovered.md``; False if its text is damaged."""
    comment, _, content = session.text(entry).lstrip("\r\n").partition("\n")
    provenance = parse_provenance(comment)
    if provenance is None:
        return False
    folder = NotesFolder(entry.root)
    target = folder.spelled(recovered_note(entry.path))
    entry = replaced(entry, state=RETURNING, target=target)
    draft = EntryDraft(entry=entry, provenance=provenance, content=content)
    append_entry(session, folder, draft)
    return True


@value
class _Glance:
    """What one scan of a note showed; by default, that it is not there."""

    changed_s: float
    """When it last changed; if it is not there, when its folder did."""

    ids: frozenset[str] = frozenset()
    signature: FileSignature | None = None
    is_empty: bool = False


@value
class LostEntry:
    """An entry that no note of its scope holds, and how its own note looked then."""

    entry: JournalEntry
    glance: _Glance
    scope: str = ""
    """Where it belongs now."""

    @property
    def entry_now(self) -> JournalEntry:
        """The entry, with the note that it would be in now."""
        return replaced(self.entry, path=path_now(self.entry, self.scope))


def find_lost_entries(entries: Iterable[JournalEntry], now_s: float) -> list[LostEntry]:
    """Return the saved entries that their scope lost, oldest first.

    An entry counts while it is young, and later if its note has not changed since then:
    so it vanished in time, though no process saw it.

    A note that has just changed is waited for, so call it without the lock if you can.
    """
    notes: dict[tuple[str, NotePath], list[JournalEntry]] = {}
    for entry in entries:
        if entry.state == SAVED:
            notes.setdefault((entry.root, entry.path), []).append(entry)
    missing: dict[str, list[LostEntry]] = {}
    for (root, path), saved in notes.items():
        lost = _missing_from(NotesFolder(root), path, saved, now_s)
        missing.setdefault(root, []).extend(lost)
    return [
        entry for root, lost in missing.items() for entry in _in_no_note(root, lost)
    ]


def _still_lost(
    seen: Sequence[LostEntry], entries: Mapping[str, JournalEntry]
) -> list[JournalEntry]:
    """Return those of some lost entries that are lost under the lock, too.

    Notes that have changed since they were seen are waited for together, and once: all
    who write wait meanwhile.
    """
    notes = {
        (seen_entry.entry.root, seen_entry.entry.path): seen_entry.glance
        for seen_entry in seen
    }
    now = _glance_at(notes)
    changed = [note for note in notes if now[note] != notes[note]]
    if changed:
        time.sleep(_QUIET_S)
        for note, glance in _glance_at(changed).items():
            is_quiet = glance == now[note] and glance and not glance.is_empty
            now[note] = glance if is_quiet else None
    found: dict[str, list[LostEntry]] = {}
    for lost in seen:
        glance = now[lost.entry.root, lost.entry.path]
        entry = entries.get(lost.entry.id)
        if entry and entry.state == SAVED and glance and entry.id not in glance.ids:
            kept = LostEntry(entry=entry, glance=glance)
            found.setdefault(entry.root, []).append(kept)
    return [
        lost.entry_now
        for root, those in found.items()
        for lost in _in_no_note(root, those)
    ]


def _glance_at(
    notes: Iterable[tuple[str, NotePath]],
) -> dict[tuple[str, NotePath], _Glance | None]:
    """Return what one scan of some notes shows, by folder and path."""
    return {(root, path): _glance(NotesFolder(root), path) for root, path in notes}


def _missing_from(
    folder: NotesFolder, path: NotePath, entries: list[JournalEntry], now_s: float
) -> list[LostEntry]:
    """Return the entries that their note lost early enough to get them back."""
    glance = _glance(folder, path)
    for _ in range(_LOOKS):
        if glance is None:
            return []
        missing = [
            LostEntry(entry=entry, glance=glance)
            for entry in entries
            if entry.id not in glance.ids
            and (
                is_recoverable(entry, now_s)
                or glance.changed_s < entry.at_s + RECOVERY_WINDOW_S
            )
        ]
        if not missing or abs(now_s - glance.changed_s) > _YOUNG_S:
            return missing
        time.sleep(_QUIET_S)
        before, glance = glance, _glance(folder, path)
        if glance == before:
            return [] if glance.is_empty else missing
    return []


def _glance(folder: NotesFolder, path: NotePath) -> _Glance | None:
    """Return which entries a note holds now, or None if that is unknown."""
    try:
        data, signature = folder.read(path)
    except (NoteNotFoundError, NotePathError):
        try:
            return _Glance(changed_s=_parent_changed_s(folder, path))
        except (OSError, HivemindError):
            return None
    except HivemindError:
        return None
    return _Glance(
        ids=entry_ids(data),
        changed_s=signature[0] / 1e9,
        signature=signature,
        is_empty=not data.strip(),
    )


def _parent_changed_s(folder: NotesFolder, path: str) -> float:
    """Return when a name last came or went where a note should be."""
    while True:
        try:
            with folder.open_parent(NotePath(path)) as parent:
                return parent.own_status().st_mtime
        except (FileNotFoundError, NotADirectoryError):
            path = path.rpartition("/")[0]


def _in_no_note(root: str, entries: list[LostEntry]) -> list[LostEntry]:
    """Return the entries that no note of their scope holds: a person may move them.

    A copy in another scope, which its readers may not see, counts only once the folder
    of the scope is gone: a person may have renamed that. An entry whose folder is gone
    and whose name another project has is left alone: it never gets among the others.
    """
    if not entries:
        return []
    folder = NotesFolder(root, max_note_bytes=_MAX_SEARCHED_BYTES)
    found: dict[str, set[str]] = {}
    for path in folder.signatures():
        glance = _glance(folder, path)
        found.setdefault(scope_of(path), set()).update(glance.ids if glance else ())
    anywhere = frozenset[str]().union(*found.values())
    folders = ScopeFolders(root, found)
    back = []
    for lost in entries:
        scope = folders.scope_of(lost.entry)
        if scope is None:
            continue
        held = found.get(scope, ()) if scope in folders else anywhere
        if lost.entry.id not in held:
            back.append(replaced(lost, scope=scope))
    return back
