"""Keeps what is known of texts while one injection runs, and what the next may use.

A memory is rendered to be weighed, to be written, to be hashed and for two records.
"""

from __future__ import annotations

import sys
from contextvars import ContextVar

import hivemind_memory
from hivemind_memory.memory.sync import REDACTION_VERSION
from hivemind_memory.redaction.clean_texts import clean_texts_kept

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.memory import Memory

_RULES = f"{hivemind_memory.__version__} {REDACTION_VERSION} {sys.version}"


class texts_kept:  # noqa: N801 - a context manager reads like a word
    """Keep what a section shows of each text, until one injection is over.

    Values of the vault are looked up each time: with others, it is masked again. Which
    texts have no secret is kept for the next injection, too.
    """

    __slots__ = ("_clean", "_token")

    def __init__(self, memory: Memory) -> None:
        """Take the memory that is quoted."""
        self._clean = clean_texts_kept(memory.places.clean_texts, _RULES)

    def __enter__(self) -> None:
        """Begin with none."""
        self._clean.__enter__()
        self._token = shown_texts.set({})

    def __exit__(self, *_: object) -> None:
        """Forget them: what is purged later is kept nowhere."""
        shown_texts.reset(self._token)
        self._clean.__exit__()


shown_texts: ContextVar[dict[tuple[str, object], str] | None] = ContextVar(
    "shown_texts", default=None
)
"""What a section shows of each text, with the vault's values then; None: not kept."""
