"""Which chunks a query may find, as SQL.

What a caller may see is part of every statement, so that no ranking, count or cut knows
of the rest. Where the index holds nothing that a condition would hide, it is left out.
"""

from __future__ import annotations

from hivemind_memory.model.late_typing import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    import apsw

    from hivemind_memory.model.filters import (
        Access,
        Condition,
        Requirement,
        SearchFilter,
    )


_SOURCE = """CASE
  WHEN files.source IN ('tool', 'external') THEN files.source
  ELSE coalesce(chunks.source, files.source, '') END"""
"""As ``trust.shown_source`` has it, of a note and of an entry in it: each is in the
index as it is shown."""


class SqlFilter(NamedTuple):
    """A condition on ``files`` and ``chunks``, with its values."""

    sql: str = ""
    """Begins with AND, or is empty: it hides nothing."""

    values: tuple[object, ...] = ()


class IndexContents:
    """What the index holds, as far as filters care; read once for each change."""

    __slots__ = ("has_expiring", "has_pending", "has_strong_edges", "scopes")

    def __init__(self, connection: apsw.Connection) -> None:
        rows = connection.execute("SELECT DISTINCT scope FROM files WHERE state = 0")
        self.scopes = frozenset(scope for (scope,) in rows)
        [(has_pending, has_expiring, has_superseded)] = connection.execute(
            """
            SELECT coalesce(max(status = 2), 0),
              coalesce(max(expires_day IS NOT NULL), 0), coalesce(max(status = 1), 0)
            FROM files WHERE state = 0 AND (status <> 0 OR expires_day IS NOT NULL)
            """
        )
        self.has_pending = bool(has_pending)
        self.has_expiring = bool(has_expiring)
        edges = "SELECT 1 FROM edges WHERE kind <> 'related_to' LIMIT 1"
        self.has_strong_edges = (
            bool(has_superseded) or connection.execute(edges).fetchone() is not None
        )
        """Something supersedes or contradicts something."""


def visibility_filter(access: Access | None, contents: IndexContents) -> SqlFilter:
    """Return the SQL condition that leaves what a caller may see."""
    return _joined(_parts_of(access.condition if access else (), contents))


def query_filter(
    access: Access | None,
    search_filter: SearchFilter | None,
    today: int,
    contents: IndexContents,
) -> SqlFilter:
    """Return the SQL condition for a query: what is visible, and asked for."""
    parts = _parts_of(access.condition if access else (), contents)
    if search_filter is None:
        return _joined(parts)
    parts += _places(search_filter)
    if search_filter.types:
        parts.append(_among("files.type", search_filter.types))
    if search_filter.source:
        parts.append(SqlFilter(f"{_SOURCE} = ?", (search_filter.source,)))
    if search_filter.source_ref:
        column = "substr(coalesce(chunks.source_ref, files.source_ref, ''), 1, ?)"
        ref = search_filter.source_ref
        parts.append(SqlFilter(f"{column} = ?", (len(ref), ref)))
    for tag in search_filter.tags:
        from hivemind_memory.model.tags import tag_lines

        both = "coalesce(files.tags, '') || coalesce(chunks.tags, '')"
        parts.append(SqlFilter(f"instr({both}, ?)", (tag_lines([tag]),)))
    if contents.has_pending and not search_filter.has_pending:
        parts.append(SqlFilter("files.status <> 2"))
    if contents.has_expiring and not search_filter.has_expired:
        parts.append(SqlFilter("coalesce(files.expires_day > ?, 1)", (today,)))
    day = "coalesce(chunks.day, files.day)"
    if search_filter.since_day is not None:
        parts.append(SqlFilter(f"{day} >= ?", (search_filter.since_day,)))
    if search_filter.until_day is not None:
        parts.append(SqlFilter(f"{day} <= ?", (search_filter.until_day,)))
    if search_filter.since_ms is not None:
        parts.append(_from(search_filter.since_ms))
    if search_filter.until_ms is not None:
        later = _from(search_filter.until_ms + 1)
        parts.append(SqlFilter(f"NOT {later.sql}", later.values))
    return _joined(parts)


def _places(search_filter: SearchFilter) -> Iterator[SqlFilter]:
    """Yield the conditions on where a note is, and on a pin."""
    if search_filter.scope is not None:
        yield SqlFilter("files.scope = ?", (search_filter.scope,))
    if search_filter.scopes is not None:
        yield _among("files.scope", sorted(search_filter.scopes))
    if search_filter.folder:
        folder = search_filter.folder
        # "0" is the character after "/".
        between = (f"{folder}/", f"{folder}0")
        yield SqlFilter("files.path >= ? AND files.path < ?", between)
    if search_filter.is_pinned:
        yield SqlFilter("files.is_pinned")


def near_filter(
    scopes: Collection[str], contents: IndexContents, matching: SqlFilter
) -> SqlFilter | None:
    """Return the condition on what is near to a caller; None: nothing is.

    Args:
        scopes: Those of the caller, the global one left out.
        contents: What the index holds.
        matching: What the query may find; only that is near.
    """
    own = sorted(contents.scopes.intersection(scopes))
    if not own:
        return None
    near = _joined([SqlFilter("files.status = 0"), _among("files.scope", own)])
    return SqlFilter(matching.sql + near.sql, (*matching.values, *near.values))


def _from(moment_ms: int) -> SqlFilter:
    """Return the condition that something was written at a moment or later.

    The id of an entry or a memory begins with the time of writing and sorts by it.
    """
    from hivemind_memory.markdown.entry import new_ulid

    first_id = new_ulid(moment_ms / 1000, bytes(10))
    return SqlFilter(
        """(CASE
          WHEN length(chunks.entry_id) = 26 THEN chunks.entry_id >= ?
          WHEN chunks.entry_id IS NULL AND length(files.memory_id) = 26
            THEN files.memory_id >= ?
          ELSE files.mtime >= ? END)""",
        (first_id, first_id, moment_ms * 1_000_000),
    )


_COLUMNS = {
    "scope": "files.scope",
    "visibility": "coalesce(files.visibility, '')",
    "path": "files.path",
}
"""Field of a ``Requirement`` -> what it is in SQL."""


def _parts_of(condition: Condition, contents: IndexContents) -> list[SqlFilter]:
    """Return the clauses of a condition that hide anything, each as SQL."""
    parts = []
    for clause in condition:
        if any(_is_met_by_all(requirement, contents) for requirement in clause):
            continue
        tests = [_sql_of(requirement) for requirement in clause]
        sql = " OR ".join(test.sql for test in tests)
        values = tuple(value for test in tests for value in test.values)
        parts.append(SqlFilter(f"({sql})", values))
    return parts


def _is_met_by_all(requirement: Requirement, contents: IndexContents) -> bool:
    """Return whether every note of the index meets a requirement on its scope."""
    return requirement.field == "scope" and all(
        requirement.is_met_by(scope) for scope in contents.scopes
    )


def _sql_of(requirement: Requirement) -> SqlFilter:
    """Return a requirement as SQL."""
    column = _COLUMNS[requirement.field]
    return _among(
        column, sorted(requirement.values), is_excluded=requirement.is_excluded
    )


def _among(
    column: str, values: Collection[str], *, is_excluded: bool = False
) -> SqlFilter:
    """Return the condition that a column has one of some values, or none of them."""
    verb = "NOT IN" if is_excluded else "IN"
    return SqlFilter(f"{column} {verb} ({','.join('?' * len(values))})", tuple(values))


def _joined(parts: Iterable[SqlFilter]) -> SqlFilter:
    """Return the condition that all parts hold."""
    parts = list(parts)
    return SqlFilter(
        "".join(f" AND {part.sql}" for part in parts),
        tuple(value for part in parts for value in part.values),
    )
