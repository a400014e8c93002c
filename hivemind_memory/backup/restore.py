"""Restores a backup into a home, unless that would replace a file.

The archive is read and checked as a whole before anything is written. Notes that are
there already, byte for byte, are left as they are, so a restore that was interrupted
can be run again.
"""

from __future__ import annotations

import hashlib
import json
import os
import tarfile
from dataclasses import dataclass
from typing import Any

from hivemind_memory.backup.write import (
    CONFIG,
    FORMAT,
    JOURNAL,
    MANIFEST,
    NOTES,
    STATE,
)
from hivemind_memory.config import CONFIG_NAME
from hivemind_memory.errors import HivemindError, NotePathError, UsageError
from hivemind_memory.files.atomic import write_file
from hivemind_memory.files.descriptors import make_private_folder
from hivemind_memory.files.errors import cause_of
from hivemind_memory.files.folder import NotesFolder
from hivemind_memory.files.paths import parse_note_path
from hivemind_memory.files.places import JOURNAL_FILE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from hivemind_memory.files.places import Places


_EFFECT = "Nothing was restored"
_DAMAGED = "The file is damaged or was not created by `hm backup`. Use another copy."


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoreResult:
    """What was restored."""

    at: str
    """When the backup was made, ISO 8601."""

    notes: int
    has_state: bool
    has_config: bool


def restore_backup(places: Places, file: str) -> RestoreResult:
    """Put what a backup holds into a home.

    Args:
        places: Where everything goes.
        file: The archive.

    Raises:
        HivemindError: It cannot be read, or the disk failed; what was restored so far
            stays, and the same call continues.
        UsageError: It is not a backup, or is from a later version, or the home has a
            file that it would replace. Nothing was restored.
    """
    try:
        members, manifest = _read(os.path.expanduser(file))
        targets = _targets(places, members)
        _refuse_replacing(places, members, targets)
    except OSError as error:
        cause, hint = cause_of(error)
        raise HivemindError(f"{file}: {cause}.", hint=hint, effect=_EFFECT) from error
    try:
        _write(places, members, manifest, targets)
    except OSError as error:
        cause, hint = cause_of(error)
        effect = "Only part of it was restored"
        raise HivemindError(f"{cause}.", hint=hint, effect=effect) from error
    return RestoreResult(
        at=str(manifest.get("at", "")),
        notes=sum(name.startswith(NOTES) for name in members),
        has_state=STATE in members,
        has_config=CONFIG in members,
    )


def _read(file: str) -> tuple[dict[str, bytes], dict[str, Any]]:
    """Return the members of an archive, each checked, and its manifest."""
    members: dict[str, bytes] = {}
    try:
        with tarfile.open(file, mode="r|gz") as tar:
            for info in tar:
                member = tar.extractfile(info)
                if member is None:
                    raise _unusable(f"{info.name[:80]} in it is not a file")
                members[info.name] = member.read()
        manifest = json.loads(members.pop(MANIFEST))
        version, known = manifest["format"], manifest["members"]
    except (tarfile.TarError, EOFError, ValueError, LookupError, TypeError) as error:
        raise _unusable("the archive is truncated or corrupt") from error
    if version != FORMAT:
        raise UsageError(
            f"{file} was made by a newer version of this program.",
            hint="Upgrade hivemind-memory.",
            effect=_EFFECT,
        )
    for name, data in members.items():
        if known.get(name, {}).get("sha256") != hashlib.sha256(data).hexdigest():
            raise _unusable(f"the checksum of {name} in it does not match")
    if members.keys() != known.keys():
        raise _unusable("a part of it is missing")
    return members, manifest


def _targets(places: Places, members: Mapping[str, bytes]) -> dict[str, str]:
    """Return where each member that is not a note goes; refuse what is neither."""
    files = {
        CONFIG: os.path.join(places.home, CONFIG_NAME),
        JOURNAL: os.path.join(places.journal, JOURNAL_FILE),
        STATE: places.state_file,
    }
    for name in members.keys() - files.keys():
        try:
            if not name.startswith(NOTES):
                raise _unusable(f"{name[:80]} in it is unknown")
            parse_note_path(name.removeprefix(NOTES))
        except NotePathError as error:
            raise _unusable(f"{name[:80]} in it is not a note") from error
    return {name: path for name, path in files.items() if name in members}


def _refuse_replacing(
    places: Places, members: Mapping[str, bytes], targets: Mapping[str, str]
) -> None:
    """Raise if the home holds something else under one of the names."""
    folder = NotesFolder(places.notes)
    for name, data in members.items():
        if name in targets:
            path = targets[name]
            is_there = os.path.exists(path) and os.stat(path).st_size > 0
        else:
            note = parse_note_path(name.removeprefix(NOTES))
            path = os.path.join(places.notes, note)
            is_there = os.path.lexists(path) and folder.read(note)[0] != data
        if is_there:
            raise UsageError(
                f"{path} exists, and restoring would overwrite it.",
                hint="Restore into an empty HIVEMIND_HOME, or move this one away.",
                effect=_EFFECT,
            )


def _write(
    places: Places,
    members: Mapping[str, bytes],
    manifest: Mapping[str, Any],
    targets: Mapping[str, str],
) -> None:
    """Write all members, ``state.db`` last: it says that the rest is there."""
    make_private_folder(places.home)
    make_private_folder(places.notes)
    folder = NotesFolder(places.notes)
    for name, data in members.items():
        if name in targets:
            continue
        note = parse_note_path(name.removeprefix(NOTES))
        if folder.signature(note) is None:
            folder.replace(note, data, expected=None)
        mtime_ns = int(manifest["members"][name]["mtime_ns"])
        os.utime(os.path.join(places.notes, note), ns=(mtime_ns, mtime_ns))
    for name, path in targets.items():
        data = members[name]
        if name == JOURNAL:
            data = _moved(data, str(manifest.get("root", "")), places.notes)
        make_private_folder(os.path.dirname(path))
        write_file(path, data)


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


def _unusable(clause: str) -> UsageError:
    """Return the error for a file that is not a sound backup."""
    return UsageError(f"{clause}.", hint=_DAMAGED, effect=_EFFECT)
