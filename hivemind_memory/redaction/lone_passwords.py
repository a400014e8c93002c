"""Finds passwords by their look alone, without a word next to them.

``Winter2024$t5`` has what rules for passwords ask for: small and large letters, digits
and a sign in the middle. Of a million lines of documents and code, a few dozen words
look like that, and the forms of these are passed over here.
"""

from __future__ import annotations

from hivemind_memory.patterns.lazy_pattern import lazy_re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.redaction.spans import TextSpan

SHORTEST = 8
LONGEST = 64
# The sign comes first: what begins with a condition on the past is tried everywhere.
_SIGN = lazy_re(r"[!$%&*#?^~@](?<=[A-Za-z0-9].)[!$%&*#?^~@]{0,2}+[A-Za-z0-9]")
_PART = lazy_re(r"[A-Za-z0-9!$%&*#?^~@+._-]{0,64}+")
_LETTER_BEFORE = "=:/>-'\"`([|,;"
_NO_PASSWORD = lazy_re(
    r"%[02-57C-F][0-9A-F]|@[\w-]*\.|@v?\d[\d.]*\Z|#L?\d+(?:\.|\Z)|[A-Za-z_]\*\d+\Z|\A\d+[a-z]?\*"
    r"|[a-z]{3}&[a-z]{3}|&&|\?\?|\?\.|[?&][a-z]{3,}\Z|&(?:amp|lt|gt|nbsp|quot)"
    r"|\.[a-z]{2,5}[#?]|[#@?$^](?:[A-Za-z][a-z_]{3,}|[a-z]+[A-Z][a-z]+)\Z|[$@]\d?\Z|@\d+\Z|%s\b|[a-z]\$\d\Z"
    r"|\Ax5t#S256\Z|\d\^|\$\w+\.\w|[A-Za-z]\.[A-Za-z]{2}|\d-9"
)


def chosen_passwords(text: str) -> list[TextSpan]:
    """Return the words of a text that can hardly be anything but a password.

    >>> chosen_passwords("marta / Winter2024$t5, second floor")
    [(8, 21, 'password')]
    >>> chosen_passwords("see CHANGELOG_V18.md#18.9.1 or Uint8Array#includes")
    []
    """
    spans: list[TextSpan] = []
    done = 0
    for sign in _SIGN.finditer(text):
        if sign.start() < done:
            continue
        at = sign.start()
        before = _PART.match(text[max(0, at - LONGEST, done) : at][::-1])
        behind = _PART.match(text, at)
        if before is None or behind is None:
            continue
        start, done = at - before.end(), behind.end()
        value = text[start:done].lstrip("!$%&*#?^~@+._-")
        start = done - len(value)
        value = value.rstrip(".,_-~")
        if _is_alone(text, start, start + len(value)) and is_chosen_password(value):
            spans.append((start, start + len(value), "password"))
    return spans


def is_chosen_password(value: str) -> bool:
    """Whether a value mixes four kinds of characters, and is no code or address."""
    return (
        SHORTEST <= len(value) < LONGEST
        and any(letter.islower() for letter in value)
        and any(letter.isupper() for letter in value)
        and any(letter.isdigit() for letter in value)
        and _SIGN.search(value) is not None
        and _NO_PASSWORD.search(value) is None
    )


def _is_alone(text: str, start: int, end: int) -> bool:
    """Whether a value is a word of its own, and no part of an address or of code."""
    before, after = text[start - 1 : start], text[end : end + 1]
    if after and after in "([{=\\<":
        return False
    if not before or before.isspace() or not before.isascii():
        return True
    if before not in _LETTER_BEFORE:
        return False
    word = text[max(0, start - 200) : start].split()
    return not word or "://" not in word[-1]
