"""Swap a folder and a file for links while both are read: does anything lead out?

    python -m benchmarks.link_race --seconds 60

Prints what came back and how often; exits 1 if a single answer came from outside.
"""

from __future__ import annotations

import argparse
import contextlib
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from hivemind_memory.errors import HivemindError
from hivemind_memory.files.folder import NotesFolder
from hivemind_memory.model.note_path import NotePath
from hivemind_memory.notes.append import OpenNote
from hivemind_memory.working import ContentLoader, FileMemoryBlock

if TYPE_CHECKING:
    from collections.abc import Iterator

NOTE = NotePath("a/b.md")
INSIDE = b"inside"
SWAP = """
import os, sys
os.chdir(sys.argv[1])
print("ready", flush=True)
while True:
    os.rename("a", "kept")
    os.symlink("../outside", "a")
    os.unlink("a")
    os.rename("kept", "a")
    os.rename("a/b.md", "a/kept.md")
    os.symlink("../../outside/b.md", "a/b.md")
    os.rename("a/kept.md", "a/b.md")
"""


@dataclass(slots=True)
class Seen:
    """What came back, and how often."""

    answers: Counter[str] = field(default_factory=Counter)
    escapes: list[str] = field(default_factory=list)

    @property
    def tries(self) -> int:
        return self.answers.total()


def race(home: Path, *, seconds: float) -> Seen:
    """Read, list and open for appending while another process swaps links."""
    (home / "root/a").mkdir(parents=True)
    (home / "root" / NOTE).write_bytes(INSIDE)
    outside = home / "outside"
    outside.mkdir()
    (outside / "b.md").write_bytes(b"outside")
    inode = (outside / "b.md").stat().st_ino
    folder, seen = NotesFolder(str(home / "root")), Seen()
    loader = ContentLoader(str(home / "root"))
    with _swapping(home / "root"):
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            for _ in range(100):
                _read(folder, seen)
                _list(folder, inode, seen)
                _open(folder, inode, seen)
                _load(loader, seen)
    if (outside / "b.md").read_bytes() != b"outside" or len(
        list(outside.iterdir())
    ) > 1:
        seen.escapes.append("wrote outside")
    return seen


@contextlib.contextmanager
def _swapping(root: Path) -> Iterator[None]:
    """Swap links in a process of its own."""
    command = [sys.executable, "-c", SWAP, str(root)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        try:
            yield
        finally:
            process.kill()


def _read(folder: NotesFolder, seen: Seen) -> None:
    try:
        data = folder.read(NOTE)[0]
    except HivemindError as error:
        seen.answers[f"read: {type(error).__name__}"] += 1
        return
    seen.answers["read: inside"] += 1
    if data != INSIDE:
        seen.escapes.append(f"read {data!r}")


def _list(folder: NotesFolder, outside_inode: int, seen: Seen) -> None:
    signatures = folder.signatures()
    seen.answers[f"list: {len(signatures)} notes"] += 1
    if any(signature[3] == outside_inode for signature in signatures.values()):
        seen.escapes.append(f"listed {signatures}")


def _open(folder: NotesFolder, outside_inode: int, seen: Seen) -> None:
    try:
        note = OpenNote.find(folder, NOTE)
    except OSError as error:
        seen.answers[f"open: {type(error).__name__}"] += 1
        return
    if note is None:
        seen.answers["open: not there"] += 1
        return
    with contextlib.closing(note):
        seen.answers["open: inside"] += 1
        if note.signature()[3] == outside_inode:
            seen.escapes.append("opened what is outside")


def _load(loader: ContentLoader, seen: Seen) -> None:
    # Several at once: the folder of the first stays open for the others.
    for loaded in loader.load_many([FileMemoryBlock(location=NOTE)] * 3):
        seen.answers["load: error" if loaded.is_error else "load: inside"] += 1
        if not loaded.is_error and loaded.text != INSIDE.decode():
            seen.escapes.append(f"loaded {loaded.text!r}")
    with loader.root.walk() as walk:
        for path in walk.files((), 9):
            loaded = loader.load(FileMemoryBlock(location=path))
            if "outside" in loaded.text:
                seen.escapes.append(f"found and loaded {path}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60)
    with tempfile.TemporaryDirectory() as home:
        seen = race(Path(home), seconds=parser.parse_args().seconds)
    for answer, count in sorted(seen.answers.items()):
        print(f"{count:10,}  {answer}")
    print(f"{seen.tries:10,}  tries, {len(seen.escapes)} outside")
    return 1 if seen.escapes else 0


if __name__ == "__main__":
    sys.exit(main())
