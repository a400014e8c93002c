"""What differs between systems, behind one face."""

from __future__ import annotations

import gc
import os
import signal
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from hivemind_memory.files import descriptors
from hivemind_memory.files.locks import KernelLock
from tests.support.waiting import without_hanging

HOLD = """
import sys, time
from hivemind_memory.files.locks import KernelLock
lock = KernelLock(sys.argv[1])
assert lock.try_acquire()
print("held", flush=True)
time.sleep(60)
"""


def hold(path: Path) -> subprocess.Popen[bytes]:
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(path)],
        cwd=Path(__file__).parents[2],
        stdout=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"held\n"
    process.stdout.close()
    return process


def test_one_holder_at_a_time(tmp_path: Path) -> None:
    """Also among objects of one process."""
    first, second = (
        KernelLock(str(tmp_path / "lock")),
        KernelLock(str(tmp_path / "lock")),
    )

    assert first.try_acquire()
    assert not second.try_acquire()
    first.release()
    assert second.try_acquire()
    assert (first.is_held, second.is_held) == (False, True)
    second.release()


def test_the_holder_is_named_while_it_holds(tmp_path: Path) -> None:
    """For people; an old name is not believed."""
    lock = KernelLock(str(tmp_path / "lock"))
    assert lock.holder() == ""

    lock.acquire(wait_s=0)
    assert lock.holder() == f"pid {os.getpid()}"
    lock.release()

    assert lock.holder() == ""
    (tmp_path / "lock").write_text("pid 1\n")
    assert lock.holder() == ""


def test_a_killed_holder_lets_go_and_its_name_is_not_believed(tmp_path: Path) -> None:
    """Locks are kernel locks: a killed holder frees them."""
    lock = KernelLock(str(tmp_path / "lock"))
    process = hold(tmp_path / "lock")
    assert not lock.try_acquire()
    assert lock.holder() == f"pid {process.pid}"

    process.kill()
    process.wait()

    assert lock.holder() == ""
    assert lock.acquire(wait_s=5)
    lock.release()


def test_waiting_ends_when_the_time_is_over(tmp_path: Path) -> None:
    """A holder that was stopped must not stop us too."""
    process = hold(tmp_path / "lock")
    process.send_signal(signal.SIGSTOP)
    lock = KernelLock(str(tmp_path / "lock"))

    is_taken = without_hanging(lambda: lock.acquire(wait_s=0.1))

    assert not is_taken
    assert process.poll() is None
    process.kill()
    process.wait()
    # The thread that stood in the queue gets the lock now, and gives it back.
    assert lock.acquire(wait_s=5)
    lock.release()


def test_a_waiter_gets_the_lock_when_it_is_free(tmp_path: Path) -> None:
    """Not at the end of its time."""
    first, second = (
        KernelLock(str(tmp_path / "lock")),
        KernelLock(str(tmp_path / "lock")),
    )
    first.acquire(wait_s=0)
    threading.Timer(0.05, first.release).start()

    assert second.acquire(wait_s=30)
    second.release()


def test_a_lock_that_nobody_waits_for_leaves_no_descriptor(tmp_path: Path) -> None:
    """Servers run for weeks."""
    lock, other = KernelLock(str(tmp_path / "lock")), KernelLock(str(tmp_path / "lock"))
    gc.collect()  # what other tests have left open
    before = len(os.listdir("/proc/self/fd"))

    for _ in range(20):
        assert lock.try_acquire()
        assert not other.try_acquire()
        lock.holder()
        lock.release()
        lock.release()

    assert len(os.listdir("/proc/self/fd")) == before


def test_a_full_disk_does_not_take_the_lock_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The name in the file is only for people."""

    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    lock = KernelLock(str(tmp_path / "lock"))

    assert lock.try_acquire()
    assert lock.holder() == "another process"
    lock.release()


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o777])
def test_private_folders_and_locks_are_private_under_any_umask(
    tmp_path: Path, umask: int
) -> None:
    """Files are 0600 and folders 0700, those that opening a memory makes too."""
    old = os.umask(umask)
    try:
        descriptors.make_private_folder(str(tmp_path / "a/b/c"))
        lock = KernelLock(str(tmp_path / "a/b/c/lock"))
        assert lock.try_acquire()
        lock.release()
    finally:
        os.umask(old)

    names = ["a", "a/b", "a/b/c", "a/b/c/lock"]
    modes = [stat.S_IMODE((tmp_path / name).stat().st_mode) for name in names]
    assert modes == [0o700, 0o700, 0o700, 0o600]


def test_a_folder_that_is_there_keeps_its_mode(tmp_path: Path) -> None:
    """It is its owner's."""
    (tmp_path / "a").mkdir(mode=0o755)
    (tmp_path / "a").chmod(0o755)

    descriptors.make_private_folder(str(tmp_path / "a"))
    descriptors.make_private_folder(str(tmp_path / "a/b"))

    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o755


def test_a_file_in_the_place_of_a_private_folder_is_an_error(tmp_path: Path) -> None:
    """Not an endless try."""
    (tmp_path / "a").write_text("x")

    with pytest.raises(OSError, match="a"):
        descriptors.make_private_folder(str(tmp_path / "a"))
    with pytest.raises(OSError, match="a"):
        descriptors.make_private_folder(str(tmp_path / "a/b"))


def test_short_writes_are_continued(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The system may take less than it was given."""
    real = os.write
    monkeypatch.setattr(os, "write", lambda fd, data: real(fd, bytes(data)[:3]))
    fd = os.open(tmp_path / "file", os.O_RDWR | os.O_CREAT)

    descriptors.write_all(fd, b"0123456789")

    assert descriptors.read_at(fd, 0, 100) == b"0123456789"
    assert descriptors.read_at(fd, 4, 3) == b"456"
    os.close(fd)


def test_a_folder_that_cannot_be_synced_is_let_be(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Some network file systems answer so, and need no sync."""

    def invalid(_: int) -> None:
        raise OSError(22, "Invalid argument")

    monkeypatch.setattr(os, "fsync", invalid)

    descriptors.sync_folder(0)
    with pytest.raises(OSError, match="Invalid"):
        descriptors.sync_file(0)
