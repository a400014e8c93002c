"""What is kept of a purged text: enough to know it again, nothing that can be read.

Pure. The key never leaves the file that holds the tombstones, so that nobody can try
out texts on a tombstone alone.
"""

from __future__ import annotations

import hmac
import unicodedata

from hivemind_memory.notes.entries import disarm

KEY_BYTES = 32


def tombstone_of(key: bytes, text: str) -> bytes:
    """Return the keyed hash of a text, the same for all that reads the same.

    Case, blank space and the ways in which a letter can be written do not matter.

    Args:
        key: Random bytes that only one home has.
        text: Any text.
    """
    # An entry stands in its note disarmed; who writes it again sends it as it was.
    folded = unicodedata.normalize("NFKC", disarm(text)).casefold()
    words = " ".join(folded.split())
    return hmac.digest(key, words.encode("utf-8", "surrogatepass"), "sha256")
