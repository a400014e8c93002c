"""Appends entries to notes: a saved entry is in its note and synced.

``append`` is all that agents do to notes: nothing that stands there is ever changed.
"""

from __future__ import annotations

from contextlib import suppress

from hivemind_memory.errors import HivemindError, NotSavedError, UsageError
from hivemind_memory.markdown.entry import new_ulid, parse_provenance, render_provenance
from hivemind_memory.model.note import Provenance
from hivemind_memory.model.results import RECOVERY_WINDOW_S
from hivemind_memory.model.value import value
from hivemind_memory.notes.append import EntryDraft, append_entry
from hivemind_memory.notes.crashed_write import finish_crashed_write
from hivemind_memory.notes.entry_scopes import owners_of
from hivemind_memory.notes.journal_records import BEGUN, JournalEntry
from hivemind_memory.notes.recovery import recover_within

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from hivemind_memory.files.folder import NotesFolder
    from hivemind_memory.model.note_path import NotePath
    from hivemind_memory.model.ports import Clock
    from hivemind_memory.model.snapshot import FileSignature
    from hivemind_memory.notes.entry_edits import FoundEntry
    from hivemind_memory.notes.journal import Journal, JournalFile


MAX_CONTENT_BYTES = 1_000_000
"""A memory is a few lines; what is longer is a file, and belongs beside the notes."""


@value
class AppendedEntry:
    """An entry that is on the disk, synced."""

    path: NotePath
    id: str
    """ULID of the entry."""

    start_line: int
    """The line of its comment, from 1."""

    end_line: int
    signature: FileSignature
    """Of the note right after it; it may have changed since."""


class NoteWriter:
    """Appends entries to notes, one at a time across all processes."""

    __slots__ = ("_check", "_clock", "_folder", "_journal", "_randomness")

    def __init__(
        self,
        folder: NotesFolder,
        journal: Journal,
        clock: Clock,
        randomness: Callable[[], bytes],
        check: Callable[[], object] = lambda: None,
    ) -> None:
        """Take the parts.

        Args:
            folder: The notes.
            journal: Where entries go first.
            clock: Tells when an entry is written.
            randomness: Returns 10 random bytes, other ones each time.
            check: Raises if a new entry may no longer be written; called when it is
                this writer's turn.
        """
        self._check = check
        self._folder = folder
        self._journal = journal
        self._clock = clock
        self._randomness = randomness

    def append(
        self,
        path: NotePath,
        content: str,
        *,
        at: str,
        by: str = "",
        session: str = "",
        source: str = "agent",
        source_ref: str = "",
        tags: tuple[str, ...] = (),
    ) -> AppendedEntry:
        """Append *content* to a note as an entry of its own.

        Args:
            path: The note; it is made, with its folders, if it is missing.
            content: 1 byte to 1 MB of text that is not blank.
            at: The time now, ISO 8601 with the offset of the writer's clock.
            by: Agent or person.
            session: The agent's own name for its session.
            source: human, agent, tool or external.
            source_ref: What it was derived from.
            tags: Words to search by.

        Raises:
            UsageError: There is nothing to save, or it cannot be saved as text.
            NotePathError: A link or something else that is not a note is at *path*.
            NotSavedError: The disk refused, or another process holds the lock. The
                notes are as they were.
        """
        refuse_unfit(content)
        now_s = self._clock()
        provenance = Provenance(
            id=new_ulid(now_s, self._randomness()),
            at=at,
            by=by,
            session=session,
            source=source,
            ref=source_ref,
            tags=tags,
        )
        if parse_provenance(render_provenance(provenance)) is None:
            message = (
                f"at must be in ISO 8601 form and source not empty: {at!r}, {source!r}."
            )
            raise ValueError(message)
        entry = self._entry(provenance.id, path, now_s)
        draft = EntryDraft(entry=entry, provenance=provenance, content=content)
        with self._journal.session() as journal:
            self._look_after(journal, now_s)
            self._check()
            placed = append_entry(journal, self._folder, draft)
        return AppendedEntry(
            path=path,
            id=provenance.id,
            start_line=placed.start_line,
            end_line=placed.end_line,
            signature=placed.signature,
        )

    def move(self, entry_id: str, path: NotePath, target: NotePath) -> None:
        """Move an entry to another note as it is now, with what it says of itself.

        It is in the other note before it leaves the first, so a process that is killed
        in between leaves it in both, and moving it again ends that.

        Raises:
            HivemindError: It is where it was, or in both notes; the message says why.
        """
        # A plain write needs neither.
        from hivemind_memory.notes.entry_edits import entries_in, without_entries
        from hivemind_memory.notes.memory_file import edit_note

        now_s = self._clock()

        def entry_in(data: bytes) -> FoundEntry | None:
            entries = (e for e in entries_in(data) if e.provenance.id == entry_id)
            return next(entries, None)

        def entry_at(note: NotePath) -> FoundEntry | None:
            is_there = self._folder.signature(note) is not None
            return entry_in(self._folder.read(note)[0]) if is_there else None

        with self._journal.session() as journal:
            self._look_after(journal, now_s)
            # Whoever held the lock before may have forgotten, purged or moved it.
            found, moved = entry_at(path), entry_at(target)
            if found is None or found.provenance.is_forgotten:
                raise _changed(path, "Nothing was changed")
            if moved is None:
                entry = self._entry(entry_id, target, now_s)
                draft = EntryDraft(
                    entry=entry, provenance=found.provenance, content=found.content
                )
                append_entry(journal, self._folder, draft)
            text = found.content if moved is None else moved.content

            def without(data: bytes) -> bytes:
                now = entry_in(data)
                if now is not None and now.content != text:
                    # An editor has saved it since.
                    raise _changed(path, f"It is in {target}, too")
                return without_entries(data, {entry_id})

            edit_note(self._folder, path, without)

    def _entry(self, entry_id: str, path: NotePath, now_s: float) -> JournalEntry:
        """Return the beginning of an entry's story."""
        return JournalEntry(
            id=entry_id,
            root=self._folder.root,
            path=path,
            at_s=now_s,
            state=BEGUN,
            target=path,
            size_before=0,
            is_new=False,
            offset=0,
            owners=owners_of(self._folder.root, path),
        )

    def _look_after(self, journal: JournalFile, now_s: float) -> None:
        """Settle what a killed writer left and, now and then, the old entries.

        Raises:
            NotSavedError: What was left cannot be settled now.
        """
        try:
            finish_crashed_write(journal)
            opened_s = journal.opened_s()
            if opened_s is not None and abs(now_s - opened_s) >= RECOVERY_WINDOW_S:
                # The old entries stay in the journal until a process can look after
                # them; this write need not fail for them.
                with suppress(OSError, HivemindError):
                    recover_within(journal, now_s)
                finish_crashed_write(journal)
        except OSError as error:
            raise self._journal.write_error(error) from error


def _changed(path: NotePath, effect: str) -> NotSavedError:
    """Return the error for an entry that is not what it was."""
    message = f"The entry in {path} has changed since you read it."
    return NotSavedError(message, hint="Read it again, then decide.", effect=effect)


def refuse_binary(name: str, text: str) -> None:
    """Raise if *text*, as it stands, would make a note that is not UTF-8 text.

    Raises:
        UsageError: It holds a NUL character, which makes a whole note binary for grep,
            git and editors, or a lone surrogate.
    """
    if "\0" in text:
        message = f"The {name} holds a NUL character, as binary files do."
        hint = "Remove it; UTF-16 needs a byte order mark to be recognized."
        raise UsageError(message, hint=hint, effect="Nothing was saved")
    refuse_surrogates(name, text)


def refuse_surrogates(name: str, text: str) -> None:
    """Raise if a text cannot be encoded as UTF-8.

    Raises:
        UsageError: It holds a lone surrogate.
    """
    try:
        text.encode()
    except UnicodeEncodeError as error:
        message = f"The {name} is not valid Unicode: it holds a lone surrogate."
        hint = "Send the text as UTF-8."
        raise UsageError(message, hint=hint, effect="Nothing was saved") from error


def refuse_unfit(content: str) -> None:
    """Raise if *content* cannot be an entry.

    Raises:
        UsageError: It is empty, binary or too long.
    """
    if not content.strip():
        raise UsageError(
            "The content is empty.",
            hint="Give the text to remember.",
            effect="Nothing was saved",
        )
    refuse_binary("content", content)
    size = len(content.encode())
    if size > MAX_CONTENT_BYTES:
        message = f"The content has {size:,} bytes; at most {MAX_CONTENT_BYTES:,} fit."
        hint = "Save what matters in a few lines, or put the file beside the notes."
        raise UsageError(message, hint=hint)
