"""The words of every form of secret, gathered from the forms themselves.

The gate, which remembers what each piece of text holds, is asked for all of them at
once: that takes a fraction of what each form takes to search the text for its own.
"""

from __future__ import annotations

from hivemind_memory.redaction import (
    arguments,
    dialog,
    labels,
    layouts,
    literals,
    phrases,
    secret_fields,
    sentences,
    statements,
    suspects,
)
from hivemind_memory.redaction.names import NAME_PARTS
from hivemind_memory.redaction.seeds import SEED_WORDS
from hivemind_memory.redaction.statement_words import CHANGED_WORDS
from hivemind_memory.redaction.vocabulary import STATED_WORDS

FORM_WORDS = layouts.WORDS.union(
    sentences.WORDS,
    phrases.WORDS,
    literals.WORDS,
    suspects.LABEL_PARTS,
    arguments.WORDS,
    labels.WORDS,
    secret_fields.WORDS,
    dialog.PASSWORD_WORDS,
    statements.VAULTS,
    NAME_PARTS,
    CHANGED_WORDS,
    SEED_WORDS,
    STATED_WORDS,
)
"""In lower case."""
