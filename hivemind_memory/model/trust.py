"""Which sources are trusted: one rule for search, injection, the CLI and MCP.

What a person or an agent of theirs wrote is trusted. The output of a tool, text from
outside and the address of a page (a web clipper writes it there) are not: such a claim
waits in the inbox, is never injected, and is marked in every answer.
"""

from __future__ import annotations

SOURCES = ("human", "agent", "tool", "external")
"""What a writer may call itself, from the most trusted to the least."""

HUMAN, TOOL, EXTERNAL = "human", "tool", "external"


def is_trusted(source: object) -> bool:
    """Return whether a text from this source is trusted.

    >>> is_trusted("agent"), is_trusted("External"), is_trusted("https://example.com")
    (True, False, False)
    """
    return not untrusted_source(source)


def needs_person(source: object, *, is_proposal: bool) -> bool:
    """Return whether a person has to accept a text before it is a memory."""
    return is_proposal or not is_trusted(source)


def is_untrusted(status: str, source: object) -> bool:
    """Return whether a text is only a claim: it waits in an inbox, or is from outside.

    >>> is_untrusted("pending", "human"), is_untrusted("active", "human")
    (True, False)
    """
    return status == "pending" or not is_trusted(source)


def untrusted_source(source: object) -> str:
    """Return ``tool`` or ``external`` for a source that is not trusted, else nothing.

    Args:
        source: As a front matter or an entry names it; a list is trusted if all of
            it is. A word that means nothing here is a person's, and trusted.
    """
    if isinstance(source, list | tuple):
        return next((found for item in source if (found := untrusted_source(item))), "")
    if not isinstance(source, str):
        return ""
    word = source.strip().casefold()
    if word in (TOOL, EXTERNAL):
        return word
    return EXTERNAL if "://" in word else ""


def shown_source(note_source: str | None, entry_source: str | None = None) -> str:
    """Return the source that an answer names: the less trusted of a note and its entry.

    Args:
        note_source: As the front matter names it; None: it names none.
        entry_source: As the comment of the entry names it; None: no entry.
    """
    untrusted = untrusted_source(note_source) or untrusted_source(entry_source)
    return untrusted or entry_source or note_source or ""
