"""What an agent reads when a call fails: a sentence, a hint, what was saved or not."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from mcp.server.mcpserver.exceptions import ToolError
from pydantic import ValidationError

from hivemind_memory.errors import (
    HivemindError,
    KeyTakenError,
    MemoryNotFoundError,
    NoteNotFoundError,
)

FAILURE_STATEMENTS = {
    "memory_write": "Nothing was saved.",
    "memory_save": "Nothing was saved.",
    "memory_link": "Nothing was linked.",
    "memory_forget": "Nothing was forgotten.",
}
"""Tools that change something -> what is said when they did not."""

_SAID = ("saved", "linked", "changed", "forgotten")
"""Words of a message that tells already what came of the call."""

_MAX_CHARS = 500
"""Of one message: a name in it may be as long as an argument can be."""


def expected_error(tool: str, error: HivemindError) -> ToolError:
    """Return what to raise for an error that was foreseen."""
    hint = error.hint
    if isinstance(error, NoteNotFoundError):
        hint = "memory_list names all notes"
    elif isinstance(error, MemoryNotFoundError):
        hint = "memory_search finds memories, with their keys and ids"
    elif isinstance(error, KeyTakenError):
        hint += "; call again with supersede_reason to replace it"
    said = [_sentence(str(error))]
    # Whatever the memory raises while it writes, it raises before the note has it.
    is_said = any(word in said[0] for word in _SAID) or "Nothing was " in hint
    if tool in FAILURE_STATEMENTS and not is_said:
        said.append(FAILURE_STATEMENTS[tool])
    if hint:
        said.append(f"Hint: {_sentence(hint)}")
    return ToolError(" ".join(said))


def unexpected_error(tool: str, error: Exception) -> ToolError:
    """Return what to raise for an error that nobody foresaw."""
    kind = type(error).__name__
    if tool in FAILURE_STATEMENTS:
        return ToolError(
            f"Something unforeseen happened ({kind}): it may be saved or not."
            " Hint: look for it with memory_search before you try again."
        )
    return ToolError(
        f"Something unforeseen happened ({kind}): no note was changed."
        " Hint: try once more; `hm doctor` looks for what may be wrong."
    )


def unknown_argument_error(
    tool: str, known: Iterable[str], given: Mapping[str, object]
) -> ToolError | None:
    """Return what to raise when a call holds an argument that the tool does not take.

    The SDK would drop it, and the caller would believe that it had counted.
    """
    names = list(known)
    strange = [name for name in given if name not in names]
    if not strange:
        return None
    takes = f"it takes {', '.join(names)}" if names else "it takes none"
    said = f"{tool} has no argument {_short(strange[0])}; {takes}."
    return ToolError(_with_effect(tool, said))


def invalid_argument_error(tool: str, error: ValidationError) -> ToolError:
    """Return what to raise for arguments that do not fit, without their values."""
    first = error.errors(include_url=False, include_context=False, include_input=False)
    place = ".".join(str(part) for part in first[0]["loc"]) or "the arguments"
    problem = first[0]["msg"]
    said = f"{tool}: {_short(place)}: {problem[:1].lower()}{problem[1:]}."
    return ToolError(_with_effect(tool, said))


def _with_effect(tool: str, said: str) -> str:
    """Return *said* with what came of the call."""
    return f"{said} {FAILURE_STATEMENTS[tool]}" if tool in FAILURE_STATEMENTS else said


def _sentence(text: str) -> str:
    """Return *text* as a sentence that is not too long."""
    short = _short(text, _MAX_CHARS).strip()
    return short if short.endswith((".", "!", "?", "…")) else f"{short}."


def _short(text: Any, most: int = 60) -> str:
    """Return the beginning of *text*."""
    whole = str(text)
    return whole if len(whole) <= most else f"{whole[:most]}…"
