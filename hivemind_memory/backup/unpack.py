"""Unpacks an archive into a stage, a little at a time, and refuses a bomb early."""

from __future__ import annotations

import gzip
import json
import shutil
import tarfile
import zlib
from functools import partial
from typing import IO, TYPE_CHECKING, Any, cast

from hivemind_memory.backup.new_files import EFFECT
from hivemind_memory.backup.staged import PIECE_BYTES
from hivemind_memory.backup.write import FORMAT, MANIFEST
from hivemind_memory.errors import HivemindError, UsageError
from hivemind_memory.files.descriptors import open_regular

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hivemind_memory.backup.staged import Stage, Staged

_DAMAGED = "The file is damaged or was not created by `hm backup`. Use another copy."
_ENTRY_BYTES = 1 << 15
"""At most, of what the manifest tells of a member: a path of 4 KiB, escaped, twice."""


def unpack(
    file: str, stage: Stage, folder: str
) -> tuple[dict[str, Staged], dict[str, Any]]:
    """Return the members of an archive, each checked, and its manifest.

    Args:
        file: The archive.
        stage: Where the members are put.
        folder: Where the stage is, and what is restored will be.

    Raises:
        HivemindError: It holds more than is free there.
        OSError: It cannot be read, or the disk refused.
        UsageError: It is not a sound backup, or is from a later version.
    """
    members: dict[str, Staged] = {}
    try:
        with (
            open(file, "rb", opener=open_regular) as packed,
            gzip.GzipFile(fileobj=packed) as whole,
            tarfile.open(fileobj=cast("IO[bytes]", _Unpacked(whole)), mode="r:") as tar,
        ):
            for info, member in _members(tar):
                check_room(file, info.size, folder)
                if info.name == MANIFEST:
                    _check_manifest(info.size, len(members) + 1)
                members[info.name] = stage.copy(partial(member.read, PIECE_BYTES))
        manifest = json.loads(members.pop(MANIFEST).read())
        version, known = manifest["format"], manifest["members"]
    except (
        tarfile.TarError,
        gzip.BadGzipFile,
        zlib.error,
        EOFError,
        ValueError,
        LookupError,
        TypeError,
    ) as error:
        raise unusable("the archive is truncated or corrupt") from error
    if version != FORMAT:
        raise UsageError(
            f"{file} was made by a newer version of this program.",
            hint="Upgrade hivemind-memory.",
            effect=EFFECT,
        )
    if not _are_described(known):
        raise unusable("its list of contents is damaged")
    for name, staged in members.items():
        if known.get(name, {}).get("sha256") != staged.digest():
            raise unusable(f"the checksum of {name} in it does not match")
    if members.keys() != known.keys():
        raise unusable("a part of it is missing")
    return members, manifest


def check_room(file: str, size: int, folder: str) -> None:
    """Raise if a disk has no room for so many bytes more."""
    free = free_bytes(folder)
    if size > free:
        raise HivemindError(
            f"{file} holds more than the {free // 10**6:,} MB that are free in"
            f" {folder}.",
            hint="If it is your backup, free some space and try again.",
            effect=EFFECT,
        )


def free_bytes(folder: str) -> int:
    """Return how much room the disk of a folder has."""
    return shutil.disk_usage(folder).free


def unusable(clause: str) -> UsageError:
    """Return the error for a file that is not a sound backup."""
    return UsageError(f"{clause}.", hint=_DAMAGED, effect=EFFECT)


class _Unpacked:
    """What is in a gzip file; a header that wants to be read as a whole is small."""

    def __init__(self, whole: gzip.GzipFile) -> None:
        self._whole = whole
        self.seek, self.tell = whole.seek, whole.tell

    def read(self, size: int) -> bytes:
        """Return up to so many bytes.

        Raises:
            UsageError: These are more than any part of a backup takes.
        """
        if not 0 <= size <= PIECE_BYTES:
            raise unusable("a header in it is too large")
        return self._whole.read(size)


def _members(tar: tarfile.TarFile) -> Iterator[tuple[tarfile.TarInfo, IO[bytes]]]:
    """Yield each member, which must be a file, and do not gather them."""
    while info := tar.next():
        member = tar.extractfile(info) if info.isreg() and not info.sparse else None
        if member is None:
            raise unusable(f"{info.name[:80]} in it is not a file")
        yield info, member
        tar.members = []  # type: ignore[attr-defined]


def _check_manifest(size: int, count: int) -> None:
    """Raise if a list of contents is larger than that of so many members can be."""
    if size > _ENTRY_BYTES * count:
        raise unusable("its list of contents is too large for what it holds")


def _are_described(known: object) -> bool:
    """Return whether a manifest tells of each member what is needed of it."""
    return isinstance(known, dict) and all(
        isinstance(about, dict)
        and isinstance(about.get("sha256"), str)
        and type(about.get("mtime_ns")) is int
        for about in known.values()
    )
