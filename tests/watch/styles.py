"""Eight ways in which editors and tools save a note, on real files."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path


def in_place(note: Path, text: str) -> None:
    """Write over the old bytes, then cut what is left: nano on some settings."""
    with note.open("r+") as file:
        file.write(text)
        file.truncate()


def truncate(note: Path, text: str) -> None:
    """Empty the file, then write: most small tools."""
    note.write_text(text)


def rename_over(note: Path, text: str) -> None:
    """Write beside it under a note's name, rename over it."""
    part = note.with_name("part of it.md")
    part.write_text(text)
    part.replace(note)


def backup(note: Path, text: str) -> None:
    """Move the old one away, write a new one, remove the old: vim."""
    old = note.with_name(note.name + "~")
    note.rename(old)
    note.write_text(text)
    old.unlink()


def hidden_part(note: Path, text: str) -> None:
    """Write to a hidden file beside it, sync, rename: most careful programs."""
    part = note.with_name(".note.md.swp")
    with part.open("w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    part.replace(note)


def delete_create(note: Path, text: str) -> None:
    """Remove it and make it anew: git checkout."""
    note.unlink()
    note.write_text(text)


def append(note: Path, text: str) -> None:
    """Add at the end, as ``>>`` and this program do; *text* begins with the old one."""
    with note.open("a") as file:
        file.write(text[len(note.read_text()) :])


def touch(note: Path, text: str) -> None:
    """Change nothing but the time."""
    os.utime(note)


STYLES: dict[str, Callable[[Path, str], None]] = {
    style.__name__: style
    for style in (
        in_place,
        truncate,
        rename_over,
        backup,
        hidden_part,
        delete_create,
        append,
        touch,
    )
}
