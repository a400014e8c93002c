"""Says what might be done better about a memory that was saved; nothing is wrong."""

from __future__ import annotations

from hivemind_memory.curation.type_hints import suggest_type
from hivemind_memory.model.memories import SUPERSEDED
from hivemind_memory.model.memory_types import BUILT_IN, DEFAULT_TYPE
from hivemind_memory.model.save_hints import GlobalScopeHint, OpeningHint
from hivemind_memory.model.scope import kind_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.model.curation import NewMemory, SaveResult
    from hivemind_memory.model.ports import MemoryIndex
    from hivemind_memory.model.save_hints import SaveHint

_STATE = (
    "this looks like state, not knowledge: `hm kv` keeps such values, and `hm vault`"
    " secrets"
)
_LONG_DATA_CHARS = 500
_MANY_VERSIONS = 20
"""Versions of one key from which it looks like changing state rather than a memory."""


def hints_of(
    index: MemoryIndex, new: NewMemory, saved: SaveResult
) -> tuple[SaveHint, ...]:
    """Return the hints about a memory that was saved."""
    return (
        *_type_hints(new, saved),
        *_scope_hints(saved),
        *_opening_hints(new, saved),
        *_state_hints(index, new, saved),
    )


def _type_hints(new: NewMemory, saved: SaveResult) -> tuple[str, ...]:
    """Return a hint if the text, or the key, reads like that of another type."""
    is_inherited = bool(saved.superseded) and not new.type
    is_custom = saved.type not in BUILT_IN
    if not saved.is_new or is_inherited or is_custom or new.more:
        return ()
    hint = suggest_type(new.content, chosen=new.type, default=DEFAULT_TYPE)
    if new.key in BUILT_IN and not new.type:
        return (f'its key is "{new.key}", its type is {saved.type}',)
    read = hint and f'it reads like type {hint.type} ("{hint.words}"), not {saved.type}'
    return (read,) if read else ()


def _scope_hints(saved: SaveResult) -> tuple[GlobalScopeHint, ...]:
    """Return a hint if what may be about the user is kept in one project."""
    is_in_project = saved.is_new and kind_of(saved.scope) == "project"
    is_about_user = saved.type in ("identity", "preference")
    return (
        (GlobalScopeHint(scope=saved.scope),) if is_in_project and is_about_user else ()
    )


def _opening_hints(new: NewMemory, saved: SaveResult) -> tuple[OpeningHint, ...]:
    """Return a hint if an agent kept for all what few sessions open with.

    Any other type says that it was chosen.
    """
    is_plain = saved.type in (DEFAULT_TYPE, "fact") and not new.is_pinned
    is_told = saved.is_new and new.is_for_all and new.source == "agent"
    return (OpeningHint(),) if is_plain and is_told else ()


def _state_hints(
    index: MemoryIndex, new: NewMemory, saved: SaveResult
) -> tuple[str, ...]:
    """Return a hint if a text looks like the state of a program."""
    scopes, older = frozenset({saved.scope}), frozenset({SUPERSEDED})
    is_often = bool(saved.superseded) and (
        # The index does not know yet that the version before this one was replaced.
        len(index.memories(key=saved.key, scopes=scopes, statuses=older)) + 2
        >= _MANY_VERSIONS
    )
    text = new.content.strip()
    is_data = len(text) > _LONG_DATA_CHARS and text[:1] + text[-1:] in {"{}", "[]"}
    if not saved.is_new or not (is_often or is_data):
        return ()
    return (_STATE,)
