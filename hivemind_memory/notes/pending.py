"""Whether the journal holds entries that may still be lost: one system call.

Separate from the journal itself, because every search asks this and needs no more.
"""

from __future__ import annotations

import os

JOURNAL_FILE = "entries.jsonl"
"""The journal's one file, in its folder. It is empty when it holds no entry."""


def has_pending_entries(journal_dir: str) -> bool:
    """Tell whether acknowledged entries wait to be looked after.

    Also true once after their ten minutes are over: recovery then checks that they
    survived, and empties the file.
    """
    try:
        return os.stat(os.path.join(journal_dir, JOURNAL_FILE)).st_size > 0
    except OSError:
        return False
