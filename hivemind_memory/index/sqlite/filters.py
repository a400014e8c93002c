"""A filter as SQL, and as little of it as the index needs.

Who may see a note is part of every query, so that no ranking, count or cut ever knows
of the others. Where the index holds nothing that a filter would hide, there is none.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    import apsw

    from hivemind_memory.model.filters import Access, Wish

_SCOPES = "SELECT DISTINCT scope FROM files WHERE state = 0"
_ODDITIES = """
SELECT coalesce(max(standing = 2), 0), coalesce(max(expires_day IS NOT NULL), 0),
  coalesce(max(standing = 1), 0)
FROM files WHERE state = 0 AND (standing <> 0 OR expires_day IS NOT NULL)
"""
_STRONG_EDGES = "SELECT 1 FROM edges WHERE kind <> 'related_to' LIMIT 1"


class Where:
    """Conditions on ``files`` and ``chunks``, with their values."""

    __slots__ = ("sql", "values")

    def __init__(self, parts: list[tuple[str, tuple[object, ...]]]) -> None:
        self.sql = "".join(f" AND {sql}" for sql, _ in parts)
        """Begins with AND, or is empty."""
        self.values = tuple(value for _, values in parts for value in values)

    @property
    def key(self) -> str:
        """What tells one from another."""
        return f"{self.sql} {self.values}"

    def __bool__(self) -> bool:
        """Whether it hides anything."""
        return bool(self.sql)


NOWHERE_HIDDEN = Where([])


class Holdings:
    """What the index holds at all, as far as filters care; read once a change."""

    __slots__ = ("has_expiring", "has_strong_edges", "has_waiting", "scopes")

    def __init__(self, connection: apsw.Connection) -> None:
        self.scopes = frozenset(scope for (scope,) in connection.execute(_SCOPES))
        [(waiting, expiring, replaced)] = connection.execute(_ODDITIES)
        self.has_waiting = bool(waiting)
        self.has_expiring = bool(expiring)
        self.has_strong_edges = bool(replaced) or (
            connection.execute(_STRONG_EDGES).fetchone() is not None
        )
        """Something replaces or disputes something."""


def where_visible(access: Access, holdings: Holdings) -> Where:
    """Return the condition that leaves what a caller may see."""
    parts: list[tuple[str, tuple[object, ...]]] = []
    if access.scopes is not None and not holdings.scopes <= access.scopes:
        parts.append(_among("files.scope", sorted(access.scopes)))
    if access.is_public_only:
        inherited = "'public'"
        private = tuple(sorted(access.private_scopes))
        if private:
            marks = ",".join("?" * len(private))
            inherited = f"CASE WHEN files.scope IN ({marks}) THEN '' ELSE 'public' END"
        parts.append((f"coalesce(files.visibility, {inherited}) = 'public'", private))
    return Where(parts)


def where_wished(access: Access, wish: Wish, today: int, holdings: Holdings) -> Where:
    """Return the condition for a question: what may be seen, and is asked for."""
    visible = where_visible(access, holdings)
    parts = [(visible.sql.removeprefix(" AND "), visible.values)] if visible else []
    if wish.scope is not None:
        parts.append(("files.scope = ?", (wish.scope,)))
    if wish.types:
        parts.append(_among("files.type", wish.types))
    if holdings.has_waiting and not wish.has_waiting:
        parts.append(("files.standing <> 2", ()))
    if holdings.has_expiring and not wish.has_expired:
        parts.append(("coalesce(files.expires_day > ?, 1)", (today,)))
    day = "coalesce(chunks.day, files.day)"
    if wish.since_day is not None:
        parts.append((f"{day} >= ?", (wish.since_day,)))
    if wish.until_day is not None:
        parts.append((f"{day} <= ?", (wish.until_day,)))
    return Where(parts)


def _among(
    column: str, values: list[str] | tuple[str, ...]
) -> tuple[str, tuple[str, ...]]:
    """Return the condition that a column has one of some values."""
    return f"{column} IN ({','.join('?' * len(values))})", tuple(values)
