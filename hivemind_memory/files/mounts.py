"""Which file systems change without an event: network and shared folders.

A network or host-shared folder announces what this machine does to it, and nothing that
others do. A probe from here would find it in order, so such a folder is known by its
type. What is not known here is found by the rescan: a change that no event announced.
"""

from __future__ import annotations

import os

from hivemind_memory.patterns.lazy_pattern import lazy_re

_TYPES = frozenset(
    {
        "9p",
        "acfs",
        "afs",
        "beegfs",
        "ceph",
        "cifs",
        "coda",
        "davfs",
        "drvfs",
        "fakeowner",
        "gfs",
        "gfs2",
        "glusterfs",
        "gpfs",
        "lustre",
        "ncpfs",
        "nfs",
        "nfs4",
        "ocfs2",
        "orangefs",
        "osxfs",
        "prl_fs",
        "smb2",
        "smb3",
        "smbfs",
        "vboxsf",
        "virtiofs",
        "vmhgfs",
    }
)
_LOCAL_FUSE = frozenset({"fuseblk", "fusectl"})
_OCTAL = lazy_re(r"\\([0-7]{3})")


def shared_type(folder: str) -> str:
    """Return the type of the file system of *folder* if others may change it unheard.

    Returns:
        ``nfs4``, ``fuse.sshfs``, ``9p`` …; empty for a local one, and where the system
        does not say (only Linux has the table).
    """
    real = os.path.realpath(folder)
    if real.startswith("\\\\"):
        return "network drive"
    try:
        with open("/proc/self/mountinfo", encoding="utf-8", errors="replace") as file:
            return shared_type_in(file.read(), real)
    except OSError:
        return ""


def shared_type_in(mountinfo: str, path: str) -> str:
    """Return the shared type of the mount that holds *path*, or nothing.

    Args:
        mountinfo: Text of ``/proc/self/mountinfo``.
        path: Absolute, links resolved.

    Source:
        proc_pid_mountinfo(5): the 5th field is the mount point, blanks and the like
        in octal; the type follows a lone hyphen.
    """
    best, kind = -1, ""
    for line in mountinfo.splitlines():
        before, _, after = line.partition(" - ")
        fields = before.split(" ")
        if len(fields) < 5 or not fields[4].startswith("/") or not after:
            continue
        point = _OCTAL.sub(lambda found: chr(int(found[1], 8)), fields[4])
        # The last of two mounts on one point covers the first: hence >=.
        if _holds(point, path) and len(point) >= best:
            best, kind = len(point), after.split(" ")[0]
    return kind if _is_shared(kind) else ""


def _holds(point: str, path: str) -> bool:
    """*path* is the mount point or is below it."""
    return os.path.commonpath([point, path]) == point


def _is_shared(kind: str) -> bool:
    """Others may change a file system of this type; FUSE is, unless known as local."""
    return kind in _TYPES or (kind.startswith("fuse") and kind not in _LOCAL_FUSE)
