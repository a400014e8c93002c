"""Finds and hides secrets in text. Takes text, returns text: opens no note.

It reads only its own two data files, and only for a text with a word of some rule.
``docs/safety.md`` says where the rules come from and what they leave alone.
"""

from __future__ import annotations

from hivemind_memory.redaction.detection import Secret, find_secrets
from hivemind_memory.redaction.redact import RedactedText, mask, scrub

__all__ = ["RedactedText", "Secret", "find_secrets", "mask", "scrub"]
