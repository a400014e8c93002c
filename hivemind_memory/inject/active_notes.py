"""Reads what notes say now: only that is compared with what is committed.

A memory that was injected may have been forgotten, replaced, purged or edited since, or
have expired. The hooks ask before they refuse a text, so an ordinary commit reads no
note; an injection and a purge ask before they keep a hash.
"""

from __future__ import annotations

import os

from hivemind_memory.files.descriptors import open_regular
from hivemind_memory.inject.letters import letters, readable
from hivemind_memory.markdown.front_matter import split_front_matter
from hivemind_memory.markdown.text import decode, without_comments
from hivemind_memory.model.memories import ACTIVE
from hivemind_memory.notes.memory_header import header_of, is_expired_or_done
from hivemind_memory.redaction import mask

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from hivemind_memory.memory import Memory
    from hivemind_memory.model.memory_types import MemoryType

    Types = Mapping[str, MemoryType]

_NO_TYPES: Types = {}


class ActiveTexts:
    """The letters of active notes; each note is read once."""

    def __init__(self, *, today: int, types: Types = _NO_TYPES) -> None:
        """Know of no note yet.

        Args:
            today: Days since the epoch.
            types: Types that the settings add, by name; a hook knows none.
        """
        self._today = today
        self._types = types
        self._known: dict[tuple[str, str], tuple[bytes, ...] | None] = {}

    def is_active(self, notes: str, path: str) -> bool | None:
        """Return whether a note may be injected; None: that cannot be told.

        It is not told if the notes folder is not there, or the note cannot be read.

        Args:
            notes: The notes folder.
            path: The note, below it.
        """
        data = self._data(notes, path)
        if not data:
            return None if data is None else False
        values = split_front_matter(decode(data)).values
        header = header_of(path, values, custom=self._types)
        return header.status == ACTIVE and not is_expired_or_done(
            header.expires_day, header.done_day, today=self._today
        )

    def of_note(self, notes: str, path: str) -> tuple[bytes, ...] | None:
        """Return the letters of a note, with and without its tags.

        Empty: it is not active. None: that cannot be told.

        Args:
            notes: The notes folder.
            path: The note, below it.
        """
        key = (notes, path)
        if key not in self._known:
            is_active = self.is_active(notes, path)
            data = self._data(notes, path) if is_active else b""
            self._known[key] = None if is_active is None else _letters_of(data or b"")
        return self._known[key]

    def _data(self, notes: str, path: str) -> bytes | None:
        """Return the bytes of a note, none if it is gone; None: it can't be read."""
        try:
            with open(
                os.path.join(notes, *path.split("/")), "rb", opener=open_regular
            ) as file:
                return file.read()
        except (FileNotFoundError, NotADirectoryError):
            return b"" if os.path.isdir(notes) else None
        except OSError:
            return None


def _letters_of(data: bytes) -> tuple[bytes, ...]:
    """Return the letters of an active note as a section shows it."""
    # Most injections find every note as it was, and need no editor of notes.
    from hivemind_memory.notes.entry_edits import entries_in, without_entries

    forgotten = {
        entry.provenance.id
        for entry in entries_in(data)
        if entry.provenance.is_forgotten
    }
    text = decode(without_entries(data, forgotten) if forgotten else data)
    lines = text.replace("\r\n", "\n").split("\n")
    body = "\n".join(lines[split_front_matter(text).line_count :])
    shown = mask(without_comments(body))
    forms = (letters(readable(shown, has_tags=has_tags)) for has_tags in (False, True))
    return tuple(dict.fromkeys(forms))


def texts_today(memory: Memory) -> ActiveTexts:
    """Return what the notes of a memory say today."""
    return ActiveTexts(today=memory.clocks.today(), types=memory.types)
