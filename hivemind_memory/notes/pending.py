"""Whether the journal holds entries that may be lost, or came back: a system call.

Separate from the journal itself, because every search asks this and needs no more.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

JOURNAL_FILE = "entries.jsonl"
"""The journal's one file, in its folder. It is empty when it holds no entry."""

RETURNED_FILE = "returned.jsonl"
"""The file beside it with what is told of entries that came back."""


def has_pending_entries(journal_dir: str) -> bool:
    """Tell whether acknowledged entries wait to be looked after.

    Also true once after their ten minutes are over: recovery then checks that they
    survived, and empties the file.
    """
    try:
        return os.stat(os.path.join(journal_dir, JOURNAL_FILE)).st_size > 0
    except OSError:
        return False


def has_returned(journals: Iterable[str]) -> bool:
    """Tell whether anything came back that is not yet known to be dealt with.

    Args:
        journals: Folders of journals.
    """
    return any(os.path.exists(os.path.join(one, RETURNED_FILE)) for one in journals)
