"""Values of a briefing: what matters most in one scope, in about 120 words."""

from __future__ import annotations

from hivemind_memory.model.value import value


@value
class BriefingSource:
    """A memory that a briefing is made from."""

    id: str
    """ULID; empty: the note has none."""

    key: str
    type: str
    path: str
    sentence: str
    """What the briefing says of it, without secrets; empty: a model wrote the text."""


@value
class Briefing:
    """What a person or an agent should know first of a scope."""

    scope: str
    """Its folder, ``projects/shop``; empty: global."""

    body: str
    """The text, without secrets; empty: there is nothing to tell."""

    why_empty: str = ""
    generated_at: str = ""
    """ISO 8601, local time with offset."""

    sources: tuple[BriefingSource, ...] = ()
    """In the order of the text."""

    is_model: bool = False
    """A language model wrote it; otherwise it is composed of first sentences."""

    model: str = ""
    """Name of that model; empty: none did."""

    is_stale: bool = False
    """Memories were saved since a model wrote it, or may have been; see ``warning``."""

    warning: str = ""
    """Why it may be out of date; empty: it is not."""
