"""The words of every form of secret, gathered from the forms themselves.

The gate, which remembers what each piece of text holds, is asked for all of them at
once: that takes a fraction of what each form takes to search the text for its own.
"""

from __future__ import annotations

from hivemind_memory.redaction import layouts, literals, phrases, sentences, suspects
from hivemind_memory.redaction.seeds import SEED_WORDS
from hivemind_memory.redaction.vocabulary import STATED_WORDS

FORM_WORDS = layouts.WORDS.union(
    sentences.WORDS,
    phrases.WORDS,
    literals.WORDS,
    suspects.LABEL_PARTS,
    SEED_WORDS,
    STATED_WORDS,
)
"""In lower case."""
