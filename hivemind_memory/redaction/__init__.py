"""Finds and replaces secrets in text: by form, by context, or as given.

Pure: takes text, returns text or places, and knows nothing of notes or the index. It
reads only its own two data files, and only when a text has a word that some rule needs.
``docs/safety.md`` says where the rules come from and what they leave alone.
"""

from __future__ import annotations

from hivemind_memory.redaction.redact import (
    RedactedText,
    Secret,
    find_secrets,
    mask,
    scrub,
)

__all__ = ["RedactedText", "Secret", "find_secrets", "mask", "scrub"]
