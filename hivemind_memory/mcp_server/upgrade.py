"""Notices that the package was replaced while a server runs.

Python imports some modules only when they are needed, so after an upgrade an old server
would mix old code with new. It says so instead, whatever it is asked.
"""

from __future__ import annotations

import os
import re

from hivemind_memory import version
from hivemind_memory.errors import HivemindError
from hivemind_memory.files.descriptors import signature_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.model.snapshot import FileSignature

_VERSION = re.compile(r'^__version__ = "([^"]+)"', re.MULTILINE)


class UpgradeCheck:
    """Compares the installed version with the one that runs."""

    def __init__(self, path: str = version.__file__) -> None:
        """Take the file that states the version."""
        self._path = path
        self._signature: FileSignature | None = None

    def refuse_if_upgraded(self) -> None:
        """Raise if another version is installed now.

        Raises:
            HivemindError: It is; or the package is gone, or is being replaced.
        """
        try:
            signature = signature_of(os.stat(self._path))
            if signature == self._signature:
                return
            with open(self._path, encoding="utf-8") as file:
                found = _VERSION.search(file.read())
        except OSError:
            raise _upgraded("removed") from None
        installed = found[1] if found else "another version"
        if installed != version.__version__:
            raise _upgraded(f"replaced by {installed}")
        self._signature = signature


def _upgraded(how: str) -> HivemindError:
    """Return the error that this server is older than the package."""
    running = f"hivemind-memory {version.__version__}"
    return HivemindError(
        f"{running} was {how} while this server ran.",
        hint="Restart the agent, or the server if you started it yourself.",
        effect="Nothing was done",
    )
