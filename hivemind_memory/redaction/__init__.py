"""Secrets in text: found by their form, by what stands beside them, or as given.

Pure: takes text, gives text or places; knows nothing of notes, index or doors. It reads
nothing but its own two data files, and these only when a text has a word that some rule
needs. ``docs/safety.md`` says where the rules are from and what is left alone.
"""

from __future__ import annotations

from hivemind_memory.redaction.finding import Secret, find_secrets
from hivemind_memory.redaction.redact import RedactedText, mask, scrub

__all__ = ["RedactedText", "Secret", "find_secrets", "mask", "scrub"]
