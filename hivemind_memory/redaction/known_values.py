"""Finds values that are secret whatever they look like, in the usual encodings.

They are those that a caller names, and those of the vault.
"""

from __future__ import annotations

from functools import lru_cache

from hivemind_memory.patterns.lazy_pattern import lazy_re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from hivemind_memory.redaction.spans import TextSpan

KIND = "vault-value"


_MIN_CHARS = 4
"""Shorter values are parts of much else."""


def known_values(text: str, values: Iterable[str]) -> list[TextSpan]:
    """Return where some values are in a text, longer ones first."""
    spans: list[TextSpan] = []
    for form in _all_forms(tuple(values)):
        at = text.find(form)
        while at >= 0:
            spans.append((at, at + len(form), KIND))
            at = text.find(form, at + len(form))
    return spans


def holds_value(text: str, values: Iterable[str]) -> bool:
    """Return whether a text holds one of some values, in any form."""
    return any(form in text for form in _all_forms(tuple(values)))


def may_hold_value(text: str, values: Iterable[str]) -> bool:
    """Return whether a text holds one of some values, perhaps with signs in between.

    So no value is missed that stands in several literals, or has zero-width signs.

    >>> may_hold_value("'open' + 'sesame'", ["open-sesame"])
    True
    """
    if not (forms := _all_forms(tuple(values))):
        return False
    if any(form in text for form in forms):
        return True
    bare = _SIGNS.sub("", text)
    return any(_SIGNS.sub("", form) in bare for form in forms)


_SIGNS = lazy_re(r"[\W_]+")


@lru_cache(maxsize=8)
def _all_forms(values: tuple[str, ...]) -> tuple[str, ...]:
    """Return all forms of some values, the longest first."""
    long = (value for value in values if len(value.strip()) >= _MIN_CHARS)
    forms = {form for value in long for form in _forms(value)}
    return tuple(sorted(forms, key=lambda form: (-len(form), form)))


def _forms(value: str) -> Iterator[str]:
    """Return a value as it is, in JSON, in a URL, in hex and in both base64s."""
    import json
    from binascii import b2a_base64
    from urllib.parse import quote, quote_plus

    value = value.strip()
    yield value
    yield value.replace("\n", "\r\n")
    yield json.dumps(value)[1:-1]
    yield json.dumps(value, ensure_ascii=False)[1:-1]
    raw = value.encode("utf-8", "surrogatepass")
    yield quote(raw, safe="")
    yield quote_plus(raw)
    if len(raw) > 7:  # shorter ones are parts of much else
        encoded = b2a_base64(raw, newline=False).decode().rstrip("=")
        yield encoded
        yield encoded.replace("+", "-").replace("/", "_")
        yield raw.hex()
        yield raw.hex().upper()
