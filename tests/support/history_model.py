"""Random histories of one memory: edits by people and programs, and accidents.

After each sync and each search the index has to equal one that is made from nothing.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from hivemind_memory.errors import NoteUnreadableError, NotSavedError, UsageError
from hivemind_memory.files.descriptors import OpenFolder
from hivemind_memory.index.sqlite import notes as index_notes
from hivemind_memory.model import snapshot
from tests.support.sandbox import Sandbox, ask, difference_from_fresh

STEP_CHUNKS = 5
"""In the place of 1,000: so that a note of a few lines is a large one."""

SETTLED_NS = 20_000_000
"""In the place of 2 s: above the tick of any file system that tests run on."""

PATHS = (
    "global.md",
    "2026-01-05.md",
    "a/deep note.md",
    "a/b/c.md",
    "a/recovered.md",
    "日記.md",
    "Zoo.md",
)
FOLDERS = ("a", "a/b", "moved", "moved/b")
WORDS = ("deploy", "tuesday", "rollback", "user_id", "東京", "café", "HTTPServer", "x1")
FRAGMENTS = (
    "# Deploying {0}",
    "## On {0} and {1}",
    "We {0} the {1}, says {2}.",
    "- {0}: {1}\n- {2}: {0}",
    "",
    "\n",
    "```sh\n# {0}\n{1} --now\n```",
    "| {0} | {1} |\n|---|---|\n| {2} | 1 |",
    "---\ntitle: {0}\ntags: [{1}]\ndate: 2025-03-04\n---",
    "<!-- hm id=01JD0000000000000000000000 by=x at=2026-01-02T03:04:05+01:00 -->",
    (
        "<!-- hm id=01JD0000000000000000000001 forgotten=2026-01-03 by=x "
        "at=2026-01-02T03:04:05+01:00 -->"
    ),
    "{0} " * 60,
    "{0}\0{1}\r\n{2}",
)

paths = st.sampled_from(PATHS)
words = st.sampled_from(WORDS)
numbers = st.integers(0, 1000)


@st.composite
def large_texts(draw: st.DrawFn) -> bytes:
    """Return a note that goes into the index in several steps."""
    count = draw(st.integers(STEP_CHUNKS + 1, 3 * STEP_CHUNKS))
    some = draw(st.lists(words, min_size=1, max_size=4))
    parts = (f"part {n} of {some[n % len(some)]}" for n in range(count))
    return "\n\n\n".join(parts).encode()


@st.composite
def texts(draw: st.DrawFn) -> bytes:
    """Return a note: ordinary, large, empty, or any bytes."""
    kind = draw(st.sampled_from(("lines", "lines", "lines", "large", "bytes")))
    if kind == "bytes":
        return draw(st.binary(max_size=60))
    if kind == "large":
        return draw(large_texts())
    lines = draw(st.lists(st.sampled_from(FRAGMENTS), max_size=8))
    some = draw(st.lists(words, min_size=3, max_size=3))
    return "\n".join(line.format(*some) for line in lines).encode()


class Crash(BaseException):
    """The process dies: nothing catches this."""


class Histories(RuleBasedStateMachine):
    """One home, one memory that crashes and comes back, and a second process."""

    steps = 0
    """Of all histories so far."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.sandbox = Sandbox(Path(self.folder.name) / "home")
        self.number = 0
        self.unreadable: set[str] = set()
        self.flags: dict[str, object] = {}
        self.memory = self.sandbox.memory()
        self.other = self.sandbox.memory()
        self.patches = [
            mock.patch.object(index_notes, "STEP_CHUNKS", STEP_CHUNKS),
            mock.patch.object(snapshot, "SETTLED_NS", SETTLED_NS),
            mock.patch.object(OpenFolder, "open_file", self._open_file()),
        ]
        for patch in self.patches:
            patch.start()

    def _open_file(self) -> Callable[..., int]:
        """Refuse the files that may not be read; the tests may run as root."""
        original = OpenFolder.open_file
        unreadable = self.unreadable

        def open_file(folder: OpenFolder, name: str, flags: int) -> int:
            if name in unreadable:
                raise PermissionError(13, os.strerror(13), name)
            return original(folder, name, flags)

        return open_file

    def teardown(self) -> None:
        """Remove the home."""
        self.memory.close()
        self.other.close()
        for patch in self.patches:
            patch.stop()
        self.folder.cleanup()

    @invariant()
    def look(self) -> None:
        """Sync and compare after every third step, whatever the steps were."""
        Histories.steps += 1
        self.number += 1
        if self.number % 3 == 0:
            self.memory.sync()
            self._compare(self.memory, WORDS[self.number % len(WORDS)])

    # -- what people do --------------------------------------------------------

    @initialize(data=texts())
    def first_note(self, data: bytes) -> None:
        self.sandbox.save("global.md", data)

    @rule(path=paths, data=texts(), is_over=st.booleans())
    def edit(self, path: str, data: bytes, *, is_over: bool) -> None:
        if self._may_save(path):
            save = self.sandbox.save_over if is_over else self.sandbox.save
            save(path, data)

    @rule(which=numbers, word=words)
    def add_line(self, which: int, word: str) -> None:
        for file in self._some_note(which):
            with file.open("ab") as note:
                note.write(f"\n\n\n- about {word}\n".encode())

    @rule(which=numbers)
    def edit_secretly(self, which: int) -> None:
        """Other bytes, the same size, the same time of the last edit."""
        for file in self._some_note(which):
            status = file.stat()
            data = file.read_bytes()
            file.write_bytes(data[::-1])
            os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))

    @rule(which=numbers, days=st.integers(-3, 400))
    def touch(self, which: int, days: int) -> None:
        for file in self._some_note(which):
            then = time.time() - 86_400 * days
            os.utime(file, (then, then))

    @rule(which=numbers, new=paths)
    def rename(self, which: int, new: str) -> None:
        for file in self._some_note(which):
            if self._may_save(new) and file.is_file():
                target = self.sandbox.notes / new
                target.parent.mkdir(parents=True, exist_ok=True)
                file.replace(target)

    def delete(self, which: int) -> None:
        for file in self._some_note(which):
            file.unlink()

    def move_folder(self, which: int) -> None:
        one, other = FOLDERS[which % 4], FOLDERS[which // 4 % 4]
        old, new = self.sandbox.notes / one, self.sandbox.notes / other
        if old.is_dir() and not new.exists() and not other.startswith(f"{one}/"):
            new.parent.mkdir(exist_ok=True)
            old.rename(new)

    def delete_folder(self, which: int) -> None:
        folder = FOLDERS[which % len(FOLDERS)]
        shutil.rmtree(self.sandbox.notes / folder, ignore_errors=True)

    def forbid(self, which: int) -> None:
        self._change_modes()
        self.unreadable.add(PATHS[which % len(PATHS)].rpartition("/")[2])

    def allow_all(self, _: int) -> None:
        self._change_modes()
        self.unreadable.clear()

    def put_a_link_there(self, which: int) -> None:
        for file in self._some_note(which):
            file.unlink()
            file.symlink_to(self.sandbox.notes / "global.md")

    # -- what agents do --------------------------------------------------------

    @rule(path=paths, word=words, is_other=st.booleans())
    def write(self, path: str, word: str, *, is_other: bool) -> None:
        memory = self.other if is_other else self.memory
        try:
            written = memory.write(f"remember {word}\n\n- and {word} again", file=path)
        except (NotSavedError, NoteUnreadableError, UsageError):
            return  # it cannot be read, or a link is in its place
        found = ask(memory, f"remember {word}", max_results=1000)
        places = [
            place
            for hit in found.hits
            for place in (
                f"{hit.path}:{hit.start_line}-{hit.end_line}",
                *hit.also_in,
            )
        ]
        assert any(_holds(place, path, written.end_line) for place in places), (
            "a write is found at once"
        )

    # -- what happens to processes ---------------------------------------------

    @rule()
    def time_passes(self) -> None:
        """Wait until the signatures of files can be trusted."""
        time.sleep(1.2 * SETTLED_NS / 1e9)

    def ten_minutes_pass(self, _: int) -> None:
        """Move the clock ahead, then set it right again."""
        time.sleep(1.2 * SETTLED_NS / 1e9)
        self.sandbox.ahead_s = 700
        self.memory.sync()
        self.sandbox.ahead_s = 0

    def set_clock(self, which: int) -> None:
        self.sandbox.ahead_s = -7200 if which % 2 else 0

    def restart(self, _: int) -> None:
        self.memory.close()
        self.memory = self.sandbox.memory(**self.flags)

    @rule(path=paths, data=large_texts(), calls=st.integers(0, 3))
    def crash_while_indexing(self, path: str, data: bytes, calls: int) -> None:
        """Die after some steps; the last transaction is rolled back."""
        if self._may_save(path):
            self.sandbox.save_over(path, data)
        original = index_notes.insert_chunks
        left = [calls]

        def insert(*given: Any) -> None:
            left[0] -= 1
            if left[0] < 0:
                raise Crash
            original(*given)

        with mock.patch.object(index_notes, "insert_chunks", insert):
            self._until_crash(self.memory.sync)
        self.memory = self.sandbox.memory(**self.flags)

    def crash_while_rebuilding(self, which: int) -> None:
        def progress(_: str, done: int, __: int) -> None:
            if done >= which % 4:
                raise Crash

        self._until_crash(lambda: self.memory.rebuild(progress))
        self.memory = self.sandbox.memory(**self.flags)

    def change_settings(self, which: int) -> None:
        self.flags = {"chunk_chars": 100 if which % 2 else 800}
        self.memory.close()
        self.other.close()
        self.memory = self.sandbox.memory(**self.flags)
        self.other = self.sandbox.memory(**self.flags)

    def delete_index(self, which: int) -> None:
        """Delete it while two processes have it open."""
        if which % 2:
            shutil.rmtree(self.sandbox.places.index, ignore_errors=True)
        else:
            self.sandbox.index_file.unlink(missing_ok=True)

    @rule(
        action=st.sampled_from(
            (
                delete,
                delete_folder,
                move_folder,
                forbid,
                allow_all,
                put_a_link_there,
                ten_minutes_pass,
                set_clock,
                restart,
                crash_while_rebuilding,
                change_settings,
                delete_index,
            )
        ),
        which=numbers,
    )
    def accident(self, action: Callable[[Any, int], None], which: int) -> None:
        """What happens now and then: one rule, because all rules are equally likely."""
        action(self, which)

    # -- after which all is as if made from nothing ----------------------------

    @rule(word=words, is_other=st.booleans())
    def sync(self, word: str, *, is_other: bool) -> None:
        memory = self.other if is_other else self.memory
        memory.sync()
        self._compare(memory, word)

    @rule(word=words)
    def search(self, word: str) -> None:
        answer = ask(self.memory, word)
        assert answer.report.is_fresh
        self._compare(self.memory, word)

    @rule(word=words)
    def rebuild(self, word: str) -> None:
        self.memory.rebuild()
        self._compare(self.memory, word)
        assert not Path(self.sandbox.places.rebuild_file).exists()

    # -- inside ----------------------------------------------------------------

    def _compare(self, memory: Any, word: str) -> None:
        found = difference_from_fresh(
            self.sandbox, memory, (word, f"{word} part again"), **self.flags
        )
        for beside in self.sandbox.home.glob("fresh-*"):
            shutil.rmtree(beside)
        assert not found, "\n".join(found)

    def _some_note(self, which: int) -> list[Path]:
        """Return one of the notes that are there, if any is."""
        notes = sorted(self.sandbox.notes.rglob("*.md"))
        notes = [
            file for file in notes if file.is_file() and ".index" not in file.parts
        ]
        return [notes[which % len(notes)]] if notes else []

    def _change_modes(self) -> None:
        """Change the modes of files and back, which leaves a newer change time."""
        for file in self.sandbox.notes.rglob("*.md"):
            if not file.is_symlink():
                file.chmod(0o600)

    def _may_save(self, path: str) -> bool:
        """Whether only a file or a link is in the way."""
        file = self.sandbox.notes / path
        if file.is_symlink():
            file.unlink()
        above = [parent for parent in file.parents if parent != self.sandbox.notes]
        return not file.is_dir() and all(not parent.is_file() for parent in above)

    def _until_crash(self, work: Callable[[], object]) -> None:
        try:
            work()
        except Crash:
            return  # what it had open is dropped, never closed in order


def _holds(place: str, path: str, line: int) -> bool:
    """Return whether a place, ``path:first-last``, holds a line of a note."""
    named, _, lines = place.rpartition(":")
    first, _, last = lines.partition("-")
    return named == path and int(first) <= line <= int(last or first)
