"""All that leaves for an agent passes here: what is hidden or steers is shown.

A note, a file name or an argument can hold control characters, characters that cannot
be seen, and halves of characters that no encoding takes.
"""

from __future__ import annotations

from typing import Any

from hivemind_memory.model.escape import escape_for_terminal


def clean(value: Any) -> Any:
    r"""Return *value*, made of plain types, with every text in it fit to be sent.

    Keys stay as they are: they are ours.

    >>> clean({"text": "a\x1b[31m"})
    {'text': 'a\\x1b[31m'}
    """
    if isinstance(value, str):
        return escape_for_terminal(value)
    if isinstance(value, dict):
        return {key: clean(one) for key, one in value.items()}
    if isinstance(value, list):
        return [clean(one) for one in value]
    return value
