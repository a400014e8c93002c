"""Orders notes by when a person or an agent wrote them, the newest first."""

from __future__ import annotations

from hivemind_memory.model.clocks import seconds_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hivemind_memory.memory import Memory
    from hivemind_memory.model.query import Hit, SearchAnswer
    from hivemind_memory.model.results import ListedNote

_MANY = 10
"""So many notes that change within moments of each other are copied, not written."""

_MOMENT_S = 2


def newest_first(
    notes: Sequence[ListedNote], created: Mapping[str, str]
) -> tuple[list[ListedNote], frozenset[str]]:
    """Return notes in order of writing, and the paths of those whose time is unknown.

    A note counts by its last change. An import, a restored backup or a clone changes
    many at once, and that says nothing of when they were written: such a note counts by
    the date in its front matter or name, and comes last if it has none.

    Args:
        notes: All that are listed.
        created: Path of a typed memory -> when it was saved, ISO 8601.
    """
    changed: dict[str, float] = {
        note.path: seconds_of(note.updated_at) or 0.0 for note in notes
    }
    copied = _changed_together(changed)
    written = {
        path: _dated(path, created) if path in copied else seconds
        for path, seconds in changed.items()
    }
    order = sorted(notes, key=lambda note: (-(written[note.path] or 0.0), note.path))
    return order, frozenset(path for path, at in written.items() if at is None)


def mark_copies(memory: Memory, answer: SearchAnswer) -> SearchAnswer:
    """Return an answer whose hits say of a date that it is only that of a copy.

    Those are hits in free text that gives itself no date.
    """
    from hivemind_memory.model.clocks import iso_day
    from hivemind_memory.model.snapshot import NS_PER_DAY
    from hivemind_memory.model.value import replaced

    if not any(hit.date and not (hit.id or hit.type) for hit in answer.hits):
        return answer
    mtimes = {str(path): at[0] for path, at in memory.folder.signatures().items()}
    copied = _changed_together({path: mtime / 1e9 for path, mtime in mtimes.items()})

    def is_of_copy(hit: Hit) -> bool:
        """Whether a hit has its date from the file alone, and the file was copied."""
        if hit.id or hit.type or hit.path not in copied or _dated(hit.path, {}):
            return False
        return hit.date == iso_day(mtimes[hit.path] // NS_PER_DAY)

    hits = (
        replaced(hit, date=f"copied {hit.date}") if is_of_copy(hit) else hit
        for hit in answer.hits
    )
    return replaced(answer, hits=tuple(hits))


def _dated(path: str, created: Mapping[str, str]) -> float | None:
    """Return the time that a note gives itself; None: it gives none."""
    own = seconds_of(created.get(path, ""))
    return seconds_of(path.rpartition("/")[2][:10]) if own is None else own


def _changed_together(changed: Mapping[str, float]) -> frozenset[str]:
    """Return the notes that changed at the same time as many others."""
    found: list[str] = []
    group: list[str] = []
    for path in sorted(changed, key=changed.__getitem__):
        if group and changed[path] - changed[group[-1]] > _MOMENT_S:
            group = []
        group.append(path)
        if len(group) == _MANY:
            found += group
        elif len(group) > _MANY:
            found.append(path)
    return frozenset(found)
