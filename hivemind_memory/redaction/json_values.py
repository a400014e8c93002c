"""Masks the secrets in a value of JSON, which often stand after their names."""

from __future__ import annotations

import json

from hivemind_memory.redaction.redact import mask

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


def mask_json(content: object) -> object:
    """Return a value of JSON without the secrets in its texts, names and numbers.

    A number that is no secret stays a number.

    >>> mask_json({"password": "hunter2-Xq9", "port": 8080})
    {'password': '[redacted:password]', 'port': 8080}
    """
    if isinstance(content, str):
        return mask(content)
    if isinstance(content, list):
        return [mask_json(part) for part in content]
    if isinstance(content, dict):
        return dict(_masked_members(content))
    if isinstance(content, bool) or content is None:
        return content
    text = json.dumps(content)
    masked = mask(text)
    return content if masked == text else masked


def _masked_members(content: dict[str, object]) -> Iterator[tuple[str, object]]:
    """Yield the members of an object, each text masked together with its name.

    A name such as ``password`` tells that the text after it is secret.
    """
    for name, part in content.items():
        if isinstance(part, str):
            before = f"{name}: "
            both = mask(before + part)
            if both.startswith(before):
                yield mask(name), both.removeprefix(before)
                continue
        yield mask(name), mask_json(part)
