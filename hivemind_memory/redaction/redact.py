"""Replaces the secrets in a text with marks that name their kind.

What an agent writes is scrubbed before it is saved, and the agent is told. What a
person wrote stays as it is in the note, and is masked on its way to the index, so that
no search result, section or provider gets it. Where the secrets are: see ``detection``.
"""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate

from hivemind_memory.errors import UsageError
from hivemind_memory.model.display import shorten
from hivemind_memory.model.value import value
from hivemind_memory.redaction.clean_texts import known_clean
from hivemind_memory.redaction.judgments import forget_all
from hivemind_memory.redaction.spans import mark
from hivemind_memory.vault.opened import secret_values, why_locked

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from hivemind_memory.redaction.detection import Secret

LINE_ENDS = "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"
MAX_ROUNDS = 20  # a safeguard; two are the most that any test has needed
WHOLE_ROUNDS = 2
"""Rounds that read the whole text; later ones read what is near their last marks.

A list of random ids takes a round for each of some neighbors, one after the other.
"""

NEAR_LINES = 250  # above and below a mark: more than the longest table has rows

MOST_SECRETS = 1_000
"""In one write. A text with more of them is a list of keys, and no memory."""

_FIRST_CHARS = 64_000
"""Of a text that is written. Such a list has too many secrets in these already, and is
refused before the rest of it is searched."""


@value
class RedactedText:
    """A text without its secrets."""

    text: str
    """The text; it has as many lines as before."""

    found: tuple[str, ...]
    """The kind of each secret that was replaced, in order."""


def scrub(text: str, known: Iterable[str] = ()) -> RedactedText:
    """Return a text with each secret replaced by ``[redacted:kind]``.

    What stood on other lines stays on them, and scrubbing twice changes nothing more.

    Args:
        text: Any text.
        known: Values that are secret whatever they look like.

    >>> scrub("export DB_PASSWORD='x9!kfT2#pa'").text
    "export DB_PASSWORD='[redacted:password]'"
    """
    values = tuple(known)
    kinds: list[str] = []
    near: list[tuple[int, int]] | None = None
    try:
        for done in range(MAX_ROUNDS):
            secrets = _found(text, near, values)
            if not secrets:
                break
            kinds += [secret.kind for secret in secrets]
            text, places = _without(text, secrets)
            near = _lines_near(text, places) if done + 1 >= WHOLE_ROUNDS else None
    finally:
        forget_all()
    return RedactedText(text=text, found=tuple(kinds))


def mask(text: str, known: Sequence[str] = ()) -> str:
    """Return a text as it may be shown or sent: without its secrets."""
    clean = known_clean.get()
    if clean is None or known or secret_values():
        return scrub(text, known).text
    if clean.has(text):
        return text
    shown = scrub(text).text
    if shown == text:
        clean.add(text)
    return shown


def mask_short(text: str, limit_chars: int) -> str:
    """Return a text as a message may quote it: without its secrets, cut to a length.

    It is masked as a whole first: half of a secret is not recognized.
    """
    return shorten(mask(text), limit_chars)


def _found(
    text: str, near: list[tuple[int, int]] | None, known: tuple[str, ...]
) -> list[Secret]:
    """Return the secrets in a text, or those in some parts of it, in order."""
    # Not loaded where all texts are known to have none.
    from hivemind_memory.redaction.detection import Secret, find_secrets_in_part

    return [
        Secret(kind=secret.kind, start=start + secret.start, end=start + secret.end)
        for start, end in ([(0, len(text))] if near is None else near)
        for secret in find_secrets_in_part(text[start:end], known)
    ]


def _without(text: str, secrets: list[Secret]) -> tuple[str, list[int]]:
    """Return a text with marks for some secrets, and where each mark begins."""
    parts: list[str] = []
    places: list[int] = []
    done = at = 0
    for secret in secrets:
        before, name = text[done : secret.start], mark(secret.kind)
        ends = _line_ends(text[secret.start : secret.end])
        places.append(at + len(before))
        at += len(before) + len(name) + len(ends)
        parts += [before, name, ends]
        done = secret.end
    return "".join([*parts, text[done:]]), places


def _lines_near(text: str, places: list[int]) -> list[tuple[int, int]]:
    """Return where the lines near some places begin and end, neighbors as one."""
    lines = text.split("\n")
    starts = [0, *accumulate(len(line) + 1 for line in lines)]
    rows: list[tuple[int, int]] = []
    for place in places:
        row = bisect_right(starts, place) - 1
        first, last = max(0, row - NEAR_LINES), min(len(lines), row + NEAR_LINES + 1)
        if rows and first <= rows[-1][1]:
            rows[-1] = (rows[-1][0], last)
        else:
            rows.append((first, last))
    return [(starts[first], starts[last] - 1) for first, last in rows]


def _line_ends(secret: str) -> str:
    """Return the line ends within a secret, so that later lines keep their numbers."""
    return "".join(letter for letter in secret if letter in LINE_ENDS)


def scrubbed(*texts: str) -> tuple[list[str], tuple[str, ...]]:
    """Return texts without the secrets in them, and the kinds of these, each once.

    Raises:
        UsageError: There are too many secrets in them.
    """
    from hivemind_memory.redaction.detection import find_secrets

    for text in texts:
        if len(text) > _FIRST_CHARS:
            _refuse_more_than_most(len(find_secrets(text[:_FIRST_CHARS])))
    done = [scrub(text) for text in texts]
    kinds = [kind for redacted in done for kind in redacted.found]
    _refuse_more_than_most(len(kinds))
    return [redacted.text for redacted in done], tuple(dict.fromkeys(kinds))


def _refuse_more_than_most(count: int) -> None:
    """Raise if a write has too many secrets."""
    if count > MOST_SECRETS:
        raise UsageError(
            f"The text has more than {MOST_SECRETS:,} values that look like secrets.",
            hint="Save where they are kept instead.",
            effect="Nothing was saved",
        )


def holds_known(text: str) -> bool:
    """Return whether a text holds a value of the vault, in any form."""
    values = secret_values()
    if not values:
        return False
    from hivemind_memory.redaction.known_values import holds_value

    return holds_value(text, values)


def may_hold_known(text: str) -> bool:
    """Return whether a value of the vault may be in a text, also in several parts."""
    values = secret_values()
    if not values:
        return False
    from hivemind_memory.redaction.in_code.literals import joined
    from hivemind_memory.redaction.known_values import known_values, may_hold_value

    if may_hold_value(text, values):
        return True
    return bool(joined(text, lambda whole: known_values(whole, values)))


def without_known(text: str) -> str:
    """Return a text without values of the vault; what only looks secret stays."""
    return mask(text) if holds_known(text) else text


def warning_of(kinds: tuple[str, ...]) -> tuple[str, ...]:
    """Return the warnings for a writer: of a secret, and of a vault that is locked."""
    warnings: tuple[str, ...] = ()
    if why := why_locked():
        warnings = (f"The values of the vault were not looked for: {why}",)
    if not kinds:
        return warnings
    warning = f"removed what looks like a secret ({', '.join(kinds)})"
    return (f"{warning}; note where it is kept instead", *warnings)
