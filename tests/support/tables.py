"""What a database holds before anything is written, however it was made."""

from __future__ import annotations

import re

import apsw

_COMMENT = re.compile(r"--[^\n]*")
_SPACE_OR_QUOTE = re.compile(r'[\s"]+')


def tables_of(statements: list[str]) -> dict[str, str]:
    """Return the tables, indexes, views and triggers that statements make.

    Returns:
        The SQL of each by its name, without comments, spaces and quotes; and the
        settings of the full-text tables, which are rows.
    """
    with apsw.Connection(":memory:") as database:
        for sql in statements:
            database.execute(sql)
        made = dict(
            database.execute("SELECT name, coalesce(sql, '') FROM sqlite_schema")
        )
        for name in [name for name in made if name.endswith("_fts_config")]:
            made[f"rows of {name}"] = str(
                sorted(database.execute(f"SELECT * FROM {name}"))
            )
    return {
        name: _SPACE_OR_QUOTE.sub("", _COMMENT.sub("", sql))
        for name, sql in made.items()
    }
