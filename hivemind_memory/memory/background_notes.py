"""Which large notes are indexed before an answer, and which in the background.

Whoever looks up memories by their names and links needs all that is said of them, and
of free text nothing but its path.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from hivemind_memory.model.memory_types import MemoryType
    from hivemind_memory.model.note_path import NotePath

    LargeNoteRule = Callable[[NotePath, bytes], bool]
    """Path and bytes of a large note -> whether it is indexed at once."""


def leave_all(_: NotePath, __: bytes) -> bool:
    """Leave every large note to the background."""
    return False


def holds_memory(path: NotePath, data: bytes, types: Mapping[str, MemoryType]) -> bool:
    """Return whether a note is more than free text: a memory, entries, or references.

    Links in its text are no names of its own; they do not count.

    Args:
        path: Its path below the notes folder.
        data: All of its bytes.
        types: Types of a person's own.
    """
    from hivemind_memory.markdown.entry import OPENING
    from hivemind_memory.markdown.front_matter import split_front_matter
    from hivemind_memory.markdown.text import decode
    from hivemind_memory.model.memories import ACTIVE
    from hivemind_memory.notes.memory_header import header_of

    text = decode(data)
    if OPENING in text:
        return True
    header = header_of(path, split_front_matter(text).values, custom=types)
    is_named = bool(header.type or header.memory_id or header.edges)
    return is_named or header.status != ACTIVE


def may_mean(name: str, path: str) -> bool:
    """Return whether a name, or a place such as ``big.md:3-9``, may mean a note."""
    from hivemind_memory.model.citation import split_place
    from hivemind_memory.notes.edge import names_of_note

    wanted = {name.casefold(), split_place(name)[0].casefold()}
    return any(own.casefold() in wanted for own in names_of_note(path))
