"""Secrets leave a text before anything else sees it, and whoever wrote it is told.

What an agent writes is scrubbed before it is saved. What a person wrote stays as it is
in its note, and is masked on the way to the index: so no answer, section or provider
sees it, whatever asks.
"""

from __future__ import annotations

from hivemind_memory.notes.text import decode


def scrubbed(*texts: str) -> tuple[list[str], tuple[str, ...]]:
    """Return texts without the secrets in them, and the kinds of these, each once."""
    from hivemind_memory.secrets import scrub

    done = [scrub(text) for text in texts]
    kinds = dict.fromkeys(kind for one in done for kind in one.found)
    return [one.text for one in done], tuple(kinds)


def masked(data: bytes) -> bytes:
    """Return a note as the index may see it: without secrets, line for line the same.

    A whole note at once: the middle of a key, cut from its first line, tells nothing.
    """
    from hivemind_memory.secrets import mask

    text = decode(data)
    hidden = mask(text)
    return data if hidden == text else hidden.encode()


def warning_of(kinds: tuple[str, ...]) -> tuple[str, ...]:
    """Return what to tell whoever wrote a secret; nothing if nobody did."""
    if not kinds:
        return ()
    said = f"what looks like a secret was left out ({', '.join(kinds)})"
    return (f"{said}: the memory keeps where a secret lies, never the secret",)
