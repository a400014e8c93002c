"""The filters that ``hm list`` and ``hm log`` share, and the first line of a text."""

from __future__ import annotations

from hivemind_memory.cli.text_input import split_items

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from hivemind_memory.memory import Memory
    from hivemind_memory.model.listing import MemoryFilter

STATUSES = ("active", "superseded", "pending", "forgotten", "expired", "done")
"""Values of ``--status``: those of ``model.memories``; a test compares."""

STATUS_FLAGS = {
    "superseded": "superseded",
    "forgotten": "forgotten",
    "inbox": "pending",
}
"""Option that is short for a value of ``--status`` -> the value."""


def memory_filter(values: Mapping[str, Any]) -> MemoryFilter:
    """Return which memories the options select."""
    from hivemind_memory.model.listing import MemoryFilter
    from hivemind_memory.model.tags import parse_tags

    status = values.get("status")
    statuses: tuple[str, ...] = (str(status),) if status else ()
    if status == "all":
        statuses = STATUSES
    statuses += tuple(
        status for name, status in STATUS_FLAGS.items() if values.get(name)
    )
    return MemoryFilter(
        types=split_items(values.get("type")),
        scope=values["scope"] or "",
        since=values["since"] or "",
        by=values["agent"] or "",
        source=values["source"] or "",
        source_ref=values.get("source_ref") or "",
        folder=values.get("folder") or "",
        has_entries=not values.get("memories"),
        tags=parse_tags(values.get("tag") or ()),
        statuses=statuses or MemoryFilter().statuses,
    )


def suggest_filter(memory: Memory, values: Mapping[str, Any]) -> str:
    """Return a scope or writer that the filter may have meant, to end a sentence."""
    from shlex import quote

    from hivemind_memory.files.near_scope import nearest_scope
    from hivemind_memory.model.keys import closest
    from hivemind_memory.model.listing import MemoryFilter

    if values["scope"] and memory.caller.is_owner:
        wanted = memory.find_scope(values["scope"])
        if scope := nearest_scope(memory.places.notes, wanted):
            return f"; did you mean --scope {scope}?"
    if not values["agent"]:
        return ""
    writers = {change.by for change in memory.curation.log(MemoryFilter())} - {""}
    near = () if values["agent"] in writers else closest(values["agent"], writers)
    return f"; did you mean --agent {quote(near[0])}?" if near else ""


def first_line(text: str) -> str:
    """Return the first line of a text, marked if there are more.

    A table cuts it to the terminal's width.
    """
    line, _, rest = text.strip().partition("\n")
    return f"{line} …" if rest.strip() else line
