"""Watches the memory for changes by any process, and gives them to listeners.

Two files say that something changed: ``state.db``, whose log of changes all processes
write, and the index. They are looked at only while a client listens, and read only
after they have changed.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Container, Iterable
from contextlib import AbstractContextManager

import anyio.to_thread

from hivemind_memory.errors import HivemindError
from hivemind_memory.files.descriptors import signature_at
from hivemind_memory.http_api.recent_events import RecentEvents
from hivemind_memory.model.events import INDEXED, MemoryEvent
from hivemind_memory.model.scope import scope_of
from hivemind_memory.model.value import replaced
from hivemind_memory.state.tokens import Token, Tokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias

    from hivemind_memory.access.rules import Caller
    from hivemind_memory.memory import Memory
    from hivemind_memory.model.snapshot import FileSignature

    _Signatures: TypeAlias = tuple[FileSignature | None, ...]

logger = logging.getLogger(__name__)

POLL_S = 0.4
"""How long a change may go unnoticed."""

MAX_WAITING = 1_000
"""Events that may wait for one client. With more, its stream ends: it is too slow. As
many are kept for those who connect again."""


class Listener:
    """The events that wait for one client, of what it may read."""

    def __init__(
        self,
        caller: Caller,
        token: Token | None = None,
        has_left: Callable[[], bool] = lambda: False,
    ) -> None:
        """Wait for events.

        Args:
            caller: On whose behalf the client asks.
            token: The client's, if it has a name.
            has_left: Says whether the session in which the client asks is over.
        """
        self._caller = caller
        self.has_left = has_left
        self._token = token and replaced(token, used_at=0)
        self._waiting: list[MemoryEvent] = []
        self.woken = asyncio.Event()
        self.is_over = False
        """No more events follow: the server is closing, the client reads too slowly, or
        its token has changed, or its session is over."""

    def offer(self, events: Iterable[MemoryEvent]) -> None:
        """Keep what the client may read of some events."""
        self._waiting += filter(self._may_read, events)
        if len(self._waiting) > MAX_WAITING:
            self.is_over = True
        if self._waiting or self.is_over:
            self.woken.set()

    def take(self) -> list[MemoryEvent]:
        """Return what waits."""
        self.woken.clear()
        taken, self._waiting = self._waiting, []
        return taken

    def is_outdated(self, tokens: Container[Token]) -> bool:
        """Return whether the client's session is over, or its token has changed.

        A token was revoked, or its project has got another name. What the client may
        read now is known when it connects again.
        """
        is_changed = self._token is not None and self._token not in tokens
        return is_changed or self.has_left()

    def end(self) -> None:
        """Say that nothing more comes."""
        self.is_over = True
        self.woken.set()

    def _may_read(self, item: MemoryEvent) -> bool:
        """Return whether the client may know of a change."""
        scopes = self._caller.scopes
        if scopes is not None and item.scope not in scopes:
            return False
        if self._caller.is_member:
            return True
        is_known = item.visibility is not None and not item.is_entry
        return is_known and self._caller.may_see(item.visibility or "")


class EventFeed:
    """Gives changes to listeners. Runs on the event loop, reads on threads."""

    def __init__(self, lend: Callable[[], AbstractContextManager[Memory]]) -> None:
        """Watch nothing yet.

        Args:
            lend: Lends the memory as its owner sees it.
        """
        self._lend = lend
        self._listeners: set[Listener] = set()
        self._lock = asyncio.Lock()
        self._task: asyncio.Task[None] | None = None
        self._signatures: _Signatures = ()
        self._last = 0
        self._recent = RecentEvents(MAX_WAITING)
        self._notes: dict[str, tuple[object, ...]] = {}
        self._tokens: frozenset[Token] = frozenset()

    async def add(self, listener: Listener, after: str) -> tuple[str, bool]:
        """Give a listener the changes from now on.

        Args:
            listener: Of a client that connects.
            after: Id of the last event that it knows; it gets the later ones first.
                Empty: it knows none.

        Returns:
            The id that its stream begins with, and whether what it missed is unknown.

        Raises:
            HivemindError: The memory cannot be read now.
        """
        async with self._lock:
            if self._task is None:
                found = await anyio.to_thread.run_sync(self._catch_up)
                self._recent.add(found)
            place = self._recent.place_of(after)
            missed = None if place is None else self._recent.after(place)
            if missed:
                told = await anyio.to_thread.run_sync(self._without_purged, missed)
                listener.offer(told)
            self._listeners.add(listener)
            # The last of the others may have left meanwhile, and ended the watch.
            if self._task is None:
                self._task = asyncio.get_running_loop().create_task(self._watch())
            if place is None or missed is None:
                return self.id_of(self._recent.last), bool(after)
            return self.id_of(place), False

    def newest_id(self) -> str:
        """Return an id for who reads the memory now: later events come after it."""
        return self.id_of(self._recent.last)

    def id_of(self, place: int) -> str:
        """Return an id of a place in the stream, for a client."""
        return self._recent.id_of(place)

    def remove(self, listener: Listener) -> None:
        """Give a listener nothing more; without any, nothing is watched."""
        self._listeners.discard(listener)
        if not self._listeners and self._task is not None:
            self._task.cancel()
            self._task = None

    def end_left(self) -> None:
        """End the streams of clients whose session is over."""
        for listener in self._listeners:
            if listener.has_left():
                listener.end()

    def close(self) -> None:
        """End all streams."""
        for listener in self._listeners:
            listener.end()

    async def _watch(self) -> None:
        """Look for changes until cancelled."""
        while True:
            await asyncio.sleep(POLL_S)
            # Whoever is being added would miss what is found meanwhile, or be told it
            # twice.
            async with self._lock:
                await self._look()

    async def _look(self) -> None:
        """Tell what has changed since the last time; the lock is held."""
        try:
            events = await anyio.to_thread.run_sync(self._changed)
        except HivemindError as error:
            logger.warning("cannot look for changes, trying again: %s", error)
            return
        # One failure must not end all streams.
        except Exception:
            logger.exception("cannot look for changes, trying again")
            return
        if events:
            events = self._recent.add(events)
            for listener in self._listeners:
                if listener.is_outdated(self._tokens):
                    listener.end()
                else:
                    listener.offer(events)

    def _begin(self) -> None:
        """Remember how everything is now."""
        with self._lend() as memory:
            self._signatures = _signatures_of(memory)
            self._last = memory.curation.events.last_number()
            self._notes = _notes_of(memory)

    def _catch_up(self) -> list[MemoryEvent]:
        """Return what has changed while no client listened, unless it is too much."""
        with self._lend() as memory:
            last = memory.curation.events.last_number()
        # The log is shorter where a backup was restored.
        if self._signatures and 0 <= last - self._last <= MAX_WAITING:
            return self._changed()
        self._begin()
        self._recent.start_over()
        return []

    def _without_purged(self, events: list[MemoryEvent]) -> list[MemoryEvent]:
        """Return those of some events that the log still has, or never had."""
        numbers = [item.number for item in events if item.number]
        if not numbers:
            return events
        with self._lend() as memory:
            logged = memory.curation.events.after(min(numbers) - 1)
        known = {0, *(item.number for item in logged)}
        return [item for item in events if item.number in known]

    def _changed(self) -> list[MemoryEvent]:
        """Return what has changed since the last time."""
        with self._lend() as memory:
            signatures = _signatures_of(memory)
            if signatures == self._signatures:
                return []
            # What is indexed was logged before: so no note is told first as `indexed`.
            notes = _notes_of(memory)
            events = list(memory.curation.events.after(self._last))
            # Behind the events: what was moved by then is in them under its old name.
            tokens = Tokens(memory.state()).all()
        self._tokens = frozenset(replaced(token, used_at=0) for token in tokens)
        changed = sorted(
            path
            for path in notes.keys() | self._notes.keys()
            if notes.get(path) != self._notes.get(path)
        )
        events += (
            MemoryEvent(
                kind=INDEXED,
                path=path,
                scope=scope_of(path),
                is_entry=True,
            )
            for path in changed
        )
        self._signatures, self._notes = signatures, notes
        self._last = max([self._last, *(item.number for item in events)])
        return events


def _signatures_of(memory: Memory) -> _Signatures:
    """Return what changes whenever the log of changes or the index does."""
    places = memory.places
    names = (memory.state().path, places.index_file)
    return tuple(
        signature_at(name + ending, follows_link=True)
        for name in names
        for ending in ("", "-wal")
    )


def _notes_of(memory: Memory) -> dict[str, tuple[object, ...]]:
    """Return path -> what the index knows of each note, as far as it shows a change."""
    return {path: tuple(more) for path, *more in memory.lists.note_rows()}
