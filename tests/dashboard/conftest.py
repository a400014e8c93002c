"""A server over a home of the test's own, and a reader of its pages."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.dashboard.reader import Reader
from tests.http_api.conftest import home, served
from tests.http_api.served import Served

__all__ = ["home", "reader", "served"]


@pytest.fixture
def reader(served: Served) -> Iterator[Reader]:
    """The person whose machine it is, logged in by the link of ``hm dashboard``."""
    with Reader(served) as one:
        one.follow_link()
        yield one
