"""What the shell offers when a person presses Tab: notes, options, agents."""

from __future__ import annotations

from collections.abc import Callable

from hivemind_memory.config import options
from hivemind_memory.errors import HivemindError

Completer = Callable[[str], list[str]]


def completer(kind: str) -> Completer | None:
    """Return what completes a word of *kind*; nothing for one that is not known."""
    kinds = {"notes": _notes, "options": _options, "connectable": _connectable}
    return kinds.get(kind)


def _notes(incomplete: str) -> list[str]:
    """Return the notes that begin so; none when the memory cannot be read."""
    from hivemind_memory import wiring

    try:
        with wiring.open_memory() as memory:
            paths = [note.path for note in memory.list()]
    except (HivemindError, OSError):
        return []
    return [path for path in paths if path.startswith(incomplete)]


def _options(incomplete: str) -> list[str]:
    """Return the options that begin so."""
    return [name for name in options() if name.startswith(incomplete)]


def _connectable(incomplete: str) -> list[str]:
    """Return the agents whose names begin so."""
    from hivemind_memory.connect.agents import AGENTS

    names = [*(agent.name for agent in AGENTS), "all"]
    return [name for name in names if name.startswith(incomplete)]
