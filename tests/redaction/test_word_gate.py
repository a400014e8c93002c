"""The gate before the rules: which words a text has, asked once for all of them."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from hivemind_memory.redaction import detection, sentence_gate
from hivemind_memory.redaction.detection import LAYOUT_WORDS
from hivemind_memory.redaction.line_words import LineWords
from hivemind_memory.redaction.redact import scrub
from hivemind_memory.redaction.suspects.form_words import FORM_WORDS
from hivemind_memory.redaction.word_gate import WordGate
from tests.redaction.samples import samples

if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Iterable, Iterator

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

        there = gate.read(low)

        assert {word for word in WORDS if word in low} == there.words(set(WORDS))
        for word in WORDS:
            assert there.rows((word,)) == [
                row for row, line in enumerate(low.split("\n")) if word in line
            ]


def test_a_text_of_many_pieces_is_searched_as_a_whole() -> None:
    """It is not worth remembering, and what it holds counts all the same."""
    gate = WordGate(WORDS, {})
    text = " ".join(f"w{number}" for number in range(9_000))

    assert "net use" in gate.read(f"{text} net use")
    assert gate.read(text).words(set(WORDS)) == set()


def test_what_may_be_a_token_is_never_remembered() -> None:
    """A process that runs for days keeps no token of a note that it once read."""
    gate = WordGate(WORDS, {})
    token = "ghp_x9kQ2mWp7rTz4vB1cD8e"

    for _ in range(2):
        there = gate.read(f"the value {token} there")

        assert there.tokens == {token: [0]}
    plain, told = gate._memory
    assert token not in plain | told.keys()


def test_the_gate_forgets_before_it_grows_without_bound(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Every note may bring new words."""
    monkeypatch.setattr("hivemind_memory.redaction.word_gate._MAX_KEPT", 100)
    gate = WordGate(WORDS, {})

    for number in range(300):
        gate.read(f"one{number} two{number} pass{number}")

    assert sum(map(len, gate._memory)) <= 103
    assert gate.read("net use pass7").words(set(WORDS)) == {"net use", "pass"}


def test_the_rules_ask_the_gate_for_words_that_it_looks_for() -> None:
    """A word that the gate does not know would never be found."""
    asked = {*LAYOUT_WORDS, *detection.ASSIGNED, *detection.ASSIGNED_NON_ASCII}
    asked |= {*detection.HEADERS, *detection.LOGINS, *sentence_gate.GATE_WORDS}

    missing = {
        word for word in asked if word not in detection._GATE.read(f"a {word} b")
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

        there = gate.read(low)

        assert gate is not first
        assert {word for word in FORM_WORDS if word in low} == there.words(FORM_WORDS)


def test_a_second_reading_finds_the_same_secrets() -> None:
    """The first one fills the memory of the gate."""
    texts = [f"notes of today\n{sample.text}\nand more\n" for sample in samples(3, 1)]
    detection._gates[-1]._memory = (set(), {})

    first = [scrub(text) for text in texts]

    assert [scrub(text) for text in texts] == first


def test_a_rule_asks_for_no_word_that_the_gate_does_not_look_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It would be told that no line holds one, whatever the text says."""
    asked: set[str] = set()
    rows, has_any, at = LineWords.rows, LineWords.has_any, LineWords.at
    for name, told in (("rows", rows), ("has_any", has_any)):

        def noted(
            there: LineWords,
            words: Iterable[str],
            told: Callable[[LineWords, Iterable[str]], object] = told,
        ) -> object:
            asked.update(words)
            return told(there, words)

        monkeypatch.setattr(LineWords, name, noted)

    def noted_at(
        there: LineWords, pattern: re.Pattern[str], words: Iterable[str]
    ) -> Iterator[re.Match[str]]:
        asked.update(words)
        return at(there, pattern, words)

    monkeypatch.setattr(LineWords, "at", noted_at)

    for sample in samples(3, 1):
        scrub(sample.text)

    gate = detection._gates[-1]
    assert len(asked) > 400
    assert {word for word in asked if word not in gate.read(f"a {word} b")} == set()
