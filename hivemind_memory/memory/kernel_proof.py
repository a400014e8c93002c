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
    from hivemind_memory.memory.shared_comparison import SharedComparison

MAX_UNCHECKED_S = 1.0
"""How long the result of a scan is trusted while no event contradicts it."""


class KernelProof:
    """Watches one notes folder while the kernel can report all its changes.

    Remembers which index all notes were last compared with; what the kernel has named
    since is all that may differ from it.
    """

    def __init__(self, places: Places, *, has_links: bool, max_note_bytes: int) -> None:
        """Watch nothing yet.

        Args:
            places: Where the notes are.
            has_links: Notes behind links are read too; nothing reports their changes.
            max_note_bytes: A larger note is passed over.
        """
        self._places = places
        self._probe: InotifyProbe | None = None
        self._can_watch = not has_links
        self._has_hard_links = False
        self.compared_s = -MAX_UNCHECKED_S
        """When the last comparison began that this process may rely on."""

        self._compared_with: tuple[object, ...] = ()
        self._skipped: tuple[str, ...] = ()
        self._max_note_bytes = max_note_bytes
        self._shared: SharedComparison | None = None

    def close(self) -> None:
        """Stop watching; what happens from now on is not named."""
        if self._probe is not None:
            self._probe.close()
            self._probe = None
        self.compared_s = -MAX_UNCHECKED_S
        self._compared_with = ()

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
        if self._can_watch and self._shared is None:
            from hivemind_memory.memory.shared_comparison import SharedComparison

            self._shared = SharedComparison(
                os.path.join(self._places.index, "compared"),
                (notes, self._max_note_bytes),
            )

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
            compared_with: The index, and what changes once it is another one; of that
                all but the first is the same in other processes.
            now_s: The time.

        Returns:
            None: Nothing says so, or that was too long ago. Others may wait then, until
            ``end_comparison``.
        """
        if self._probe is None or self._compared_with != compared_with:
            return None
        if now_s - self.compared_s >= MAX_UNCHECKED_S and not self._relies_on_other(
            compared_with[1:], now_s
        ):
            return None
        return frozenset(self._probe.changed)

    def _relies_on_other(self, compared_with: tuple[object, ...], now_s: float) -> bool:
        """Return whether another process has compared all notes since, or does so now.

        What changed since one's own comparison is named, or was applied. What no event
        names, the later comparison has found.
        """
        if self._shared is None:
            return False
        for has_waited in (False, True):
            if has_waited:
                self._shared.wait()
            began_s = self._shared.latest_s((*compared_with, self._skipped))
            if abs(now_s - began_s) < MAX_UNCHECKED_S:
                self.compared_s = began_s
                self._shared.end()
                return True
        return False

    def end_comparison(self) -> None:
        """Let another process compare all notes; see ``changed_since``."""
        if self._shared is not None:
            self._shared.end()

    def forget_before(
        self, behind: Collection[str], unreadable: Collection[str], *, may_ask: bool
    ) -> bool:
        """Forget what was named before a comparison; return whether that is safe.

        It is if the kernel names, or has named since, all that differs still.

        Args:
            behind: What differs from the index after the comparison.
            unreadable: What could not be read: no event says when it can be.
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
        self,
        compared_with: tuple[object, ...],
        began_s: float,
        *,
        skipped: tuple[str, ...],
        is_complete: bool,
    ) -> None:
        """Record that all notes were compared; see ``changed_since``.

        Args:
            compared_with: See there.
            began_s: When that began.
            skipped: Paths of files that were passed over.
            is_complete: All notes could be read, so it serves other processes, too.
        """
        self._compared_with, self.compared_s = compared_with, began_s
        self._skipped = skipped
        if is_complete and self._shared is not None:
            self._shared.record((*compared_with[1:], skipped), began_s)
            self._shared.end()

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
