"""Until when the language model is left alone, and why: a row of ``state.db``.

The process that leads keeps it; ``hm jobs`` shows it, and ``hm jobs retry`` ends it.
"""

from __future__ import annotations

from math import isfinite
from typing import NamedTuple

from hivemind_memory.files.descriptors import is_there
from hivemind_memory.state.jobs import LONGEST_WAIT_S
from hivemind_memory.state.state_file import PROMISE_WAIT_MS

TYPE_CHECKING = False
if TYPE_CHECKING:
    import apsw

    from hivemind_memory.state.state_file import StateFile

_KEY = "model_rest"


class Rest(NamedTuple):
    """A time in which the language model is not asked by jobs."""

    until_s: float = 0.0
    """Seconds since the epoch."""

    why: str = ""

    def left_s(self, now_s: float) -> float:
        """Return for how many more seconds it lasts; 0: it is over.

        One that lasts longer than any began before the clock was set back.
        """
        rest_s = self.until_s - now_s
        return rest_s if 0 < rest_s <= LONGEST_WAIT_S else 0.0


class ModelRest:
    """The rest of one home. Any method may raise ``StateUnusableError``."""

    def __init__(self, state: StateFile) -> None:
        self._state = state

    def read(self) -> Rest:
        """Return the rest that was kept last; it may be over."""
        if not is_there(self._state.path):
            return Rest()

        def read(connection: apsw.Connection) -> str:
            sql = "SELECT value FROM meta WHERE key = ?"
            rows = connection.execute(sql, (_KEY,)).fetchall()
            return str(rows[0][0]) if rows else ""

        until, _, why = self._state.run(read, PROMISE_WAIT_MS).partition(" ")
        try:
            until_s = float(until)
        except ValueError:
            return Rest()
        return Rest(until_s, why) if isfinite(until_s) else Rest()

    def keep(self, rest: Rest) -> None:
        """Let the language model be left alone."""
        sql = "INSERT OR REPLACE INTO meta(key, value) VALUES (?, ?)"
        values = (_KEY, f"{rest.until_s!r} {rest.why}")
        self._state.run(lambda c: c.execute(sql, values), PROMISE_WAIT_MS)

    def end(self) -> None:
        """Let it be asked again."""
        if self.read() != Rest():
            sql = "DELETE FROM meta WHERE key = ?"
            self._state.run(lambda c: c.execute(sql, (_KEY,)), PROMISE_WAIT_MS)
