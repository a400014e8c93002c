"""How many requests a home sent to the language model today, a table of ``state.db``.

A request is counted before it is sent, so that no kill lets a day have more. The count
is that of the home: its notes folders have one ``config.json``.
"""

from __future__ import annotations

from hivemind_memory.files.descriptors import is_there
from hivemind_memory.model.clocks import SECONDS_PER_DAY
from hivemind_memory.sqlite.connection import write_transaction
from hivemind_memory.state.state_file import PROMISE_WAIT_MS

TYPE_CHECKING = False
if TYPE_CHECKING:
    import apsw

    from hivemind_memory.model.clocks import Clocks
    from hivemind_memory.state.state_file import StateFile

_KEPT_DAYS = 30
MODEL_BREAKER, RERANK_BREAKER = "model_breaker", "rerank_breaker"
"""Keys of ``meta`` for the state of a breaker."""


class ModelRequests:
    """The requests of one home. Any method may raise ``StateUnusableError``."""

    def __init__(
        self,
        state: StateFile,
        clocks: Clocks,
        *,
        per_day: int,
        breaker: str = MODEL_BREAKER,
        wait_ms: int = PROMISE_WAIT_MS,
    ) -> None:
        """Take the state and the clocks; open nothing yet.

        Args:
            state: Where they are counted.
            clocks: Tell the day.
            per_day: How many a day may have.
            breaker: Whose breaker is kept.
            wait_ms: Longest wait for a process that keeps the state locked.
        """
        self._wait_ms = wait_ms
        self._breaker = breaker
        self._state = state
        self._clocks = clocks
        self._per_day = per_day

    def take_request(self) -> float:
        """Count one request before it is sent.

        Returns:
            0, or in how many seconds the next day begins, which has some again.
        """
        today = self._clocks.today()

        def take(connection: apsw.Connection) -> bool:
            with write_transaction(connection):
                connection.execute(
                    "DELETE FROM model_requests WHERE day < ?", (today - _KEPT_DAYS,)
                )
                connection.execute(
                    "INSERT INTO model_requests(day, count) VALUES (?, 0)"
                    " ON CONFLICT DO NOTHING",
                    (today,),
                )
                connection.execute(
                    "UPDATE model_requests SET count = count + 1"
                    " WHERE day = ? AND count < ?",
                    (today, self._per_day),
                )
                return bool(connection.changes())

        if self._state.run(take, self._wait_ms):
            return 0.0
        now_s = self._clocks.now()
        local_s = now_s + self._clocks.local_offset_s(now_s)
        return SECONDS_PER_DAY - local_s % SECONDS_PER_DAY

    def count_today(self) -> int:
        """Return how many requests were sent today."""
        if not is_there(self._state.path):
            return 0
        sql = "SELECT count FROM model_requests WHERE day = ?"

        def read(connection: apsw.Connection) -> int:
            rows = connection.execute(sql, (self._clocks.today(),)).fetchall()
            return int(str(rows[0][0])) if rows else 0

        return self._state.run(read, self._wait_ms)

    def breaker_state(self) -> str:
        """Return the state of the breaker; empty: none was kept."""
        if not is_there(self._state.path):
            return ""

        def read(connection: apsw.Connection) -> str:
            sql = "SELECT value FROM meta WHERE key = ?"
            rows = connection.execute(sql, (self._breaker,)).fetchall()
            return str(rows[0][0]) if rows else ""

        return self._state.run(read, self._wait_ms)

    def keep_breaker_state(self, text: str) -> None:
        """Keep the state of the breaker for other processes."""
        if text == self.breaker_state():
            return
        sql = "INSERT OR REPLACE INTO meta(key, value) VALUES (?, ?)"
        self._state.run(lambda c: c.execute(sql, (self._breaker, text)), self._wait_ms)
