"""Secrets leave a text before anything else sees it, and whoever wrote it is told."""

from __future__ import annotations


def scrubbed(*texts: str) -> tuple[list[str], tuple[str, ...]]:
    """Return texts without the secrets in them, and the kinds of these, each once."""
    from hivemind_memory.secrets import scrub

    done = [scrub(text) for text in texts]
    kinds = dict.fromkeys(kind for one in done for kind in one.found)
    return [one.text for one in done], tuple(kinds)


def warning_of(kinds: tuple[str, ...]) -> tuple[str, ...]:
    """Return what to tell whoever wrote a secret; nothing if nobody did."""
    if not kinds:
        return ()
    said = f"what looks like a secret was left out ({', '.join(kinds)})"
    return (f"{said}: the memory keeps where a secret lies, never the secret",)
