"""What many processes wrote, and whether all of it is there, whole and once."""

from __future__ import annotations

import hashlib
import os
import random
import re
import time
from dataclasses import dataclass, field
from pathlib import Path

from hivemind_memory.files.folder import NotesFolder
from hivemind_memory.model.note_path import NotePath
from hivemind_memory.notes.journal import Journal
from hivemind_memory.notes.writer import NoteWriter

AT = "2026-11-21T14:03:11+01:00"
RECOVERED = "recovered.md"
_COMMENT = re.compile(r"^<!-- hm id=([0-9A-Z]{26}) .* -->$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Place:
    """A home in which processes write."""

    home: Path

    @property
    def notes(self) -> Path:
        return self.home / "memory"

    @property
    def journal(self) -> Journal:
        return Journal(str(self.home / "journal"))

    def writer(self) -> NoteWriter:
        folder = NotesFolder(str(self.notes))
        return NoteWriter(folder, self.journal, time.time, lambda: os.urandom(10))

    def append(self, note: str, content: str) -> str:
        """Write an entry and return its id."""
        return self.writer().append(NotePath(note), content, at=AT, by="writer").id


@dataclass(slots=True)
class Verdict:
    """What is wrong with the notes; all empty when nothing is."""

    lost: list[str] = field(default_factory=list)
    torn: list[str] = field(default_factory=list)
    doubled: list[str] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.lost or self.torn or self.doubled)


def content(rng: random.Random, *, smallest: int = 10, largest: int = 70_000) -> str:
    """Return an entry of a random size that carries its own digest."""
    size = int(smallest * (largest / smallest) ** rng.random())
    lines, left = [], size
    while left > 0:
        lines.append(f"{rng.getrandbits(64):x} " * min(5, left // 10 + 1))
        left -= len(lines[-1])
    body = "\n".join(line.strip() for line in lines)
    return f"{hashlib.sha256(body.encode()).hexdigest()}\n{body}"


def first_entry(text: str) -> tuple[str, str]:
    """Return the text without its first entry, and that; empty: it is not whole.

    The last one may be in the middle of being written.
    """
    starts = [start.start() for start in _COMMENT.finditer(text)]
    if len(starts) < 2:
        return text, ""
    first = text[starts[0] : starts[1]]
    if not _is_whole(first.partition("\n")[2]):
        return text, ""
    return text[: starts[0]] + text[starts[1] :], first


def id_of(entry: str) -> str:
    """Return the id in an entry's comment; empty: there is none."""
    start = _COMMENT.search(entry)
    return start[1] if start else ""


def ids_in(held: bytes) -> list[str]:
    """Return the ids in the comments of the entries of a note."""
    return _COMMENT.findall(held.decode("utf-8", "replace"))


def is_settled(text: str) -> bool:
    """Return whether a note does not end in the middle of an entry."""
    starts = list(_COMMENT.finditer(text))
    return not starts or _is_whole(text[starts[-1].end() :])


def _is_whole(text: str) -> bool:
    """Return whether an entry's text is what was written."""
    digest, _, body = text.strip().partition("\n")
    return hashlib.sha256(body.encode()).hexdigest() == digest


def verdict(notes: Path, acknowledged: set[str]) -> Verdict:
    """Compare the notes with what was acknowledged."""
    seen: dict[str, int] = {}
    found = Verdict()
    for note in sorted(notes.rglob("*.md")):
        text = note.read_text("utf-8", "replace")
        starts = list(_COMMENT.finditer(text))
        ends = [start.start() for start in starts[1:]] + [len(text)]
        for start, end in zip(starts, ends, strict=False):
            seen[start[1]] = seen.get(start[1], 0) + 1
            if not _is_whole(text[start.end() : end]):
                found.torn.append(start[1])
    found.lost = sorted(acknowledged - seen.keys())
    found.doubled = sorted(entry for entry, count in seen.items() if count > 1)
    return found
