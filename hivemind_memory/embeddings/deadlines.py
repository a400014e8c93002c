"""Bounds a call that has no bound of its own.

HTTP clients bound each read, not the whole: a server that sends a byte now and then, or
a name server that keeps silent, holds them for as long as it likes.
"""

from __future__ import annotations

import threading
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    T = TypeVar("T")


def run_within(timeout_s: float, call: Callable[[], T]) -> T:
    """Return what *call* returns, or raise TimeoutError after *timeout_s* seconds.

    *call* runs in a thread of its own. Out of time, the thread is left behind to end
    with its own timeouts; it does not keep the process alive.
    """
    future: Future[T] = Future()

    def run() -> None:
        try:
            future.set_result(call())
        except BaseException as error:  # noqa: BLE001 - carried over to the caller
            future.set_exception(error)

    threading.Thread(target=run, name="hm-embed", daemon=True).start()
    try:
        return future.result(timeout_s)
    except FutureTimeoutError:
        if future.done():
            raise  # it was the call's own
        raise TimeoutError from None
