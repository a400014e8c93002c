"""Says which program a process runs, so that only the same one answers for it."""

from __future__ import annotations

import os
import sys

from hivemind_memory.version import __version__

_FLAGS = (
    *("debug", "inspect", "optimize", "no_user_site", "no_site", "ignore_environment"),
    *("verbose", "bytes_warning", "isolated", "dev_mode", "warn_default_encoding"),
    "int_max_str_digits",
)
_VARIABLES = ("PYTHONPATH", "LD_PRELOAD", "LD_LIBRARY_PATH")
"""What shapes a process while it starts, so a process that runs can't take it on."""


def program_id() -> bytes:
    """Return a description of this program; another program has another one.

    An upgrade replaces this file, and each installation of a package changes the folder
    around it.
    """
    package = os.path.dirname(os.path.dirname(os.path.dirname(__file__)))
    own, around = os.stat(__file__), os.stat(os.path.dirname(package))
    parts = (
        __version__,
        sys.version,
        sys.prefix,
        package,
        f"{own.st_dev} {own.st_ino} {own.st_mtime_ns} {around.st_mtime_ns}",
        *[str(getattr(sys.flags, name)) for name in _FLAGS],
        *sys.warnoptions,
        *[name for name in sys._xoptions if name != "utf8"],  # noqa: SLF001 - documented, for CPython
        sys.getfilesystemencoding(),
        sys.getfilesystemencodeerrors(),
        *[os.environ.get(name, "") for name in _VARIABLES],
    )
    return "\0".join(parts).encode("utf-8", "surrogateescape")
