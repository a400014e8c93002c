"""How much work a call is, on a machine that does other work as well."""

from __future__ import annotations

import time
from collections.abc import Callable


def cpu_s(call: Callable[[], object], *, times: int = 5) -> float:
    """Return the processor time of a call, the least of several.

    Only of this thread: what others do meanwhile does not count, unlike by the clock.
    """

    def measured() -> float:
        start_s = time.thread_time()
        call()
        return time.thread_time() - start_s

    return min(measured() for _ in range(times))
