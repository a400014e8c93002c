"""Masks texts for pages, and names what a field holds and does not show.

Pages show the same texts again and again, and looking for secrets takes most of the
time of a list. Of a text without any, its digest is remembered, and never the text: a
purge has nothing to look for here. Once other values are secret, every text is looked
at again.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from hashlib import blake2b

from hivemind_memory.model.display import first_few, hidden_in
from hivemind_memory.redaction import mask
from hivemind_memory.vault.opened import vaults_state

MAX_CLEAN = 20_000
_DIGEST_BYTES = 16

_clean: set[bytes] = set()


def hidden_names(text: str) -> str:
    """Return the names of what a field of a form holds and does not show.

    >>> hidden_names("pay \u202e001")
    'U+202E RIGHT-TO-LEFT OVERRIDE'
    """
    counts = Counter(hidden_in(text))
    named = [
        f"U+{ord(letter):04X} {unicodedata.name(letter, '')}".rstrip()
        + (f" ({count} times)" if count > 1 else "")
        for letter, count in counts.most_common()
    ]
    return first_few(named)


def masked_text(text: str) -> str:
    """Return a text as a page may show it: without its secrets.

    >>> masked_text("export DB_PASSWORD='x9!kfT2#pa'")
    "export DB_PASSWORD='[redacted:password]'"
    """
    if not text:
        return ""
    hashed = blake2b(repr(vaults_state()).encode(), digest_size=_DIGEST_BYTES)
    hashed.update(text.encode("utf-8", "surrogatepass"))
    digest = hashed.digest()
    if digest in _clean:
        return text
    masked = mask(text)
    if masked == text:
        if len(_clean) >= MAX_CLEAN:
            _clean.clear()
        _clean.add(digest)
    return masked
