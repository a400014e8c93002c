"""Remembers which texts have no secret, so that the next injection need not look.

A section quotes what the one before it quoted, and looking for secrets took a fifth of
its time. A file beside the index has hashes of such texts, made with a random key. What
is kept there counts only for the rules that found nothing, and only while no vault has
a value. A purge begins a new file with another key: what a process then adds to the old
one is lost, so no hash of a purged text is left.
"""

from __future__ import annotations

import os
from contextlib import suppress
from contextvars import ContextVar

from hivemind_memory.errors import HivemindError, NotInjectedError
from hivemind_memory.files.atomic import write_file
from hivemind_memory.files.descriptors import open_regular
from hivemind_memory.files.digests import blake2b_digest
from hivemind_memory.files.locks import exclusive

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

MOST = 4_096
"""Hashes that are kept; those that were not asked for go first."""

_BYTES = 16
"""Of the key, of a hash and of what stands for the rules."""

_HEAD = b"hivemind clean texts 1\n"
_WAIT_S = 1.0


class CleanTexts:
    """The texts that are known to have no secret, of one file."""

    def __init__(self, path: str, rules: str) -> None:
        """Read the file; one that cannot be read, or is of other rules, has none.

        Args:
            path: The file.
            rules: Differs if other secrets may be found.
        """
        self._path = path
        self._rules = blake2b_digest(rules.encode(), _BYTES)
        self._seen = _read(path)
        key = self._key_of(self._seen)
        self._key = key or os.urandom(_BYTES)
        self._known = frozenset(_hashes_in(self._seen)) if key else frozenset()
        self._used: dict[bytes, None] = {}
        self._is_new = False

    def has(self, text: str) -> bool:
        """Return whether a text is known to have no secret."""
        name = self._hash_of(text)
        if name not in self._known and name not in self._used:
            return False
        self._used[name] = None
        return True

    def add(self, text: str) -> None:
        """Remember that a text has no secret."""
        self._used[self._hash_of(text)] = None
        self._is_new = True

    def save(self) -> None:
        """Write what is new, unless a purge has begun another file; never fails.

        What another process has written meanwhile stays.
        """
        if not self._is_new or not os.path.isdir(os.path.dirname(self._path)):
            return
        with suppress(OSError, HivemindError), _locked(self._path):
            now = _read(self._path)
            if now != self._seen and self._key_of(now) != self._key:
                return
            others = _hashes_in(now) if self._key_of(now) else ()
            kept = list(dict.fromkeys((*self._used, *others)))[:MOST]
            data = b"".join((_HEAD, self._rules, self._key, *kept))
            write_file(self._path, data, is_durable=False)

    def _key_of(self, data: bytes) -> bytes:
        """Return the key of a file; empty: it is none, or one of other rules."""
        start = len(_HEAD)
        rules, rest = data[start : start + _BYTES], data[start + _BYTES :]
        if not data.startswith(_HEAD) or rules != self._rules or len(rest) % _BYTES:
            return b""
        return rest[:_BYTES]

    def _hash_of(self, text: str) -> bytes:
        """Return what stands for a text."""
        data = text.encode("utf-8", "surrogatepass")
        return blake2b_digest(data, _BYTES, self._key)


class clean_texts_kept:  # noqa: N801 - a context manager reads like a word
    """Let ``mask`` ask and tell a file which texts have no secret.

    Open it before any note is read: a text that was read before a purge must not come
    into the file that the purge begins.
    """

    __slots__ = ("_texts", "_token")

    def __init__(self, path: str, rules: str) -> None:
        """Read the file; see ``CleanTexts``."""
        self._texts = CleanTexts(path, f"{rules} {_sources()}")

    def __enter__(self) -> None:
        """Begin."""
        self._token = known_clean.set(self._texts)

    def __exit__(self, *_: object) -> None:
        """Write what is new."""
        known_clean.reset(self._token)
        self._texts.save()


known_clean: ContextVar[CleanTexts | None] = ContextVar("known_clean", default=None)
"""What ``mask`` asks first; None: nothing is kept."""


def forget_clean_texts(path: str) -> None:
    """Begin a new file, in which no text is known.

    Raises:
        HivemindError: Another process has the lock.
        OSError: The old one is still there.
    """
    if not os.path.isdir(os.path.dirname(path)):
        return
    with _locked(path):
        # Of no rules: whoever reads it begins with a key of its own.
        write_file(path, _HEAD + os.urandom(_BYTES))


def _locked(path: str) -> AbstractContextManager[None]:
    """Be the only process that changes the file."""
    return exclusive(
        f"{path}.lock",
        wait_s=_WAIT_S,
        refused=lambda why, hint: NotInjectedError(why, hint=hint),
    )


def _read(path: str) -> bytes:
    """Return the file; empty if there is none, or none that can be read."""
    try:
        with open(path, "rb", opener=open_regular) as file:
            return file.read(len(_HEAD) + (MOST + 2) * _BYTES)
    except OSError:
        return b""


def _hashes_in(data: bytes) -> Iterator[bytes]:
    """Yield the hashes of a file."""
    for at in range(len(_HEAD) + 2 * _BYTES, len(data), _BYTES):
        yield data[at : at + _BYTES]


def _sources() -> str:
    """Return what differs if any file of this package does: name, size and date."""
    folders, found = [os.path.dirname(__file__)], []
    while folders:
        with suppress(OSError), os.scandir(folders.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    if entry.name != "__pycache__":
                        folders.append(entry.path)
                elif not entry.name.endswith(".tmp"):
                    status = entry.stat()
                    found.append((entry.path, status.st_size, status.st_mtime_ns))
    return repr(sorted(found))
