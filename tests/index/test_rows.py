"""Rows of chunks: their subchunks lie where the full-text engine has its words."""

from __future__ import annotations

import apsw
from hypothesis import given, settings
from hypothesis import strategies as st

from hivemind_memory.index.sqlite.rows import rows_of
from hivemind_memory.index.sqlite.schema import make_tokenizer
from hivemind_memory.markdown.note_parser import parse_note
from hivemind_memory.model.note_path import NotePath
from hivemind_memory.model.symbols import signed_words
from hivemind_memory.model.terms import extra_terms, scan_ascii_words
from tests.support.tiers import examples

TOKENS_OF = make_tokenizer(apsw.Connection(":memory:"))


@settings(max_examples=examples(300))
@given(st.text(st.characters(max_codepoint=127)))
def test_words_of_ascii_are_counted_as_the_engine_counts_them(text: str) -> None:
    assert scan_ascii_words(text.encode())[0] == len(TOKENS_OF(text))


@settings(max_examples=examples(300))
@given(st.text(st.characters(max_codepoint=127)), st.integers(0, 40))
def test_parts_of_ascii_words_are_the_same_in_slices_between_words(
    text: str, at: int
) -> None:
    """A subchunk has the extra terms that its words have in the whole text."""
    whole = f"{text[:at]}\n{text[at:]}"

    parts = [
        part
        for piece in (text[:at], text[at:])
        for part in scan_ascii_words(piece.encode())[1] + signed_words(piece)
    ]

    assert sorted(parts) == sorted(extra_terms(whole).split())


def test_the_same_text_lies_at_the_same_places_in_ascii_and_beyond() -> None:
    """One is counted here, the other by the engine."""
    ascii_text = b"# Ports\n\n- the webServer has 80 and x1\n- db: 5432\n\nsee wiki\n"
    beyond = ascii_text.replace(b"see wiki", "s\u00e9e wiki".encode())

    [[one], [other]] = [
        rows_of(parse_note(NotePath("ports.md"), text, limit_chars=800), TOKENS_OF)
        for text in (ascii_text, beyond)
    ]

    assert one.row.subchunks == other.row.subchunks != b""
    assert one.row.extra == other.row.extra == "web server x 1"
