"""Takes sequences out of a token: examples are made of them."""

from __future__ import annotations

_LEAST = 6  # letters or digits that follow one another
_NEXT = {"9": "0", "z": "a"}


def without_sequences(value: str) -> str:
    """Return a value without runs of letters or digits that follow one another.

    >>> without_sequences("xoxb-123456789012-AbCdEfGh-7f2m7UlP")
    'xoxb---7f2m7UlP'
    """
    kept = run = ""
    for letter in value:
        before = run[-1:].lower()
        after = _NEXT.get(before) or chr(ord(before[0]) + 1) if before else ""
        is_next = letter.lower() == after
        if not is_next:
            kept += run if len(run) < _LEAST else ""
            run = ""
        run += letter
    kept += run if len(run) < _LEAST else ""
    return kept.replace("deadbeef", "").replace("DEADBEEF", "")
