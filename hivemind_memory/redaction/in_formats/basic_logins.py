"""Finds logins in base64, as a ``Basic`` header has them, wherever they are written."""

from __future__ import annotations

import binascii

from hivemind_memory.patterns.lazy_pattern import lazy_re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from hivemind_memory.redaction.line_words import LineWords
    from hivemind_memory.redaction.spans import TextSpan

_BASIC = lazy_re(
    r"(?i)\bbasic\b[^\n]{0,40}?[\"' ](?P<value>[A-Za-z0-9+/]{12,400}={0,2})(?![\w+/=])"
)


def basic_logins(there: LineWords) -> Iterator[TextSpan]:
    """Yield what decodes to a name and a password on a line that says ``Basic``."""
    for found in there.near(_BASIC, ("basic",)):
        if _is_login(found["value"]):
            yield (*found.span("value"), "password")


def _is_login(value: str) -> bool:
    """Whether base64 holds a name and a password."""
    try:
        login = binascii.a2b_base64(value + "=" * (-len(value) % 4))
    except ValueError:  # also for ``ſ`` and the sign for Kelvin, which are letters too
        return False
    name, sign, password = login.partition(b":")
    is_text = all(31 < byte < 127 for byte in login)
    return is_text and bool(name and sign and password)
