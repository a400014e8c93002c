"""Finds keys of config.json that were meant as options and have no effect.

The file may be shared with other programs, and a newer version of this one may have
written to it: a key that resembles no option is left alone.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

    from hivemind_memory.config.file import ConfigFile

_ALIKE_OUTSIDE = 0.85
"""How alike a key outside ``memory`` is to an option that is meant, from 0 to 1; other
programs have options whose names begin or end in the same way."""


def find_misplaced(file: ConfigFile, options: Collection[str]) -> dict[str, str]:
    """Return key -> why it has no effect, and what was probably meant.

    Args:
        file: What config.json says.
        options: The names of all options.
    """
    found: dict[str, str] = {}
    for key in file.memory:
        if key not in options and (near := _nearest(key, options)):
            found[key] = f"{file.path}: there is no option {key}. Did you mean {near}?"
    for key, value in file.document.items():
        if key == "memory":
            continue
        if key in options:
            found[key] = _outside(file.path, key)
        elif isinstance(value, dict):
            if _nearest(key, ["memory"], _ALIKE_OUTSIDE):
                found[key] = f"{file.path}: {key} is not read. Did you mean memory?"
            elif _has_only_options(value, options):
                found[key] = (
                    f"{file.path}: what is inside {key} has no effect;"
                    f' put {", ".join(value)} inside "memory".'
                )
        elif near := _nearest(key, options, _ALIKE_OUTSIDE):
            found[key] = f"{_outside(file.path, key, near)} Did you mean {near}?"
    return found


def _outside(path: str, key: str, option: str = "") -> str:
    """Return what is said of a key that is beside ``memory``."""
    return (
        f"{path}: {key} is outside memory, where it has no effect;"
        f' it belongs inside: {{"memory": {{"{option or key}": …}}}}.'
    )


def _has_only_options(value: dict[str, object], options: Collection[str]) -> bool:
    """Return whether an object holds options of this program alone.

    Other programs have names of a single word, too, such as ``enabled``.
    """
    is_ours = bool(value) and all(key in options for key in value)
    return is_ours and any("_" in key for key in value)


def _nearest(key: str, names: Collection[str], similarity: float = 0.7) -> str:
    """Return the name that a key was probably meant to be; empty: none."""
    from hivemind_memory.model.keys import closest  # loads difflib

    near = closest(key, names, similarity=similarity)
    return near[0] if near else ""
