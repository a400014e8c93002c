"""Tombstones: keyed hashes that recognize a purged text and reveal nothing.

Pure. The key never leaves the file that holds the tombstones, so texts cannot be tried
out on a tombstone alone.
"""

from __future__ import annotations

import hmac
import unicodedata

from hivemind_memory.markdown.entry import escape_markers


def tombstone_of(key: bytes, text: str, scope: str | None) -> bytes:
    """Return the keyed hash of a text in a scope, the same for all that reads the same.

    Args:
        key: Random bytes that only one home has.
        text: Any text.
        scope: Where the text was purged; None: everywhere, as earlier versions did.
    """
    form = normal_form(text)
    named = form if scope is None else f"{scope}\0{form}"
    data = named.encode("utf-8", "surrogatepass")
    return hmac.digest(key, data, "sha256")


def normal_form(text: str) -> str:
    r"""Return the part of a text that is compared.

    Case, blank space and the ways in which a letter can be written do not.

    >>> normal_form(" Never\n deploy ") == normal_form("never DEPLOY")
    True
    """
    # An entry is escaped in its note; written again, it arrives unescaped.
    folded = unicodedata.normalize("NFKC", escape_markers(text)).casefold()
    return " ".join(folded.split())
