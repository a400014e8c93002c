"""Records the calls of a server, behind the backs of those who call.

A call never waits for it and never fails because of it: what is recorded goes into a
queue, and a thread of its own masks and writes it. With a full queue, or a ``state.db``
that cannot be written, the row is dropped.
"""

from __future__ import annotations

import json
import logging
import queue
import threading
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from hivemind_memory.errors import HivemindError
from hivemind_memory.model.value import replaced
from hivemind_memory.transcripts.rows import call_row

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.access.rules import Caller
    from hivemind_memory.transcripts.activity import Activity

logger = logging.getLogger(__name__)

MAX_WAITING = 1_000

_TEXTS = frozenset({"content", "claim"})
"""Arguments that are the text of a memory: a note has it, so it is not kept twice."""


@dataclass(slots=True)
class RecordedCall:
    """One call; what is not known at its beginning is filled in while it runs."""

    tool: str
    arguments: dict[str, Any]
    caller: Caller | None = None
    session: str = ""
    agent: str = ""
    error: str = ""
    """What the model was told; empty: the call succeeded."""


CURRENT_CALL: ContextVar[RecordedCall | None] = ContextVar("current_call", default=None)
"""The call that is being answered; None: calls are not recorded."""


class ActivityRecorder:
    """Writes the calls of one server process."""

    def __init__(self, open_activity: Callable[[], Activity]) -> None:
        """Open nothing yet.

        Args:
            open_activity: Returns what keeps the rows; called on the thread.
        """
        self._open_activity = open_activity
        self._waiting: queue.Queue[RecordedCall | None] = queue.Queue(MAX_WAITING)
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()

    def put(self, call: RecordedCall) -> None:
        """Have a call recorded, some time soon."""
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(
                    target=self._write, name="activity", daemon=True
                )
                self._thread.start()
        try:
            self._waiting.put_nowait(call)
        except queue.Full:
            logger.info("a call was not recorded: too many are waiting")

    def close(self, within_s: float) -> None:
        """Write what is waiting, as far as the time allows."""
        thread = self._thread
        if thread is None:
            return
        try:
            self._waiting.put(None, timeout=within_s)
        except queue.Full:
            return
        thread.join(within_s)

    def _write(self) -> None:
        """Write rows until the end."""
        activity: Activity | None = None
        while (call := self._waiting.get()) is not None:
            try:
                if activity is None:
                    activity = self._open_activity()
                activity.add(_row_of(call))
            except HivemindError as error:
                logger.info("a call was not recorded: %s", error)
            # Whatever goes wrong here must not end the recording of later calls.
            except Exception:
                logger.exception("a call was not recorded")


def _row_of(call: RecordedCall) -> Any:
    """Return the row of a call, masked."""
    kept = {
        name: f"({len(value)} characters)" if name in _TEXTS else value
        for name, value in call.arguments.items()
        if name not in _TEXTS or isinstance(value, str)
    }
    request = json.dumps(kept, ensure_ascii=False, default=str)
    row = call_row(call.caller, label=call.tool, request=request, error=call.error)
    return replaced(row, session=call.session, agent=call.agent)
