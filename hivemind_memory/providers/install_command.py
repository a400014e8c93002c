"""Says how a missing package is installed beside this program."""

from __future__ import annotations

import os
import sys
from shlex import quote

from hivemind_memory.files.descriptors import open_regular

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_PIPX_FILE = "pipx_metadata.json"
"""What pipx writes into each environment that it makes."""


def install_command(
    packages: Sequence[str], prefix: str = sys.prefix, venv: str | None = None
) -> str:
    """Return the command that installs packages where this program finds them.

    A plain ``pip`` belongs to another Python unless this environment is the one that
    the shell has activated. Which program made the environment is read from the files
    that it left there: folders may have any name, and uv installs no pip.

    Args:
        packages: Their names.
        prefix: Of the environment that the program runs in.
        venv: The activated environment; None: as the shell says.

    >>> install_command(["tokenizers"], "/home/you/shop/.venv", "/home/you/shop/.venv")
    'pip install tokenizers'
    """
    names = " ".join(map(quote, packages))
    if os.path.exists(os.path.join(prefix, _PIPX_FILE)):
        return f"pipx inject {quote(os.path.basename(prefix))} {names}"
    python = os.path.join(prefix, os.path.relpath(sys.executable, sys.prefix))
    if _is_made_by_uv(prefix):
        return f"uv pip install --python {quote(python)} {names}"
    active = os.environ.get("VIRTUAL_ENV", "") if venv is None else venv
    if prefix in (sys.base_prefix, active):
        return f"pip install {names}"
    return f"{quote(python)} -m pip install {names}"


def _is_made_by_uv(prefix: str) -> bool:
    """Return whether uv made this environment, for a tool or for a project."""
    try:
        path = os.path.join(prefix, "pyvenv.cfg")
        with open(path, encoding="utf-8", opener=open_regular) as file:
            return any(line.partition("=")[0].strip() == "uv" for line in file)
    except (OSError, UnicodeDecodeError):
        return False
