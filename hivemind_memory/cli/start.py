"""The entry point of ``hm``: asks the helper of a leader first, if one runs.

Where none runs, this costs one look for its socket (``cli.asking``, decision 068).
"""

from __future__ import annotations

import gc
import os
import sys

_READ_NO_TERMINAL = frozenset(
    (
        *("search", "get", "list", "ls", "show", "history", "log", "why", "status"),
        *("find", "grep", "cat", "exec"),
    )
)
ASKED = _READ_NO_TERMINAL | {
    *("hook", "git-hook", "inject"),
    *("write", "add", "save"),
}
"""Commands that a helper may run: short ones that are run often."""

_OBJECTS = 100_000
"""New objects until a short command, or a server, looks for garbage. With Python's own
number, 700, an injection looks seventy times, mostly while modules are loaded, and
finds none; a server takes a fifth longer for its first answer."""


def run() -> None:
    """Run ``hm`` as a process."""
    if not os.environ.get("HOME", "~"):
        # `~` would be the root of the disk; without the variable, the system knows it.
        del os.environ["HOME"]
    name = sys.argv[1] if len(sys.argv) > 1 else ""
    if name in ASKED or name == "serve":
        gc.set_threshold(_OBJECTS)
    if name in ASKED:
        from hivemind_memory.files.home import helper_socket, home_of

        path = helper_socket(home_of(os.environ))
        if os.path.exists(path):
            from hivemind_memory.cli.asking.client import ask

            code = ask(path, may_read=name not in _READ_NO_TERMINAL)
            if code is not None:
                # Nothing is buffered here, and Python would take milliseconds to end.
                os._exit(code)
        from hivemind_memory.cli.kept_modules import install

        install()
    from hivemind_memory.cli.main import run as run_here

    run_here()
