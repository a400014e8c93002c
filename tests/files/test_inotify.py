"""The probe: proof that nothing has changed, and none where there is doubt."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from hivemind_memory.files import inotify
from hivemind_memory.files.inotify import InotifyProbe

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="only Linux tells in order"
)


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    (folder / "projects").mkdir(parents=True)
    (folder / "a.md").write_text("old")
    (folder / "projects" / "b.md").write_text("old")
    return folder


@pytest.fixture
def probe(notes: Path, tmp_path: Path) -> InotifyProbe:
    return InotifyProbe(str(notes), str(tmp_path / "cookie"))


def test_it_is_quiet_as_long_as_nothing_happens(probe: InotifyProbe) -> None:
    """Also when asked again and again, and when others touch the cookie."""
    assert all(probe.is_quiet() for _ in range(50))


CHANGES: dict[str, Callable[[Path], object]] = {
    "edit": lambda notes: (notes / "a.md").write_text("new"),
    "edit below": lambda notes: (notes / "projects" / "b.md").write_text("new"),
    "new": lambda notes: (notes / "c.md").touch(),
    "gone": lambda notes: (notes / "a.md").unlink(),
    "renamed": lambda notes: (notes / "a.md").rename(notes / "c.md"),
    "time": lambda notes: os.utime(notes / "a.md", (1, 1)),
    "mode": lambda notes: (notes / "a.md").chmod(0o400),
    "new folder": lambda notes: (notes / "more").mkdir(),
    "folder gone": lambda notes: (notes / "projects" / "b.md").rename(notes / "b.md"),
    "all gone": lambda notes: notes.rename(notes.with_name("away")),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_every_change_is_noticed_at_once(
    probe: InotifyProbe, notes: Path, change: Callable[[Path], object]
) -> None:
    """What finished before the question is seen by it."""
    assert probe.is_quiet()

    change(notes)

    assert not probe.is_quiet()


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_probe_goes_on_after_a_change_unless_a_folder_may_be_unwatched(
    probe: InotifyProbe,
    notes: Path,
    tmp_path: Path,
    change: Callable[[Path], object],
) -> None:
    """To end it and begin anew takes 8 ms, in which every other call waits."""
    change(notes)
    assert not probe.is_quiet()

    folders = {str(path) for path in notes.rglob("*/")}
    is_same = folders == {str(notes / "projects")}

    assert probe.is_complete == is_same
    if is_same:
        assert probe.is_quiet()
        (notes / "projects" / "later.md").write_text("new")
        assert not probe.is_quiet()


def test_more_changes_than_one_reading_holds_are_told_once(
    probe: InotifyProbe, notes: Path
) -> None:
    """What is left in the queue would make every later question look again."""
    for number in range(3_000):
        (notes / f"a-note-with-a-long-name-{number:060}.md").touch()

    assert not probe.is_quiet()
    assert probe.is_complete
    assert probe.is_quiet()


def test_a_queue_that_was_too_short_ends_the_probe(
    probe: InotifyProbe, notes: Path
) -> None:
    """The kernel drops what does not fit, perhaps a new folder."""
    queued = int(Path("/proc/sys/fs/inotify/max_queued_events").read_text())
    if queued > 50_000:
        pytest.skip("the queue of this machine is too long to fill")
    first, second = notes / "a.md", notes / "projects" / "b.md"
    for _ in range(queued // 2 + 1):
        os.utime(first)
        os.utime(second)

    assert not probe.is_quiet()
    assert not probe.is_complete


def test_a_source_that_does_not_answer_proves_nothing(
    probe: InotifyProbe, tmp_path: Path
) -> None:
    """The cookie is what tells silence from deafness."""
    (tmp_path / "cookie").unlink()

    assert not probe.is_quiet()


def test_a_probe_that_was_forgotten_gives_its_watch_back(
    notes: Path, tmp_path: Path
) -> None:
    """A user has a hundred or so, and the tests once used them all up."""
    for _ in range(300):
        InotifyProbe(str(notes), str(tmp_path / "cookie"))
    gc.collect()

    assert InotifyProbe(str(notes), str(tmp_path / "cookie")).is_quiet()


def test_a_touch_by_another_process_hides_no_change_behind_it(
    probe: InotifyProbe,
    notes: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The first reading ended with it, and what came behind it was not named."""
    monkeypatch.setattr(inotify, "_READ_BYTES", 600)
    assert probe.is_quiet()
    for number in range(18):
        (notes / f"{number}.md").touch()
        os.utime(tmp_path / "cookie")

    assert not probe.is_quiet()
    assert {f"{number}.md" for number in range(18)} <= probe.changed


def test_a_change_right_behind_the_answer_does_not_end_the_probe(
    probe: InotifyProbe, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was taken for no answer, and all folders were watched anew."""
    real = os.utime

    def utime(*args: object) -> None:
        real(*args)  # type: ignore[call-overload]
        (notes / "a.md").write_text("new")

    monkeypatch.setattr(inotify.os, "utime", utime)

    assert not probe.is_quiet()
    assert probe.is_complete
    assert probe.changed == {"a.md"}


def test_a_folder_above_that_is_renamed_ends_the_probe(tmp_path: Path) -> None:
    """No event tells of it, and another folder may have its name."""
    (tmp_path / "above" / "notes").mkdir(parents=True)
    probe = InotifyProbe(str(tmp_path / "above" / "notes"), str(tmp_path / "cookie"))
    (tmp_path / "above").rename(tmp_path / "away")
    (tmp_path / "above" / "notes").mkdir(parents=True)

    assert not probe.is_quiet()
    assert not probe.is_complete
