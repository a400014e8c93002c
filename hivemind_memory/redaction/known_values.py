"""Finds values that the caller names as secret, in the usual encodings."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from hivemind_memory.redaction.spans import TextSpan

KIND = "vault-value"


def known_values(text: str, values: Iterable[str]) -> list[TextSpan]:
    """Return where some values are in a text, longer ones first."""
    spans: list[TextSpan] = []
    for form in sorted({form for value in values for form in _forms(value)}, key=len)[
        ::-1
    ]:
        at = text.find(form)
        while at >= 0:
            spans.append((at, at + len(form), KIND))
            at = text.find(form, at + len(form))
    return spans


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
