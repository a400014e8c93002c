"""Every note that a caller may see."""

from __future__ import annotations

from hivemind_memory.model.access import may_read
from hivemind_memory.model.answers import ListedNote
from hivemind_memory.model.standing import FORGOTTEN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.memory.core import Memory
    from hivemind_memory.memory.opening import OpenIndex


def list_notes(memory: Memory) -> list[ListedNote]:
    """Return the notes, sorted by path; what was forgotten as a whole is left out."""

    def count(opened: OpenIndex) -> tuple[dict[str, int], set[str]]:
        memory.held.freshener().freshen(opened.index)
        hidden = opened.index.memories(standings={FORGOTTEN})
        return opened.index.chunk_counts(), {row.path for row in hidden}

    with memory.lock:
        counts, hidden = memory.held.answered(count)
        stamps = memory.folder.look().stamps
    return [
        ListedNote(
            path=path,
            size_bytes=stamp[2],
            updated_at=memory.clocks.local_iso(stamp[0] / 1e9),
            chunk_count=counts.get(path, 0),
        )
        for path, stamp in sorted(stamps.items())
        if path not in hidden and may_read(memory.caller, path)
    ]
