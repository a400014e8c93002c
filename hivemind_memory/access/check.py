"""Checks that raise when a caller may not read or write a note."""

from __future__ import annotations

from hivemind_memory.access.rules import may_read, may_write
from hivemind_memory.errors import NotSavedError, UsageError
from hivemind_memory.model.scope import GLOBAL, scope_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.access.rules import Caller
    from hivemind_memory.model.note_path import NotePath


def check_enabled(*, is_enabled: bool) -> None:
    """Raise if the memory is switched off.

    Raises:
        UsageError: It is; nothing was saved.
    """
    if not is_enabled:
        raise UsageError(
            "the memory is switched off (`enabled` is false).",
            effect="Nothing was saved",
            hint="`hm config set enabled true` switches it on",
        )


def check_owner(caller: Caller, what: str) -> None:
    """Raise unless a caller sees the whole memory.

    Args:
        caller: Who asks.
        what: What describes the whole memory, such as a command.

    Raises:
        UsageError: It is not, and *what* covers all of it.
    """
    if not caller.is_owner:
        raise UsageError(
            f"{what} covers the whole memory; you can only see part of it here.",
            hint="Unset HIVEMIND_WORKSPACE, HIVEMIND_TEAM and HIVEMIND_PROJECT to see"
            " all of it.",
        )


def check_readable(caller: Caller, path: NotePath) -> None:
    """Raise the error of a missing note if a caller may not read it.

    Visitors read no whole notes, for visibility is a matter of single memories.

    Raises:
        NoteNotFoundError: The caller sees no such note.
    """
    if caller.is_member and may_read(caller, path):
        return
    from hivemind_memory.files.errors import read_error

    # The same message as for a note that does not exist.
    raise read_error(path, FileNotFoundError())


def check_writable(caller: Caller, path: NotePath, effect: str = "") -> None:
    """Raise if a caller may not save to a note, whether it is there or not.

    Raises:
        NotSavedError: It is outside the caller's scopes.
    """
    if may_write(caller, path):
        return
    scope = scope_of(path)
    where = "the global memory" if scope == GLOBAL else scope
    raise NotSavedError(
        f"you cannot write to {where} from here.",
        hint="Leave out the file and scope, or name one of your own.",
        effect=effect or f"Nothing was saved to {path}",
    )


def without_forgotten(path: NotePath, text: str) -> str:
    """Return a note's text with the lines of forgotten entries blank.

    Every other line keeps its number.

    Raises:
        NoteNotFoundError: The note is forgotten as a whole.
    """
    if "forgotten" not in text:
        return text
    from hivemind_memory.files.errors import read_error
    from hivemind_memory.markdown.chunker import parse_note
    from hivemind_memory.notes.status import is_forgotten

    note = parse_note(path, text.encode())
    if is_forgotten(note.front_matter):
        raise read_error(path, FileNotFoundError())
    lines = text.split("\n")
    for chunk in note.chunks:
        if chunk.provenance is not None and chunk.provenance.is_forgotten:
            blank = [""] * (chunk.end_line - chunk.start_line + 1)
            lines[chunk.start_line - 1 : chunk.end_line] = blank
    return "\n".join(lines)
