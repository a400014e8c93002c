"""Has every note read again when the rules or settings that shape the index change.

Where the types of a person's own were others, too, the rows that are left until then do
not tell of which type a memory is, nor its key.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.index.port import Index

RULES = "chunking"
"""Key of the rules and settings that shape the index."""

_RETYPED = "retyped"
"""Key of those of them that have replaced others with other types."""

_FIRST_TYPE = " MemoryType("


def apply_rules(index: Index, rules: str) -> None:
    """Mark every row, and remember which rules are current."""
    before = index.get_meta(RULES)
    is_left = index.get_meta(_RETYPED) == before and index.files().outdated
    index.mark_all_stale()
    if is_left or _types_of(before) != _types_of(rules):
        index.set_meta(_RETYPED, rules)
    # Last: a process that is killed before leaves it to the next one.
    index.set_meta(RULES, rules)


def has_old_types(index: Index) -> bool:
    """Return whether the outdated rows may have been made with other types."""
    return index.get_meta(_RETYPED) == index.get_meta(RULES)


def _types_of(rules: str) -> str:
    """Return the part of the rules that names types."""
    return rules.partition(_FIRST_TYPE)[2]
