"""One house for each test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from hivemind_memory.memory.service import Memory

from .house import House


@pytest.fixture
def house(tmp_path: Path) -> House:
    """A home with an empty folder of notes."""
    return House(tmp_path / "home")


@pytest.fixture
def memory(house: House) -> Iterator[Memory]:
    """The memory of that home."""
    with house.memory() as opened:
        yield opened
