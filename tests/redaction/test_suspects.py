"""Rules that read only the lines that may hold a secret find what they find in all."""

from __future__ import annotations

import random
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hivemind_memory.redaction import detection
from hivemind_memory.redaction.redact import scrub
from hivemind_memory.redaction.suspects.lines import SuspectText, suspect_lines
from tests.redaction.samples import samples
from tests.redaction.test_forms import forms, made, unescaped
from tests.redaction.test_ordinary import HELD
from tests.support.tiers import mostly_thorough

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from hivemind_memory.redaction.line_words import LineWords
    from hivemind_memory.redaction.spans import TextSpan

ROOT = Path(__file__).parents[2]
SAMPLES_EACH = 2
SURROUNDINGS = (
    "{}",
    "# Notes\n\n{}\n\nThe rest is prose, and some more of it.\n",
    "- a list of plain words\n- and another line of it\n- {}\n- the last one\n",
    "\n\n".join(["One paragraph of plain words."] * 12) + "\n\n{}\n",
)
"""Around a form. The lines of prose in them may be left out, the form may not."""


class Whole(SuspectText):
    """A whole text, in the place of the lines that may hold a secret."""

    def __init__(self, there: LineWords) -> None:
        super().__init__(there, [], [0])

    def original(self, spans: Iterable[TextSpan]) -> Iterator[TextSpan]:
        """Yield the spans, which are in their places already."""
        yield from spans


def with_all_lines(text: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return what a text is once all of its lines were read."""
    with monkeypatch.context() as patched:
        patched.setattr("hivemind_memory.redaction.suspects.lines.suspect_lines", Whole)
        return scrub(text).text


def read(text: str) -> LineWords:
    """Return the words of a text, as rules get them."""
    scrub("the password is x")
    return detection._gates[-1].read(text)


def held() -> list[str]:
    """Return every text of the tests that holds a secret."""
    chance = random.Random(7)
    return [
        *(sample.text for sample in samples(1, SAMPLES_EACH)),
        *(
            unescaped(text).replace("{secret}", unescaped(made(value, chance)))
            for text, value in forms()
        ),
        *(text.format(secret) for text, secret in HELD),
    ]


@pytest.mark.parametrize(
    "around", mostly_thorough(SURROUNDINGS, every=4), ids=range(len(SURROUNDINGS))
)
def test_no_form_is_lost_with_the_lines_around_it(
    around: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every form of the tests, in a text of its own and among other lines."""
    texts = [around.replace("{}", text) for text in held()]

    lost = [
        text for text in texts if scrub(text).text != with_all_lines(text, monkeypatch)
    ]

    assert lost == []


@pytest.mark.thorough
def test_documents_come_out_as_if_all_lines_were_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Long texts of every kind, with what is around a value far from it."""
    texts = [
        file.read_text(encoding="utf-8")
        for folder in ("docs", "fixtures")
        for file in sorted((ROOT / folder).rglob("*.md"))
    ]
    chance = random.Random(3)
    forms_in_them = held()
    for _ in range(60):
        lines = chance.choice(texts).split("\n")
        for text in chance.sample(forms_in_them, 5):
            lines.insert(chance.randrange(len(lines)), text)
        texts.append("\n".join(lines))

    other = [
        text for text in texts if scrub(text).text != with_all_lines(text, monkeypatch)
    ]

    assert other == []


@given(
    lines=st.lists(
        st.sampled_from(
            [
                *("", "plain words that say nothing at all", "    indented prose"),
                *("token: q7Zp2LxV9rTb4Nw8", "Password:", "kim / Garden!Lemon74"),
                "| a | b |",
            ]
        ),
        max_size=60,
    )
)
def test_a_place_in_the_lines_is_a_place_in_the_text(lines: list[str]) -> None:
    """Whatever is left out before, between and behind the lines that are kept."""
    text = "\n".join(lines)
    found = suspect_lines(read(text))
    if found is None:
        assert "q7Zp2LxV9rTb4Nw8" not in text
        return

    for word in ("q7Zp2LxV9rTb4Nw8", "Garden!Lemon74", "Password:"):
        at, places = found.lines.text.find(word), []
        while at >= 0:
            places.append((at, at + len(word), "word"))
            at = found.lines.text.find(word, at + 1)
        assert [text[start:end] for start, end, _ in found.original(places)] == [
            word
        ] * text.count(word)


def test_prose_is_not_read_at_all() -> None:
    """Nothing in it looks like a value, and no word says that one follows."""
    prose = "The service reads its notes once and keeps what it has read.\n" * 50
    assert suspect_lines(read(prose)) is None
