"""Spans of text: marks left by an earlier redaction, and overlaps merged."""

from __future__ import annotations

TYPE_CHECKING = False


MARK_START = "[redacted:"


MARK_END = "]"


LONGEST_MARK = 80


HIDDEN = "\0"


TextSpan = tuple[int, int, str]
"""First and last place (the latter not included) of a secret, and its kind."""


def mark(kind: str) -> str:
    """Return what a secret of some kind is replaced by.

    >>> mark("github-pat")
    '[redacted:github-pat]'
    """
    return f"{MARK_START}{kind}{MARK_END}"


def without_marks(text: str) -> str:
    """Return a text of the same length in which no mark can be mistaken for text.

    A mark names its kind, and "api-key]: x" would read as an assignment.
    """
    at = text.find(MARK_START)
    if at < 0:
        return text
    parts, done = [], 0
    while at >= 0:
        end = text.find(MARK_END, at, at + LONGEST_MARK)
        if end < 0 or "\n" in text[at:end]:
            at = text.find(MARK_START, at + 1)
            continue
        parts.append(text[done : at + 1])
        parts.append(HIDDEN * (end - at - 1))
        done = end
        at = text.find(MARK_START, end)
    return "".join([*parts, text[done:]])


def merge_spans(spans: list[TextSpan]) -> list[TextSpan]:
    """Return spans in order without overlaps; the first that was given names a join."""
    if len(spans) < 2:
        return spans
    order = {span: place for place, span in reversed(list(enumerate(spans)))}
    whole: list[list[TextSpan]] = []
    end = -1
    for span in sorted(order):
        if span[0] < end:
            whole[-1].append(span)
        else:
            whole.append([span])
        end = max(end, span[1])
    return [
        (some[0][0], max(span[1] for span in some), min(some, key=order.__getitem__)[2])
        for some in whole
    ]
