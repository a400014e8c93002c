"""The error messages of the tools: a sentence, a hint, and what was saved."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from mcp.server.mcpserver.exceptions import ToolError
from pydantic import ValidationError

from hivemind_memory.errors import (
    TOO_MANY_FILES,
    ForgottenError,
    HivemindError,
    KeyTakenError,
    MemoryNotFoundError,
    NoteNotFoundError,
    is_out_of_files,
)
from hivemind_memory.mcp_server.argument_errors import argument_problem
from hivemind_memory.model.display import without_options
from hivemind_memory.model.keys import closest
from hivemind_memory.redaction import mask_short

FAILURE_STATEMENTS = {
    "memory_write": "Nothing was saved.",
    "memory_save": "Nothing was saved.",
    "memory_learn": "Nothing was saved.",
    "memory_link": "Nothing was linked.",
    "memory_forget": "Nothing was forgotten.",
}
"""Tools that change something -> the sentence that says they did not."""

_SAVED = (
    "it may or may not have been saved. Hint: look for it with memory_search before you"
    " try again."
)
_DOUBTS = {
    "memory_write": _SAVED,
    "memory_save": _SAVED,
    "memory_learn": _SAVED,
    "memory_link": (
        "the link may or may not have been made. Hint: try again; a link is made only"
        " once."
    ),
    "memory_forget": (
        "it may or may not have been forgotten. Hint: if memory_search still finds it,"
        " try again."
    ),
}
"""Tools that change something -> what is known after an unexpected error."""

_MAX_CHARS = 500
"""Longest message: a name in it may be as long as an argument can be."""
_MAX_NAME_CHARS = 60


def expected_error(tool: str, error: HivemindError) -> ToolError:
    """Return the error for the model when the memory refused a call."""
    hint = error.hint
    if isinstance(error, NoteNotFoundError):
        hint = "memory_list shows all notes"
    elif isinstance(error, ForgottenError):
        hint = f"only if the user wants it back: {hint}"
    elif isinstance(error, MemoryNotFoundError):
        hint = "memory_search finds memories, with their keys and ids"
    elif isinstance(error, KeyTakenError):
        hint = hint.removeprefix(f"{error.effect}. ")
        hint += "; call again with supersede_reason to replace it"
    sentences = [_sentence(str(error))]
    # Whatever the memory raises while it writes, it raises before the note has it.
    is_unsaid = not error.effect or isinstance(error, KeyTakenError)
    if tool in FAILURE_STATEMENTS and is_unsaid:
        sentences.append(FAILURE_STATEMENTS[tool])
    if hint := without_options(hint):
        sentences.append(f"Hint: {_sentence(hint)}")
    return ToolError(" ".join(sentences))


def unexpected_error(tool: str, error: Exception) -> ToolError:
    """Return the error for the model when a call failed for an unknown reason."""
    if is_out_of_files(error):
        doubt = _DOUBTS.get(tool, "no note was changed. Hint: try again in a while.")
        return ToolError(f"{TOO_MANY_FILES} {doubt[:1].upper()}{doubt[1:]}")
    kind = type(error).__name__
    if tool in _DOUBTS:
        return ToolError(f"Unexpected error ({kind}): {_DOUBTS[tool]}")
    return ToolError(
        f"Unexpected error ({kind}): no note was changed."
        " Hint: try once more; a person can run `hm doctor` to find the cause."
    )


def unknown_tool_error(name: str, known: Iterable[str]) -> ToolError:
    """Return the error for a tool that the server does not have."""
    named = mask_short(name, _MAX_NAME_CHARS)
    names = list(known)
    near = closest(named, names)
    hint = f"Did you mean {near[0]}?" if near else f"The tools are {', '.join(names)}."
    return ToolError(f"There is no tool {named}. {hint}")


def unknown_argument_error(
    tool: str, known: Iterable[str], given: Mapping[str, object]
) -> ToolError | None:
    """Return the error for an argument that the tool does not take, if there is one.

    The SDK would drop it, and the caller would believe that it had an effect.
    """
    names = list(known)
    unknown = [name for name in given if name not in names]
    if not unknown:
        return None
    takes = f"it takes {', '.join(names)}" if names else "it takes none"
    named = mask_short(str(unknown[0]), _MAX_NAME_CHARS)
    near = closest(named, names)
    meant = f" Did you mean {near[0]}?" if near else ""
    problem = f"{tool} has no argument {named}; {takes}.{meant}"
    return ToolError(_with_effect(tool, problem))


def invalid_argument_error(
    tool: str, properties: Mapping[str, Any], error: ValidationError
) -> ToolError:
    """Return the error for arguments that are missing or of the wrong form."""
    return ToolError(_with_effect(tool, argument_problem(tool, properties, error)))


def _with_effect(tool: str, problem: str) -> str:
    """Return a message, followed by what was not done if the tool changes anything."""
    return (
        f"{problem} {FAILURE_STATEMENTS[tool]}"
        if tool in FAILURE_STATEMENTS
        else problem
    )


def _sentence(text: str) -> str:
    """Return *text* as one sentence of bounded length, its secrets masked.

    It may name what it was given, and that may be anything.
    """
    short = mask_short(text, _MAX_CHARS).strip()
    return short if short.endswith((".", "!", "?", "…")) else f"{short}."
