"""Replaces the secrets in a text with marks that name their kind.

What an agent writes is scrubbed before it is saved, and the agent is told. What a
person wrote stays as it is in the note, and is masked on its way to the index, so that
no search result, section or provider gets it. Where the secrets are: see ``detection``.
"""

from __future__ import annotations

from hivemind_memory.model.value import value
from hivemind_memory.redaction.detection import find_secrets
from hivemind_memory.redaction.spans import mark

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

LINE_ENDS = "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"
MAX_ROUNDS = 20  # a safeguard; two are the most that any test has needed


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
    for _ in range(MAX_ROUNDS):
        secrets = find_secrets(text, values)
        if not secrets:
            break
        kinds += [secret.kind for secret in secrets]
        parts, done = [], 0
        for secret in secrets:
            parts += [text[done : secret.start], mark(secret.kind)]
            parts.append(_line_ends(text[secret.start : secret.end]))
            done = secret.end
        text = "".join([*parts, text[done:]])
    return RedactedText(text=text, found=tuple(kinds))


def mask(text: str, known: Iterable[str] = ()) -> str:
    """Return a text as it may be shown or sent: without its secrets."""
    return scrub(text, known).text


def _line_ends(secret: str) -> str:
    """Return the line ends within a secret, so that later lines keep their numbers."""
    return "".join(letter for letter in secret if letter in LINE_ENDS)


def scrubbed(*texts: str) -> tuple[list[str], tuple[str, ...]]:
    """Return texts without the secrets in them, and the kinds of these, each once."""
    done = [scrub(text) for text in texts]
    kinds = dict.fromkeys(kind for redacted in done for kind in redacted.found)
    return [redacted.text for redacted in done], tuple(kinds)


def warning_of(kinds: tuple[str, ...]) -> tuple[str, ...]:
    """Return the warning for the writer of a secret; empty if there was none."""
    if not kinds:
        return ()
    warning = f"what looks like a secret was removed ({', '.join(kinds)})"
    return (f"{warning}: save where it is kept instead",)
