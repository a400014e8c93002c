"""Measure what 60,000 small notes cost: the first sync, then searches and a sync.

    python -m benchmarks.many_files [--files 60000] [--rounds 3] [--hm HM ...]
    python -m benchmarks.many_files --parts

Some lines in each file, a hundred files in a folder. The floor of the first sync is to
read the same files and to insert their texts into a full-text table; that of a search
and of another sync, of no change and after one edit, is to list the same folders and to
stat every file. Floors and commands run in turns, each
in a process of its own. The time is CPU time, of user and system: much of what passes
on a busy machine is other programs' time. With more than one HM they are compared.
``--parts`` tells instead what each part of the first sync takes for a note, in this
process: the least of many times over two thousand notes, whose words it knows by then.
"""

from __future__ import annotations

import argparse
import itertools
import os
import random
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.measure import machine, shown_ms, table, timing
from benchmarks.place import installed_hm
from benchmarks.prose import documentation
from hivemind_memory.files.folder import NotesFolder
from hivemind_memory.files.reader import NoteReader
from hivemind_memory.index.sqlite.rows import RowMaker
from hivemind_memory.markdown.blocks import BlockReader
from hivemind_memory.markdown.text import decode
from hivemind_memory.redaction.redact import mask

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from hivemind_memory.model.note import Note

FILES_IN_FOLDER = 100

STAT_ALL = """
import os, sys
folders = [sys.argv[1]]
while folders:
    with os.scandir(folders.pop()) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                folders.append(entry.path)
            else:
                entry.stat(follow_symlinks=False)
"""

READ_AND_INSERT = """
import os, sqlite3, sys
root, file = sys.argv[1:]
for end in ("", "-wal", "-shm"):
    if os.path.exists(file + end):
        os.unlink(file + end)
index = sqlite3.connect(file, isolation_level=None)
index.execute("PRAGMA journal_mode = WAL")
index.execute("CREATE TABLE chunks(id INTEGER PRIMARY KEY, path, text)")
index.execute("CREATE VIRTUAL TABLE words USING fts5(text, tokenize = 'porter')")
index.execute("BEGIN")
for folder, _, names in os.walk(root):
    for name in names:
        if name.endswith(".md"):
            path = os.path.join(folder, name)
            with open(path, encoding="utf-8") as note:
                text = note.read()
            index.execute("INSERT INTO chunks(path, text) VALUES (?, ?)", (path, text))
            index.execute("INSERT INTO words(text) VALUES (?)", (text,))
index.execute("COMMIT")
"""


COMMANDS = {
    "sync": "read and insert",
    "search": "list and stat",
    "sync again": "list and stat",
    "search after an edit": "list and stat",
}
"""What is measured -> the floor that it is compared with."""


def write_notes(folder: Path, *, files: int, seed: int = 1) -> None:
    """Write small notes: a heading, two sentences and two items, as an agent does."""
    chance = random.Random(seed)
    texts = itertools.islice(documentation(), 3_000)
    words = sorted({word for text in texts for word in text.split() if word.isalpha()})

    def some(count: int) -> str:
        return " ".join(chance.choices(words, k=count))

    for number in range(files):
        topic = number // FILES_IN_FOLDER
        path = folder / f"area-{topic % 20:02}" / f"topic-{topic:03}"
        path.mkdir(parents=True, exist_ok=True)
        text = f"# {some(4)}\n\n{some(14)}.\n{some(12)}.\n\n- {some(8)}\n- {some(7)}\n"
        (path / f"note-{number:05}.md").write_text(text, encoding="utf-8")


def cpu_s(argv: Sequence[str], env: Mapping[str, str]) -> float:
    """Return the CPU time of a program that runs to its end.

    Raises:
        RuntimeError: It failed.
    """
    nothing = [
        (os.POSIX_SPAWN_OPEN, stream, os.devnull, os.O_RDWR, 0) for stream in (0, 1)
    ]
    child = os.posix_spawn(argv[0], argv, env, file_actions=nothing)
    _, status, usage = os.wait4(child, 0)
    if status:
        message = f"{' '.join(argv)[:200]} failed"
        raise RuntimeError(message)
    return usage.ru_utime + usage.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--files", type=int, default=60_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--hm", nargs="+", default=[installed_hm()[0]])
    parser.add_argument("--parts", action="store_true")
    given = parser.parse_args()
    if given.parts:
        with tempfile.TemporaryDirectory() as base:
            write_notes(Path(base), files=2_000)
            rows = [[part, f"{us:.0f} µs"] for part, us in parts(base).items()]
        print(table(["part of a first sync", "CPU time a note"], rows))
        print(f"\n{machine()}")
        return
    with tempfile.TemporaryDirectory() as base:
        notes = Path(base) / "notes"
        write_notes(notes, files=given.files)
        homes = {hm: Path(base) / f"home-{place}" for place, hm in enumerate(given.hm)}
        for home in homes.values():
            shutil.copytree(notes, home / "memory")
        time.sleep(3)  # younger notes are read again by every command
        seconds = measure(notes, homes, rounds=given.rounds)
    rows = []
    shown = ""
    for what, floor in COMMANDS.items():
        least = timing(seconds[floor])
        if floor != shown:
            rows.append([floor, str(least), ""])
        shown = floor
        for hm in homes:
            took = timing(seconds[f"{hm} {what}"])
            ratio = took.p50_ms / least.p50_ms
            rows.append([f"`{hm} {what}`", str(took), f"{ratio:.1f} ×"])
    print(table(["CPU time", "median (least)", "ratio to the floor"], rows))
    print(f"\n{given.files} files; {machine()}")


def measure(
    notes: Path, homes: Mapping[str, Path], *, rounds: int
) -> dict[str, list[float]]:
    """Return the CPU times of floors and commands, taken in turns."""
    seconds: dict[str, list[float]] = {}
    bare = {"PATH": os.environ.get("PATH", ""), "LANG": "C.UTF-8"}

    def take(name: str, argv: Sequence[str], env: Mapping[str, str]) -> None:
        took = cpu_s(argv, env)
        seconds.setdefault(name, []).append(took)
        print(f"{name}: {shown_ms(took * 1e3)}", file=sys.stderr, flush=True)

    for _ in range(rounds):
        file = str(notes.parent / "floor.db")
        python = [sys.executable, "-I", "-S", "-c"]
        take("read and insert", [*python, READ_AND_INSERT, str(notes), file], bare)
        for hm, home in homes.items():
            shutil.rmtree(home / "memory" / ".index", ignore_errors=True)
            env = {**bare, "HOME": str(home), "HIVEMIND_HOME": str(home)}
            take(f"{hm} sync", [hm, "sync"], env)
        for _ in range(3):
            take("list and stat", [*python, STAT_ALL, str(notes)], bare)
            for hm, home in homes.items():
                env = {**bare, "HOME": str(home), "HIVEMIND_HOME": str(home)}
                take(f"{hm} search", [hm, "search", "deploy"], env)
                take(f"{hm} sync again", [hm, "sync"], env)
                edited = next((home / "memory").rglob("note-00007.md"))
                edited.write_text(f"# Edited {time.time_ns()}\n\nTo deploy.\n")
                take(f"{hm} search after an edit", [hm, "search", "deploy"], env)
                time.sleep(3)  # younger notes are read again by every command
                take(f"{hm} search once more", [hm, "search", "deploy"], env)
    return seconds


def parts(folder: str, times: int = 20) -> dict[str, float]:
    """Return what each part of indexing a note takes, in microseconds."""
    opened = NotesFolder(folder)
    paths = sorted(opened.signatures())

    def read_all() -> list[bytes]:
        with NoteReader(opened) as reader:
            return [reader.read(path).data for path in paths]

    noted = list(zip(paths, read_all(), strict=True))
    texts = [decode(data) for _, data in noted]

    def parsed(mask_text: Callable[[str], str]) -> list[Note]:
        blocks = BlockReader(mask_text, limit_chars=800, overlap_chars=0)
        return [blocks.read(path, data) for path, data in noted]

    notes = parsed(str)
    maker = RowMaker(str.split)
    works: dict[str, Callable[[], object]] = {
        "read the file, with its signature and digest": read_all,
        "look for secrets": lambda: [mask(text) for text in texts],
        "cut it into chunks": lambda: parsed(str),
        "make the rows": lambda: [maker.rows_of(note) for note in notes],
    }
    return {name: _least_us(work, times) / len(paths) for name, work in works.items()}


def _least_us(work: Callable[[], object], times: int) -> float:
    """Return the least CPU time of *work*."""
    least_s = float("inf")
    for _ in range(times):
        start_s = time.process_time()
        work()
        least_s = min(least_s, time.process_time() - start_s)
    return least_s * 1e6


if __name__ == "__main__":
    main()
