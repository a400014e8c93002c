"""Says in words why a memory was injected or left out, for commands and pages."""

from __future__ import annotations

from hivemind_memory.model.note_path import GLOBAL_NOTE
from hivemind_memory.model.scope import FOLDERS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

LEFT_OUT_WORDS = {
    "budget": "no room in the budget",
    "cap": "the section already has its maximum of lessons",
    "count": "over the limit (startup_inject_count)",
    "session": "the section already has enough from this agent's session",
    "agent": "over this agent's share of the section",
    "copy": "the same as another memory",
    "overlap": "its lines are already quoted",
    "external": "from an external source, never injected by itself",
    "replaced": "another memory has replaced it",
    "over": "expired or done",
    "twin": "a copy of another memory's file",
}
"""Why a memory was left out -> in words."""

REASON_WORDS = {
    "always": "every section shows it",
    "lesson": "a lesson",
    "preference": "a preference",
    "saved": "a saved memory",
    "project": "has the project's name",
    "folder": "has a word of the folder's name",
    "branch": "matches the branch",
    "files": "matches the changed files",
    "commit": "matches the latest commits",
}
"""Part of a score -> in words, why a memory was injected."""

_IN_PROJECT = FOLDERS["project"] + "/"
_MEMBER_WORDS = "kept in the project"
_GLOBAL_WORDS = "global.md is for every project"

SEARCHED_WORDS = {
    "branch": "the words of the branch's name",
    "files": "the names of the changed files",
    "commit": "the newest commits",
}
"""What was searched for -> in words; the log keeps no text of a repository."""


def reasons_text(memory: Mapping[str, Any]) -> str:
    """Return why a memory of a record was injected, the strongest reason first.

    >>> reasons_text({"parts": [{"facet": "saved", "value": 0.1}]})
    'a saved memory'
    >>> part = {"facet": "commit", "value": 0.1}
    >>> reasons_text({"parts": [part], "words": {"commit": ["invoices"]}})
    'matches the latest commits (invoices)'
    """
    parts = sorted(memory["parts"], key=lambda part: -part["value"])
    words = REASON_WORDS
    if memory.get("path") == GLOBAL_NOTE:  # chosen beside the preferences
        words = {**words, "preference": _GLOBAL_WORDS}
    if memory.get("path", "").startswith(_IN_PROJECT):
        words = {**words, "project": _MEMBER_WORDS}
    matched = memory.get("words", {})
    reasons = (_reason(words, part["facet"], matched) for part in parts)
    return ", ".join(dict.fromkeys(reasons))


def _reason(
    words: Mapping[str, str], facet: str, matched: Mapping[str, Sequence[str]]
) -> str:
    """Return a reason, with the words that matched if they are known."""
    reason = words.get(facet, facet)
    return f"{reason} ({', '.join(matched[facet])})" if matched.get(facet) else reason
