"""Progress is shown late, seldom, and only to people."""

from __future__ import annotations

import io

import pytest

from hivemind_memory.cli import progress
from hivemind_memory.cli.progress import ProgressDisplay, progress_text
from tests.support.waiting import wait_until


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Clock:
    def __init__(self) -> None:
        self.now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


def run_for(monkeypatch: pytest.MonkeyPatch, stream: io.StringIO, term: str) -> str:
    """Report 40 steps of a quarter of a second each to *stream*."""
    monkeypatch.setattr(progress.sys, "stderr", stream)
    monkeypatch.setenv("TERM", term)
    clock = Clock()
    with ProgressDisplay(clock) as show:
        for done in range(40):
            clock.now_s += 0.25
            show("reading", done, 40)
    return stream.getvalue()


def test_nothing_is_shown_in_the_first_second(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is over at once needs no progress."""
    shown = run_for(monkeypatch, Terminal(), "xterm")

    first = shown.split("\r\x1b[K")[1]
    assert int(first.split()[1].partition("/")[0]) >= 3
    assert "reading 39/40 (97 %)" in shown
    assert "s left" in shown
    assert shown.endswith("\r\x1b[K")


def test_a_dumb_terminal_gets_plain_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    """It would show the escape sequences as rubbish."""
    shown = run_for(monkeypatch, Terminal(), "dumb")

    assert "\x1b" not in shown
    assert shown.count("\n") == 2


def test_a_file_gets_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Logs of programs are not for watching."""
    assert run_for(monkeypatch, io.StringIO(), "xterm") == ""


@pytest.mark.parametrize(
    ("done", "total", "took_s", "line"),
    [
        (0, 0, 0.0, "p 0/0"),
        (0, 10, 5.0, "p 0/10 (0 %)"),
        (5, 10, 10.0, "p 5/10 (50 %), 0.5/s, 10 s left"),
        (12, 10, 1.0, "p 12/10 (120 %), 12/s, 0 s left"),
    ],
)
def test_odd_numbers_do_no_harm(
    done: int, total: int, took_s: float, line: str
) -> None:
    """A total may be unknown, or grow too late."""
    assert progress_text("p", done, total, took_s) == line


def test_one_step_that_takes_long_is_shown_without_another_call(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A single large note reported nothing until it was indexed."""
    stream = Terminal()
    monkeypatch.setattr(progress.sys, "stderr", stream)
    monkeypatch.setattr(progress, "QUIET_S", 0.01)
    monkeypatch.setenv("TERM", "xterm")
    with ProgressDisplay(lambda: 100.0) as show:
        show("indexing", 0, 1)
        wait_until(lambda: "indexing 0/1" in stream.getvalue())

    assert stream.getvalue().endswith("\r\x1b[K")
