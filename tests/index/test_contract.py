"""The SQLite engine keeps the contract of the port."""

from __future__ import annotations

from tests.index.contract import IndexContract


class TestSqlite(IndexContract):
    """The index file; ``open_index`` is in conftest.py."""
