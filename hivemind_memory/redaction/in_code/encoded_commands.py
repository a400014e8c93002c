"""Finds commands in base64 that hold a secret: ``powershell -enc bgBlAHQA…``."""

from __future__ import annotations

import base64
import binascii

from hivemind_memory.redaction.lazy_pattern import lazy_re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from hivemind_memory.redaction.spans import TextSpan

_ENCODED = lazy_re(
    r"(?i)(?<=[ \t])[-/]e(?:nc|c|ncodedcommand)?[ \t]{1,4}[\"']?"
    r"(?P<value>[A-Za-z0-9+/]{16,8000}={0,2})"
)


def encoded_commands(
    text: str, find: Callable[[str], list[TextSpan]]
) -> Iterator[TextSpan]:
    """Yield the encoded commands in which *find* finds a secret."""
    for found in _ENCODED.finditer(text):
        try:
            raw = base64.b64decode(found["value"], validate=True)
            command = raw.decode("utf-16-le")
        except (binascii.Error, UnicodeDecodeError):
            continue
        if command.isprintable() and find(command):
            yield (*found.span("value"), "secret")
