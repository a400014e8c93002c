"""A write that can't finish leaves no part of itself behind, and says why."""

from __future__ import annotations

import errno
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from hivemind_memory.errors import NotSavedError
from tests.support.faults import Faults, refusal_of
from tests.support.note_home import NOTE, Home

CALLS = ["open", "write", "read", "fsync", "lseek", "fstat", "stat", "ftruncate"]
CALLS += ["mkdir", "unlink"]
STARTS = {
    "a note with text": "# Human\n\nmy text",
    "no note": "",
    "no note and no folder": "",
}


@pytest.mark.parametrize("lasts", [False, True], ids=["once", "from then on"])
@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize("name", CALLS)
def test_a_fault_at_every_call_of_a_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, start: str, lasts: bool
) -> None:
    """Acknowledged means there, refused means nothing; no repair by hand."""
    faults = Faults(name, errno.EIO if lasts else errno.ENOSPC, lasts=lasts)
    while faults.has_next():
        home = Home(tmp_path / str(faults.fail_at))
        path = "new/folder/a.md" if "folder" in start else NOTE
        if STARTS[start]:
            home.write(STARTS[start].encode())
        one_write_with_faults(home, path, faults, monkeypatch)

    assert faults.fail_at >= (2 if name not in ("mkdir", "unlink") else 1)


def one_write_with_faults(
    home: Home, path: str, faults: Faults, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = tree(home)
    entries: list[str] = []
    with monkeypatch.context() as patch:
        patch.setattr(os, faults.name, faults)
        error = refusal_of(
            lambda: entries.append(home.append("entry-text\n" * 50, path).id)
        )
    if error is None:
        assert home.text(path).count(entries[0]) == 1
    else:
        assert isinstance(error, NotSavedError)
        assert re.search(
            "(disk is full|reported an err).*Nothing was saved", str(error)
        )
        assert faults.lasts or tree(home) == before

    later = home.append("later", path)

    text = home.text(path)
    assert text.startswith(STARTS["a note with text"] if before else "<!-- hm id=")
    assert text.count(later.id) == 1
    # A refused entry whose undoing failed too may be there, but then it is whole.
    assert text.count("entry-text") in ({50} if entries else {0, 50})
    assert text.count("<!-- hm id=") == 1 + text.count("entry-text") // 50
    assert home.recover() == ()


def tree(home: Home) -> dict[str, bytes | None]:
    """Return all files and folders of the notes."""
    return {
        str(path.relative_to(home.notes)): path.read_bytes() if path.is_file() else None
        for path in home.notes.rglob("*")
    }


@pytest.mark.parametrize("part", [1, 7, 40, 150])
def test_a_disk_that_fills_up_in_the_middle_of_an_entry(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, part: int
) -> None:
    """The system takes some bytes, then says no: those bytes go again."""
    home = Home(tmp_path)
    home.write(b"# Human\n")
    inode = (home.notes / NOTE).stat().st_ino
    real, left = os.write, [part]

    def write(fd: int, data: bytes) -> int:
        if os.fstat(fd).st_ino != inode:
            return real(fd, data)
        if not left[0]:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        left[0] = 0
        return real(fd, bytes(data)[:part])

    monkeypatch.setattr(os, "write", write)
    with pytest.raises(NotSavedError, match="disk is full") as caught:
        home.append("entry-text\n" * 50)

    assert caught.value.hint.startswith("Free some space")
    assert home.read() == b"# Human\n"
    assert not home.journal.may_need_recovery()


def test_what_another_program_put_behind_our_part_is_never_cut_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A person's text is worth more than a tidy note."""
    home = Home(tmp_path)
    home.write(b"# Human\n")
    real, step = os.write, [0]
    inode = (home.notes / NOTE).stat().st_ino

    def write(fd: int, data: bytes) -> int:
        if os.fstat(fd).st_ino != inode:
            return real(fd, data)
        step[0] += 1
        if step[0] == 1:
            count = real(fd, bytes(data)[:60])
            with (home.notes / NOTE).open("ab") as note:
                note.write(b"mine!\n")
            return count
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", write)
        with pytest.raises(NotSavedError):
            home.append("entry-text\n" * 50)
    home.append("later")

    assert b"mine!\n" in home.read()
    assert home.text().count("later") == 1


# Limits the size of files to the first argument, then writes one entry.
LIMITED = """
import resource, sys
from pathlib import Path
from tests.support.faults import Faults, refusal_of
from tests.support.note_home import Home
from hivemind_memory.errors import NotSavedError
home = Home(Path(sys.argv[1]))
before = home.read()
saved = refused = 0
for limit in range(int(sys.argv[2]), int(sys.argv[3])):
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
    try:
        home.append("x" * 100)
    except NotSavedError as error:
        refused += 1
        assert "larger than this process may write" in str(error), error
        assert home.read() == before
    else:
        saved += 1
        assert home.read().startswith(before) and home.read().endswith(b"x\\n")
        home.write(before)
        home.journal_file.unlink()
print(saved, refused)
"""


def test_a_size_limit_at_every_byte_of_an_entry(tmp_path: Path) -> None:
    """No partial entry at any size, and every refusal names the cause."""
    home = Home(tmp_path)
    home.write(b"# Human\n" * 300)
    size = len(home.read())
    entry_size = 210
    arguments = [str(tmp_path), str(size), str(size + entry_size)]

    done = subprocess.run(
        [sys.executable, "-c", LIMITED, *arguments],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    saved, refused = map(int, done.stdout.split())
    assert saved + refused == entry_size
    assert saved > 0
    assert refused > 190


def test_a_size_limit_at_every_byte_of_the_journal(tmp_path: Path) -> None:
    """It fails earlier there, and just as cleanly."""
    home = Home(tmp_path)
    home.write(b"# Human\n")
    home.append("long ago")
    home.write(b"# Human\n" + home.read().partition(b"\n")[2])
    size = home.journal_file.stat().st_size
    script = LIMITED.replace("home.journal_file.unlink()", "break")

    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path), str(size), str(size + 900)],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    saved, refused = map(int, done.stdout.split())
    assert saved == 1
    assert refused > 300
