"""Told by the system, or by looking: every reason to poll, with times given by hand."""

from __future__ import annotations

import errno
import logging
from collections.abc import Callable
from pathlib import Path

import pytest

from hivemind_memory.watch.change_detector import (
    FOLDER_MISSING,
    ChangeDetector,
    ChangeDetectorSettings,
)
from hivemind_memory.watch.observer import Listener
from tests.watch.fakes import FakeSource

SETTINGS = ChangeDetectorSettings(poll_s=2.0, probe_s=1.0)


def ignore(*, is_complete: bool) -> None:
    """Listen to nothing."""


class Opener:
    """Hands out one source after the other; an error stands for none."""

    def __init__(self, *outcomes: FakeSource | OSError) -> None:
        self.outcomes = list(outcomes)

    def __call__(self, folder: str, listener: Listener) -> FakeSource:
        outcome = self.outcomes.pop(0)
        if isinstance(outcome, OSError):
            raise outcome
        return outcome


def open_detector(
    folder: Path,
    *outcomes: FakeSource | OSError,
    type_of: Callable[[str], str] = lambda _folder: "",
) -> ChangeDetector:
    detector = ChangeDetector(
        str(folder),
        open_source=Opener(*outcomes),
        settings=SETTINGS,
        type_of=type_of,
    )
    detector.open(ignore, 0.0)
    return detector


def test_a_source_that_answers_the_probe_suffices(tmp_path: Path) -> None:
    """Then nothing is looked at without a reason."""
    source = FakeSource()
    detector = open_detector(tmp_path, source)

    source.spoke = True

    assert not detector.check(1.0)
    assert not detector.check(2.0)
    assert detector.state.mode == "native"


def test_a_source_that_does_not_answer_is_muted(tmp_path: Path) -> None:
    """Some containers and mounts accept watches and never tell anything."""
    detector = open_detector(tmp_path, FakeSource())

    assert detector.due_s == 1.0
    detector.check(1.0)

    assert detector.state.mode == "polling"
    assert "do not arrive" in detector.state.reason
    assert detector.due_s == 2.0
    assert detector.check(2.0)
    assert detector.check(4.0)


def test_a_late_answer_ends_the_polling(tmp_path: Path) -> None:
    """A machine under load may take longer than a second."""
    source = FakeSource()
    detector = open_detector(tmp_path, source)
    detector.check(1.0)

    source.spoke = True

    assert detector.state.mode == "native"
    assert not detector.check(2.0)


def test_a_folder_that_cannot_be_probed_is_trusted(tmp_path: Path) -> None:
    """Read-only notes are still watched; the rescan finds what is missed."""
    source = FakeSource()
    source.is_writable = False
    detector = open_detector(tmp_path, source)

    assert not detector.check(2.0)
    assert detector.state.mode == "native"


def test_a_shared_file_system_is_polled_although_it_answers(tmp_path: Path) -> None:
    """It tells what this machine does, not what others do."""
    source = FakeSource()
    source.spoke = True
    detector = open_detector(tmp_path, source, type_of=lambda _folder: "nfs4")

    assert detector.check(2.0)
    assert detector.state.reason.startswith("nfs4")
    assert not source.is_closed


@pytest.mark.parametrize(
    ("number", "word"),
    [
        (errno.ENOSPC, "max_user_watches"),
        (errno.EMFILE, "max_user_instances"),
        (errno.ENOSYS, "not available"),
    ],
)
def test_a_limit_is_named_and_tried_again_at_a_rescan(
    tmp_path: Path, number: int, word: str
) -> None:
    """The person can raise it; meanwhile nothing is missed."""
    second = FakeSource()
    second.spoke = True
    detector = open_detector(tmp_path, OSError(number, "no"), second)

    assert word in detector.state.reason
    assert detector.check(2.0)
    detector.refresh(3.0)
    assert detector.state.mode == "polling"
    detector.refresh(60.0, is_forced=True)

    assert detector.state.mode == "native"


def test_a_limit_that_is_hit_later_gives_the_watches_back(tmp_path: Path) -> None:
    """Half of the folders watched is not worth more than none, and costs others."""
    source = FakeSource()
    detector = open_detector(tmp_path, source)

    source.problem = OSError(errno.ENOSPC, "no")
    detector.refresh(1.0)

    assert source.is_closed
    assert detector.state.mode == "polling"


def test_a_folder_that_is_gone_is_waited_for(tmp_path: Path) -> None:
    """An unmounted drive comes back, and is another folder then."""
    folder = tmp_path / "memory"
    second = FakeSource()
    second.spoke = True
    detector = open_detector(folder, FileNotFoundError(errno.ENOENT, "no"), second)

    assert detector.state.reason == FOLDER_MISSING
    assert not detector.is_folder_there
    folder.mkdir()
    assert detector.check(2.0)

    assert detector.is_folder_there
    assert detector.state.mode == "native"


def test_a_folder_that_stays_away_is_not_looked_at(tmp_path: Path) -> None:
    """There is nothing to see, and it must not look like an emptied memory."""
    gone = FileNotFoundError(errno.ENOENT, "no")
    detector = open_detector(tmp_path / "memory", gone, gone)

    assert not detector.check(2.0)
    assert detector.state.reason == FOLDER_MISSING


def test_a_source_that_lost_its_folder_is_opened_again(tmp_path: Path) -> None:
    """After `mv memory old; mkdir memory` the watches are on the wrong folder."""
    first, second = FakeSource(), FakeSource()
    first.spoke = second.spoke = True
    detector = open_detector(tmp_path, first, second)

    first.is_good = False

    assert detector.check(2.0)
    assert first.is_closed
    assert not detector.check(4.0)


def test_a_missed_change_makes_it_poll(tmp_path: Path) -> None:
    """Whatever the reason: a source that missed one may miss the next."""
    source = FakeSource()
    source.spoke = True
    detector = open_detector(tmp_path, source)

    detector.report_missed_event()

    assert detector.check(2.0)
    assert "without an event" in detector.state.reason


def test_errors_of_a_source_leave_no_traceback(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Without watches, instances or events, polling takes over without a traceback."""
    with caplog.at_level(logging.DEBUG):
        open_detector(tmp_path, OSError(errno.EMFILE, "no")).check(2.0)

    assert not [record for record in caplog.records if record.exc_info]
