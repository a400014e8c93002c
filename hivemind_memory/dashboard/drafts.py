"""Names the drafts that a browser keeps of what was typed, until it is saved."""

from __future__ import annotations

from hivemind_memory.dashboard.shown_text import masked_text
from hivemind_memory.model.curation import AffectedItem
from hivemind_memory.model.scope import scope_of, scope_text


def edit_draft(scope: str, key: str, memory_id: str) -> str:
    """Return the name of the draft of a memory: that of its next version, too."""
    return f"{scope_text(scope)} {masked_text(key) or memory_id}"


def claim_draft(memory_id: str) -> str:
    """Return the name of the draft of a claim in the inbox."""
    return f"claim {memory_id}"


def dispute_draft(memory_id: str) -> str:
    """Return the name of the draft of what disputes a memory."""
    return f"dispute {memory_id}"


def drafts_of(item: AffectedItem) -> list[str]:
    """Return the names of all drafts that may quote a memory."""
    return [
        edit_draft(scope_of(item.path), item.key, item.id),
        claim_draft(item.id),
        dispute_draft(item.id),
    ]
