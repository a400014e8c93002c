"""Spans of text: marks left by an earlier redaction, and overlaps merged."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Iterable, Iterator


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


def shortest_parts(words: Iterable[str]) -> tuple[str, ...]:
    """Return the words that hold no other: a text without these has none of them.

    >>> shortest_parts(("key", "api key", "token"))
    ('key', 'token')
    """
    every = dict.fromkeys(words)
    kept: list[str] = []
    for word in sorted(every, key=len):
        if not has_any(word, kept):
            kept.append(word)
    chosen = frozenset(kept)
    return tuple(word for word in every if word in chosen)


def has_any(low: str, words: Iterable[str]) -> bool:
    """Whether a text holds one of some words."""
    # A loop and not any(): this runs for many lines, and takes half as long.
    for word in words:  # noqa: SIM110
        if word in low:
            return True
    return False


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


def blocks_with(
    low: str, words: Iterable[str], *, above: int = 0, below: int = 0
) -> list[tuple[int, int]]:
    r"""Return where the lines begin and end that hold a word, neighbors as one.

    A pattern that needs the word is dear on a whole text, and cheap on these.

    Args:
        low: The text in lower case.
        words: In lower case.
        above: Lines above that belong to each.
        below: Lines below that belong to each.

    >>> blocks_with("one\ntwo\nthree\nfour", ("t",))
    [(4, 13)]
    """
    starts = line_starts(low, words)
    if not starts:
        return []
    blocks: list[tuple[int, int]] = []
    before = end = -1  # the start before, and where its block ends
    for start in sorted(starts):
        first = start
        for _ in range(above if start else 0):
            first = low.rfind("\n", 0, max(0, first - 1)) + 1
        rows = below
        if start <= end:
            rows = low.count("\n", before, start)
        else:
            end = _line_end(low, start)
        for _ in range(rows):
            end = _line_end(low, min(len(low), end + 1))
        before = start
        if blocks and first <= blocks[-1][1] + 1:
            first, end = blocks[-1][0], max(end, blocks[-1][1])
            blocks[-1] = (first, end)
        else:
            blocks.append((first, end))
    return blocks


def line_starts(low: str, words: Iterable[str]) -> set[int]:
    """Return where the lines begin that hold one of some words."""
    starts: set[int] = set()
    for word in words:
        if word not in low:  # nearly always, and sooner told than where it is
            continue
        at = low.find(word)
        while at >= 0:
            starts.add(low.rfind("\n", 0, at) + 1)
            end = low.find("\n", at + len(word))
            at = low.find(word, end) if end >= 0 else -1
    return starts


def _line_end(low: str, at: int) -> int:
    """Return where the line of a place ends."""
    end = low.find("\n", at)
    return end if end >= 0 else len(low)


def found_near(
    pattern: re.Pattern[str],
    text: str,
    low: str,
    words: Iterable[str],
    *,
    above: int = 0,
    below: int = 0,
) -> Iterator[re.Match[str]]:
    """Return what a pattern finds on lines that hold a word; see ``blocks_with``."""
    blocks = blocks_with(low, words, above=above, below=below)
    # No generator where there is nothing to look at: that is nearly always so.
    return found_in(pattern, text, blocks) if blocks else iter(())


def found_in(
    pattern: re.Pattern[str], text: str, blocks: Iterable[tuple[int, int]]
) -> Iterator[re.Match[str]]:
    """Yield what a pattern finds within each of some blocks."""
    for start, end in blocks:
        yield from pattern.finditer(text, start, end)


def found_at(
    pattern: re.Pattern[str], text: str, low: str, words: Iterable[str]
) -> Iterator[re.Match[str]]:
    """Return what a pattern finds, if all that it finds begins with one of some words.

    Args:
        pattern: Of many words, which takes long to search a text for.
        text: The text.
        low: The same in lower case, letter for letter.
        words: In lower case.
    """
    starts: set[int] = set()
    for word in words:
        if word not in low:
            continue
        at = low.find(word)
        while at >= 0:
            starts.add(at)
            at = low.find(word, at + 1)
    return matches_at(pattern, text, starts)


def matches_at(
    pattern: re.Pattern[str], text: str, places: Iterable[int]
) -> Iterator[re.Match[str]]:
    """Yield what a pattern finds at some places, and no two that overlap."""
    done = 0
    for at in sorted(places):
        found = pattern.match(text, at) if at >= done else None
        if found:
            yield found
            done = found.end()


_UPPER_TO_LOWER = {upper: upper + 32 for upper in range(65, 91)}


def lowered(text: str) -> str:
    """Return the text in lower case, every letter where it was."""
    low = text.lower()
    # Some letters become two; then only what rules speak of is changed.
    return low if len(low) == len(text) else text.translate(_UPPER_TO_LOWER)


def is_within(text: str, span: TextSpan, opening: str, closing: str) -> bool:
    """Whether a span follows an opening sign that is closed after it."""
    at = text.rfind(opening, max(0, span[0] - _LONGEST_CLOSED), span[0])
    return at >= 0 and text.find(closing, at, at + 2 * _LONGEST_CLOSED) >= span[1]


_LONGEST_CLOSED = 4000
