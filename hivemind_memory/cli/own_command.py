"""Returns the command by which agents and git hooks start this installation."""

from __future__ import annotations

import os
import sys


def own_command() -> tuple[str, ...]:
    """Return the words that start ``hm`` from any folder and with any PATH."""
    own = os.path.abspath(sys.argv[0])
    if os.path.basename(own) in ("hm", "hm.exe") and os.access(own, os.X_OK):
        return (own,)
    return (sys.executable, "-m", "hivemind_memory.cli")


def is_on_path(command: tuple[str, ...]) -> bool:
    """Whether typing ``hm`` runs the program that *command* runs."""
    import shutil

    found = shutil.which("hm")
    return found is not None and os.path.abspath(found) == command[0]
