"""Names the text of a memory that was read, so that an edit finds out if it changed."""

from __future__ import annotations

import hashlib

_CHARS = 16


def text_version(text: str) -> str:
    """Return a name of a text: another one after any change but of blank edges.

    An id is not enough: a person who edits a note by hand leaves it as it is.
    """
    return hashlib.sha256(text.strip().encode("utf-8", "replace")).hexdigest()[:_CHARS]
