"""Counts what waits in the inbox, for the line of pages, which is on every page."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable

from hivemind_memory.dashboard.page import PageCall
from hivemind_memory.errors import HivemindError
from hivemind_memory.state.model_links import ModelLinks

_MAX_READERS = 50


class Waiting:
    """How much waits for each of the last readers; counted again after a change."""

    def __init__(self) -> None:
        """Count nothing yet."""
        self._counts: OrderedDict[Hashable, tuple[Hashable, int]] = OrderedDict()
        self._lock = threading.Lock()

    def count(self, call: PageCall) -> int:
        """Return how many claims and proposed links wait in the reader's inbox.

        None if they cannot be read now: the page itself is shown all the same.
        """
        memory = call.memory
        if not memory.caller.is_member:
            return 0
        reader = (memory.places.notes, memory.caller.scopes)
        try:
            version = memory.index_handle.run_fresh(lambda index: index.version())
            state = (version, len(ModelLinks(memory.state()).proposals()))
            with self._lock:
                known = self._counts.pop(reader, None)
            if known is None or known[0] != state:
                known = (state, len(memory.curation.pending()))
        except HivemindError:
            return 0
        with self._lock:
            self._counts[reader] = known
            while len(self._counts) > _MAX_READERS:
                self._counts.popitem(last=False)
        return known[1]
