"""What all results share: their limit, and how they show a place, a line and a mark."""

from __future__ import annotations

from typing import Protocol

from pydantic import BaseModel, ConfigDict

from hivemind_memory.model.display import shorten
from hivemind_memory.redaction import mask

LIMIT_CHARS = 20_000
"""Most characters of note text in one result. Clients write a result above some 50,000
characters of JSON to a file, and escaping can double a text."""


class ResultPart(BaseModel):
    """A part of a result that is read from a value with the same field names."""

    model_config = ConfigDict(from_attributes=True)


class Doubtable(Protocol):
    """What a result says of a text that may be only a claim."""

    untrusted: bool
    status: str
    source: str
    """Empty unless it is from outside."""


def one_line(text: str, limit_chars: int) -> str:
    """Return what a note says of itself as one line: secrets masked, cut to a limit.

    A line break in it would begin a line that is not quoted, and so could pass for a
    part of the answer.
    """
    if not text:  # as most of what notes may say of themselves is
        return ""
    return shorten(" ".join(mask(text).split()), limit_chars)


def untrusted_mark(shown: Doubtable) -> str:
    """Return the mark of what is only a claim, and why it is one; else nothing."""
    if not shown.untrusted:
        return ""
    reasons = ["awaiting review"] if shown.status == "pending" else []
    reasons += [shown.source] if shown.source else []
    return f" UNTRUSTED, {', '.join(reasons)}"
