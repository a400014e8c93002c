"""The gate before the rules: which words a text has, asked once for all of them."""

from __future__ import annotations

import random

import pytest

from hivemind_memory.redaction import detection, sentence_gate
from hivemind_memory.redaction.detection import LAYOUT_WORDS
from hivemind_memory.redaction.form_words import FORM_WORDS
from hivemind_memory.redaction.redact import scrub
from hivemind_memory.redaction.word_gate import WordGate, may_be_token
from tests.redaction.samples import samples

WORDS = ("pass", "key", "net use", " pin", "auth ", "=", "密码")
PIECES = (
    *("pass", "mypass,", "keys", "net", "use", "pin", "spin", "auth", "a=b", "密码是"),
    *("plain", "words", "say", "nothing", "x9kQ2mWp7rTz4vB1", "\n", "\t", "  "),
)


def test_the_gate_finds_what_a_search_for_each_word_finds() -> None:
    """Also in texts whose pieces it knows from earlier ones."""
    chance = random.Random(7)
    gate = WordGate(WORDS, {})

    for _ in range(500):
        text = chance.choice(["", " "]).join(chance.choices(PIECES, k=12))
        low = " ".join(chance.choices(PIECES, k=12)) + text

        found, _ = gate.words_in(low)

        assert {word for word in WORDS if word in low} == found & set(WORDS)


def test_a_text_of_many_pieces_is_searched_as_a_whole() -> None:
    """It is not worth remembering, and what it holds counts all the same."""
    gate = WordGate(WORDS, {})
    text = " ".join(f"w{number}" for number in range(2_000))

    assert gate.words_in(f"{text} net use")[0] >= {"net use"}
    assert gate.words_in(text)[0] == set()


def test_what_may_be_a_token_is_never_remembered() -> None:
    """A process that runs for days keeps no token of a note that it once read."""
    gate = WordGate(WORDS, {})
    token = "ghp_x9kQ2mWp7rTz4vB1cD8e"

    for _ in range(2):
        _, pieces = gate.words_in(f"the value {token.lower()} there")

        assert any(map(may_be_token, pieces))
    assert token.lower() not in gate._plain | gate._telling.keys()


def test_the_gate_forgets_before_it_grows_without_bound(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Every note may bring new words."""
    monkeypatch.setattr("hivemind_memory.redaction.word_gate._MAX_KEPT", 100)
    gate = WordGate(WORDS, {})

    for number in range(300):
        gate.words_in(f"one{number} two{number} pass{number}")

    assert len(gate._plain) + len(gate._telling) <= 103
    assert gate.words_in("net use pass7")[0] >= {"net use", "pass"}


def test_the_rules_ask_the_gate_for_words_that_it_looks_for() -> None:
    """A word that the gate does not know would never be found."""
    asked = {*LAYOUT_WORDS, *detection.ASSIGNED, *detection.ASSIGNED_NON_ASCII}
    asked |= {*detection.HEADERS, *detection.LOGINS, *sentence_gate.GATE_WORDS}

    missing = {
        word for word in asked if word not in detection._GATE.words_in(f"a {word} b")[0]
    }

    assert missing == set()


def test_the_forms_are_told_every_word_of_a_text_that_they_need() -> None:
    """They look for nothing else, so what the gate leaves out would never be found."""
    scrub("the password is x")
    [first, *_, gate] = detection._gates
    chance = random.Random(5)
    words = sorted(FORM_WORDS)

    for _ in range(300):
        low = chance.choice(["", " ", "\n"]).join(
            chance.choices([*words, *PIECES], k=9)
        )

        told, _ = gate.words_in(low)

        assert gate is not first
        assert {word for word in FORM_WORDS if word in low} == told & FORM_WORDS


def test_a_second_reading_finds_the_same_secrets() -> None:
    """The first one fills the memory of the gate."""
    texts = [f"notes of today\n{sample.text}\nand more\n" for sample in samples(3, 1)]
    detection._gates[-1]._plain.clear()
    detection._gates[-1]._telling.clear()

    first = [scrub(text) for text in texts]

    assert [scrub(text) for text in texts] == first
