"""Makes the next version of a memory, and decides what that keeps besides the header.

Who edits a memory has read its own text. The entries below it have sources of their
own, so they stay as they are; what it updates is true of the new text too.
"""

from __future__ import annotations

from hivemind_memory.curation.lookup import load_memory
from hivemind_memory.curation.without_secrets import masked
from hivemind_memory.markdown.entry import own_lines, own_text, parse_provenance
from hivemind_memory.model.curation import NewMemory
from hivemind_memory.model.memories import UPDATES
from hivemind_memory.model.scope import scope_text
from hivemind_memory.model.text_version import text_version
from hivemind_memory.model.value import replaced
from hivemind_memory.notes.edge import FIELDS, targets
from hivemind_memory.notes.memory_file import body_of, fit_content

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from hivemind_memory.curation.context import CurationContext
    from hivemind_memory.model.curation import StoredMemory
    from hivemind_memory.model.ports import MemoryIndex
    from hivemind_memory.notes.memory_file import MemoryFile


def edited(memory: StoredMemory, **changes: Any) -> NewMemory:
    """Return a memory as it is saved again, with some fields changed.

    It replaces the version that was read and no other. What is not given here, a save
    takes from that version: ``supersede.values_of``.

    Args:
        memory: As it was read.
        changes: Fields of ``NewMemory``: what changes, why, and who changes it.
    """
    text = own_text(memory.text)
    new = NewMemory(
        key=memory.key,
        content=text,
        scope=scope_text(memory.scope),
        replaces=memory.id,
        replaces_text=text_version(text),
        is_edit=True,
    )
    return replaced(new, **changes)


def with_text_kept(context: CurationContext, new: NewMemory) -> NewMemory:
    """Return an edit that leaves the text alone with the text as its note has it.

    Who sees no secrets has read the text without them, and gives it back so.
    """
    index = context.index.fresh(is_lookup=True)
    for row in index.memories(memory_id=new.replaces, scopes=frozenset({new.scope})):
        found = load_memory(context, row.path)
        text = "" if found is None else own_text(found.text)
        if text != new.content and masked(fit_content(text)) == new.content:
            return replaced(
                new, content=fit_content(text), replaces_text=text_version(text)
            )
    return new


def own_body(old: MemoryFile) -> str:
    """Return the text of a memory without the entries below it."""
    return fit_content("\n".join(own_lines(_lines_of(old))))


def text_as_read(old: MemoryFile) -> str:
    """Return the text that whoever reads the memory gets, without the entries."""
    body, _ = body_of(old.text, old.front)
    return own_text(body.replace("\r\n", "\n"))


def with_entries_below(content: str, old: MemoryFile | None) -> str:
    """Return a new content with the entries that were appended to the note before.

    They are memories of their own: who replaces the text above replaces none of them.
    """
    below = entries_below(old) if old is not None else ""
    return f"{content}\n{below}" if below else content


def entries_below(old: MemoryFile) -> str:
    """Return the entries below a memory as they are in its file; empty: there are none.

    Each keeps its comment line, which says where it comes from.
    """
    lines = _lines_of(old)
    below = lines[len(own_lines(lines)) :]
    return "\n".join(below).rstrip() if any(map(parse_provenance, below)) else ""


def kept_updates(index: MemoryIndex, new: NewMemory, old: MemoryFile) -> list[object]:
    """Return what else an edited memory updates, besides its own older versions."""
    value = old.front.values.get(FIELDS[UPDATES])
    items = value if isinstance(value, list) else [value]
    kept = []
    for at, item in enumerate(items):
        rows = [row for ref in targets(item) for row in index.memories(memory_id=ref)]
        is_version = any(row.key == new.key and row.scope == new.scope for row in rows)
        # The version before may be purged; the save that replaced it named it first.
        is_lost = at == 0 and not rows and "reason" in old.front.values
        if targets(item) and not is_version and not is_lost:
            kept.append(item)
    return kept


def _lines_of(old: MemoryFile) -> list[str]:
    """Return the lines of a memory file below its front matter."""
    body, _ = body_of(old.text, old.front)
    return body.replace("\r\n", "\n").split("\n")
