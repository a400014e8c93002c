"""Purges that were begun in the dashboard, and what became of them.

A purge may take seconds, so it runs beside the request that began it. Its receipt is a
page of its own, which a browser can read again. Receipts are kept in the server process
and end with it; a purge that ends with it is finished by the command that `hm doctor`
names.
"""

from __future__ import annotations

import secrets
import threading
from collections import OrderedDict

from hivemind_memory.errors import HivemindError
from hivemind_memory.http_api.callers import Client
from hivemind_memory.model.curation import AffectedItem, MemorySelector, PurgeResult

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from hivemind_memory.memory import Memory

_MAX_KEPT = 20


class Removal:
    """One purge, and its receipt once it is done. Threads share it."""

    def __init__(self, client: Client, count: int) -> None:
        """Begin nothing yet.

        Args:
            client: Whoever may read the receipt.
            count: Of the memories that it removes.
        """
        self.name = secrets.token_hex(8)
        self.client = client
        self.count = count
        self._receipt: PurgeResult | None = None
        self._error: Exception | None = None
        self._done = threading.Event()

    def run(
        self, memory: Memory, selector: MemorySelector, shown: Sequence[AffectedItem]
    ) -> None:
        """Purge, and close the memory."""
        try:
            with memory:
                self._receipt = memory.curation.purge(selector, shown=shown)
        except (HivemindError, OSError) as error:
            self._error = error
        finally:
            self._done.set()

    def receipt(self, within_s: float) -> PurgeResult | None:
        """Return what was removed; None: it is not done within that time.

        Raises:
            Exception: It failed with that.
        """
        if not self._done.wait(within_s):
            return None
        if self._receipt is None:
            raise self._error or HivemindError("The purge has failed.")
        return self._receipt


class Removals:
    """The last purges of one server. Threads share them."""

    def __init__(self) -> None:
        """Begin without any."""
        self._removals: OrderedDict[str, Removal] = OrderedDict()
        self._lock = threading.Lock()

    def begin(
        self,
        memory: Memory,
        client: Client,
        selector: MemorySelector,
        shown: Sequence[AffectedItem],
    ) -> Removal:
        """Begin a purge on a thread of its own.

        Args:
            memory: Of the caller; closed in the end.
            client: Whoever may read the receipt.
            selector: Which memories.
            shown: What a person was shown and has confirmed.
        """
        removal = Removal(client, len(shown))
        with self._lock:
            self._removals[removal.name] = removal
            while len(self._removals) > _MAX_KEPT:
                self._removals.popitem(last=False)
        threading.Thread(
            target=removal.run, args=(memory, selector, shown), name="purge"
        ).start()
        return removal

    def find(self, name: str, client: Client) -> Removal | None:
        """Return a purge that a client began; None: there is none."""
        with self._lock:
            found = self._removals.get(name)
        return found if found is not None and found.client == client else None
