"""Detects changes in the notes folder: by file events, or by polling.

Events come from the operating system. The detector polls every two seconds, and says
why, whenever events are not enough:

- no inotify watches or instances are left, or there are no events (it tries again at
  each rescan);
- links to other folders are followed, whose events do not arrive;
- the folder is missing (it tries again at each poll);
- the file system does not report the changes that other machines make;
- a probe was not answered (until the next event arrives);
- a rescan found a change that no event had announced.
"""

from __future__ import annotations

import errno
import logging
import os
from collections.abc import Callable
from dataclasses import dataclass

from hivemind_memory.files.errors import reason_of
from hivemind_memory.files.mounts import shared_type
from hivemind_memory.watch.events import WatchState
from hivemind_memory.watch.observer import EventSource, Listener, OpenSource

logger = logging.getLogger(__name__)

FOLDER_MISSING = "the notes folder is not there"


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeDetectorSettings:
    """How often to look, in seconds."""

    poll_s: float = 2.0
    """Between two scans while polling; between two checks of the source while not."""

    has_links: bool = False
    """Notes behind links are read too; the source does not hear of their changes."""

    probe_s: float = 1.0
    """A source that has not reported a probe by then counts as silent."""


class ChangeDetector:
    """Watches one folder by whatever means work. Used from one thread."""

    def __init__(
        self,
        folder: str,
        *,
        open_source: OpenSource,
        settings: ChangeDetectorSettings | None = None,
        type_of: Callable[[str], str] = shared_type,
    ) -> None:
        """Nothing is watched before ``open``.

        Args:
            folder: The notes folder.
            open_source: ``observer.open_source``, or a test's own.
            settings: None: as the class says.
            type_of: Folder -> type of its file system, empty when events suffice.
        """
        self._folder = folder
        self._open_source = open_source
        self._settings = settings or ChangeDetectorSettings()
        self._type_of = type_of
        self._listener: Listener | None = None
        self._source: EventSource | None = None
        self._next_poll_s = 0.0
        self._probe_due_s: float | None = None
        self._is_unanswered = False
        self._refusal = ""
        self._shared = ""
        self._missed_event = ""

    def open(self, listener: Listener, now_s: float) -> None:
        """Start watching; an error becomes the reason to poll."""
        self._listener = listener
        self._missed_event = ""
        self._next_poll_s = now_s + self._settings.poll_s
        self._reopen(now_s)

    def close(self) -> None:
        """Stop watching."""
        source, self._source = self._source, None
        if source is not None:
            source.close()

    @property
    def state(self) -> WatchState:
        """How changes are learned of now."""
        reason = self._refusal or self._shared or self._silence() or self._missed_event
        if self._settings.has_links and not reason:
            reason = "there are no events for folders behind links"
        return WatchState(mode="polling" if reason else "native", reason=reason)

    @property
    def is_folder_there(self) -> bool:
        """There is a folder to look at. An unmounted drive is not an empty memory."""
        return os.path.isdir(self._folder)

    @property
    def due_s(self) -> float:
        """When ``check`` wants to be called next."""
        if self._probe_due_s is None:
            return self._next_poll_s
        return min(self._next_poll_s, self._probe_due_s)

    def check(self, now_s: float) -> bool:
        """See whether the source still works; return whether it is time to look."""
        if self._probe_due_s is not None and now_s >= self._probe_due_s:
            self._probe_due_s = None
            self._is_unanswered = True
        if now_s < self._next_poll_s:
            return False
        self._next_poll_s = now_s + self._settings.poll_s
        is_lost = self._source is not None and not self._source.is_current()
        if is_lost or self._refusal == FOLDER_MISSING:
            # Scan in any case: it may be another folder by now.
            self._reopen(now_s)
            return self._refusal != FOLDER_MISSING
        return self.state.mode == "polling"

    def refresh(self, now_s: float, *, is_forced: bool = False) -> None:
        """Watch new folders, before each scan; *is_forced*: try what was refused."""
        if self._source is None:
            if is_forced:
                self._reopen(now_s)
            return
        try:
            self._source.refresh(is_forced=is_forced)
        except OSError as error:
            self._refuse(error)

    def report_missed_event(self) -> None:
        """Polling from now on: a change came that no event had announced."""
        self._missed_event = "a change came without an event"

    def _reopen(self, now_s: float) -> None:
        """Start again with the folder that has the name now."""
        self.close()
        self._refusal = ""
        self._is_unanswered = False
        self._probe_due_s = None
        if self._listener is None:  # not opened yet
            return
        try:
            self._source = self._open_source(self._folder, self._listener)
        except OSError as error:
            self._refuse(error)
            return
        kind = self._type_of(self._folder)
        self._shared = (
            f"{kind} does not report changes made by other machines" if kind else ""
        )
        try:
            self._source.probe()
        except OSError:
            # A folder that cannot be written to cannot be probed. Trust the source;
            # the rescan finds out.
            return
        self._probe_due_s = now_s + self._settings.probe_s

    def _refuse(self, error: OSError) -> None:
        """Poll because there is no source, and remember why."""
        self.close()
        self._refusal = _reason(error)

    def _silence(self) -> str:
        """Why a probe makes us poll; the first event ends it, however late."""
        if not self._is_unanswered or self._source is None:
            return ""
        return (
            ""
            if self._source.has_received_event()
            else "file events do not arrive here"
        )


def _reason(error: OSError) -> str:
    """Return why there are no events, in words that say what to change."""
    if error.errno in {errno.ENOENT, errno.ENOTDIR}:
        return FOLDER_MISSING
    if error.errno == errno.ENOSPC:
        return "no file watches left (raise fs.inotify.max_user_watches)"
    if error.errno == errno.EMFILE:
        return "no watch instances left (raise fs.inotify.max_user_instances)"
    return f"file events are not available: {reason_of(error)}"
