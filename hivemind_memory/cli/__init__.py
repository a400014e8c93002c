"""The command line: parses words, makes one call, prints the result. No rules here.

Ctrl-C while the modules are imported ends the process as later, without a traceback.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType


def _print_uncaught(
    kind: type[BaseException], error: BaseException, trace: TracebackType | None
) -> None:
    """Print an exception that nothing has caught, unless a person pressed Ctrl-C."""
    if not issubclass(kind, KeyboardInterrupt):
        sys.__excepthook__(kind, error, trace)


sys.excepthook = _print_uncaught
