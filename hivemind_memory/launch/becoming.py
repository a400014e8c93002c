"""Becomes another program: same process, same terminal, nothing of ours left."""

from __future__ import annotations

import os
import signal
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import NoReturn


def become(words: Sequence[str], environ: Mapping[str, str]) -> NoReturn:
    """Become the program *words*, looked for as a shell would.

    Raises:
        OSError: It cannot be run, and we are still here.
    """
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()
    # Python ignores these, and what is ignored stays so in the program that follows:
    # it would not end when the reader of its output does.
    for name in ("SIGPIPE", "SIGXFSZ"):
        number = getattr(signal, name, None)
        if number is not None:
            signal.signal(number, signal.SIG_DFL)
    os.execvpe(words[0], list(words), dict(environ))  # noqa: S606 - that is the point


def exit_code_of(error: OSError) -> int:
    """Return what a shell returns for a command that cannot be run: 127 or 126."""
    return 127 if isinstance(error, (FileNotFoundError, NotADirectoryError)) else 126
