"""What every test may count on, wherever it is run."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from hivemind_memory.memory.service import Memory
from tests.support.sandbox import House


def pytest_configure() -> None:
    """Undo what a shell did to us: our children are to be interrupted as usual.

    A program that was started in the background or by ``nohup`` ignores some signals,
    and so do all its children.
    """
    usual = {"SIGINT": signal.default_int_handler, "SIGHUP": signal.SIG_DFL}
    for name, handler in usual.items():
        number = getattr(signal, name, None)  # Windows has no SIGHUP
        if number is not None and signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, handler)


@pytest.fixture
def house(tmp_path: Path) -> House:
    """Return a home with an empty notes folder."""
    return House(tmp_path / "home")


@pytest.fixture
def memory(house: House) -> Iterator[Memory]:
    """Yield the memory of that home."""
    with house.memory() as opened:
        yield opened
