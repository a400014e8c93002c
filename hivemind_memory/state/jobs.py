"""The jobs of the language model, a table of ``state.db``.

A job is about one memory or one scope, and there is one of a kind for it, ever: what is
done stays in the table for a while, so that it is not done again. A job names ids and
scopes; it holds no text. Only the leader runs jobs. One whose process was killed after
it was marked as sent is not run again unless a person says so: the model may have been
asked.
"""

from __future__ import annotations

from hivemind_memory.files.descriptors import is_there
from hivemind_memory.model.clocks import SECONDS_PER_DAY
from hivemind_memory.model.value import value
from hivemind_memory.sqlite.connection import write_transaction
from hivemind_memory.state.state_file import PROMISE_WAIT_MS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    import apsw

    from hivemind_memory.state.state_file import StateFile

WAITING, RUNNING, DONE = "waiting", "running", "done"
FAILED, INTERRUPTED = "failed", "interrupted"
"""States of a job. One that failed was given up; one that is interrupted was sent by
a process that was killed."""

MAX_TRIES = 5
"""Tries of a job before it is given up, or left to a person."""

LONGEST_WAIT_S = 2.0 * SECONDS_PER_DAY
"""No job waits longer: one that is due later was put off before the clock was set
back, and is due now."""

_COLUMNS = (
    "number, kind, ref, state, tries, due_at, made_at, problem, replies, taken_at"
)


@value
class Job:
    """One job."""

    number: int
    """What a person types."""

    kind: str
    ref: str
    """Id of the memory that it is about, or the scope; of a capture, its agent, session
    and size, as in ``claude:6f1d-77@4096``."""

    state: str
    tries: int
    due_at: float
    """When it is run at the earliest, in seconds since the epoch."""

    made_at: float
    problem: str
    """Why the last try failed; empty: it did not."""

    replies: int = 0
    """How many of the tries brought a reply of no use."""

    taken_at: float = 0.0
    """When it was last taken, in seconds since the epoch; 0: never."""

    def due_in_s(self, now_s: float) -> float:
        """Return in how many seconds it is due; 0: now."""
        wait_s = self.due_at - now_s
        return wait_s if 0 < wait_s <= LONGEST_WAIT_S else 0.0

    @property
    def session(self) -> str:
        """The session that it captures; empty: it is about a memory.

        >>> job = {"number": 1, "kind": "capture", "state": "waiting", "tries": 0}
        >>> times = {"due_at": 0.0, "made_at": 0.0}
        >>> Job(**job, **times, ref="claude:6f1d-77@4096", problem="").session
        '6f1d-77'
        """
        _, colon, rest = self.ref.partition(":")
        return rest.rpartition("@")[0] if colon else ""


class Jobs:
    """The jobs of one notes folder. Any method may raise ``StateUnusableError``."""

    def __init__(self, state: StateFile) -> None:
        self._state = state

    def add(self, kind: str, refs: Iterable[str], *, now_s: float) -> int:
        """Add a job for each id that has none of that kind yet; return how many."""
        notes = self._state.notes
        rows = [(notes, kind, ref, WAITING, now_s, now_s) for ref in refs]
        if not rows:
            return 0

        def insert(connection: apsw.Connection) -> int:
            before = connection.total_changes()
            with write_transaction(connection):
                connection.executemany(
                    "INSERT INTO jobs(notes, kind, ref, state, runner, tries, due_at,"
                    " made_at, problem) VALUES (?, ?, ?, ?, '', 0, ?, ?, '')"
                    " ON CONFLICT DO NOTHING",
                    rows,
                )
            return connection.total_changes() - before

        return self._state.run(insert, PROMISE_WAIT_MS)

    def known(self, kind: str) -> set[str]:
        """Return the ids that have a job of a kind, whatever its state."""
        return {job.ref for job in self.all() if job.kind == kind}

    def added_after(self, kind: str, ref: str) -> set[str]:
        """Return the ids whose job of a kind was added after that of one."""
        numbers = {job.ref: job.number for job in self.all() if job.kind == kind}
        own = numbers.get(ref, 0)
        return {other for other, number in numbers.items() if 0 < own < number}

    def arm(self, kind: str, ref: str, *, due_s: float, made_s: float) -> None:
        """Let the only job of a kind and an id wait, as a new one, unless it runs."""
        sql = (
            "INSERT INTO jobs(notes, kind, ref, state, runner, tries, due_at, made_at,"
            " problem) VALUES (?, ?, ?, ?, '', 0, ?, ?, '')"
            " ON CONFLICT (notes, kind, ref) DO UPDATE SET state = excluded.state,"
            " tries = 0, replies = 0, problem = '', due_at = excluded.due_at,"
            " made_at = excluded.made_at WHERE state != ?"
        )
        values = (self._state.notes, kind, ref, WAITING, due_s, made_s, RUNNING)
        self._state.run(lambda c: c.execute(sql, values), PROMISE_WAIT_MS)

    def take(
        self, runner: str, *, now_s: float, only: tuple[str, str] | None = None
    ) -> Job | None:
        """Take the job that is due for the longest time; None: none is due.

        Args:
            runner: Who takes it.
            now_s: Seconds since the epoch.
            only: Kind and id of the only job that is wanted; None: any.
        """
        if not is_there(self._state.path):
            return None
        wanted = "" if only is None else " AND kind = ? AND ref = ?"

        def update(connection: apsw.Connection) -> Job | None:
            with write_transaction(connection):
                rows = connection.execute(
                    "UPDATE jobs SET state = ?, runner = ?, tries = tries + 1,"
                    " taken_at = ?, is_sent = 0"
                    " WHERE number = (SELECT number FROM jobs WHERE notes = ?"
                    f" AND state = ? AND (due_at <= ? OR due_at > ?){wanted}"
                    " ORDER BY due_at, number LIMIT 1)"
                    f" RETURNING {_COLUMNS}",
                    (
                        *(RUNNING, runner, now_s, self._state.notes, WAITING, now_s),
                        *(now_s + LONGEST_WAIT_S, *(only or ())),
                    ),
                ).fetchall()
            return _job_of(rows[0]) if rows else None

        return self._state.run(update, PROMISE_WAIT_MS)

    def mark_sent(self, job: Job, runner: str) -> bool:
        """Keep that the model is asked from now on; return whether it may be.

        Not if another process has the job: this one took too long, and was taken for
        gone.
        """
        sql = (
            "UPDATE jobs SET is_sent = 1 WHERE number = ? AND state = ? AND runner = ?"
        )
        return self._count_changes(sql, (job.number, RUNNING, runner)) > 0

    def is_due(self, now_s: float) -> bool:
        """Return whether a job could be taken."""
        if not is_there(self._state.path):
            return False
        sql = (
            "SELECT 1 FROM jobs WHERE notes = ? AND state = ?"
            " AND (due_at <= ? OR due_at > ?) LIMIT 1"
        )
        values = (self._state.notes, WAITING, now_s, now_s + LONGEST_WAIT_S)

        def read(connection: apsw.Connection) -> bool:
            return bool(connection.execute(sql, values).fetchall())

        return self._state.run(read, PROMISE_WAIT_MS)

    def end(self, job: Job, runner: str, *, problem: str = "") -> None:
        """Say that a job is done, or given up because of a problem."""
        state = FAILED if problem else DONE
        self._change(job, runner, "state = ?, problem = ?", (state, problem))

    def put_back(
        self,
        job: Job,
        runner: str,
        *,
        due_s: float,
        problem: str,
        is_try: bool,
        is_reply: bool = False,
    ) -> None:
        """Let a job wait until *due_s*; what was no try is not counted as one.

        Args:
            job: The job.
            runner: Who has it.
            due_s: Seconds since the epoch.
            problem: Why it could not be done.
            is_try: Whether it was tried.
            is_reply: Whether the try brought a reply, which is of no use.
        """
        tries = job.tries if is_try else job.tries - 1
        self._change(
            job,
            runner,
            "state = ?, due_at = ?, problem = ?, tries = ?, replies = ?",
            (WAITING, due_s, problem, tries, job.replies + is_reply),
        )

    def interrupt_others(self, runner: str) -> int:
        """Mark what processes were running that are gone; return how many.

        What was not sent yet waits again, unless it was tried too often.

        Args:
            runner: The only one that runs jobs now.
        """
        if not is_there(self._state.path):
            return 0
        sql = (
            "UPDATE jobs SET problem = ?,"
            " state = CASE WHEN is_sent OR tries >= ? THEN ? ELSE ? END"
            " WHERE notes = ? AND state = ? AND runner != ?"
        )
        why = "its process ended while it ran"

        def update(connection: apsw.Connection) -> int:
            with write_transaction(connection):
                values = (why, MAX_TRIES, INTERRUPTED, WAITING, self._state.notes)
                connection.execute(sql, (*values, RUNNING, runner))
                return connection.changes()

        return self._state.run(update, PROMISE_WAIT_MS)

    def retry(self, number: int | None, *, now_s: float) -> int:
        """Let jobs run again that were given up or interrupted; return how many.

        Args:
            number: Of the only job, which may also wait, and is then due at once;
                None: all of them.
            now_s: Seconds since the epoch.
        """
        sql = (
            "UPDATE jobs SET state = ?, tries = 0, replies = 0, due_at = ?,"
            " problem = ''"
            " WHERE notes = ? AND state IN (?, ?)"
        )
        values: tuple[object, ...] = (WAITING, now_s, self._state.notes)
        values += (FAILED, INTERRUPTED)
        if number is not None:
            sql, values = f"{sql} AND number = ?", (*values, number)
        count = self._count_changes(sql, values)
        return count if count or number is None else self._hasten(number, now_s)

    def _hasten(self, number: int, now_s: float) -> int:
        """Let a job that waits be due when it was added, or now; return how many."""
        sql = (
            "UPDATE jobs SET due_at = min(made_at, ?), problem = ''"
            " WHERE notes = ? AND number = ? AND state = ?"
        )
        return self._count_changes(sql, (now_s, self._state.notes, number, WAITING))

    def resume(self, number: int) -> None:
        """Let an interrupted job wait again, as the same try."""
        sql = (
            "UPDATE jobs SET state = ?, problem = '' WHERE notes = ?"
            " AND number = ? AND state = ?"
        )
        values = (WAITING, self._state.notes, number, INTERRUPTED)
        self._count_changes(sql, values)

    def drop(self, refs: Collection[str], *, sessions: Collection[str] = ()) -> int:
        """Delete the jobs about some memories and sessions; return how many."""
        named = [
            (job.number,)
            for job in self.all()
            if job.ref in refs or job.session in sessions
        ]

        def delete(connection: apsw.Connection) -> None:
            with write_transaction(connection):
                connection.executemany("DELETE FROM jobs WHERE number = ?", named)

        if named:
            self._state.run(delete, PROMISE_WAIT_MS)
        return len(named)

    def prune(self, *, before_s: float) -> int:
        """Delete what ended and was added before a time; return how many."""
        sql = "DELETE FROM jobs WHERE notes = ? AND made_at < ? AND state NOT IN (?, ?)"
        values = (self._state.notes, before_s, WAITING, RUNNING)
        return self._count_changes(sql, values)

    def all(self) -> list[Job]:
        """Return the jobs in the order in which they were added."""
        if not is_there(self._state.path):
            return []
        sql = f"SELECT {_COLUMNS} FROM jobs WHERE notes = ? ORDER BY number"

        def read(connection: apsw.Connection) -> list[Job]:
            return [_job_of(r) for r in connection.execute(sql, (self._state.notes,))]

        return self._state.run(read, PROMISE_WAIT_MS)

    def _change(
        self, job: Job, runner: str, sets: str, values: tuple[object, ...]
    ) -> None:
        """Change a job, if its runner still has it.

        A leader that begins takes every other process for gone: one that is not says
        itself how its job ended.
        """
        sql = (
            f"UPDATE jobs SET {sets} WHERE number = ? AND state IN (?, ?)"
            " AND runner = ?"
        )
        self._count_changes(sql, (*values, job.number, RUNNING, INTERRUPTED, runner))

    def _count_changes(self, sql: str, values: tuple[object, ...]) -> int:
        """Run a statement that changes rows; return how many it changed."""
        if not is_there(self._state.path):
            return 0

        def change(connection: apsw.Connection) -> int:
            with write_transaction(connection):
                connection.execute(sql, values)
                return connection.changes()

        return self._state.run(change, PROMISE_WAIT_MS)


def _job_of(row: tuple[object, ...]) -> Job:
    """Return the job of a row."""
    number, kind, ref, state, tries, due_at, made_at, problem, replies, taken_at = row
    return Job(
        number=int(str(number)),
        kind=str(kind),
        ref=str(ref),
        state=str(state),
        tries=int(str(tries)),
        due_at=float(str(due_at)),
        made_at=float(str(made_at)),
        problem=str(problem),
        replies=int(str(replies)),
        taken_at=float(str(taken_at)),
    )
