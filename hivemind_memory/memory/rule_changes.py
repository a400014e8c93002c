"""Has every note read again when the rules or settings that shape the index change.

Where the types of a person's own were others, too, the rows that are left until then do
not tell of which type a memory is, nor its key.
"""

from __future__ import annotations

from hivemind_memory.patterns.lazy_pattern import lazy_re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

    from hivemind_memory.index.port import Index
    from hivemind_memory.model.note_path import NotePath

RULES = "chunking"
"""Key of the rules and settings that shape the index."""

_RETYPED = "retyped"
"""Key of those of them that have replaced others with other types."""

_VAULT = lazy_re(r" vault \w+")

_FIRST_TYPE = " MemoryType("


def apply_rules(
    index: Index, rules: str, *, holding: Collection[NotePath] | None = None
) -> None:
    """Mark every row, and remember which rules are current.

    Args:
        index: The index.
        rules: Those of today.
        holding: Only another vault is new, and its values may be in these notes.
    """
    before = index.get_meta(RULES)
    is_left = index.get_meta(_RETYPED) == before and index.files().outdated
    index.mark_stale(holding)
    if is_left or _types_of(before) != _types_of(rules):
        index.set_meta(_RETYPED, rules)
    # Last: a process that is killed before leaves it to the next one.
    index.set_meta(RULES, rules)


def is_other_vault(before: str, rules: str) -> bool:
    """Return whether rules differ in the vault alone, which is open in both.

    >>> is_other_vault("code vault a1", "code vault b2"), is_other_vault("", "code")
    (True, False)
    >>> is_other_vault("code vault a1 locked", "code vault a1")
    False
    """
    if not before or " locked" in before + rules:
        return False
    return _VAULT.sub("", before) == _VAULT.sub("", rules)


def has_old_types(index: Index) -> bool:
    """Return whether the outdated rows may have been made with other types."""
    return index.get_meta(_RETYPED) == index.get_meta(RULES)


def _types_of(rules: str) -> str:
    """Return the part of the rules that names types."""
    return rules.partition(_FIRST_TYPE)[2]
