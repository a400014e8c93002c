"""Reads messages made of Gemini's parts: texts, calls of functions, their responses."""

from __future__ import annotations

import json
import re

from hivemind_memory.transcripts.message import (
    OWN_TOOLS,
    TOOL,
    USER,
    Message,
    objects_in,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from hivemind_memory.transcripts.message import FileState

_ADDED = ("<session_context>", "<hook_context>", "<system-reminder>")
"""So begins what the program says in the user's name."""

_SHELL = re.compile(
    r"\s*I ran the following shell command:\n```.*?\n```\s+This produced", re.DOTALL
)
"""So begins a command that the user ran with ``!``, before what it put out."""

_FILES = "--- Content from referenced files ---"
"""From here to the end of a message: what is in the files that it names with ``@``."""


def read_parts(parts: object, role: str, state: FileState) -> Iterator[Message]:
    """Yield the messages of some parts."""
    for part in objects_in(parts):
        text, call = part.get("text"), part.get("functionCall")
        if isinstance(text, str) and not part.get("thought"):
            if role == USER and _SHELL.match(text):
                yield Message(TOOL, text)
                continue
            said, mark, files = (
                text.partition(_FILES) if role == USER else (text, "", "")
            )
            said = said.rstrip() if mark else said
            if said and not said.lstrip().startswith(_ADDED):
                yield Message(role, said)
            if mark:
                role = TOOL
                yield Message(role, files)
        elif isinstance(call, dict):
            yield from state.call(call.get("name"), call.get("id"), call.get("args"))
        else:
            yield from _read_response(part.get("functionResponse"), state)


def _read_response(response: object, state: FileState) -> Iterator[Message]:
    """Yield what a function answered."""
    if not isinstance(response, dict):
        return
    name, answer = response.get("name"), response.get("response")
    if isinstance(name, str) and name.endswith(OWN_TOOLS):
        return
    if isinstance(answer, dict):
        answer = answer.get("output", answer.get("error", answer))
    text = answer if isinstance(answer, str) else json.dumps(answer)
    yield from state.result(response.get("id"), text)
