"""Where the home folder is, and the socket in it. Every command loads this first."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

HOME_VARIABLE = "HIVEMIND_HOME"
DEFAULT_HOME = "~/.hivemind"
LOCKS_FOLDER = "locks"


def home_of(environ: Mapping[str, str], flag: str | None = None) -> str:
    """Return the home folder: the flag, ``HIVEMIND_HOME``, or ``~/.hivemind``."""
    chosen = flag or environ.get(HOME_VARIABLE)
    return os.path.abspath(os.path.expanduser(chosen or DEFAULT_HOME))


def helper_socket(home: str) -> str:
    """Return where commands ask the helper of a leader to do their work."""
    return os.path.join(home, LOCKS_FOLDER, "helper.sock")
