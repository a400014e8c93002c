"""Keeps the vectors of sections of files beside the index, so that each is made once.

A vector is found by the digest of its text. The file is derived: a damaged one counts
as empty. What was not needed lately makes room for what is new.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Mapping
from contextlib import suppress

from hivemind_memory.errors import HivemindError
from hivemind_memory.files.atomic import write_file
from hivemind_memory.files.descriptors import open_regular
from hivemind_memory.files.places import Places

DIGEST_BYTES = 16
MAX_VECTORS = 4_000
"""Vectors that are kept of one folder: 6 MB with 384 numbers each."""

MAX_FILES = 20
"""Folders whose vectors are kept; the one that was used longest ago makes room."""

_MAX_FILE_BYTES = 100_000_000
_MAGIC = b"hivemind section vectors 1\n"
_CHECKSUM_BYTES = 32


def digest_of(text: str) -> bytes:
    """Return what a text is found by."""
    return hashlib.blake2b(text.encode(), digest_size=DIGEST_BYTES).digest()


class SectionVectors:
    """The vectors that are known for the sections of one folder, in one space."""

    def __init__(self, places: Places, root: str, fingerprint: str) -> None:
        """Read nothing yet.

        Args:
            places: Where the index is.
            root: The folder whose files the sections are of.
            fingerprint: Name of the vector space.
        """
        self._places = places
        name = f"{os.path.realpath(root)}\0{fingerprint}"
        digest = hashlib.sha256(name.encode("utf-8", "surrogatepass"))
        self._path = places.section_vectors(digest.hexdigest()[:DIGEST_BYTES])

    def read(self) -> dict[bytes, bytes]:
        """Return digest of a text -> vector, float32; empty if nothing can be read."""
        try:
            with open(self._path, "rb", opener=open_regular) as file:
                data = file.read(_MAX_FILE_BYTES)
        except OSError:
            return {}
        head = len(_MAGIC) + _CHECKSUM_BYTES
        rows = data[head + 4 :]
        size = int.from_bytes(data[head : head + 4], "little")
        checksum = data[len(_MAGIC) : head]
        if (
            not data.startswith(_MAGIC)
            or checksum != hashlib.sha256(data[head:]).digest()
            or size <= DIGEST_BYTES
            or len(rows) % size
        ):
            return {}
        return {
            rows[at : at + DIGEST_BYTES]: rows[at + DIGEST_BYTES : at + size]
            for at in range(0, len(rows), size)
        }

    def write(self, vectors: Mapping[bytes, bytes]) -> None:
        """Keep the vectors of this length, those first that come first.

        What cannot be written is made again the next time.
        """
        vector_bytes = len(next(iter(vectors.values()), b""))
        rows = [
            digest + vector
            for digest, vector in vectors.items()
            if len(vector) == vector_bytes
        ]
        size = DIGEST_BYTES + vector_bytes
        body = size.to_bytes(4, "little") + b"".join(rows[:MAX_VECTORS])
        data = _MAGIC + hashlib.sha256(body).digest() + body
        with suppress(OSError, HivemindError):
            self._places.make_index_folder()
            write_file(self._path, data, is_durable=False)
            _drop_oldest(self._places.all_section_vectors())

    def mark_used(self) -> None:
        """Note that a context was made of them: the oldest are dropped first."""
        with suppress(OSError):
            os.utime(self._path)


def _drop_oldest(paths: Iterable[str]) -> None:
    """Remove the files of the folders that no context was made of for longest."""
    dated = []
    for path in paths:
        with suppress(OSError):
            dated.append((os.stat(path).st_mtime, path))
    for _, path in sorted(dated, reverse=True)[MAX_FILES:]:
        with suppress(OSError):
            os.unlink(path)
