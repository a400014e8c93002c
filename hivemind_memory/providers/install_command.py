"""Says how a missing package is installed beside this program."""

from __future__ import annotations

import os
import sys
from shlex import quote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def install_command(
    packages: Sequence[str], prefix: str = sys.prefix, venv: str | None = None
) -> str:
    """Return the command that installs packages where this program finds them.

    A plain ``pip`` belongs to another Python unless this environment is the one that
    the shell has activated.

    Args:
        packages: Their names.
        prefix: Of the environment that the program runs in.
        venv: The activated environment; None: as the shell says.

    >>> install_command(["tokenizers"], "/home/you/.local/pipx/venvs/hivemind-memory")
    'pipx inject hivemind-memory tokenizers'
    >>> install_command(["tokenizers"], "/home/you/shop/.venv", "/home/you/shop/.venv")
    'pip install tokenizers'
    """
    names = " ".join(map(quote, packages))
    folders = prefix.split(os.sep)
    if "pipx" in folders and "venvs" in folders:
        return f"pipx inject {quote(folders[-1])} {names}"
    python = os.path.join(prefix, os.path.relpath(sys.executable, sys.prefix))
    if "uv" in folders and "tools" in folders:
        return f"uv pip install --python {quote(python)} {names}"
    active = os.environ.get("VIRTUAL_ENV", "") if venv is None else venv
    if prefix in (sys.base_prefix, active):
        return f"pip install {names}"
    return f"{quote(python)} -m pip install {names}"
