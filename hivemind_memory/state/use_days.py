"""What was recalled, how long searches took and what was embedded, by day.

Tables of ``state.db`` for figures. They hold numbers, and never a question, an id or a
text: how often memories of a type and a scope were recalled by an agent, how many
searches took how long, and how much was sent to an embedding provider. Who reads them
finds what was asked in the own project or workspace, as of activity.

Those of a search are written with the recall counters, see ``recall_log``.
"""

from __future__ import annotations

import math
from collections import Counter
from itertools import accumulate

from hivemind_memory.errors import StateUnusableError
from hivemind_memory.files.descriptors import is_there
from hivemind_memory.model.value import value
from hivemind_memory.sqlite.connection import write_transaction
from hivemind_memory.state.state_file import PROMISE_WAIT_MS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    import apsw

    from hivemind_memory.model.query import SearchAnswer
    from hivemind_memory.state.state_file import StateFile

    MayFind = Callable[[str, str], bool]
    """Takes a project and a workspace that asked; see ``access.activity_rules``."""

KEPT_DAYS = 90
"""Older rows are deleted, see ``_oldest_kept``."""

MAX_AGENT_CHARS = 64
_STEPS_A_DOUBLING = 4
_SLOWEST = 80

_COUNT_RECALL = """
INSERT INTO recall_days(notes, day, workspace, project, agent, scope, type, count)
VALUES {}
ON CONFLICT DO UPDATE SET count = count + excluded.count
"""
_RECALL = "(?, ?, ?, ?, ?, ?, ?, ?)"
_COUNT_SEARCH = """
INSERT INTO search_days(notes, day, workspace, project, step, count)
VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT DO UPDATE SET count = count + excluded.count
RETURNING count
"""
_COUNT_SENT = """
INSERT INTO embedding_days(notes, day, provider, texts, characters)
VALUES (?, ?, ?, ?, ?)
ON CONFLICT DO UPDATE
SET texts = texts + excluded.texts, characters = characters + excluded.characters
"""
_TABLES = ("recall_days", "search_days", "embedding_days")

Sent = dict[str, tuple[int, int]]
"""Name of a provider and its model -> how many texts it got, and their characters."""


@value
class AskedBy:
    """Who asks, and on which day."""

    day: int  # days since 1970-01-01, local
    workspace: str = ""  # its scope; empty: none
    project: str = ""
    agent: str = ""
    """Its name; empty: a person."""


def step_of(took_ms: float) -> int:
    """Return the step of a time; four steps double it.

    >>> step_of(0.3), step_of(1.0), step_of(16.0), step_of(17.0)
    (0, 0, 16, 17)
    """
    if took_ms <= 1:
        return 0
    return min(_SLOWEST, math.ceil(round(_STEPS_A_DOUBLING * math.log2(took_ms), 6)))


def percentile_ms(steps: Mapping[int, int], share: float) -> float:
    """Return the time that a share of searches did not exceed, at most 19 % too high.

    >>> percentile_ms({8: 9, 16: 1}, 0.5), percentile_ms({8: 9, 16: 1}, 0.95)
    (4.0, 16.0)
    """
    wanted = share * sum(steps.values())
    ordered = sorted(steps.items())
    sums = accumulate(count for _, count in ordered)
    pairs = zip(ordered, sums, strict=True)
    step = next(step for (step, _), so_far in pairs if so_far >= wanted)
    return float(2 ** (step / _STEPS_A_DOUBLING))


def count_search(
    connection: apsw.Connection, notes: str, answer: SearchAnswer, asked: AskedBy
) -> None:
    """Count a search and what it found, in the transaction of the caller."""
    found = Counter((hit.scope, hit.type) for hit in answer.hits if hit.id)
    where = (notes, asked.day, asked.workspace, asked.project)
    agent = asked.agent[:MAX_AGENT_CHARS]
    if found:
        rows = [(*where, agent, *which, count) for which, count in found.items()]
        sql = _COUNT_RECALL.format(", ".join([_RECALL] * len(rows)))
        connection.execute(sql, [value for row in rows for value in row])
    step = step_of(answer.report.took_ms)
    [(count,)] = connection.execute(_COUNT_SEARCH, (*where, step, 1))
    if count == 1:  # the first of its kind today: as good a moment as any
        oldest = _oldest_kept(connection, notes, asked.day)
        for table in _TABLES:
            connection.execute(
                f"DELETE FROM {table} WHERE notes = ? AND day < ?", (notes, oldest)
            )


def _oldest_kept(connection: apsw.Connection, notes: str, today: int) -> int:
    """Return the first day that is kept, counted from the day of the last search.

    A clock that is ahead for one search must not take all days away. After a longer
    time without searches, the days before it go with the second day of searches.
    """
    [(last,)] = connection.execute(
        "SELECT max(day) FROM search_days WHERE notes = ? AND day < ?", (notes, today)
    )
    return (today if last is None else last + 1) - KEPT_DAYS


def count_sent(connection: apsw.Connection, notes: str, day: int, sent: Sent) -> None:
    """Count what providers got, in the transaction of the caller."""
    for provider, (texts, characters) in sent.items():
        connection.execute(_COUNT_SENT, (notes, day, provider, texts, characters))


class UseDays:
    """The figures of one notes folder. Reading them never raises."""

    def __init__(self, state: StateFile) -> None:
        """Take the state."""
        self._state = state

    def recalls(
        self, may_find: MayFind, first_day: int
    ) -> dict[tuple[int, str, str], int]:
        """Return (day, agent, type) -> how many recalls a caller finds."""
        found: Counter[tuple[int, str, str]] = Counter()
        for workspace, project, day, agent, name, count in self._rows(
            "SELECT workspace, project, day, agent, type, sum(count) FROM recall_days"
            " WHERE notes = ? AND day >= ? GROUP BY 1, 2, 3, 4, 5",
            first_day,
        ):
            if may_find(str(project), str(workspace)):
                found[int(str(day)), str(agent), str(name)] += int(str(count))
        return dict(found)

    def searches(self, may_find: MayFind, first_day: int) -> dict[int, Counter[int]]:
        """Return day -> step of a time, see ``step_of`` -> how many searches."""
        found: dict[int, Counter[int]] = {}
        for workspace, project, day, step, count in self._rows(
            "SELECT workspace, project, day, step, count FROM search_days"
            " WHERE notes = ? AND day >= ?",
            first_day,
        ):
            if may_find(str(project), str(workspace)):
                steps = found.setdefault(int(str(day)), Counter())
                steps[int(str(step))] += int(str(count))
        return found

    def sent(self, first_day: int) -> dict[tuple[int, str], tuple[int, int]]:
        """Return (day, provider) -> (texts, characters) that it got."""
        return {
            (int(str(day)), str(provider)): (int(str(texts)), int(str(characters)))
            for day, provider, texts, characters in self._rows(
                "SELECT day, provider, texts, characters FROM embedding_days"
                " WHERE notes = ? AND day >= ? ORDER BY day",
                first_day,
            )
        }

    def count_sent(self, sent: Sent, day: int) -> None:
        """Count what providers got; what cannot be counted now is not counted."""

        def count(connection: apsw.Connection) -> None:
            with write_transaction(connection):
                count_sent(connection, self._state.notes, day, sent)

        if sent:
            self._try(count)

    def count_in(self, scopes: Collection[str], first_day: int) -> int:
        """Return how many rows say what was recalled of some scopes."""
        marks = ", ".join("?" * len(scopes))
        [(count,)] = self._rows(
            "SELECT count(*) FROM recall_days"
            f" WHERE notes = ? AND day >= ? AND scope IN ({marks})",
            first_day,
            *scopes,
        ) or [(0,)]
        return int(str(count))

    def drop_in(self, scopes: Collection[str], first_day: int) -> int | None:
        """Delete what ``count_in`` counts; return how many rows, None: it failed."""
        marks = ", ".join("?" * len(scopes))
        sql = (
            "DELETE FROM recall_days"
            f" WHERE notes = ? AND day >= ? AND scope IN ({marks})"
        )
        count = self.count_in(scopes, first_day)
        values = (self._state.notes, first_day, *scopes)
        is_done = not count or self._try(
            lambda connection: connection.execute(sql, values)
        )
        return count if is_done else None

    def rename_scope(self, new_name: Callable[[str], str]) -> None:
        """Give the rows of a renamed scope its new name.

        Raises:
            StateUnusableError: They cannot be written now.
        """
        notes = self._state.notes

        def rename(connection: apsw.Connection) -> None:
            with write_transaction(connection):
                for table, columns, insert in (
                    (
                        "recall_days",
                        "agent, scope, type",
                        _COUNT_RECALL.format(_RECALL),
                    ),
                    ("search_days", "step", _COUNT_SEARCH),
                ):
                    rows = connection.execute(
                        f"SELECT day, workspace, project, {columns}, count"
                        f" FROM {table} WHERE notes = ?",
                        (notes,),
                    ).fetchall()
                    connection.execute(f"DELETE FROM {table} WHERE notes = ?", (notes,))
                    for day, workspace, project, *rest in rows:
                        if table == "recall_days":
                            rest[1] = new_name(str(rest[1]))
                        new = new_name(str(project))
                        values = (notes, day, workspace, new, *rest)
                        connection.execute(insert, values).fetchall()

        self._state.run(rename, PROMISE_WAIT_MS)

    def _rows(self, sql: str, *values: object) -> list[tuple[object, ...]]:
        """Return rows, or none if there is no state, or it cannot be read now."""
        if not is_there(self._state.path):
            return []
        given = (self._state.notes, *values)
        try:
            return self._state.run(lambda connection: [*connection.execute(sql, given)])
        except StateUnusableError:
            return []

    def _try(self, work: Callable[[apsw.Connection], object]) -> bool:
        """Do what may fail; return whether it did not."""
        try:
            self._state.run(work, PROMISE_WAIT_MS)
        except StateUnusableError:
            return False
        return True
