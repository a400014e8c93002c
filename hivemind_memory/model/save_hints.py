"""What a save suggests, in the words of a surface: its option or its argument."""

from __future__ import annotations

from hivemind_memory.model.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


@value
class GlobalScopeHint:
    """What was kept in one project may be for all."""

    scope: str
    """Where it is kept."""


def hint_texts(
    hints: Iterable[str | GlobalScopeHint], *, global_scope: str
) -> tuple[str, ...]:
    """Return hints as sentences.

    Args:
        hints: From a save.
        global_scope: What names the global scope in this surface.

    >>> hint_texts([GlobalScopeHint(scope="projects/shop")], global_scope="`-g`")
    ('it is kept in projects/shop only; `-g` keeps it for all projects',)
    """
    ending = f"{global_scope} keeps it for all projects"
    return tuple(
        hint if isinstance(hint, str) else f"it is kept in {hint.scope} only; {ending}"
        for hint in hints
    )
