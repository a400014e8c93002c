"""Appends one entry to a note: all of it or nothing, synced to disk.

The journal has the text before the note does. A write that fails half-way is undone
here; one that is killed half-way is undone by the next writer
(``crashed_write.finish_crashed_write``).
"""

from __future__ import annotations

import errno
import os
import stat

from hivemind_memory.errors import HivemindError, NotSavedError
from hivemind_memory.files import descriptors
from hivemind_memory.files.descriptors import OpenFolder, identity_of, signature_of
from hivemind_memory.files.errors import MAX_ATTEMPTS, save_error
from hivemind_memory.markdown.entry import OPENING, new_entry_text
from hivemind_memory.model.value import replaced, value
from hivemind_memory.notes.journal_records import JournalEntry, LastSaved

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.files.folder import NotesFolder
    from hivemind_memory.model.note import Provenance
    from hivemind_memory.model.note_path import NotePath
    from hivemind_memory.model.snapshot import FileSignature
    from hivemind_memory.notes.journal import JournalFile


_BOM = b"\xef\xbb\xbf"
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
_NO_SIGNATURE = (0, 0, 0, 0)


@value
class EntryDraft:
    """An entry that is to be appended."""

    entry: JournalEntry
    """Its story so far: begun, or returning."""

    provenance: Provenance
    content: str


@value
class EntryLocation:
    """Where an entry is now."""

    start_line: int
    """The line of its comment."""

    end_line: int
    signature: FileSignature
    """Of the note right after it."""


@value
class NoteEnd:
    """What must be known of a note to append to it."""

    size: int = 0
    line_count: int = 0
    """Newlines in the note; a last line without one does not count."""

    newline: str = "\n"
    ends_with_newline: bool = True
    is_empty: bool = False

    def entry_text(self, provenance: Provenance, content: str) -> str:
        """Return an entry as it is appended to the note."""
        return new_entry_text(
            provenance,
            content,
            newline=self.newline,
            ends_with_newline=self.ends_with_newline,
            is_empty=self.is_empty,
        )


def append_entry(
    session: JournalFile, folder: NotesFolder, draft: EntryDraft
) -> EntryLocation:
    """Append an entry to its note; it is synced when this returns.

    Raises:
        NotSavedError: The note is as it was, and why.
        NotePathError: A link or something else that is not a note is at the path.
    """
    try:
        session.commit()
    except OSError as error:
        raise save_error(draft.entry.target, error) from error
    for _ in range(MAX_ATTEMPTS):
        placed = _Attempt(session, folder, draft).run()
        if placed is not None:
            return placed
    session.rollback()
    raise NotSavedError(
        f"another program replaced the file {MAX_ATTEMPTS} times in a row.",
        hint="Find out which program keeps writing that file, and try again.",
        effect=f"Nothing was saved to {draft.entry.target}",
    )


class _Attempt:
    """One try to append: it places the entry, or undoes itself."""

    __slots__ = ("_data", "_draft", "_folder", "_made", "_note", "_path", "_session")

    def __init__(
        self, session: JournalFile, folder: NotesFolder, draft: EntryDraft
    ) -> None:
        self._session = session
        self._folder = folder
        self._draft = draft
        self._path = draft.entry.target
        self._note: OpenNote | None = None
        self._data = b""
        self._made: list[str] = []

    def run(self) -> EntryLocation | None:
        """Append the entry; None if another program changed the file below us."""
        try:
            return self._append()
        except FileExistsError:
            return None  # another program made the note since the scan
        except OSError as error:
            raise self._undone(error) from error
        except HivemindError:
            self._session.rollback()
            raise
        finally:
            if self._note is not None:
                self._note.close()

    def _append(self) -> EntryLocation | None:
        """Journal first, then the note, then the word that it is saved."""
        note = self._note = OpenNote.find(self._folder, self._path)
        end = self._known_end()
        if end is None:
            held = b"" if note is None else note.read()
            entry_at = held.find(f"{OPENING}id={self._draft.entry.id} ".encode())
            if note is not None and entry_at >= 0:
                return self._already_there(note, held, entry_at)
            end = end_of(held, self._path)
        text = end.entry_text(self._draft.provenance, self._draft.content)
        self._data = text.encode()
        entry = replaced(self._draft.entry, size_before=end.size, is_new=note is None)
        self._session.begin(entry, text)
        if note is None:
            note = OpenNote.create(self._folder, self._path, self._made)
            self._note = note
        note.append(self._data)
        note.sync()
        if not note.is_in_place(self._data):
            return None
        return self._finish(note, end, text)

    def _known_end(self) -> NoteEnd | None:
        """Return how the note ends if the last writer left it as it is now.

        So a note of any length is appended to without being read.
        """
        last = self._session.last_saved()
        if last is None or self._note is None or last.path != self._path:
            return None
        if last.signature != self._note.signature():
            return None
        size = last.signature[2]
        return NoteEnd(size=size, line_count=last.line_count, newline=last.newline)

    def _finish(self, note: OpenNote, end: NoteEnd, text: str) -> EntryLocation:
        """Say that the entry is saved; return where it is."""
        line_count, signature = end.line_count, note.signature()
        if note.start != end.size:  # another program appended just before us
            line_count = note.read()[: note.start].count(b"\n")
        start_line = line_count + text[: text.index(OPENING)].count("\n") + 1
        end_line = line_count + text.count("\n")
        is_ours = signature[2] == note.start + len(self._data)
        last = LastSaved(
            path=self._path,
            signature=signature if is_ours else _NO_SIGNATURE,
            line_count=end_line,
            newline=end.newline,
            folder=note.folder(),
        )
        self._session.finish(self._draft.entry, last)
        return EntryLocation(
            start_line=start_line, end_line=end_line, signature=signature
        )

    def _already_there(
        self, note: OpenNote, held: bytes, entry_at: int
    ) -> EntryLocation:
        """Finish an entry that is already in the file an editor put in its place."""
        note.sync()
        start_line = held.count(b"\n", 0, entry_at) + 1
        next_at = held.find(f"\n{OPENING}".encode(), entry_at)
        entry = held[entry_at : next_at if next_at >= 0 else len(held)].rstrip()
        last = LastSaved(
            path=self._path,
            signature=_NO_SIGNATURE,
            line_count=0,
            newline="\n",
            folder=note.folder(),
        )
        self._session.finish(self._draft.entry, last)
        end_line = start_line + entry.count(b"\n")
        return EntryLocation(
            start_line=start_line, end_line=end_line, signature=note.signature()
        )

    def _undone(self, error: OSError) -> HivemindError:
        """Undo what was done so far; return the error to raise."""
        is_clean = self._note is None or self._note.rollback(self._data)
        self._folder.remove_made_folders(self._made)
        refusal = save_error(self._path, error)
        if is_clean:
            self._session.rollback()
            return refusal
        # The journal keeps the text, so that the next writer knows what to cut off.
        message = f"{refusal} The next write removes what was written of it."
        return NotSavedError(message, hint=refusal.hint)


def end_of(held: bytes, path: NotePath) -> NoteEnd:
    """Return how a note ends that holds these bytes.

    Raises:
        NotSavedError: Appending UTF-8 would make the note unreadable.
    """
    if held.startswith(_UTF_16):
        raise NotSavedError(
            "the note is UTF-16, not UTF-8.",
            hint="Save the note as UTF-8, or name another.",
            effect=f"Nothing was saved to {path}",
        )
    last = held.rfind(b"\n")
    return NoteEnd(
        size=len(held),
        line_count=held.count(b"\n"),
        newline="\r\n" if last > 0 and held[last - 1] == ord("\r") else "\n",
        ends_with_newline=held.endswith(b"\n"),
        is_empty=not held.removeprefix(_BOM),
    )


class OpenNote:
    """One note, held open to append to it. Close it."""

    __slots__ = ("_fd", "_name", "_parent", "_written", "is_created", "start")

    def __init__(self, parent: OpenFolder, path: NotePath, flags: int) -> None:
        self._parent = parent
        self._name = path.rpartition("/")[2]
        self._written = 0
        self.start = -1
        """Where the appended bytes begin; -1 before anything was appended."""
        self.is_created = flags == descriptors.CREATE
        try:
            self._fd = parent.open_file(self._name, flags)
        except BaseException:
            parent.close()
            raise

    @classmethod
    def find(cls, folder: NotesFolder, path: NotePath) -> OpenNote | None:
        """Open the note at *path*, or return None where there is none."""
        try:
            return cls(folder.open_parent(path), path, descriptors.APPEND)
        except FileNotFoundError:
            return None

    @classmethod
    def create(cls, folder: NotesFolder, path: NotePath, made: list[str]) -> OpenNote:
        """Make the note at *path*, 0600; folders that had to be made join *made*.

        Raises:
            FileExistsError: Another process was faster.
        """
        return cls(folder.open_parent(path, made=made), path, descriptors.CREATE)

    def close(self) -> None:
        """Close the note."""
        os.close(self._fd)
        self._parent.close()

    def mode(self) -> int:
        """Return the permission bits of the note."""
        return stat.S_IMODE(os.fstat(self._fd).st_mode)

    def read(self) -> bytes:
        """Return all bytes of the note."""
        return descriptors.read_at(self._fd, 0, os.fstat(self._fd).st_size)

    def signature(self) -> FileSignature:
        """Return the signature of the open file."""
        return signature_of(os.fstat(self._fd))

    def folder(self) -> int:
        """Return the inode of the folder that the note is in, whatever its name."""
        return self._parent.own_status().st_ino

    def append(self, data: bytes) -> None:
        """Write *data* at the end; on an error ``rollback`` undoes what was done."""
        rest = memoryview(data)
        while rest:
            count = os.write(self._fd, rest)
            self._written += count
            start = os.lseek(self._fd, 0, os.SEEK_CUR) - self._written
            if self.start < 0:
                self.start = start
            elif start != self.start:
                message = "another program wrote into the entry"
                raise OSError(errno.EBUSY, message)
            rest = rest[count:]

    def sync(self) -> None:
        """Wait until the note is on the disk, and its name if that is new."""
        descriptors.sync_file(self._fd)
        if self.is_created:
            self._parent.sync()

    def is_in_place(self, data: bytes) -> bool:
        """Return whether the note of this name is still this file and holds *data*.

        An editor that saves by renaming, or from the start of the file, may have done
        so between our opening and our writing.
        """
        own = os.fstat(self._fd)
        try:
            named = self._parent.status(self._name)
        except FileNotFoundError:
            return False
        if identity_of(named) != identity_of(own):
            return False
        return descriptors.read_at(self._fd, self.start, len(data)) == data

    def cut(self, size: int) -> None:
        """Cut the note off after *size* bytes, synced."""
        os.ftruncate(self._fd, size)
        descriptors.sync_file(self._fd)

    def rollback(self, data: bytes) -> bool:
        """Undo ``append`` and the creation; return whether nothing of it is left.

        Text that another program has put after ours is never cut off.
        """
        try:
            if self._written:
                start = os.fstat(self._fd).st_size - self._written
                tail = descriptors.read_at(self._fd, start, self._written)
                if self.start not in (-1, start) or not data.startswith(tail):
                    return False
                self.cut(start)
            if self.is_created:
                self.remove_if_empty()
        except OSError:
            return False
        return True

    def remove_if_empty(self) -> None:
        """Remove the note if it holds nothing and still is this file."""
        own, named = os.fstat(self._fd), self._parent.status(self._name)
        is_ours = identity_of(named) == identity_of(own)
        if is_ours and not own.st_size:
            self._parent.unlink(self._name)
            self._parent.sync()
