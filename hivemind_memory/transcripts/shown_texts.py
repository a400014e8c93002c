"""Asks the full-text engine about texts that no index holds: as they are shown."""

from __future__ import annotations

import apsw

from hivemind_memory.model.terms import TOKENIZER, extra_terms
from hivemind_memory.sqlite.connection import IN_MEMORY

_SCHEMA = f"""
CREATE VIRTUAL TABLE shown USING fts5(text, extra, tokenize = "{TOKENIZER}");
"""


class ShownTexts:
    """Matches texts as the store of messages does; opened with the first text."""

    def __init__(self) -> None:
        self._connection: apsw.Connection | None = None

    def has_match(self, text: str, match: str) -> bool:
        """Return whether the engine finds a text.

        Args:
            text: With its secrets masked.
            match: In the full-text language.
        """
        if self._connection is None:
            self._connection = apsw.Connection(IN_MEMORY)
            self._connection.execute(_SCHEMA)
        self._connection.execute("DELETE FROM shown")
        self._connection.execute(
            "INSERT INTO shown(text, extra) VALUES (?, ?)", (text, extra_terms(text))
        )
        rows = self._connection.execute(
            "SELECT 1 FROM shown WHERE shown MATCH ?", (match,)
        )
        return next(iter(rows), None) is not None
