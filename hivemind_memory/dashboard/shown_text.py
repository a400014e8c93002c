"""Masks texts for pages, which show the same ones again and again.

Looking for secrets takes most of the time of a list. Of a text without any, its digest
is remembered, and never the text: a purge has nothing to look for here. Once other
values are secret, every text is looked at again.
"""

from __future__ import annotations

from hashlib import blake2b

from hivemind_memory.redaction import mask
from hivemind_memory.vault.opened import vaults_state

MAX_CLEAN = 20_000
_DIGEST_BYTES = 16

_clean: set[bytes] = set()


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
