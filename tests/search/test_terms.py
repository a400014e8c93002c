"""One rule for notes and questions: what is asked for is what was indexed."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from hivemind_memory.index.sqlite.schema import make_tokenizer
from hivemind_memory.model.terms import (
    MAX_TERMS,
    QueryTerm,
    extra_terms,
    query_terms,
    words_of,
)
from hivemind_memory.sqlite.connection import open_connection
from tests.search.scripts import texts_with_words
from tests.support.cpu import cpu_s
from tests.support.tiers import examples

_MIN_S = 0.0005
"""What takes less is not told from nothing."""

CONNECTION = open_connection(":memory:")
tokens_of = make_tokenizer(CONNECTION)


def words(question: str) -> list[str]:
    return [term.text for term in query_terms(question).terms if not term.is_phrase]


def indexed(text: str) -> set[str]:
    """Return the tokens under which a text is found."""
    return {*tokens_of(text), *tokens_of(extra_terms(text))}


def misses(text: str, question: str) -> list[str]:
    """Return the terms of a question that a text does not have."""
    return [
        term
        for term in words(question)
        if not indexed(text).issuperset(tokens_of(term))
    ]


@settings(max_examples=examples(400), deadline=None)
@given(texts_with_words())
def test_a_text_has_every_term_of_a_question_for_its_words(
    pair: tuple[str, str],
) -> None:
    """In any script, composed or decomposed, with or without spaces."""
    text, question = pair

    assert words(question) or not any(map(str.isalnum, question))
    assert misses(text, question) == []


anything = st.one_of(
    st.text(max_size=300),
    st.text(st.characters(codec=None), max_size=300),  # lone surrogates too
    st.text(st.sampled_from("\"'*^:(){}[]+-~ \0\nANDORNOTEAR"), max_size=300),
)


@settings(max_examples=examples(300), deadline=None)
@given(anything)
@example('"')
@example("NEAR(a b, 3)")
@example("body: x OR -y*")
@example("\ud800\udfff")
@example("a\0b")
@example("⚠️ ☎ 🇩🇪")
def test_every_text_is_a_legal_question(text: str) -> None:
    """At most 64 terms, none without a token, none twice."""
    found = query_terms(text)

    assert len(found.terms) <= MAX_TERMS
    assert found.ignored >= 0
    assert len(set(found.terms)) == len(found.terms)
    assert all(term.text.strip() for term in found.terms)
    assert all(not term.text.isascii() or tokens_of(term.text) for term in found.terms)


@settings(max_examples=examples(300), deadline=None)
@given(anything)
def test_every_text_has_extra_terms(text: str) -> None:
    """Whatever a note holds: no exception, and words that the engine understands."""
    assert isinstance(extra_terms(text), str)
    assert isinstance(words_of(text), list)


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("café", "cafe"),
        ("cafe\u0301", "cafe"),
        ("cafe", "café"),
        ("café", "cafe\u0301"),
        ("Ångström", "angstrom"),
        ("Größe", "grosse"),
        ("GROSSE", "größe"),
        ("STRAẞE", "strasse"),
        ("Αθήνα", "ΑΘΗΝΑ"),
        ("ΟΔΟΣ", "οδος"),
        ("ёлка", "елка"),
        ("елка", "ёлка"),
        ("שָׁלוֹם", "שלום"),
        ("שלום", "שָׁלוֹם"),
        ("مُحَمَّد", "محمد"),
        ("محمد", "مُحَمَّد"),
        ("ｆｕｌｌ", "full"),
        ("①", "1"),
        ("ﬁnancial", "financial"),
    ],
)
def test_accents_points_and_forms_do_not_matter(text: str, question: str) -> None:
    """Whoever asks may leave them out, and whoever writes too."""
    assert words(question)
    assert misses(text, question) == []


@pytest.mark.parametrize(
    "question",
    ["user", "id", "user_id", "user id", "USER_ID"],
)
def test_snake_case_is_found_whole_and_in_parts(question: str) -> None:
    """As it is written, and as it is said."""
    assert misses("see user_id there", question) == []


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("getHTTPResponse", "response"),
        ("getHTTPResponse", "http"),
        ("getHTTPResponse", "gethttpresponse"),
        ("fooBar", "foo bar"),
        ("utf8", "utf"),
        ("kebab-case", "kebab"),
        ("kebab-case", "kebab-case"),
        ("src/deep/main.py", "main.py"),
        ("src/deep/main.py", "deep"),
        ("src/deep/main.py", "src/deep/main.py"),
        ("C:\\notes\\todo.md", "todo"),
        ("foo::bar", "bar"),
        ("me@example.org", "example"),
        ("HTTPServerError2", "server"),
    ],
)
def test_identifiers_and_paths_are_found_whole_and_in_parts(
    text: str, question: str
) -> None:
    """Nobody remembers the whole of them."""
    assert misses(f"look at {text}, then", question) == []


def test_parts_that_belong_together_are_a_phrase() -> None:
    """So that user_id ranks before a text with user here and id there."""
    assert QueryTerm("user id", is_phrase=True) in query_terms("user_id").terms


def test_question_words_carry_nothing_unless_they_are_all_there_is() -> None:
    """But somebody may ask for "who" and mean the band."""
    assert words("what is the port of it") == ["port"]
    assert words("who") == ["who"]


def test_marks_without_a_letter_are_no_words() -> None:
    """Or a chunk could never hold all words of "⚠️ deploy"."""
    assert words("⚠️ deploy") == ["deploy"]


def test_more_than_64_terms_are_counted_and_ignored() -> None:
    """And the report can say so."""
    found = query_terms(" ".join(f"word{chr(97 + n % 26)}{n}x" for n in range(200)))

    assert len(found.terms) == MAX_TERMS
    assert found.ignored > 100


def test_what_stands_behind_the_part_that_is_read_is_counted_too() -> None:
    """A long word first, and what was meant behind it."""
    assert query_terms("x" * 5000 + " deploy on tuesday").ignored >= 3
    assert query_terms("x" * 100).ignored == 0


@pytest.mark.parametrize(
    "text",
    [
        "a" * 100000,
        "aB" * 50000,
        "a_" * 50000,
        "东" * 100000,
        "é" * 100000,
        "ﷺ" * 30000,
        "́" * 100000,
        "()\"'" * 25000,
        "a b" * 30000,
        "Ä1" * 50000,
    ],
    ids=lambda text: f"{text[:2]!a}",
)
def test_a_question_of_100_kb_takes_linear_time(text: str) -> None:
    """It is somebody's clipboard, or an attack."""
    short = text[: len(text) // 20]

    took_s = [cpu_s(lambda text=text: query_terms(text)) for text in (short, text)]

    assert took_s[1] < 100 * max(took_s[0], _MIN_S)
    assert len(query_terms(text).terms) <= MAX_TERMS


@pytest.mark.parametrize("unit", ["aB1", "东é", "a_b-", "ё ", "ﷺ", "ab\u0301"])
def test_extra_terms_take_linear_time(unit: str) -> None:
    """A note may be one line of ten megabytes."""
    texts = unit * 5_000, unit * 100_000

    took_s = [cpu_s(lambda text=text: extra_terms(text)) for text in texts]

    # Twenty times the text; twenty times twenty if it were read again and again.
    assert took_s[1] < 100 * max(took_s[0], _MIN_S)


def test_words_are_cut_as_the_engine_cuts_them() -> None:
    """Or a stem is shown where a word was meant."""
    text = "Über-App: don't e.g. हिन्दी (x)"
    assert words_of(unicodedata.normalize("NFD", text))[0].startswith("U")
    assert words_of(text)[:4] == ["Über", "App", "don", "t"]
    assert "हिन्दी" in words_of(text)
