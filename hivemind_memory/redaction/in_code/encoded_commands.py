"""Finds commands in base64 that hold a secret: ``powershell -enc bgBlAHQA…``."""

from __future__ import annotations

import base64
import binascii

from hivemind_memory.patterns.lazy_pattern import lazy_re
from hivemind_memory.redaction.values.value_score import held

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from hivemind_memory.redaction.spans import TextSpan

_ENCODED = lazy_re(
    r"(?i)(?<=[ \t])[-/]e(?:nc|c|ncodedcommand)?[ \t]{1,4}[\"']?"
    r"(?P<value>[A-Za-z0-9+/]{16,8000}={0,2})"
)


_PIPED = lazy_re(
    r"(?:echo|printf)[ \t]{1,4}(?:-n[ \t]{1,4})?[\"']?"
    r"(?P<value>[A-Za-z0-9+/]{12,400}={0,2})"
    r"[\"']?[ \t]*\|[ \t]*(?:openssl[ \t]+)?base64[ \t]+(?:-d|-D|--decode)"
)
_LOGIN = lazy_re(r"[\w.@+-]{2,40}:(?P<value>\S{5,64})\s*")


def encoded_logins(text: str) -> Iterator[TextSpan]:
    """Yield what is decoded to the name and the password of an account."""
    for found in _PIPED.finditer(text):
        try:
            plain = base64.b64decode(found["value"], validate=True).decode()
        except (binascii.Error, UnicodeDecodeError):
            continue
        login = _LOGIN.fullmatch(plain)
        if login and held(login["value"]):
            yield (*found.span("value"), "password")


def encoded_commands(
    text: str, find: Callable[[str], list[TextSpan]]
) -> Iterator[TextSpan]:
    """Yield the encoded commands in which *find* finds a secret."""
    for found in _ENCODED.finditer(text):
        try:
            raw = base64.b64decode(found["value"], validate=True)
            command = raw.decode("utf-16-le")
        except ValueError:  # also for ``ſ`` and the sign for Kelvin: letters too
            continue
        if command.isprintable() and find(command):
            yield (*found.span("value"), "secret")
