"""Which file systems others can change unheard."""

from __future__ import annotations

from pathlib import Path

import pytest

from hivemind_memory.files.mounts import shared_type, shared_type_in

TABLE = r"""27 1 254:0 / / rw,relatime - ext4 /dev/vda rw
28 27 0:40 / /home rw shared:3 - nfs4 server:/home rw,vers=4.2
29 28 0:41 / /home/ann/My\040Notes rw - ext4 /dev/vdb rw
30 27 0:42 / /mnt/c rw - 9p drvfs rw
31 27 0:43 / /media/stick rw - fuseblk /dev/sdb1 rw
32 27 0:44 / /media/remote rw - fuse.sshfs host: rw
33 27 0:45 / /over rw - nfs host: rw
34 33 0:46 / /over rw - tmpfs tmpfs rw
garbage
35 27 0:47 / /broken
"""


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/srv/notes", ""),
        ("/home/ann/notes", "nfs4"),
        ("/home", "nfs4"),
        ("/homely/notes", ""),
        ("/home/ann/My Notes/deep", ""),
        ("/mnt/c/Users", "9p"),
        ("/media/stick/notes", ""),
        ("/media/remote", "fuse.sshfs"),
        ("/over/notes", ""),
        ("/broken/notes", ""),
    ],
)
def test_the_innermost_mount_decides(path: str, kind: str) -> None:
    """A local disk may lie in a network folder and the other way round."""
    assert shared_type_in(TABLE, path) == kind


def test_a_folder_of_this_machine_can_be_asked(tmp_path: Path) -> None:
    """Whatever it is, asking must not fail; nor for what is not there."""
    assert isinstance(shared_type(str(tmp_path)), str)
    assert isinstance(shared_type(str(tmp_path / "absent")), str)


def test_a_windows_share_is_a_network_drive(monkeypatch: pytest.MonkeyPatch) -> None:
    """There is no table there, but the name tells."""
    monkeypatch.setattr("os.path.realpath", lambda path: path)

    assert shared_type(r"\\server\notes") == "network drive"
