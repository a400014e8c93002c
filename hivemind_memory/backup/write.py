"""Writes a backup: notes, journal, ``state.db`` and config.json in one archive.

Agents may go on writing. Each note is read whole. The folder is scanned again until two
scans in a row name the same notes, so a note that moves and an earlier version that is
saved meanwhile are found. ``state.db`` is copied by SQLite, and the journal comes last:
an entry that was written to a note after the note was read is in the journal, and the
restore puts it back. The index is left out, for it can be built again. With the notes
go the records of projects, which say to which repository each belongs, and other files.
"""

from __future__ import annotations

import json
import os
import sys
import tarfile
import tempfile
from datetime import datetime
from functools import partial

from hivemind_memory.backup.backup_result import BackupResult
from hivemind_memory.backup.members import Members, read_note
from hivemind_memory.backup.other_files import add_other_files
from hivemind_memory.backup.staged import Stage, StageError
from hivemind_memory.config import CONFIG_NAME, read_config
from hivemind_memory.config.settings import options
from hivemind_memory.errors import (
    ConfigError,
    HivemindError,
    NoteNotFoundError,
    UsageError,
)
from hivemind_memory.files.atomic import PartialFile, remove_partial_copies
from hivemind_memory.files.descriptors import OpenFolder, open_regular
from hivemind_memory.files.errors import cause_of, reason_of
from hivemind_memory.files.folder import NotesFolder
from hivemind_memory.files.paths import PARTIAL_PREFIX
from hivemind_memory.files.places import JOURNAL_FILE, vault_file
from hivemind_memory.model.scope import FOLDERS
from hivemind_memory.model.snapshot import SkippedNote
from hivemind_memory.notes.journal import Journal
from hivemind_memory.notes.recovered_entries import RECOVERED_NAME
from hivemind_memory.projects.known_project import (
    IDENTITY_FILE,
    listed_projects,
    read_record_bytes,
    record_path,
)
from hivemind_memory.state.open import copy_state
from hivemind_memory.version import __version__

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from typing import BinaryIO

    from hivemind_memory.backup.staged import Staged
    from hivemind_memory.files.places import Places
    from hivemind_memory.model.note_path import NotePath
    from hivemind_memory.model.snapshot import FileSignature


FORMAT = 1
"""Of the archive; a backup of a later format is refused."""

MANIFEST = "manifest.json"
NOTES, JOURNAL, STATE, CONFIG = "notes/", "journal.jsonl", "state.db", CONFIG_NAME
VAULT, FILES = "vault.json", "files/"
"""What the members of an archive are called."""

_EFFECT = "No backup was written"
_SCANS = 20
"""At most; each reads what the one before did not name."""

_GONE = "it was deleted while the backup was made, before it was read"
_TOO_LATE = "it appeared while the backup was made, too late to be read; back up again"
_BEHIND_LINK = (
    "it is a link that followed_links lists, and the notes behind it are not in the"
    " backup; back up their folder as well"
)


def write_backup(
    places: Places,
    file: str,
    *,
    at: str,
    with_keys: bool = False,
    with_vault: bool = False,
    links: Collection[str] = (),
) -> BackupResult:
    """Write a backup of a home.

    Args:
        places: Where everything is.
        file: The archive to write, a ``.tar.gz``; nothing may be there.
        at: The time, ISO 8601.
        with_keys: Keep the keys of providers in config.json.
        with_vault: Keep the vault, which is left out else.
        links: Paths of the links that are followed; what is behind them is left out.

    Raises:
        ConfigError: config.json cannot be read.
        HivemindError: The backup was not written, and why.
        StateUnusableError: ``state.db`` cannot be copied.
        UsageError: Something with that name exists already.
    """
    target = os.path.abspath(os.path.expanduser(file))
    folder, name = os.path.split(target)
    _refuse_inside(places.notes, folder)
    archive = _Archive(places, folder, with_keys=with_keys, links=links)
    archive.with_vault = with_vault
    try:
        # What a backup that was killed left where it wanted to write.
        remove_partial_copies([folder], datetime.fromisoformat(at).timestamp())
        with (
            OpenFolder.at(folder) as parent,
            PartialFile(parent, b"", prepare=partial(archive.write, at=at)) as written,
        ):
            if not written.create(name):
                raise UsageError(
                    f"{target} already exists.",
                    hint="Choose another file; a backup never overwrites one.",
                    effect=_EFFECT,
                )
        size_bytes = os.stat(target).st_size
    except OSError as error:
        cause, hint = cause_of(error)
        raise HivemindError(f"{target}: {cause}.", hint=hint, effect=_EFFECT) from error
    except MemoryError as error:
        message, hint = "A file is larger than memory.", "Move it out of the notes."
        raise HivemindError(message, hint=hint, effect=_EFFECT) from error
    return BackupResult(
        file=target,
        size_bytes=size_bytes,
        notes=archive.notes,
        has_keys=archive.has_keys,
        has_vault=archive.has_vault,
        files=archive.files,
        skipped=archive.skipped,
        left_out=archive.left_out,
    )


def _refuse_inside(notes: str, folder: str) -> None:
    """Raise if a backup would be in the folder that it holds, and in the next one."""
    root, inner = os.path.realpath(notes), os.path.realpath(folder)
    if os.path.commonpath((root, inner)) == root:
        raise UsageError(
            f"{folder} is in the notes folder, which the backup holds.",
            hint="Choose a file outside it.",
            effect=_EFFECT,
        )


class _Archive:
    """The archive while it is written."""

    def __init__(
        self, places: Places, folder: str, *, with_keys: bool, links: Collection[str]
    ) -> None:
        """Take the archive's *folder*: it can be written, and the home perhaps not."""
        self.notes = self.files = 0
        self.left_out: tuple[SkippedNote, ...] = ()
        self.has_keys = self.has_vault = self.with_vault = False
        self.skipped: tuple[SkippedNote, ...] = ()
        self._places = places
        self._folder = folder
        self._with_keys = with_keys
        self._links = links
        self._moved: list[NotePath] = []
        self._read: dict[NotePath, FileSignature] = {}
        """The notes in the archive, as they were read."""

    def write(self, fd: int, *, at: str) -> None:
        """Write everything to an open file."""
        with (
            os.fdopen(os.dup(fd), "wb") as file,
            tarfile.open(fileobj=file, mode="w|gz") as tar,
            Stage(self._folder, effect=_EFFECT) as self._stage,
        ):
            self._members = Members(tar)
            journal = Journal(self._places.journal)
            before = journal.entries()
            self._add_notes()
            self._add_records()
            self._add_files()
            self._add_config()
            self._add_vault()
            self._add_state()
            self._add_journal()  # last, see above
            self._add_recovered({entry.id for entry in before}, journal)
            manifest = {
                "format": FORMAT,
                "program": __version__,
                "at": at,
                "root": self._places.notes,
                "moved": [NOTES + path for path in self._moved],
                "members": self._members.known,
            }
            self._members.add(MANIFEST, json.dumps(manifest, indent=1).encode())

    def _add_notes(self) -> None:
        """Add every note, of any size, until two scans in a row name the same ones.

        All that the last scan names has been read before it, so it also names what was
        written before any of these texts, such as the versions that they replaced.
        """
        folder = NotesFolder(self._places.notes, max_note_bytes=sys.maxsize)
        read = self._read
        listed: dict[NotePath, FileSignature] = {}
        refused: dict[str, str] = {}
        before: dict[NotePath, FileSignature] = {}
        for scans_left in reversed(range(_SCANS)):
            snapshot = folder.snapshot()
            now = snapshot.signatures
            missing = sorted(now.keys() - read.keys() - refused.keys())
            is_quiet = not missing and now.keys() == before.keys()
            listed |= now
            if is_quiet or not scans_left:
                break
            before = now
            for path in missing:
                self._add_note(folder, path, read, refused)
        self._moved = _moved(read, now)
        self.notes = len(read) - len(self._moved)
        inodes = {signature[3] for signature in read.values()}
        for path in listed.keys() - read.keys() - refused.keys():
            if path in now:
                refused[path] = _TOO_LATE
            elif listed[path][3] not in inodes:  # else it is there by another name
                refused[path] = _GONE
        for note in snapshot.skipped:
            is_link = note.path in self._links
            refused[note.path] = _BEHIND_LINK if is_link else note.reason
        self.skipped = tuple(
            SkippedNote(path=path, reason=reason)
            for path, reason in sorted(refused.items())
        )

    def _add_note(
        self,
        folder: NotesFolder,
        path: NotePath,
        read: dict[NotePath, FileSignature],
        refused: dict[str, str],
    ) -> None:
        """Add one note and say so in *read*, or say in *refused* why it cannot be."""
        try:
            data, read[path] = read_note(folder, path, self._stage)
        except NoteNotFoundError:
            return  # moved or deleted: the next scan shows
        except StageError:
            raise
        except HivemindError as error:
            refused[path] = str(error)
            return
        self._members.add(NOTES + path, data, mtime_ns=read[path][0])

    def _add_records(self) -> None:
        """Add what each project knows of its repositories.

        Without it, the first repository of its name gets its folder.
        """
        above = os.path.join(self._places.notes, FOLDERS["project"])
        for slug in listed_projects(above):
            record = f"{FOLDERS['project']}/{slug}/{IDENTITY_FILE}"
            try:
                data = read_record_bytes(record_path(above, slug))
            except FileNotFoundError:
                continue
            except OSError as error:
                reason = f"it cannot be read: {reason_of(error)}"
                self.skipped += (SkippedNote(path=record, reason=reason),)
            else:
                self._members.add(NOTES + record, data)

    def _add_files(self) -> None:
        """Add the other files of the notes folder, of which notes speak."""

        def add(path: str, data: Staged, mtime_ns: int) -> None:
            self._members.add(FILES + path, data, mtime_ns=mtime_ns)
            self.files += 1

        self.left_out = tuple(
            add_other_files(
                self._places.notes, add, self._stage, partial=PARTIAL_PREFIX
            )
        )
        # What only looks like a note may be in the archive now; each is named once.
        self.skipped = tuple(
            note
            for note in self.skipped
            if FILES + note.path not in self._members.known
        )
        known = {note.path for note in self.skipped}
        self.left_out = tuple(at for at in self.left_out if at.path not in known)

    def _add_config(self) -> None:
        """Add config.json, without keys unless they were asked for."""
        try:
            config = read_config(os.path.join(self._places.home, CONFIG_NAME))
        except ConfigError as error:
            message, hint = error.problem, error.hint
            raise ConfigError(message, hint=hint, effect=_EFFECT) from error
        secret = {name for name, option in options().items() if option.is_secret}
        memory = {
            name: value
            for name, value in config.memory.items()
            if self._with_keys or name not in secret
        }
        self.has_keys = not secret.isdisjoint(memory)
        if config.document:
            document = {**config.document, "memory": memory}
            text = json.dumps(document, ensure_ascii=False, indent=2) + "\n"
            self._members.add(CONFIG, text.encode("utf-8", "surrogatepass"))

    def _add_vault(self) -> None:
        """Add the vault as it is, if that was asked for."""
        if not self.with_vault:
            return
        try:
            with open(vault_file(self._places.home), "rb") as file:
                self._members.add(VAULT, file.read())
        except FileNotFoundError:
            return
        self.has_vault = True

    def _add_state(self) -> None:
        """Add a copy of ``state.db`` as it is at one moment."""
        if not os.path.exists(self._places.state_file):
            return
        with self._scratch() as made:
            copy = os.path.join(made, STATE)
            copy_state(self._places.state_file, copy, self._places.state_name)
            with open(copy, "rb") as file:
                self._add_open(STATE, file)

    def _add_open(self, name: str, file: BinaryIO) -> None:
        """Add an open file of any size."""
        staged, _ = self._stage.hold_file(file.fileno())
        self._members.add(name, staged)

    def _scratch(self) -> tempfile.TemporaryDirectory[str]:
        """Return a new folder in the home, or beside the archive."""
        try:
            return tempfile.TemporaryDirectory(
                prefix=PARTIAL_PREFIX, dir=self._places.home
            )
        except OSError:  # the home is read-only
            return tempfile.TemporaryDirectory(prefix=PARTIAL_PREFIX, dir=self._folder)

    def _add_journal(self) -> None:
        """Add the journal; a line that is being written counts as not written."""
        try:
            with open(
                os.path.join(self._places.journal, JOURNAL_FILE),
                "rb",
                opener=open_regular,
            ) as file:
                self._add_open(JOURNAL, file)
        except FileNotFoundError:
            return

    def _add_recovered(self, before: Collection[str], journal: Journal) -> None:
        """Add notes again that have got lost entries back since they were read.

        The journal does not have these any more.

        Args:
            before: Ids of the entries in the journal when the backup began.
            journal: The journal, copied by now.
        """
        if not {*before}.difference(entry.id for entry in journal.entries()):
            return
        folder = NotesFolder(self._places.notes, max_note_bytes=sys.maxsize)
        refused: dict[str, str] = {}
        for path, signature in folder.signatures().items():
            is_recovered = path.rpartition("/")[2] == RECOVERED_NAME
            if is_recovered and self._read.get(path) != signature:
                self._add_note(folder, path, self._read, refused)
        self.notes = len(self._read) - len(self._moved)
        self.skipped += tuple(
            SkippedNote(path=path, reason=reason) for path, reason in refused.items()
        )


def _moved(
    read: Mapping[NotePath, FileSignature], now: Mapping[NotePath, FileSignature]
) -> list[NotePath]:
    """Return the notes that are in the archive by a later name, too.

    Args:
        read: What was read.
        now: What the last scan showed.
    """
    renamed = {read[path][3] for path in read.keys() & now.keys()} - {0}
    return sorted(path for path in read.keys() - now.keys() if read[path][3] in renamed)
