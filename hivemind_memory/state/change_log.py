"""The log of changes, a table of ``state.db``, so that they can be undone.

It belongs to this machine, and no note can hold it. A
record names ids and paths and keeps keyed hashes, never a text; a purge deletes those
that name what it purges. The newest ``MAX_CHANGES`` are kept. No write waits until its
record is on the disk: after a power cut the last of them may be missing.
"""

from __future__ import annotations

import json

from hivemind_memory.files.descriptors import is_there
from hivemind_memory.model.changes import LINK, Change, ChangedItem
from hivemind_memory.model.memories import UPDATES
from hivemind_memory.model.scope import scope_of
from hivemind_memory.model.value import as_dict, replaced, value
from hivemind_memory.notes.edge import FIELDS, links_in
from hivemind_memory.sqlite.connection import write_transaction
from hivemind_memory.state.briefings import drop_made_from
from hivemind_memory.state.state_file import PROMISE_WAIT_MS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    import apsw

    from hivemind_memory.state.state_file import StateFile

MAX_CHANGES = 2_000
_COLUMNS = "id, actor, record, undoes, undone_by, is_undo"
_OWN = f"SELECT {_COLUMNS} FROM changes WHERE notes = ?"
_NOT_IN_RECORD = ("id", "actor", "undoes", "undone_by", "is_undo", "text")


@value
class NamesInChanges:
    """Names by which changes are found, for a caller who may not see all of them."""

    own: frozenset[str]
    """Ids and paths. Another scope may have a note with the same id."""

    is_own: Callable[[str, str], bool]
    """Path and id of a note -> whether it is one of those."""

    keys: frozenset[str]
    """Keys, which memories of other scopes may have too."""

    is_seen: Callable[[str], bool]
    """Path of a note -> whether the caller may see it."""


class ChangeLog:
    """The changes in one notes folder. Any method may raise ``StateUnusableError``."""

    def __init__(self, state: StateFile) -> None:
        self._state = state

    def add(
        self,
        change: Change,
        replaced: Collection[str] = (),
        *,
        text: str = "",
        is_gone: Callable[[], bool] = lambda: False,
    ) -> None:
        """Add a change; what it undoes is marked in the same transaction.

        So are the briefings deleted that were made from what it concerns.

        Args:
            change: The change.
            replaced: Ids of memories that a save superseded.
            text: What was saved. If it was purged since then, nothing is added: the
                purge has looked through the log already.
            is_gone: Whether a purge has removed all that the change is about since
                then, asked when no other process writes.
        """
        scopes = {scope_of(item.path) for item in change.items} if text else set()
        hidden = {*_hidden_by(change), *replaced} - {""}

        def insert(connection: apsw.Connection) -> None:
            with write_transaction(connection):
                if is_gone() or any(
                    self._state.lists_purged(connection, text, scope)
                    for scope in scopes
                ):
                    return
                connection.execute(
                    f"INSERT INTO changes({_COLUMNS}, notes)"
                    " VALUES (?, ?, ?, ?, '', ?, ?)",
                    (
                        change.id,
                        change.actor,
                        _record_of(change),
                        change.undoes,
                        int(change.is_undo),
                        self._state.notes,
                    ),
                )
                connection.execute(
                    "DELETE FROM changes WHERE number <= ?",
                    (connection.last_insert_rowid() - MAX_CHANGES,),
                )
                _mark(connection, change.undoes, change.id)
                drop_made_from(connection, self._state.notes, hidden)

        self._state.run(insert, PROMISE_WAIT_MS)

    def find(self, change_id: str) -> Change | None:
        """Return a change by its id."""
        return next(self._select("AND id = ?", change_id), None)

    def newest(self) -> list[Change]:
        """Return all changes, newest first."""
        return list(self._select("ORDER BY number DESC"))

    def after(self, number: int) -> list[tuple[int, Change]]:
        """Return the changes after a number with theirs, oldest first."""
        if not is_there(self._state.path):
            return []
        sql = (
            f"SELECT number, {_COLUMNS} FROM changes"
            " WHERE notes = ? AND number > ? ORDER BY number"
        )

        def read(connection: apsw.Connection) -> list[tuple[int, Change]]:
            rows = connection.execute(sql, (self._state.notes, number))
            return [(int(str(row[0])), _change_of(row[1:])) for row in rows]

        return self._state.run(read, PROMISE_WAIT_MS)

    def since(self, change_id: str) -> list[Change]:
        """Return the changes with an id from *change_id* on, in any order."""
        return list(self._select("AND id >= ?", change_id))

    def last_number(self) -> int:
        """Return the number of the newest change; 0: there is none."""
        if not is_there(self._state.path):
            return 0
        sql = "SELECT coalesce(max(number), 0) FROM changes"

        def read(connection: apsw.Connection) -> int:
            return int(str(connection.execute(sql).fetchall()[0][0]))

        return self._state.run(read, PROMISE_WAIT_MS)

    def in_effect(self) -> Iterator[Change]:
        """Return the changes that are in effect and are no undo, newest first."""
        return self._select("AND is_undo = 0 AND undone_by = '' ORDER BY number DESC")

    def count_naming(self, names: NamesInChanges) -> int:
        """Return how many changes name a memory, of those that the caller sees."""
        return sum(_is_seen_about(change, names) for change in self.newest())

    def drop(self, names: NamesInChanges) -> int:
        """Delete the changes that name a memory; return how many the caller sees.

        Of a change that names other memories too, those are kept. A key in a note that
        the caller may not see means another memory.
        """

        def delete(connection: apsw.Connection) -> int:
            with write_transaction(connection):
                rows = connection.execute(_OWN, (self._state.notes,)).fetchall()
                named = [
                    change
                    for change in map(_change_of, rows)
                    if _is_about(change, names)
                ]
                for change in named:
                    items = tuple(
                        item for item in change.items if not _is_of(item, names)
                    )
                    others = tuple(i for i in change.others if not _is_of(i, names))
                    if not items or change.field:
                        connection.execute(
                            "DELETE FROM changes WHERE id = ?", (change.id,)
                        )
                        continue
                    kept = replaced(change, items=items, others=others)
                    connection.execute(
                        "UPDATE changes SET record = ? WHERE id = ?",
                        (_record_of(kept), change.id),
                    )
                return sum(_is_seen_about(change, names) for change in named)

        if not is_there(self._state.path):
            return 0
        return self._state.run(delete, PROMISE_WAIT_MS)

    def rewrite(self, change: Callable[[Change], Change]) -> None:
        """Replace changes by what *change* makes of them."""

        def update(connection: apsw.Connection) -> None:
            with write_transaction(connection):
                rows = connection.execute(_OWN, (self._state.notes,)).fetchall()
                for change_record in map(_change_of, rows):
                    new = change(change_record)
                    if new != change_record:
                        connection.execute(
                            "UPDATE changes SET record = ?, actor = ? WHERE id = ?",
                            (_record_of(new), new.actor, new.id),
                        )

        self._state.run(update, PROMISE_WAIT_MS)

    def _select(self, rest: str, *values: str) -> Iterator[Change]:
        """Yield the changes that the end of a query selects."""
        if not is_there(self._state.path):
            return iter(())
        bindings = (self._state.notes, *values)
        rows = self._state.run(
            lambda connection: connection.execute(
                f"{_OWN} {rest}", bindings
            ).fetchall(),
            PROMISE_WAIT_MS,
        )
        return map(_change_of, rows)


def _hidden_by(change: Change) -> Iterator[str]:
    """Yield ids and paths of what a change may hide or show again."""
    if change.kind == LINK:
        if change.field == FIELDS[UPDATES]:
            yield from _names_in([*change.before, *change.after])
        return
    for item in (*change.items, *change.others):
        yield from (item.id, item.path)


def _mark(connection: apsw.Connection, change_id: str, by: str) -> None:
    """Mark a change as undone by another, or as in effect again for an empty *by*.

    What it had undone itself is in effect again, or undone again, and so on.
    """
    while change_id:
        connection.execute(
            "UPDATE changes SET undone_by = ? WHERE id = ?", (by, change_id)
        )
        row = connection.execute(
            "SELECT undoes FROM changes WHERE id = ?", (change_id,)
        ).fetchone()
        by = "" if by else change_id
        change_id = str(row[0]) if row else ""


def _record_of(change: Change) -> str:
    """Return the fields of a change that have no column, as JSON; never a text."""
    values = {
        name: value
        for name, value in as_dict(change).items()
        if name not in _NOT_IN_RECORD
    }
    return json.dumps(values, default=str)


def _change_of(row: tuple[object, ...]) -> Change:
    """Return a change from its row."""
    change_id, actor, record, undoes, undone_by = map(str, row[:5])
    values = json.loads(record)
    return Change(
        id=change_id,
        actor=actor,
        undoes=undoes,
        undone_by=undone_by,
        is_undo=bool(row[5]),
        kind=values["kind"],
        at=values["at"],
        terminal=values.get("terminal", ""),
        items=tuple(ChangedItem(**item) for item in values["items"]),
        others=tuple(ChangedItem(**item) for item in values["others"]),
        field=values["field"],
        before=tuple(values["before"]),
        after=tuple(values["after"]),
    )


def _is_about(change: Change, names: NamesInChanges) -> bool:
    """Return whether a change names a memory."""
    items = (*change.items, *change.others)
    return (
        any(_is_of(item, names) for item in items)
        or _links_to(change, names.own)
        or _is_seen_about(change, names)
    )


def _is_seen_about(change: Change, names: NamesInChanges) -> bool:
    """Return whether a change names a memory in what the caller sees of it."""
    items = (*change.items, *change.others)
    if any(_is_of(item, names) and names.is_seen(item.path) for item in items):
        return True
    # A link is in the front matter of its only item.
    is_seen = all(names.is_seen(item.path) for item in change.items)
    return is_seen and _links_to(change, names.own | names.keys)


def _links_to(change: Change, names: Collection[str]) -> bool:
    """Return whether the links that a change made or removed name a memory."""
    if not change.field:
        return False
    wanted = {name.casefold() for name in names}
    wanted |= {name.removesuffix(".md") for name in wanted}
    return any(
        name.casefold().removesuffix(".md") in wanted
        for name in _names_in([*change.before, *change.after])
    )


def _names_in(value: object) -> Iterator[str]:
    """Yield every name in some links, as whole as it is there."""
    if isinstance(value, list | tuple):
        for item in value:
            yield from _names_in(item)
    elif isinstance(value, dict):
        yield from _names_in(list(value.values()))  # all of them, not the first alone
    else:
        yield str(value).strip()
        yield from links_in(str(value))


def _is_of(item: ChangedItem, names: NamesInChanges) -> bool:
    """Return whether an item is one of some memories."""
    return names.is_own(item.path, item.id)
