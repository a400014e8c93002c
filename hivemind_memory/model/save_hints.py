"""What a save suggests, in the words of a surface: its option or its argument."""

from __future__ import annotations

from hivemind_memory.model.note_path import GLOBAL_NOTE
from hivemind_memory.model.scope import place_in_scope
from hivemind_memory.model.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from hivemind_memory.model.results import WriteResult


@value
class GlobalScopeHint:
    """What was kept in one project may be for all."""

    scope: str
    """Where it is kept."""


@value
class OpeningHint:
    """What was kept for all projects opens few of their sessions."""


SaveHint = str | GlobalScopeHint | OpeningHint


@value
class HintWords:
    """How a surface names what a hint suggests."""

    global_scope: str
    """What keeps something for all projects."""

    opening: str
    """What saves it so that every session opens with it."""


def hint_texts(hints: Iterable[SaveHint], words: HintWords) -> tuple[str, ...]:
    """Return hints as sentences.

    >>> words = HintWords(global_scope="`-g`", opening="`--type preference`")
    >>> hint_texts([GlobalScopeHint(scope="projects/shop")], words)
    ('saved for projects/shop only; `-g` saves it for all projects',)
    """
    return tuple(_text(hint, words) for hint in hints)


def _text(hint: SaveHint, words: HintWords) -> str:
    """Return a hint as a sentence."""
    if isinstance(hint, GlobalScopeHint):
        ending = f"{words.global_scope} saves it for all projects"
        return f"saved for {hint.scope} only; {ending}"
    if isinstance(hint, OpeningHint):
        opens = f"to open every session with it, use {words.opening}"
        return f"only matching sessions open with it; {opens}"
    return hint


def entry_hints(
    written: WriteResult, *, scope: str, source: str
) -> tuple[OpeningHint, ...]:
    """Return a hint about an entry that an agent wrote for all projects.

    Args:
        written: Where it is.
        scope: The scope that the agent named; empty: none.
        source: Who says so; a person is told nothing.
    """
    is_free_text = written.path != GLOBAL_NOTE and not place_in_scope(written.path)
    is_for_all = bool(scope) and not written.scope
    return (OpeningHint(),) if is_for_all and is_free_text and source == "agent" else ()
