"""Says which arguments of a call are missing or wrong, and what is allowed.

What is allowed is read from the schema of the tool, which the model has seen.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from hivemind_memory.model.display import listed
from hivemind_memory.model.schema_words import allowed_by

_MAX_NAMED = 3
"""A model corrects all of them at once, if it reads of all of them."""


def argument_problem(
    tool: str, properties: Mapping[str, Any], error: ValidationError
) -> str:
    """Return what is wrong with the arguments of a call, in sentences.

    No value is repeated: it may be a secret.

    Args:
        tool: That was called.
        properties: Its arguments, by name, as JSON schemas.
        error: What was found when they were checked.
    """
    missing: dict[str, None] = {}
    wrong: dict[str, None] = {}
    for found in error.errors(
        include_url=False, include_context=False, include_input=False
    ):
        name = str(found["loc"][0]) if found["loc"] else ""
        if found["type"] == "missing" and len(found["loc"]) == 1:
            missing[name] = None
        else:
            wrong[name] = None
    sentences = [f"{tool} needs {listed(list(missing))}."] if missing else []
    for name in list(wrong)[:_MAX_NAMED]:
        what = allowed_by(properties.get(name, {}))
        sentences.append(f"{name or 'The call'} must be {what}.")
    return " ".join(sentences)
