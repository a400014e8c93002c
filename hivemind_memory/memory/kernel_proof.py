"""What the kernel proves of a notes folder: that nothing has changed, or what has.

A process that answers many queries a second asks the kernel instead of comparing all
notes. That holds for a second at a time: see ``MAX_UNCHECKED_S``.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

    from hivemind_memory.files.inotify import InotifyProbe
    from hivemind_memory.files.places import Places

MAX_UNCHECKED_S = 1.0
"""How long the result of a scan is trusted while no event contradicts it."""


class KernelProof:
    """Watches one notes folder while the kernel can report all its changes.

    Remembers which index all notes were last compared with; what the kernel has named
    since is all that may differ from it.
    """

    def __init__(self, places: Places, *, has_links: bool) -> None:
        """Watch nothing yet.

        Args:
            places: Where the notes are.
            has_links: Notes behind links are read too; nothing reports their changes.
        """
        self._places = places
        self._probe: InotifyProbe | None = None
        self._can_watch = not has_links
        self._has_hard_links = False
        self._compared_s = -MAX_UNCHECKED_S
        self._compared_with: tuple[object, ...] = ()

    def close(self) -> None:
        """Stop watching; what happens from now on is not named."""
        if self._probe is not None:
            self._probe.close()
            self._probe = None
        self._compared_s = -MAX_UNCHECKED_S

    def is_quiet(self) -> bool:
        """Return whether nothing has changed since this was last asked."""
        is_quiet = self._probe is not None and self._probe.is_quiet()
        if self._probe is not None and not self._probe.is_complete:
            self.close()
        return is_quiet

    def watch(self) -> None:
        """Have the kernel report changes, if that works for this folder."""
        if self._probe is not None or not self._can_watch or self._has_hard_links:
            return
        # Loaded by a process that is asked again and again, never by a cold answer.
        from hivemind_memory.files.inotify import InotifyProbe
        from hivemind_memory.files.mounts import shared_type

        notes = self._places.notes
        cookie = os.path.join(self._places.index, "cookie")
        try:
            if not shared_type(notes):
                self._probe = InotifyProbe(notes, cookie)
        except OSError:
            self._probe = None
        self._can_watch = self._probe is not None

    def see_hard_links(self, *, are_there: bool) -> None:
        """Record whether a scan has found a note with several names.

        An event names a file as it was called by whoever changed it.
        """
        self._has_hard_links = are_there
        if are_there:
            self.close()

    def changed_since(
        self, compared_with: tuple[object, ...], now_s: float
    ) -> frozenset[str] | None:
        """Return the paths of all that changed since all notes were last compared.

        Args:
            compared_with: The index, and what changes once it is another one.
            now_s: The time.

        Returns:
            None: Nothing says so, or that was too long ago.
        """
        is_recent = now_s - self._compared_s < MAX_UNCHECKED_S
        if self._probe is None or not is_recent:
            return None
        if self._compared_with != compared_with:
            return None
        return frozenset(self._probe.changed)

    def forget_before(
        self, behind: Collection[str], unreadable: Collection[str], *, may_ask: bool
    ) -> bool:
        """Forget what was named before a comparison; return whether that is safe.

        It is if the kernel names, or has named since, all that differs still.

        Args:
            behind: What differs from the index after the comparison.
            unreadable: What could not be read: no event tells when it can be.
            may_ask: Ask what has happened meanwhile.
        """
        probe = self._probe
        if probe is None:
            return False
        before, probe.changed = probe.changed, set()
        if may_ask:
            probe.is_quiet()
        is_named = probe.changed.issuperset(behind)
        probe.changed |= set(unreadable) if is_named else before
        return is_named

    def record_comparison(
        self, compared_with: tuple[object, ...], now_s: float
    ) -> None:
        """Record that all notes were compared; see ``changed_since``."""
        self._compared_with, self._compared_s = compared_with, now_s

    def take(self, changed: frozenset[str]) -> bool:
        """Forget changes that were applied; return whether it is still watched."""
        if self._probe is None:
            return False
        self._probe.changed -= changed
        return True

    def ask_again(self, compared_with: tuple[object, ...]) -> tuple[bool, bool, bool]:
        """Return what has happened since the kernel was last asked.

        Args:
            compared_with: See ``changed_since``.

        Returns:
            Whether all of it is named; that nothing happened; that no note has lost
            its name.
        """
        probe = self._probe
        if probe is None or compared_with != self._compared_with:
            return False, False, False
        probe.has_lost_name = False
        is_quiet = probe.is_quiet()
        return probe.is_complete, is_quiet, not probe.has_lost_name
