"""Fills in missing vectors on a thread, so that indexing does not wait for them."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import Protocol

from hivemind_memory.model.results import EmbedResult

logger = logging.getLogger(__name__)

FIRST_RETRY_S = 5.0
MAX_RETRY_S = 60.0
"""How long the worker pauses after a problem, doubling from the first to the last."""


class Embed(Protocol):
    """Embeds what is pending; cheap when nothing is."""

    def __call__(self, *, should_stop: Callable[[], bool]) -> EmbedResult:
        """Embed until nothing is pending or *should_stop* returns true."""
        ...


class EmbedWorker:
    """One thread that embeds what is pending whenever it is woken."""

    def __init__(self, embed: Embed, report: Callable[[EmbedResult], None]) -> None:
        """Start nothing yet.

        Args:
            embed: Does the work, on the worker's thread; others may sync meanwhile.
            report: Called on the worker's thread after each run.
        """
        self._embed = embed
        self._report = report
        self._work = threading.Event()
        self._is_closed = threading.Event()
        # A request to a provider cannot be broken off; it must not hold up the exit.
        self._thread = threading.Thread(target=self._run, name="vectors", daemon=True)

    def start(self) -> None:
        """Start the thread; it waits for ``wake``."""
        self._thread.start()

    def wake(self) -> None:
        """Something may lack a vector."""
        self._work.set()

    def close(self, timeout_s: float = 0.5) -> bool:
        """Ask the thread to end; return whether it did within *timeout_s* seconds."""
        self._is_closed.set()
        self._work.set()
        self._thread.join(timeout_s)
        return not self._thread.is_alive()

    def _run(self) -> None:
        """Work, rest after a problem, wait."""
        retry_s = FIRST_RETRY_S
        while not self._is_closed.is_set():
            self._work.wait()
            self._work.clear()
            if self._is_closed.is_set():
                return
            result = self._embed_once()
            if result is None or (result.problem and result.pending):
                # A wake during the rest is kept, and served after it.
                self._is_closed.wait(retry_s)
                self._work.set()
                retry_s = min(2 * retry_s, MAX_RETRY_S)
            else:
                retry_s = FIRST_RETRY_S

    def _embed_once(self) -> EmbedResult | None:
        """Return what one run did, None when it failed."""
        try:
            result = self._embed(should_stop=self._is_closed.is_set)
        except Exception:
            # The thread must live on: without it no vector would come any more. What
            # was pending still is, and is tried again after a rest.
            logger.exception("embedding failed; it is tried again")
            return None
        self._report(result)
        return result
