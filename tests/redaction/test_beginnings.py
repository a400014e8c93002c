"""Patterns of many words are tried where one of their words stands: nowhere else."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hivemind_memory.redaction import prose_words, sentence_gate
from hivemind_memory.redaction.in_formats import labels
from hivemind_memory.redaction.in_prose import dialog, statement_words
from hivemind_memory.redaction.spans import found_at, line_starts, lowered
from hivemind_memory.redaction.suspects import lines
from tests.support.tiers import examples

if TYPE_CHECKING:
    from hivemind_memory.patterns.lazy_pattern import LazyPattern

PATTERNS = {
    "password": (statement_words.PASSWORD, prose_words.PASSWORD_PARTS),
    "opened": (statement_words.OPENED, prose_words.OPENED_PARTS),
    "code": (statement_words.CODE, prose_words.CODE_PARTS),
    "label of a plain word": (lines._LABEL, lines._LABEL_STARTS),
    "label of a random value": (labels._LABEL, labels._LABEL_STARTS),
    "says password": (dialog._SAYS_PASSWORD, dialog.PASSWORD_WORDS),
    **{
        name: (pattern, words)
        for name, (pattern, words) in sentence_gate.GATE_PATTERNS.items()
        if words
    },
}


def compiled(pattern: re.Pattern[str] | LazyPattern) -> re.Pattern[str]:
    """Return a pattern as the library of drawn texts takes it."""
    return re.compile(pattern.pattern, pattern.flags & ~re.UNICODE)


@pytest.mark.parametrize("name", sorted(PATTERNS))
@settings(max_examples=examples(200))
@given(data=st.data())
def test_a_pattern_finds_the_same_where_its_words_stand(
    name: str, data: st.DataObject
) -> None:
    pattern, words = PATTERNS[name]
    text = data.draw(st.from_regex(compiled(pattern)))
    low = lowered(text)
    in_gate = name in sentence_gate.GATE_PATTERNS
    whole = low if in_gate else text
    expected = [found.span() for found in pattern.finditer(whole)]
    assert [found.span() for found in found_at(pattern, whole, low, words)] == expected


@settings(max_examples=examples(200))
@given(text=st.from_regex(compiled(statement_words.CHANGED)))
def test_every_line_that_says_what_changed_has_a_word_for_it(text: str) -> None:
    starts = line_starts(lowered(text), statement_words.CHANGED_WORDS)
    for found in statement_words.CHANGED.finditer(text):
        assert text.rfind("\n", 0, found.start()) + 1 in starts
