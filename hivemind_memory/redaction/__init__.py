"""Finds and hides secrets in text. Takes text, returns text: opens no note.

Every text passes ``redact``, ``detection`` and the gates beside them. The folders hold
one way of finding each, and are loaded only for a text with a word of some rule.
``docs/safety.md`` says where the rules come from and what they leave alone.
"""

from __future__ import annotations

from hivemind_memory.redaction.redact import (
    RedactedText,
    holds_known,
    mask,
    mask_short,
    scrub,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.redaction.detection import Secret, find_secrets

__all__ = [
    "RedactedText",
    "Secret",
    "find_secrets",
    "holds_known",
    "mask",
    "mask_short",
    "scrub",
]


def __getattr__(name: str) -> object:
    """Load what finds secrets when it is asked for: most short commands never do."""
    if name not in ("Secret", "find_secrets"):
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
    from hivemind_memory.redaction import detection

    return getattr(detection, name)
