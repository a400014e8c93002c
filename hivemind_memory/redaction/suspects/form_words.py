"""The words of every form of secret, gathered from the forms themselves.

The gate, which remembers what each piece of text holds, is asked for all of them at
once: that takes a fraction of what each form takes to search the text for its own.
"""

from __future__ import annotations

from hivemind_memory.redaction.in_code import arguments, literals
from hivemind_memory.redaction.in_code.setting_names import NAME_PARTS
from hivemind_memory.redaction.in_formats import (
    labels,
    layouts,
    letter_places,
    secret_fields,
)
from hivemind_memory.redaction.in_prose import (
    dialog,
    handing_words,
    phrases,
    sentences,
    statements,
)
from hivemind_memory.redaction.in_prose.seeds import SEED_WORDS
from hivemind_memory.redaction.in_prose.statement_words import CHANGED_WORDS
from hivemind_memory.redaction.prose_words import STATED_WORDS
from hivemind_memory.redaction.suspects import lines
from hivemind_memory.redaction.tokens import token_scan

FORM_WORDS = layouts.WORDS.union(
    sentences.WORDS,
    phrases.WORDS,
    literals.WORDS,
    lines.LABEL_PARTS,
    arguments.WORDS,
    labels.WORDS,
    secret_fields.WORDS,
    letter_places.WORDS,
    dialog.PASSWORD_WORDS,
    statements.VAULTS,
    handing_words.GATE_WORDS,
    NAME_PARTS,
    CHANGED_WORDS,
    SEED_WORDS,
    STATED_WORDS,
    token_scan.WORDS,
)
"""In lower case."""
