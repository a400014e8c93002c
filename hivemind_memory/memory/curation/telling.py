"""What a save says: what it did, what it refused, what a person might look at."""

from __future__ import annotations

from hivemind_memory.errors import KeyTakenError
from hivemind_memory.memory.curation.hints import type_hint
from hivemind_memory.memory.curation.near import near_ones
from hivemind_memory.memory.curation.recalling import recalled_from
from hivemind_memory.memory.curation.succeeding import type_of
from hivemind_memory.model.curating import Near, Saved
from hivemind_memory.model.memory_types import BUILT_IN, DEFAULT_TYPE
from hivemind_memory.model.standing import ACTIVE, FORGOTTEN, STANDINGS, SUPERSEDED
from hivemind_memory.notes.dates import day_of_iso

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.memory.curation.desk import Desk
    from hivemind_memory.model.curating import Candidate, NewMemory
    from hivemind_memory.model.note_path import NotePath
    from hivemind_memory.model.ports import MemoryIndex
    from hivemind_memory.notes.memory_file import MemoryFile

_SHOWN_CHARS = 300


def taken_error(desk: Desk, new: NewMemory, old: MemoryFile) -> KeyTakenError:
    """Return the error for a key that a memory has already."""
    current = recalled_from(old.path, old.text, desk)
    text = current.text
    shown = text if len(text) <= _SHOWN_CHARS else f"{text[:_SHOWN_CHARS]}…"
    return KeyTakenError(
        f'Active entry exists for key "{new.key}", supersede_reason required',
        hint=f"Nothing was saved. {old.path} says: {shown}",
        current=current,
    )


def told(
    desk: Desk, new: NewMemory, path: NotePath, memory_id: str, at_line: int
) -> Saved:
    """Return what a save did that wrote one new file."""
    return Saved(
        path=path,
        id=memory_id,
        key=new.key,
        type=type_of(new, None, desk.types),
        scope=new.scope,
        standing=STANDINGS[ACTIVE],
        is_new=True,
        first_line=at_line,
        last_line=at_line + new.content.count("\n"),
        changed_paths=(path,),
    )


def unchanged(
    desk: Desk, new: NewMemory, old: MemoryFile, *, standing: int = ACTIVE
) -> Saved:
    """Return what a save did that had nothing to do."""
    said = recalled_from(old.path, old.text, desk)
    return Saved(
        path=old.path,
        id=said.id,
        key=new.key,
        type=said.type,
        scope=new.scope,
        standing=STANDINGS[standing],
        is_new=False,
        first_line=said.first_line,
        last_line=said.last_line,
        hints=(f"nothing was written: {old.path} says exactly this already",),
    )


def near_memories(
    desk: Desk, index: MemoryIndex, new: NewMemory, candidates: tuple[Candidate, ...]
) -> tuple[Near, ...]:
    """Return the memories that say nearly the same, other than those of the key."""
    found: dict[str, Near] = {}
    for candidate, share in near_ones(new.content, candidates):
        rows = index.memories(path=candidate.path, scopes=desk.caller.scopes)
        is_own = any(row.key == new.key and row.scope == new.scope for row in rows)
        is_past = any(row.standing in (SUPERSEDED, FORGOTTEN) for row in rows)
        if rows and not is_own and not is_past and candidate.path not in found:
            found[candidate.path] = Near(
                path=candidate.path,
                first_line=candidate.first_line,
                last_line=candidate.last_line,
                key=rows[0].key,
                similarity=share,
            )
    return tuple(found.values())


def near_text(near: Near) -> str:
    """Return in words that something says nearly the same."""
    named = f'"{near.key}"' if near.key else "a note"
    lines = f"{near.first_line}-{near.last_line}"
    return f"this is nearly {named}, in {near.path}:{lines}"


def type_hints(new: NewMemory, saved: Saved) -> tuple[str, ...]:
    """Return what the text reads like, if that is another type than it has."""
    is_inherited = bool(saved.superseded) and not new.type
    is_custom = saved.type not in BUILT_IN
    if not saved.is_new or is_inherited or is_custom or new.more:
        return ()
    hint = type_hint(new.content, chosen=new.type, default=DEFAULT_TYPE)
    if hint is None:
        return ()
    return (f'it reads like type {hint.type} ("{hint.words}"), not {saved.type}',)


def warnings_of(desk: Desk, new: NewMemory, others: tuple[str, ...]) -> tuple[str, ...]:
    """Return what a person should look at."""
    found = [
        f"{path} is another active memory with this key: give it a key of its own"
        for path in others
    ]
    expires = day_of_iso(new.expires)
    if expires is not None and expires <= desk.clocks.today():
        found.append(f"it expires on {new.expires[:10]}, so no search shows it")
    return tuple(found)
