"""Finds what of a section is in new files and messages: encoded, or a line of a memory.

A hook of ``commit_check`` runs it, so it imports only what starts fast. The marks in
plain text are its own affair; here are those in what is encoded, packed or compressed,
see ``decoded``, and lines that are a line of an injected memory.

A line counts if at least three quarters of its letters, and about eight words, are of
one memory: ``grep`` copies it so, whatever stands before it. What a person wraps, or
says in other words, is no such line. Text that the repository had, that its note no
longer says, or that is written into a note doesn't count, see ``find_copies``.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress

from hivemind_memory.files.descriptors import open_regular
from hivemind_memory.inject.added_text import Block
from hivemind_memory.inject.decoded import Budget, decoded_in, is_text
from hivemind_memory.inject.find_copies import (
    Copies,
    Known,
    active_runs,
    without_old_text,
)
from hivemind_memory.inject.letters import (
    COPY,
    RUN,
    letter_lines,
    letters,
    readable,
    runs_of,
)
from hivemind_memory.inject.new_objects import (
    NewFile,
    Objects,
    files_in,
    files_of_tree,
    is_reachable,
)
from hivemind_memory.inject.old_text import removed_lines
from hivemind_memory.patterns.lazy_pattern import lazy_re

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Iterable, Iterator

_SHARE = 4, 3
"""Of so many letters so many are a memory's."""

_MAX_SHOWN = 60
_MAX_TOLD = 40
_ESCAPES = (b"\\u", b"&#", b"%20", b"=20", b"&nbsp;", b"\x1b")
_SAMPLE = 64
_STRINGS = bytes(at if 32 <= at < 127 else 10 for at in range(256))
"""Text within other bytes, a line each."""

_SPACE = b"\xc2\xa0"


class Check:
    """Looks through what is new."""

    def __init__(self, known: Known, objects: Objects, marks: str, quoted: str) -> None:
        """Know what to look for.

        Args:
            known: The memories.
            objects: What is read.
            marks: A pattern for lines of a section, in lower case.
            quoted: One for a mark that is only mentioned.
        """
        self.copies = Copies(known)
        self.marked: list[tuple[NewFile, bytes]] = []
        self._known = known
        self._objects = objects
        self._marks: re.Pattern[bytes] = lazy_re(marks.encode())
        self._quoted: re.Pattern[bytes] = lazy_re(quoted.encode())
        self._budget = Budget()
        self._hidden: dict[Block, NewFile] = {}

    def look(self, files: Iterable[NewFile]) -> None:
        """Look through some files."""
        files = [*files]
        # In parts, so that not all of a large commit is in memory at once.
        for at in range(0, len(files), 200):
            some = files[at : at + 200]
            texts = self._objects.texts_of(file.id for file in some)
            for file in some:
                if not file.olds:
                    self._look_at_name(file)
                data = texts.get(file.id, b"")
                if data:
                    self.look_at(file, data, is_file=True)

    def look_at(self, file: NewFile, data: bytes, *, is_file: bool = False) -> None:
        """Look through one text, and whatever is hidden in it."""
        is_plain = is_text(data[:_SAMPLE])
        shown = data if is_plain else data.translate(_STRINGS)
        self._look_for_lines(file, shown, is_file=is_file)
        for text in self._decoded_in(data):
            line = self._marked_line(text)
            if line and not self._was_there(file, line):
                self.marked.append((file, line))
            self._look_for_lines(file, text, is_hidden=True)

    def _decoded_in(self, data: bytes) -> Iterator[bytes]:
        """Yield what is hidden in a text, as far as it can be read."""
        with suppress(Exception):  # a damaged file must not end the check
            yield from decoded_in(data, self._budget)

    def _look_at_name(self, file: NewFile) -> None:
        """Look at the names of a new file and its folders."""
        if len(file.place) >= COPY:
            names = file.place.replace("/", "\n").encode("utf-8", "replace")
            self._look_for_lines(file, names, is_file=True)

    def _look_for_lines(
        self,
        file: NewFile,
        data: bytes,
        *,
        is_file: bool = False,
        is_hidden: bool = False,
    ) -> None:
        """Remember the lines of a text that are those of a memory."""
        data = _readable(data)
        for at, line in enumerate(letter_lines(data)):
            if len(line) < COPY:
                continue
            middle = (len(line) - RUN) // 2
            if not self.copies.memories_with(line[middle : middle + RUN]):
                continue
            for number, hits in self._hits(line).items():
                if self._was_there(file, line):
                    continue
                where = "" if is_file or not is_hidden else ", decoded"
                block = Block(f"{file.place}{where}", is_file=is_file)
                block.commit = file.commit
                block.lines.append(data.split(b"\n")[at].replace(b"\0", b""))
                block.starts.append((0, at + 1))
                if is_hidden:
                    self._hidden[block] = file
                self.copies.found.append((number, block, hits))

    def _hits(self, line: bytes) -> dict[int, set[bytes]]:
        """Return the memories of which a line is one, and the runs they share."""
        hits: dict[int, set[bytes]] = {}
        for run in runs_of(line):
            for number in self.copies.memories_with(run):
                hits.setdefault(number, set()).add(run)
        whole, part = _SHARE
        return {
            number: runs
            for number, runs in hits.items()
            if (len(runs) + RUN - 1) * whole >= len(line) * part
            and len(runs) > COPY - RUN
        }

    def _marked_line(self, text: bytes) -> bytes:
        """Return the first line of a section; empty: there is none."""
        shown = text.replace(_SPACE, b" ")
        lower = shown.lower()
        if not self._marks.search(lower):
            return b""
        for line in shown.split(b"\n"):
            if self._marks.search(self._quoted.sub(b"", line.lower())):
                return line.strip()
        return b""

    def _was_there(self, file: NewFile, line: bytes) -> bool:
        """Return whether a line was in the file before, in its letters."""
        sought = letters(line.decode("utf-8", "replace"))
        for data in self._objects.texts_of(file.olds).values():
            for text in (data, *self._decoded_in(data)):
                if sought in letters(_readable(text).decode("utf-8", "replace")):
                    return True
        return False

    def marks_left(self, reachable: str) -> list[str]:
        """Return where marks are, without files that the repository had."""
        told: dict[str, str] = {}
        for file, line in self.marked:
            if file.place in told or _is_old(file, reachable):
                continue
            shown = line.decode("utf-8", "replace")[:_MAX_SHOWN]
            shown = "".join(sign if sign.isprintable() else " " for sign in shown)
            told[file.place] = f"{file.place}, decoded: {shown}"
        return list(told.values())[:_MAX_TOLD]

    def lines_left(self, theirs: list[str], reachable: str) -> list[str]:
        """Return where lines of memories are that count."""
        top = os.getcwd()
        self.copies.found = [
            (number, block, runs)
            for number, block, runs in self.copies.found
            if not _is_note(self._known, number, os.path.join(top, block.place))
        ]
        old = without_old_text(theirs, reachable)
        found = self.copies.left(active_runs(), old, removed_lines)
        found = [
            copy
            for copy in found
            if copy[1] not in self._hidden
            or not _is_old(self._hidden[copy[1]], reachable)
        ]
        return self.copies.places_of(found)[:_MAX_TOLD]


def _readable(data: bytes) -> bytes:
    """Return a text without escapes, if it has any."""
    if not any(map(data.__contains__, _ESCAPES)):
        return data
    shown = readable(data.decode("utf-8", "replace"), has_tags=True)
    return shown.encode("utf-8", "replace")


def _is_note(known: Known, number: int, path: str) -> bool:
    """Return whether a path is in the notes folder that a memory is from."""
    notes = known.memories[number].notes
    return bool(notes) and os.path.realpath(path).startswith(
        os.path.join(os.path.realpath(notes), "")
    )


def _is_old(file: NewFile, reachable: str) -> bool:
    """Return whether the repository had this very file."""
    return bool(file.id) and is_reachable(file.id, reachable)


def _objects_in(objects: Objects, id_: str, check: Check) -> Iterator[NewFile]:
    """Yield the files of an object that is no commit; look at its message, if any."""
    kind = objects.kind_of(id_)
    if kind == "tree":
        yield from files_of_tree(id_)
    elif kind == "blob":
        yield NewFile(f"the object {id_}", id_, "", ())
    elif kind == "tag":
        data = objects.text_of(id_)
        head, _, message = data.partition(b"\n\n")
        check.look_at(NewFile(f"the object {id_}", "", "", ()), message)
        target = head.split(b"\n", 1)[0].removeprefix(b"object ").decode()
        yield from _objects_in(objects, target, check)


def main(words_file: str, folder: str, marks: str, quoted: str, only: str) -> None:
    """Print where what is on standard input has something of a section.

    First an option of git that names the commits that don't count, and those that were
    fetched, a line each, then ``--``, then ``name`` with each new branch and ``object``
    with each new tag or note, then what ``git diff-tree --raw`` lists.

    A place is printed after an equals sign if it has marks, after a question mark if it
    has a line of a memory.

    Args:
        words_file: The hashes.
        folder: Where git keeps objects.
        marks: A pattern for lines of a section.
        quoted: One for a mark that is only mentioned.
        only: ``marks``, if lines of memories don't count.
    """
    stream = sys.stdin.buffer
    reachable, *theirs = [
        line.strip(b"^\n").decode() for line in iter(stream.readline, b"--\n")
    ]
    with open(
        words_file, encoding="utf-8", errors="surrogateescape", opener=open_regular
    ) as file:
        known = Known(file.read())
    objects = Objects(folder)
    check = Check(known, objects, marks, quoted)
    lines = stream.readlines()
    files: list[NewFile] = []
    for line in lines:
        kind, _, name = line.rstrip(b"\n").decode("utf-8", "replace").partition(" ")
        if kind == "name":
            check.look_at(NewFile(name, "", "", ()), name.rpartition("/")[2].encode())
        elif kind == "object":
            files += _objects_in(objects, name, check)
        elif kind == "commit":
            message = objects.text_of(name).partition(b"\nauthor")[2]
            place = NewFile(f"the message of {name}", "", name, ())
            check.look_at(place, message)
    files += files_in(line for line in lines if line.startswith((b":", b"commit ")))
    check.look({(file.id, file.place): file for file in files}.values())
    places = [f"=    {place}\n" for place in check.marks_left(reachable)]
    if only != "marks" and not places:
        counted = check.lines_left([commit for commit in theirs if commit], reachable)
        places += [f"?    {place}\n" for place in counted]
    sys.stdout.buffer.write("".join(places).encode("utf-8", "replace"))
