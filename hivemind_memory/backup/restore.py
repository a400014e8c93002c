"""Restores a backup into a home, unless that would replace a file.

The archive is unpacked into a file without a name, and checked as a whole, before
anything is written: however large it is, little of it is in memory. If the disk then
refuses, what was written is removed again. Files that are there already, byte for byte,
are left as they are, so a restore whose process was killed can be run again. What
another process writes into the home meanwhile is not replaced either.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass

from hivemind_memory.backup.late_entries import add_late_entries
from hivemind_memory.backup.new_files import (
    EFFECT,
    NewFiles,
    in_the_way,
    is_same,
    is_taken,
)
from hivemind_memory.backup.one_restore import only_restore
from hivemind_memory.backup.other_files import other_file
from hivemind_memory.backup.staged import Stage, folder_above
from hivemind_memory.backup.unpack import check_room, unpack, unusable
from hivemind_memory.backup.write import (
    CONFIG,
    FILES,
    JOURNAL,
    NOTES,
    STATE,
    VAULT,
)
from hivemind_memory.config import CONFIG_NAME
from hivemind_memory.errors import (
    HivemindError,
    NotePathError,
    StateUnusableError,
    UsageError,
)
from hivemind_memory.files.descriptors import (
    IrregularFileError,
    make_private_folder,
)
from hivemind_memory.files.errors import cause_of
from hivemind_memory.files.folder import NotesFolder
from hivemind_memory.files.paths import name_problem, parse_note_path
from hivemind_memory.files.places import JOURNAL_FILE, vault_file
from hivemind_memory.model.scope import FOLDERS
from hivemind_memory.projects.known_project import IDENTITY_FILE
from hivemind_memory.state.open import state_for

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from hivemind_memory.backup.staged import Staged
    from hivemind_memory.files.places import Places
    from hivemind_memory.model.results import RecoveredEntry

    Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoreResult:
    """What was restored."""

    at: str
    """When the backup was made, ISO 8601."""

    notes: int
    has_state: bool
    has_config: bool
    has_vault: bool = False
    files: int = 0
    """Files of the notes folder that are no notes, such as images."""

    put_back: tuple[RecoveredEntry, ...] = ()
    """Entries that only the journal of the backup has, and the note of each now."""


def restore_backup(
    places: Places, file: str, progress: Progress | None = None
) -> RestoreResult:
    """Put what a backup holds into a home.

    Args:
        places: Where everything goes.
        file: The archive.
        progress: Called with the progress.

    Raises:
        HivemindError: It cannot be read, or the disk failed. Nothing was restored, or
            the message names what is left.
        UsageError: It is not a backup, or is from a later version, or the home has a
            file that it would replace. Nothing was restored.
    """
    above = folder_above(places.home)
    try:
        with only_restore(places.home), Stage(above, effect=EFFECT) as stage:
            return _restore(places, file, stage, above, progress or _no_progress)
    except OSError as error:
        cause, hint = cause_of(error)
        if isinstance(error, IrregularFileError):
            cause = f"it is {error.kind}, not a file"
            hint = "Name the file that `hm backup` wrote."
        raise HivemindError(f"{file}: {cause}.", hint=hint, effect=EFFECT) from error
    except MemoryError as error:
        raise HivemindError(
            f"{file} holds more than fits into memory.",
            hint="If it is your backup, restore it where more memory is free.",
            effect=EFFECT,
        ) from error


def _restore(
    places: Places, file: str, stage: Stage, above: str, report: Progress
) -> RestoreResult:
    """Unpack an archive into a stage, check it, and write what it holds."""
    report("reading the backup", 0, 1)
    members, manifest = unpack(os.path.expanduser(file), stage, above)
    for name in manifest.get("moved", ()):
        members.pop(name, None)  # it is there by a later name
    put_back: tuple[RecoveredEntry, ...] = ()
    if JOURNAL in members:
        root = str(manifest.get("root", ""))
        journal = _moved(members[JOURNAL].read(), root, places.notes)
        members[JOURNAL] = stage.add(journal)
        put_back = add_late_entries(members, manifest["members"], places.notes)
    targets = _targets(places, members)
    if STATE in members and places.state_name:
        state = _renamed(members[STATE].read(), places.state_name)
        members[STATE] = stage.add(state)
    check_room(file, _missing_bytes(places, members, targets), above)
    notes = (
        os.path.join(places.notes, name.removeprefix(NOTES))
        for name in members.keys() - targets.keys()
    )
    written = NewFiles((*notes, *targets.values(), os.path.join(places.notes, "x")))
    try:
        _write(places, members, manifest, targets, written, report=report)
    except (OSError, HivemindError) as error:
        cause, hint = _cause_of(error)
        raise written.failure(cause, hint, written.take_back()) from error
    except BaseException:
        written.take_back()
        raise
    return RestoreResult(
        at=str(manifest.get("at", "")),
        notes=len(members) - len(targets),
        has_state=STATE in members,
        has_config=CONFIG in members,
        has_vault=VAULT in members,
        files=sum(name.startswith(FILES) for name in members),
        put_back=put_back,
    )


def _no_progress(phase: str, done: int, total: int) -> None:
    """Show nothing."""


def _targets(places: Places, members: Mapping[str, Staged]) -> dict[str, str]:
    """Return where each member that is not a note goes; refuse what is neither."""
    files = {
        CONFIG: os.path.join(places.home, CONFIG_NAME),
        JOURNAL: os.path.join(places.journal, JOURNAL_FILE),
        STATE: places.state_file,
        VAULT: vault_file(places.home),
    }
    for name in members.keys() - files.keys():
        path = name.removeprefix(NOTES)
        try:
            if name.startswith(FILES):
                inner = other_file(name.removeprefix(FILES))
                files[name] = os.path.join(places.notes, inner)
                continue
            if path == name:
                raise unusable(f"{name[:80]} in it is unknown")
            if _is_record(path):
                files[name] = os.path.join(places.notes, path)
                continue
            parse_note_path(path)
        except NotePathError as error:
            raise unusable(f"{name[:80]} in it is not a note") from error
    return {name: path for name, path in files.items() if name in members}


def _is_record(path: str) -> bool:
    """Return whether a path below the notes folder is that of a project's record."""
    folder, _, name = path.rpartition("/")
    above, _, slug = folder.rpartition("/")
    is_named = name == IDENTITY_FILE and above == FOLDERS["project"]
    return is_named and not name_problem(slug)


def _missing_bytes(
    places: Places, members: Mapping[str, Staged], targets: Mapping[str, str]
) -> int:
    """Return how much is to be written; raise if something else has one of the names.

    An empty file counts as missing.
    """
    size = 0
    for name, staged in members.items():
        if name in targets:
            path = targets[name]
            is_in_the_way = is_taken(path, staged)
        else:
            note = parse_note_path(name.removeprefix(NOTES))
            path = os.path.join(places.notes, note)
            is_in_the_way = os.path.lexists(path) and not is_same(path, staged)
        if is_in_the_way:
            raise in_the_way(path)
        size += 0 if os.path.lexists(path) else staged.size
    return size


def _write(
    places: Places,
    members: Mapping[str, Staged],
    manifest: Mapping[str, Any],
    targets: Mapping[str, str],
    written: NewFiles,
    *,
    report: Progress,
) -> None:
    """Write all members, ``state.db`` last: it says that the rest is there."""
    make_private_folder(places.home)
    make_private_folder(places.notes)
    folder = NotesFolder(places.notes)
    for count, (name, data) in enumerate(members.items()):
        report("restoring", count, len(members))
        if name in targets:
            continue
        note = parse_note_path(name.removeprefix(NOTES))
        written.put_note(folder, note, data)
        mtime_ns = int(manifest["members"][name]["mtime_ns"])
        os.utime(os.path.join(places.notes, note), ns=(mtime_ns, mtime_ns))
    for name in sorted(targets, key=lambda name: name == STATE):
        written.put(targets[name], members[name])
        if name.startswith(FILES):
            mtime_ns = int(manifest["members"][name]["mtime_ns"])
            os.utime(targets[name], ns=(mtime_ns, mtime_ns))


def _cause_of(error: OSError | HivemindError) -> tuple[str, str]:
    """Return why something could not be written, as a clause, and what to do."""
    if isinstance(error.__cause__, OSError):
        error = error.__cause__
    if isinstance(error, OSError):
        return cause_of(error)
    return error.problem.rstrip("."), error.hint


def _moved(journal: bytes, old_root: str, new_root: str) -> bytes:
    """Return a journal whose entries are in another notes folder."""
    lines = []
    for line in journal.splitlines(keepends=True):
        try:
            record = json.loads(line)
        except ValueError:
            continue  # torn: it counts as not written
        if isinstance(record, dict) and record.get("root") == old_root:
            record["root"] = new_root
            text = json.dumps(record, ensure_ascii=False, separators=(",", ":"))
            lines.append(text.encode() + b"\n")
        else:
            lines.append(line)
    return b"".join(lines)


def _renamed(state: bytes, notes: str) -> bytes:
    """Return a state for a home that calls the notes folder by another name."""
    try:
        return state_for(state, notes)
    except StateUnusableError as error:
        raise UsageError(f"{error}.", hint=error.hint, effect=EFFECT) from error
