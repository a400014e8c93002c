"""The skills that were made from memories, and where they lie: tables of ``state.db``.

A skill is a ``SKILL.md`` that was written from a memory into folders that agents read.
Here is which memory that was, and for each copy the text that was written: what a
person has changed in it since is told by the difference.
"""

from __future__ import annotations

from hivemind_memory.files.descriptors import is_there
from hivemind_memory.model.value import replaced, value
from hivemind_memory.sqlite.connection import synced_transaction
from hivemind_memory.state.state_file import PROMISE_WAIT_MS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    import apsw

    from hivemind_memory.state.state_file import StateFile

_COLUMNS = "scope, name, ref, key, description, version"
_COPY_COLUMNS = "folder, scope, name, root, git_folder, made, base, kept, is_placed"


@value
class SkillCopy:
    """One folder with the ``SKILL.md`` of a skill."""

    folder: str
    """Absolute, links resolved."""

    scope: str
    name: str
    root: str
    """The worktree in which it lies, or the home folder of the user."""

    base: str
    """The file as it was last written by this program."""

    git_folder: str = ""
    """The git folder that the worktrees share; empty: it is in the user's home."""

    made: str = ""
    """The highest folder that was made for it; empty: all but its own were there."""

    kept: bytes | None = None
    """The file as a person had edited it, while the copy is taken away."""

    is_placed: bool = True
    """False: it was taken away, because its memory does not count now."""


@value
class Skill:
    """A memory that was made a skill."""

    name: str
    scope: str
    """Of its memory."""

    ref: str
    """Id of the version that it was made from."""

    key: str
    version: int
    """1 for the first; one more each time its text changes."""

    description: str = ""
    """As a person gave it; empty: it is derived from the memory."""

    copies: tuple[SkillCopy, ...] = ()


class SkillStore:
    """The skills of one notes folder. Threads may share it.

    Every method may raise a ``StateUnusableError``: nothing was changed then.
    """

    def __init__(self, state: StateFile) -> None:
        self._state = state

    def all(self) -> list[Skill]:
        """Return all skills by name and scope. To look makes no file."""
        if not is_there(self._state.path):
            return []
        notes = (self._state.notes,)

        def read(connection: apsw.Connection) -> list[Skill]:
            copies = [
                _copy_of(row)
                for row in connection.execute(
                    f"SELECT {_COPY_COLUMNS} FROM skill_copies WHERE notes = ?"
                    " ORDER BY folder",
                    notes,
                )
            ]
            rows = connection.execute(
                f"SELECT {_COLUMNS} FROM skills WHERE notes = ? ORDER BY name, scope",
                notes,
            )
            return [_skill_of(row, copies) for row in rows]

        return self._state.run(read, PROMISE_WAIT_MS)

    def put(self, skill: Skill) -> None:
        """Save a skill with all of its copies, in place of what was saved of it."""
        notes = self._state.notes

        def write(connection: apsw.Connection) -> None:
            with synced_transaction(connection):
                _delete(connection, notes, skill)
                _insert(connection, notes, skill)

        self._state.run(write, PROMISE_WAIT_MS)

    def drop(self, skill: Skill) -> None:
        """Forget a skill and its copies."""

        def delete(connection: apsw.Connection) -> None:
            with synced_transaction(connection):
                _delete(connection, self._state.notes, skill)

        self._state.run(delete, PROMISE_WAIT_MS)

    def rename_scope(self, new_name: Callable[[str], str]) -> None:
        """Give the skills of a renamed scope its new name.

        Where the new scope has a skill of that name, the one that moves gets a number.
        """
        known = self.all()
        moved: list[tuple[Skill, Skill]] = []
        taken = {
            (skill.scope, skill.name)
            for skill in known
            if new_name(skill.scope) == skill.scope
        }
        for skill in known:
            scope, name, number = new_name(skill.scope), skill.name, 1
            if scope == skill.scope:
                continue
            while (scope, name) in taken:
                number += 1
                name = f"{skill.name}-{number}"
            taken.add((scope, name))
            copies = tuple(
                replaced(copy, scope=scope, name=name) for copy in skill.copies
            )
            new = replaced(skill, scope=scope, name=name, copies=copies)
            moved.append((skill, new))
        notes = self._state.notes

        def write(connection: apsw.Connection) -> None:
            # One transaction: a kill between the two would lose what a person edited.
            with synced_transaction(connection):
                for old, _ in moved:
                    _delete(connection, notes, old)
                for _, new in moved:
                    _insert(connection, notes, new)

        if moved:
            self._state.run(write, PROMISE_WAIT_MS)


def _delete(connection: apsw.Connection, notes: str, skill: Skill) -> None:
    """Delete the rows of a skill."""
    for table in ("skills", "skill_copies"):
        connection.execute(
            f"DELETE FROM {table} WHERE notes = ? AND scope = ? AND name = ?",
            (notes, skill.scope, skill.name),
        )


def _insert(connection: apsw.Connection, notes: str, skill: Skill) -> None:
    """Insert the rows of a skill."""
    connection.execute(
        f"INSERT INTO skills({_COLUMNS}, notes) VALUES (?, ?, ?, ?, ?, ?, ?)",
        (
            *(skill.scope, skill.name, skill.ref, skill.key),
            *(skill.description, skill.version, notes),
        ),
    )
    connection.executemany(
        f"INSERT OR REPLACE INTO skill_copies({_COPY_COLUMNS}, notes)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [(*_row_of(copy), notes) for copy in skill.copies],
    )


def _skill_of(row: tuple[object, ...], copies: list[SkillCopy]) -> Skill:
    """Return the skill of a row, with those of some copies that are its own."""
    scope, name, ref, key, description, version = map(str, row)
    return Skill(
        name=name,
        scope=scope,
        ref=ref,
        key=key,
        description=description,
        version=int(version),
        copies=tuple(
            copy for copy in copies if (copy.scope, copy.name) == (scope, name)
        ),
    )


def _copy_of(row: tuple[object, ...]) -> SkillCopy:
    """Return the copy of a row."""
    folder, scope, name, root, git_folder, made, base, kept, is_placed = row
    return SkillCopy(
        folder=str(folder),
        scope=str(scope),
        name=str(name),
        root=str(root),
        git_folder=str(git_folder),
        made=str(made),
        base=str(base),
        kept=kept if isinstance(kept, bytes) else None,
        is_placed=bool(is_placed),
    )


def _row_of(copy: SkillCopy) -> tuple[object, ...]:
    """Return the columns of a copy, in the order of ``_COPY_COLUMNS``."""
    return (
        *(copy.folder, copy.scope, copy.name, copy.root, copy.git_folder, copy.made),
        *(copy.base, copy.kept, int(copy.is_placed)),
    )
