"""Reads what a diff adds, file by file, and messages and objects beside it.

The hooks load this file, so it imports only what starts fast.
"""

from __future__ import annotations

from itertools import compress
from operator import eq, or_

from hivemind_memory.inject.letters import letters, readable
from hivemind_memory.patterns.lazy_pattern import lazy_re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import IO

_MAX_SHOWN = 60
_BATCH_BYTES = 1 << 20
_HEADS = (b"\ndiff --", b"\ncommit ", b"\nobject ")
_ADDED = lazy_re(rb"(?m)^(?:diff --\S+ |object |[+ ][+]|[+]|    )(.*\n?)")
_REMOVED = lazy_re(r"(?m)^ *-.*\n?")
_WORD = lazy_re(r"[^\W\d_]{3,}")
_FIRST_WORD = lazy_re(rb"(?m)^[ \t]*(\S*)")


class Block:
    """New lines of one file, message or object."""

    def __init__(self, place: str, *, is_file: bool = False) -> None:
        self.place = place
        self.commit = ""
        """Whose diff adds it."""
        self.is_file = is_file
        self.lines: list[bytes] = []
        self.starts: list[tuple[int, int]] = []
        """Index in ``lines`` -> the line's number in the file, for each hunk."""

    def where(self, hits: set[bytes]) -> str:
        """Return the place, with the line in which the first run begins."""
        shown = [readable(line.decode("utf-8", "replace")) for line in self.lines]
        data = [letters(line) for line in shown]
        index = self._line_of(data, hits)
        if index < 0:
            return self.place
        starts = [start for start in self.starts if start[0] <= index]
        signs = (sign if sign.isprintable() else " " for sign in shown[index])
        line = "".join(signs).strip()[:_MAX_SHOWN]
        if not self.is_file or not starts:
            return f"{self.place}: {line}"
        return f"{self.place}:{starts[-1][1] + index - starts[-1][0]}: {line}"

    def _line_of(self, data: list[bytes], hits: set[bytes]) -> int:
        """Return in which line the first run begins, by their letters; -1: in none."""
        whole = b"".join(data)
        at = min((at for at in map(whole.find, hits) if at >= 0), default=-1)
        if at < 0:
            return -1
        index = 0
        while index < len(data) - 1 and at >= len(data[index]):
            at -= len(data[index])
            index += 1
        return index

    def longest_word(self, hits: set[bytes]) -> str:
        """Return the longest word of the line in which the first run begins."""
        shown = [readable(line.decode("utf-8", "replace")) for line in self.lines]
        line = max(0, self._line_of(list(map(letters, shown)), hits))
        words = _WORD.findall(" ".join(shown[line : line + 2]))
        return max(words, key=len, default="")


def blocks_of(stream: Iterable[bytes]) -> Iterator[Block]:
    """Yield what a diff adds, messages and objects; the latter are indented by four."""
    commit = ""
    block = Block("")
    columns = -1  # of signs in a diff; 0 in its header, below 0 outside of one
    for line in stream:
        if columns > 0 and line[:1] == b"+":
            if line[:columns] == b"+" * columns:
                block.lines.append(line[columns:])
        elif line.startswith((b"commit ", b"object ")):
            yield block
            name = line[7:-1].decode("utf-8", "replace")
            is_commit = line.startswith(b"commit ")
            commit = name if is_commit else ""
            block = Block(f"the {'message of' if is_commit else 'object'} {name}")
            columns = -1
            if not is_commit:
                yield _name_block(block.place, name)
        elif line.startswith((b"diff --git ", b"diff --cc ", b"diff --combined ")):
            yield block
            words = line[5:-1].decode("utf-8", "replace").split(" ", 1)[1]
            name = words.rpartition(" b/")[2]
            yield _name_block(name, name.rpartition("/")[2], commit)
            block, columns = Block(name, is_file=True), 0
            block.commit = commit
        elif columns >= 0 and line.startswith(b"@@"):
            columns = line.index(b" ") - 1
            added = line.split(b" ", columns + 2)[columns + 1]
            first = int(added[1:].partition(b",")[0])
            block.starts.append((len(block.lines), first))
        elif columns < 0:
            block.lines.append(line[4:])
    yield block


def removed_in(diff: str) -> str:
    """Return at least the lines that a diff removes, and the names of their files."""
    return "".join(_REMOVED.findall(diff))


def _name_block(place: str, name: str, commit: str = "") -> Block:
    """Return the name of a file or a branch, as something new itself."""
    block = Block(place)
    block.commit = commit
    block.lines.append(name.encode())
    return block


def forms_of(text: bytes, *, may_have_prefixes: bool = True) -> Iterator[str]:
    """Yield the readable forms of a text.

    Tags may be text, and a first word that a line shares with the one above may be a
    prefix: a sign of a comment, or a file name.
    """
    whole = text.decode("utf-8", "replace")
    yield readable(whole)
    if "<" in whole:
        yield readable(whole, has_tags=True)
    if not may_have_prefixes:
        return
    bare = _without_prefixes(text.translate(None, b"0123456789"))
    if bare:
        yield readable(bare.decode("utf-8", "replace"))


def _without_prefixes(text: bytes) -> bytes:
    """Return the lines that begin as the one above or below, without that word."""
    words = _FIRST_WORD.findall(text)
    is_same = [*map(eq, words, [b"", *words[:-1]]), False]
    if not any(is_same):
        return b""
    is_either = map(or_, is_same, is_same[1:])
    return _FIRST_WORD.sub(b"", b"\n".join(compress(text.split(b"\n"), is_either)))


def batches_of(stream: IO[bytes]) -> Iterator[bytes]:
    """Yield a diff, about a megabyte at a time, and files in one piece.

    Each piece begins with the line that names the commit or the object.
    """
    kept = named = b""
    while data := stream.read(_BATCH_BYTES):
        at = max(data.rfind(head) for head in _HEADS)
        if at < 0:
            kept += data
            continue
        batch = named + kept + data[: at + 1]
        yield batch
        named = _last_name(batch)
        kept = data[at + 1 :]
    yield named + kept


def _last_name(batch: bytes) -> bytes:
    """Return the last line that names a commit or an object."""
    at = max((b"\n" + batch).rfind(head) for head in _HEADS[1:])
    return batch[at : batch.index(b"\n", at) + 1] if at >= 0 else b""


def added_in(diff: bytes) -> bytes:
    """Return at least all that is new in a diff."""
    return b"".join(_ADDED.findall(diff))
