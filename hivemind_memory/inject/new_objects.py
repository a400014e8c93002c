"""Reads the objects that a command of git is about to make reachable.

A hook of ``commit_check`` runs it, so it imports only what starts fast. Nearly all of
them are files of their own in the folder of git, and are read without another process;
of a large one only the beginning, unless that tells that there may be text in it.
"""

from __future__ import annotations

import os
from io import BytesIO
from zlib import decompressobj, error

from hivemind_memory.files.descriptors import open_regular
from hivemind_memory.inject.decoded import is_packed, is_text
from hivemind_memory.inject.old_text import MAX_COMMITS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

MAX_FILE_BYTES = 8 << 20
"""Larger files are not read, as git shows no difference of them."""

MAX_BYTES = 64 << 20
"""What is read for one command, in all."""

_MAX_BINARY_BYTES = 256 << 10
"""A larger file that is neither text nor packed is not read: an image, a program."""

_HEAD = 512
_SAMPLE = 64
_HEADER = 32
_READ = 4096
_MODES = ("100644", "100755", "120000")


class NewFile:
    """A file that a commit adds or changes."""

    __slots__ = ("commit", "id", "olds", "place")

    def __init__(
        self, place: str, id_: str, commit: str, olds: tuple[str, ...]
    ) -> None:
        self.place = place
        self.id = id_
        self.commit = commit
        self.olds = olds
        """What it was before, in each parent that has it."""


class Objects:
    """The objects of a repository, read within limits."""

    def __init__(self, folder: str) -> None:
        """Read from a folder of objects."""
        self._folder = folder
        self._left = MAX_BYTES

    def text_of(self, id_: str) -> bytes:
        """Return an object if it may hold text; empty: it isn't read, or is missing."""
        return self.texts_of([id_]).get(id_, b"")

    def kind_of(self, id_: str) -> str:
        """Return what an object is."""
        return _git("cat-file", "-t", id_).decode().strip()

    def texts_of(self, ids: Iterable[str]) -> dict[str, bytes]:
        """Return the same of many, with one process for those in packs."""
        texts: dict[str, bytes] = {}
        packed = []
        for id_ in dict.fromkeys(ids):
            try:
                texts[id_] = self._loose(id_)
            except (OSError, error):
                packed.append(id_)
        texts.update(self._packed(packed))
        return texts

    def _loose(self, id_: str) -> bytes:
        """Return an object that is in no pack; empty: it isn't read.

        Raises:
            OSError: There is no such file.
            zlib.error: It is damaged.
        """
        path = os.path.join(self._folder, id_[:2], id_[2:])
        with open(path, "rb", opener=open_regular) as file:
            unpacker = decompressobj()
            start = unpacker.decompress(file.read(_READ), _HEADER + _HEAD)
            header, _, head = start.partition(b"\0")
            size = int(header.partition(b" ")[2])
            if not self._may_read(size, head[:_HEAD]):
                return b""
            self._left -= size
            return head + unpacker.decompress(unpacker.unconsumed_tail + file.read())

    def _packed(self, ids: list[str]) -> dict[str, bytes]:
        """Return those objects in packs that may be read."""
        if not ids:
            return {}
        listed = _git("cat-file", "--batch-check", stdin="\n".join(ids))
        small = []
        left = self._left
        for line in listed.decode().split("\n"):
            words = line.split(" ")
            if len(words) == 3 and int(words[2]) <= min(left, MAX_FILE_BYTES):
                small.append(words[0])
                left -= int(words[2])
        texts = {}
        stream = BytesIO(_git("cat-file", "--batch", stdin="\n".join(small)))
        for header in iter(stream.readline, b""):
            id_, _, size = header.decode().split(" ")
            data = stream.read(int(size))
            stream.read(1)
            if self._may_read(len(data), data[:_HEAD]):
                self._left -= len(data)
                texts[id_] = data
        return texts

    def _may_read(self, size: int, head: bytes) -> bool:
        """Return whether an object is small enough, and no large image or program."""
        if size > min(self._left, MAX_FILE_BYTES):
            return False
        return size <= _MAX_BINARY_BYTES or is_text(head[:_SAMPLE]) or is_packed(head)


def files_in(listed: Iterable[bytes]) -> Iterator[NewFile]:
    """Yield the files that ``git diff-tree --raw -c`` lists, below each commit."""
    commit = ""
    for raw in listed:
        line = raw.rstrip(b"\n").decode("utf-8", "replace")
        if not line.startswith(":"):
            commit = line.removeprefix("commit ")
            continue
        words, _, place = line.partition("\t")
        count = len(words) - len(words.lstrip(":"))
        parts = words.lstrip(":").split(" ")
        ids = parts[count + 1 : 2 * count + 2]
        if parts[count] in _MODES:
            olds = tuple(id_ for id_ in ids[:-1] if id_.strip("0"))
            yield NewFile(place, ids[-1], commit, olds)


def files_of_tree(tree: str) -> Iterator[NewFile]:
    """Yield the files of a tree that is in no commit."""
    listed = _git("ls-tree", "-r", tree)
    for line in listed.decode("utf-8", "replace").split("\n"):
        words, _, place = line.partition("\t")
        parts = words.split(" ")
        if parts[0] in _MODES:
            yield NewFile(place, parts[2], "", ())


def is_reachable(id_: str, reachable: str) -> bool:
    """Return whether one of the newest commits added or removed this very file."""
    newest = _git("rev-list", f"-n{MAX_COMMITS}", *reachable.split()).decode()
    words = ("diff-tree", "--stdin", "-r", "-m", "--root", "-s", "--format=%H")
    return bool(_git(*words, f"--find-object={id_}", stdin=newest).strip())


def _git(*words: str, stdin: str = "") -> bytes:
    """Return what git prints."""
    from subprocess import DEVNULL, PIPE, Popen

    command = ("git", "--no-replace-objects", *words)
    with Popen(command, stdin=PIPE, stdout=PIPE, stderr=DEVNULL) as process:
        return process.communicate(stdin.encode())[0]
