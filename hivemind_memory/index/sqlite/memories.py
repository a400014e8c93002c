"""Queries for typed memories, by key or id, and for their edges."""

from __future__ import annotations

from hivemind_memory.model.memories import (
    ACTIVE,
    CONTRADICTS,
    FORGOTTEN,
    PENDING,
    SUPERSEDED,
    EdgeRow,
    MemoryRow,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    import apsw

COLUMNS = """
  path, scope, coalesce(memory_id, ''), coalesce(type, ''), coalesce(key, ''), status,
  coalesce(importance, 0.5), coalesce(created, ''), coalesce(source, ''),
  coalesce(session, ''), is_pinned, expires_day, done_day, coalesce(claim, '')
"""
_ID_CHARS = 26
"""Characters of a ULID, which only a memory can have as its name."""

_BY_NAME = f"""
SELECT {COLUMNS} FROM files
WHERE state = 0 AND (path = ?1 OR path = ?1 || '.md' OR path LIKE '%/' || ?2 || '.md'
  ESCAPE '\\')
"""


def select_memories(
    connection: apsw.Connection,
    *,
    scopes: frozenset[str] | None,
    statuses: Collection[int] | None = None,
    **equal: str | None,
) -> list[MemoryRow]:
    """Return the memories that fit, newest first.

    Args:
        connection: The index.
        scopes: Scopes to look in; None: all.
        statuses: Statuses that fit; None: any.
        equal: Column -> what it must be; None: anything.
    """
    wanted = {column: value for column, value in equal.items() if value is not None}
    parts = [f" AND {column} = ?" for column in wanted]
    values: list[object] = list(wanted.values())
    if not wanted:
        # Free text with no name of its own is no memory.
        parts.append(" AND (type IS NOT NULL OR memory_id IS NOT NULL)")
    for column, allowed in (("scope", scopes), ("status", statuses)):
        if allowed is not None:
            parts.append(f" AND {column} IN ({','.join('?' * len(allowed))})")
            values += sorted(allowed)
    sql = f"SELECT {COLUMNS} FROM files WHERE state = 0{''.join(parts)}"
    rows = [MemoryRow(*row) for row in connection.execute(sql, values)]
    return sorted(rows, key=lambda row: (row.created, row.path), reverse=True)


def find_ref(
    connection: apsw.Connection,
    target: str,
    *,
    scopes: frozenset[str] | None,
    near: str = "",
) -> MemoryRow | None:
    """Return the note that an edge's end names: by id, key, path or file name.

    A path with ``.md`` comes before keys.

    Args:
        connection: The index.
        target: As it is written.
        scopes: Scopes that may be seen; None: all.
        near: The scope that wins when several notes answer to a name.
    """
    found = select_memories(connection, scopes=scopes, memory_id=target)
    if not found and target.endswith(".md"):
        found = select_memories(connection, scopes=scopes, path=target)
    found = found or select_memories(connection, scopes=scopes, key=target)
    if not found:
        name = target.removesuffix(".md").rpartition("/")[2]
        for odd in "\\%_":
            name = name.replace(odd, f"\\{odd}")
        rows = [MemoryRow(*row) for row in connection.execute(_BY_NAME, (target, name))]
        found = [row for row in rows if scopes is None or row.scope in scopes]
    alive = [row for row in found if row.status != FORGOTTEN]
    if len(alive) < 2:
        return alive[0] if alive else None
    from hivemind_memory.notes.slug import rank_of_name  # only for keys used twice

    return min(
        alive,
        key=lambda row: (
            row.status,
            (row.scope != near, row.scope),
            rank_of_name(row.path, row.key),
            row.path,
        ),
    )


def find_end(
    connection: apsw.Connection,
    kind: str,
    target: str,
    *,
    scopes: frozenset[str] | None,
    near: str = "",
) -> MemoryRow | None:
    """Return the note at which an edge ends; see ``find_ref``.

    What contradicts a version that was replaced contradicts the memory in its place,
    until a person ends that: no new text settles a dispute by itself.
    """
    end = find_ref(connection, target, scopes=scopes, near=near)
    if end is None or kind != CONTRADICTS or end.status != SUPERSEDED or not end.key:
        return end
    here = frozenset({end.scope})
    named = select_memories(connection, scopes=here, key=end.key)
    return next((row for row in named if row.status == ACTIVE), end)


def select_edges(
    connection: apsw.Connection, path: str, *, scopes: frozenset[str] | None
) -> list[EdgeRow]:
    """Return the edges at a note, both ways; ends that may not be seen are nothing."""
    here = connection.execute(
        f"SELECT {COLUMNS} FROM files WHERE state = 0 AND path = ?", (path,)
    ).fetchone()
    if here is None:
        return []
    mine = MemoryRow(*here)
    found: list[EdgeRow] = []
    for kind, target, weight in connection.execute(
        """
        SELECT kind, target, weight FROM edges JOIN files ON files.id = file_id
        WHERE state = 0 AND path = ? ORDER BY kind, target
        """,
        (path,),
    ):
        end = find_end(connection, kind, target, scopes=scopes, near=mine.scope)
        to_path, to_id = (end.path, end.memory_id) if end else ("", target)
        is_known = any((kind, to_path) == (edge.kind, edge.to_path) for edge in found)
        if to_path != path and not (to_path and is_known):
            found.append(
                EdgeRow(kind, weight, path, mine.memory_id, to_path, to_id or target)
            )
    found += _incoming(connection, mine, scopes)
    return found


def _incoming(
    connection: apsw.Connection, mine: MemoryRow, scopes: frozenset[str] | None
) -> Iterator[EdgeRow]:
    """Yield the edges that end at a note."""
    from hivemind_memory.notes.edge import names_of_note  # only where edges are shown

    names = names_of_note(mine.path, memory_id=mine.memory_id, key=mine.key)
    here = frozenset({mine.scope})
    if mine.key and mine.status == ACTIVE:
        named = select_memories(connection, scopes=here, key=mine.key)
        names |= {row.memory_id for row in named if row.status == SUPERSEDED}
    seen = set()
    marks = ",".join("?" * len(names))
    for kind, weight, path, scope, memory_id, target in connection.execute(
        f"""
        SELECT kind, weight, path, scope, coalesce(memory_id, ''), target
        FROM edges JOIN files ON files.id = file_id
        WHERE state = 0 AND status <> ? AND target IN ({marks}) AND path <> ?
          AND NOT (kind = '{CONTRADICTS}' AND status = {SUPERSEDED})
        ORDER BY kind, path
        """,
        (FORGOTTEN, *sorted(names), mine.path),
    ):
        if scopes is not None and scope not in scopes:
            continue
        # A name may mean another note to its author.
        end = find_end(connection, kind, target, scopes=scopes, near=scope)
        is_mine = end is not None and end.path == mine.path
        if is_mine and (kind, path) not in seen:
            seen.add((kind, path))
            yield EdgeRow(kind, weight, path, memory_id, mine.path, mine.memory_id)


def path_of_entry(
    connection: apsw.Connection, entry_id: str, *, scopes: frozenset[str] | None
) -> str:
    """Return the note that holds an entry, where it may be seen; empty: none does."""
    rows = connection.execute(
        """
        SELECT path, scope FROM chunks JOIN files ON files.id = file_id
        WHERE state = 0 AND entry_id = ? ORDER BY path
        """,
        (entry_id,),
    )
    paths = (path for path, scope in rows if scopes is None or scope in scopes)
    return str(next(paths, ""))


def scopes_with(connection: apsw.Connection, own_id: str) -> set[str]:
    """Return the scopes in which a memory or an entry has an id."""
    rows = connection.execute(
        """
        SELECT scope FROM files WHERE state = 0 AND memory_id = ?1
        UNION
        SELECT scope FROM chunks JOIN files ON files.id = file_id
        WHERE state = 0 AND entry_id = ?1
        """,
        (own_id,),
    )
    return {str(scope) for (scope,) in rows}


def strong_edges(
    connection: apsw.Connection,
    paths: Collection[str],
    *,
    scopes: frozenset[str] | None,
) -> list[tuple[str, str, str]]:
    """Return (path, kind, target) of what replaces or disputes, from some notes.

    A target that is not an id is the path of the note that it means, if there is one.
    An untrusted claim that waits in an inbox replaces and disputes nothing.
    """
    marks = ",".join("?" * len(paths))
    rows = connection.execute(
        f"""
        SELECT path, scope, kind, target, target IN (
            SELECT memory_id FROM files WHERE status = {SUPERSEDED}
          )
        FROM edges JOIN files ON files.id = file_id
        WHERE state = 0 AND status < ? AND kind <> 'related_to'
          AND path IN ({marks})
        ORDER BY path, kind, target
        """,
        (PENDING, *paths),
    ).fetchall()
    found = []
    for *names, is_replaced in rows:
        path, scope, kind, target = map(str, names)
        is_id = len(target) == _ID_CHARS and target.isupper()
        end = (
            None
            if is_id and not (is_replaced and kind == CONTRADICTS)
            else find_end(connection, kind, target, scopes=scopes, near=scope)
        )
        found.append((path, kind, end.path if end else target))
    return found
