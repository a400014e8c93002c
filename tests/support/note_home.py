"""A home of its own for each test: notes, journal, a clock that is set by hand."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

from hivemind_memory.files.folder import NotesFolder
from hivemind_memory.model.note_path import NotePath
from hivemind_memory.notes.journal import Journal
from hivemind_memory.notes.recovery import RecoveredEntry, recover
from hivemind_memory.notes.writer import AppendedEntry, NoteWriter

AT = "2026-11-21T14:03:11+01:00"
NOTE = NotePath("2026-11-21.md")
RECOVERED = NotePath("recovered.md")


@dataclass
class Home:
    """What a writer needs, in a temporary folder."""

    path: Path
    clock: list[float] = field(default_factory=lambda: [1_800_000_000.0])

    def __post_init__(self) -> None:
        self.notes = self.path / "memory"
        self.notes.mkdir(parents=True, exist_ok=True, mode=0o700)
        self.folder = NotesFolder(str(self.notes))
        self.journal = Journal(str(self.path / "journal"))
        self.writer = NoteWriter(
            self.folder, self.journal, lambda: self.clock[0], lambda: os.urandom(10)
        )

    def append(self, content: str, path: str = NOTE) -> AppendedEntry:
        return self.writer.append(NotePath(path), content, at=AT, by="claude-code")

    def later(self, seconds: float) -> None:
        self.clock[0] += seconds

    def recover(self) -> tuple[RecoveredEntry, ...]:
        return recover(self.journal, self.clock[0])

    def write(self, data: bytes, path: str = NOTE, *, changed_s: float = 0) -> None:
        """Save a note as an editor does, by default some time in the past."""
        file = self.notes / path
        file.parent.mkdir(parents=True, exist_ok=True)
        beside = file.with_name(".saving")
        beside.write_bytes(data)
        os.replace(beside, file)
        self.touch(path, changed_s or self.clock[0] - 30)

    def touch(self, path: str, changed_s: float) -> None:
        os.utime(self.notes / path, (changed_s, changed_s))

    def read(self, path: str = NOTE) -> bytes:
        file = self.notes / path
        return file.read_bytes() if file.exists() else b""

    def text(self, path: str = NOTE) -> str:
        return self.read(path).decode()

    @property
    def journal_file(self) -> Path:
        return self.path / "journal" / "entries.jsonl"
