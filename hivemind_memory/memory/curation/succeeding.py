"""What the front matter of a memory says, and what it takes over from its predecessor.

Pure. A memory that replaces another keeps what describes the subject: type, visibility,
importance, tags, relations, a pin, and every key that this program does not know. What
belonged to the old words goes with them: who said it and when, what it contradicted,
where it was from, when it ends. A minor correction keeps these too, for it says the
same thing better; its old text is kept like any other.
"""

from __future__ import annotations

from hivemind_memory.memory.curation.fitting import SOURCES
from hivemind_memory.model.memory_types import DEFAULT_TYPE
from hivemind_memory.notes.front_matter import split_front_matter
from hivemind_memory.notes.header_text import render_header
from hivemind_memory.notes.memory_header import header_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from hivemind_memory.model.curating import NewMemory
    from hivemind_memory.model.memories import MemoryHeader
    from hivemind_memory.model.memory_types import MemoryType
    from hivemind_memory.notes.memory_file import MemoryFile

MINOR = "minor correction"
"""How the reason of the soft form begins: typing errors, form, clearer words."""

_STAYS = frozenset({"visibility", "related", "pinned", "tags"})
_STAYS_WHEN_MINOR = frozenset(
    {"created", "contradicts", "source_ref", "expires", "done"}
)


def is_minor(reason: str) -> bool:
    """Return whether a reason is the soft one.

    >>> is_minor("Minor correction: typo"), is_minor("it was the migration")
    (True, False)
    """
    return reason.casefold().startswith(MINOR)


def given_values(new: NewMemory, type_name: str) -> dict[str, object]:
    """Return what was asked for, key by key, without what was left open."""
    values = {
        "type": type_name,
        "importance": new.importance,
        "visibility": new.visibility,
        "related": list(new.related),
        "contradicts": list(new.contradicts),
        "source_ref": new.source_ref,
        "pinned": new.is_pinned or None,
        "expires": new.expires,
        "tags": list(new.tags),
    }
    given = {key: one for key, one in values.items() if one not in (None, "", [])}
    # What is empty there is to be empty, whatever the predecessor says.
    return {**given, **new.more}


def says_the_same(
    old: MemoryFile, new: NewMemory, types: Mapping[str, MemoryType]
) -> bool:
    """Return whether a memory says all that is asked for already."""
    if old.body != new.content:
        return False
    if new.type and new.type != header(old, types).type:
        return False
    given = given_values(new, "")
    wanted = split_front_matter(render_header(given)).values
    return all(old.front.values.get(key) == wanted.get(key) for key in given)


def type_of(
    new: NewMemory, old: MemoryFile | None, types: Mapping[str, MemoryType]
) -> str:
    """Return the type of a memory: as named, as its predecessor's, or the default."""
    inherited = header(old, types).type if old else ""
    return new.type or inherited or DEFAULT_TYPE


def values_of(
    new: NewMemory,
    *,
    memory_id: str,
    at: str,
    old: MemoryFile | None,
    types: Mapping[str, MemoryType],
) -> tuple[dict[str, object], frozenset[str]]:
    """Return what the front matter says, and which keys stay as *old* has them.

    Args:
        new: What is saved; fit, its edges as ids.
        memory_id: The id that it gets.
        at: The time now, ISO 8601.
        old: The memory that it replaces.
        types: Types of a person's own.
    """
    values = given_values(new, type_of(new, old, types))
    values |= {
        "id": memory_id,
        "key": new.key,
        "created": at,
        "updated": at,
        "by": new.by,
        "session": new.session,
        "source": new.source,
        "reason": new.reason,
    }
    stays = set(_STAYS)
    if old is not None:
        values["supersedes"] = old.id
        if not new.type or new.type == header(old, types).type:
            stays.add("importance")
        if is_minor(new.reason):
            stays |= _STAYS_WHEN_MINOR
            values["source"] = _least_trusted(old, new.source)
            if "created" in old.front.values:
                del values["created"]
    return values, frozenset(stays - values.keys())


def header(file: MemoryFile, types: Mapping[str, MemoryType]) -> MemoryHeader:
    """Return what a file says of itself as a memory."""
    return header_of(file.path, file.front.values, custom=types)


def _least_trusted(old: MemoryFile, source: str) -> str:
    """Return the lower of two sources: words of both are in a minor correction."""
    before = old.front.values.get("source")
    if before is None:
        return source
    known = before if before in SOURCES else SOURCES[-1]
    return max(str(known), source, key=SOURCES.index)
