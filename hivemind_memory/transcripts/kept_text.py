"""What of a message is kept: no injected section, no secret, not more than fits.

The section that ``hm inject`` wrote stands in many transcripts. It is taken out before
anything is stored: found again, it would be a memory of the memory.
"""

from __future__ import annotations

from hivemind_memory.files.section_text import without_sections
from hivemind_memory.redaction import mask
from hivemind_memory.transcripts.message import TOOL

LIMIT_CHARS = 16_000
TOOL_LIMIT_CHARS = 2_000
"""The most that is kept of what is said, and of a call or its result. The
transcript has the rest."""

MARGIN_CHARS = 500
"""So much of the end of what is searched for secrets is dropped, if the text goes on:
what is cut in two there is not known for a secret. Masking is most of the work."""


def kept_text(text: str, role: str) -> str:
    """Return what is kept of a message's text; empty: nothing.

    Args:
        text: As the transcript has it.
        role: Of the message.

    >>> kept_text("password=hunter2-Xq9 is old", "user")
    'password=[redacted:password] is old'
    """
    limit = TOOL_LIMIT_CHARS if role == TOOL else LIMIT_CHARS
    text = without_sections(text)
    is_cut = len(text) > limit + MARGIN_CHARS
    kept = masked_head(text, limit + MARGIN_CHARS)
    if is_cut or len(kept) > limit:
        kept = f"{kept[:limit].rstrip()}…"
    return kept.strip()


def masked_head(text: str, limit_chars: int) -> str:
    """Return a text without its secrets; of a longer one, only its beginning.

    Args:
        text: Any text.
        limit_chars: So much of it is read. More than ``MARGIN_CHARS``.
    """
    kept = mask(_storable(text[:limit_chars]))
    return kept if len(text) <= limit_chars else kept[:-MARGIN_CHARS]


def _storable(text: str) -> str:
    """Return a text without what no file can hold: half characters, and zeros."""
    text = text.replace("\0", "")
    if text.isascii():
        return text
    return text.encode("utf-8", "replace").decode("utf-8")
