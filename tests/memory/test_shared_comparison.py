"""Of many processes, one compares all notes each second, and the others rely on it."""

from __future__ import annotations

import mmap
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from hivemind_memory.files.folder import NotesFolder
from hivemind_memory.files.locks import KernelLock
from hivemind_memory.memory import shared_comparison
from hivemind_memory.memory.memory import Memory
from hivemind_memory.memory.shared_comparison import SharedComparison
from tests.support.sandbox import Sandbox, ask, paths

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="only Linux names what has changed"
)


@pytest.fixture
def wait(sandbox: Sandbox) -> Callable[[float], None]:
    """Let some seconds pass on the stopwatch of all processes."""
    time_s = [1_000.0]
    sandbox.stopwatch = lambda: time_s[0]

    def wait(seconds: float) -> None:
        time_s[0] += seconds

    return wait


@pytest.fixture
def both(sandbox: Sandbox, wait: Callable[[float], None]) -> Iterator[list[Memory]]:
    """Two processes with the same notes, each of which watches the folder."""
    del wait
    sandbox.save("a.md", "The old text.\n")
    with sandbox.memory() as one, sandbox.memory() as other:
        for memory in (one, other) * 3:
            assert paths(ask(memory, "old")) == ["a.md"]
        yield [one, other]


def no_scan() -> Any:
    """Return a context in which a scan of the folder fails the test."""
    return mock.patch.object(NotesFolder, "snapshot", side_effect=AssertionError)


def edit_unheard(sandbox: Sandbox, text: bytes) -> None:
    """Change a note as no event tells: through a memory map."""
    with (
        (sandbox.notes / "a.md").open("r+b") as file,
        mmap.mmap(file.fileno(), 0) as view,
    ):
        view[:] = text
        view.flush()


def test_what_one_process_has_compared_no_other_compares_again(
    both: list[Memory], wait: Callable[[float], None]
) -> None:
    """Each of 32 servers scanned the folder every second, and read young notes again.

    Of what their calls took, that was a third.
    """
    one, other = both
    for _ in range(3):
        wait(0.9)
        ask(one, "old")
        wait(0.2)
        ask(one, "old")
        with no_scan():
            assert ask(other, "old").report.is_fresh


def test_what_no_event_tells_is_found_by_whoever_compares(
    sandbox: Sandbox, both: list[Memory], wait: Callable[[float], None]
) -> None:
    """Within a second, as before; then the others have it without a scan."""
    one, other = both
    edit_unheard(sandbox, b"The new text.\n")
    wait(1.1)

    assert paths(ask(one, "new")) == ["a.md"]
    with no_scan():
        assert paths(ask(other, "new")) == ["a.md"]


def test_a_comparison_is_relied_on_for_a_second_from_its_beginning(
    sandbox: Sandbox, both: list[Memory], wait: Callable[[float], None]
) -> None:
    """Not for a second after it is heard of: that would be two."""
    one, other = both
    wait(1.1)
    ask(one, "old")
    wait(0.8)
    ask(other, "old")
    edit_unheard(sandbox, b"The new text.\n")
    wait(0.3)

    assert paths(ask(other, "new")) == ["a.md"]


def test_a_note_that_another_process_skipped_is_not_relied_on(
    sandbox: Sandbox, both: list[Memory], wait: Callable[[float], None]
) -> None:
    """What an answer reports as skipped is what its own process found."""
    one, other = both
    wait(1.1)
    (sandbox.notes / "odd.MD").write_text("Odd.\n", encoding="utf-8")
    for memory in (one, other):
        handle = memory.index_handle
        found = handle.freshness_check().ensure_fresh(handle.opened().index)
        assert found.skipped == ("odd.MD",)


def test_a_process_that_is_stopped_while_it_compares_is_waited_for_once(
    sandbox: Sandbox, both: list[Memory], wait: Callable[[float], None]
) -> None:
    """Then each compares for itself until the other goes on."""
    waits: list[float] = []
    acquire = KernelLock.acquire

    def recorded(self: KernelLock, *, wait_s: float) -> bool:
        if self.path.endswith("compared.lock"):
            waits.append(wait_s)
            wait_s = 0
        return acquire(self, wait_s=wait_s)

    stopped = KernelLock(f"{sandbox.places.index}/compared.lock")
    assert stopped.try_acquire()
    with mock.patch.object(KernelLock, "acquire", recorded):
        for _ in range(3):
            wait(1.1)
            assert paths(ask(both[0], "old")) == ["a.md"]
    stopped.release()

    assert waits == [shared_comparison.WAIT_S, 0, 0]


def test_only_who_sees_the_same_folder_relies_on_a_comparison(tmp_path: Path) -> None:
    """Another container, start of the system, index or size limit."""
    file = str(tmp_path / "compared")
    shared = SharedComparison(file, ("/notes", 5))
    shared.record(("made", "purge"), 12.5)

    assert SharedComparison(file, ("/notes", 5)).latest_s(("made", "purge")) == 12.5
    assert shared.latest_s(("made", "another purge")) == 0
    assert SharedComparison(file, ("/notes", 6)).latest_s(("made", "purge")) == 0
    with mock.patch.object(shared_comparison, "_BOOT_FILE", "/proc/version"):
        elsewhere = SharedComparison(file, ("/notes", 5))
        assert elsewhere.latest_s(("made", "purge")) == 0


@pytest.mark.parametrize("data", [b"", b"13.5", b"13.5 ", b"\xff x", b"nan nan"])
def test_a_torn_comparison_counts_as_none(tmp_path: Path, data: bytes) -> None:
    """Two processes may write it at once."""
    file = tmp_path / "compared"
    shared = SharedComparison(str(file), ())
    shared.record((), 12.5)
    whole = file.read_bytes()
    file.write_bytes(data + whole[len(data) :])
    torn = shared.latest_s(())

    assert torn == (12.5 if not data else 0)
