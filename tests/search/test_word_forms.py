"""Other forms of a word: a question seldom has the one that stands in the note."""

from __future__ import annotations

from pathlib import Path

import pytest

from hivemind_memory.model.derived_words import derived_forms
from hivemind_memory.model.generic_words import is_generic
from hivemind_memory.model.inflections import MIN_STEM, beginnings, stem_of
from hivemind_memory.model.matches import TermCount
from hivemind_memory.model.short_words import short_and_long_forms
from hivemind_memory.model.word_forms import other_forms
from hivemind_memory.search.fusion import word_scores
from tests.search.evidence import candidate, matches, term
from tests.search.scripts import SPACED
from tests.support.sandbox import Sandbox, ask, paths

# What is asked, what stands in the note, and a note that has only the other words.
INFLECTED = [
    ("when did we go to the vendor", "We went to the vendor.", "The vendor calls."),
    ("who bought the license", "Ops has to buy the license.", "The license is free."),
    ("what do the children eat", "The child ate soup.", "The children's hospital."),
    ("порты серверов", "Порт сервера: 8080.", "Порты и гавани."),
    ("какую книгу читали", "Он читал книги о море.", "Какую погоду ждали."),
    ("λιμάνι του διακομιστή", "Ο διακομιστής στο λιμάνι.", "Το λιμάνι της πόλης."),
    ("منفذ الخادم", "منفذ خادم البيانات", "منفذ البحر"),
    ("सर्वरों की समस्या", "सर्वर में समस्या है", "समस्या का कारण"),
    ("keys of Mueller", "Herr Müller has the keys.", "The keys are lost."),
    ("keys of Müller", "Herr Mueller has the keys.", "The keys are lost."),
    ("where is the repository", "The repo is on the NAS.", "It is on the desk."),
    ("repos of the team", "A repository for each team.", "The team is away."),
    ("what describes the wire", "A description of the wire.", "The wire is cut."),
    ("failures of the oven", "The oven failed.", "The oven is new."),
    ("the colour of the door", "The door has no color.", "The door is shut."),
]


@pytest.mark.parametrize(("question", "note", "other"), INFLECTED)
def test_a_word_in_another_form_is_the_same_word(
    tmp_path: Path, question: str, note: str, other: str
) -> None:
    """It is found, counts among the words that the note holds, and is explained."""
    sandbox = Sandbox(tmp_path)
    sandbox.save("note.md", f"{note}\n")
    sandbox.save("other.md", f"{other}\n")
    for number in range(8):
        sandbox.save(f"more-{number}.md", "Something else entirely.\n")

    with sandbox.memory() as memory:
        answer = ask(memory, question, should_explain=True)

    assert paths(answer)[0] == "note.md"
    best = answer.hits[0]
    assert abs(sum(part.value for part in best.parts) - best.score) < 1e-9


def test_a_word_and_its_form_are_one_word(tmp_path: Path) -> None:
    """A note with both does not beat one that has the word twice."""
    sandbox = Sandbox(tmp_path)
    sandbox.save("twice.md", "go and go\n")
    sandbox.save("both.md", "go and went\n")

    with sandbox.memory() as memory:
        hits = ask(memory, "go").hits

    assert len({round(hit.score, 9) for hit in hits}) == 1


@pytest.mark.parametrize(
    ("word", "stem"),
    [
        ("серверами", "сервер"),
        ("школа", "школ"),
        ("школу", "школ"),
        ("читала", "чита"),
        ("διακομιστεσ", "διακομιστ"),
        ("البيانات", "بيان"),
        ("backup", "backup"),
        ("rückgaben", "rückgaben"),
        ("東京", "東京"),
        ("", ""),
    ],
)
def test_an_ending_is_taken_off_in_scripts_that_have_a_table(
    word: str, stem: str
) -> None:
    """The engine has the endings of English; Latin letters stand for many languages."""
    assert stem_of(word) == stem


def test_words_of_a_stem_begin_with_it() -> None:
    """A range of the vocabulary holds them all; a short stem would find too much."""
    for text in SPACED.values():
        for word in text.lower().split():
            for start in beginnings(word):
                assert len(start) >= MIN_STEM
                assert stem_of(word) in start
    assert beginnings("") == beginnings("я") == beginnings("x") == []


def test_forms_are_those_of_one_word() -> None:
    """A word of two classes has the forms of both; most words have none."""
    assert set(other_forms("went")) == {"go", "goes", "gone"}
    assert set(other_forms("lay")) >= {"lie", "laid"}
    assert other_forms("deploy") == other_forms("東京") == ()
    assert other_forms("über") == ("ueber",)


def test_generic_words_count_half() -> None:
    """In every language; what names a thing in English never does."""
    generic = TermCount("several", ("sever",), 10, is_phrase=False, is_generic=True)
    found = matches(
        [generic, term("port", 10)],
        candidate(1, (1, 0), (0, 0)),
        candidate(2, (0, 0), (1, 0)),
    )

    scores = word_scores(found)

    assert scores[1].chunk == pytest.approx(scores[2].chunk / 2)
    assert all(map(is_generic, ("several", "für", "который", "który", "哪些", "です")))
    assert not any(map(is_generic, ("die", "man", "war", "port", "c", "東", "データ")))


def test_a_short_word_and_its_long_forms_name_each_other() -> None:
    """Two long words that share a short one are not taken for each other."""
    assert short_and_long_forms("auth") == ("authentication", "authorization")
    assert "authentication" not in short_and_long_forms("authorization")
    assert short_and_long_forms("dirs") == ("directory",)
    assert short_and_long_forms("deploy") == ()


def test_words_of_one_family_name_each_other() -> None:
    """In both directions, and from a plural or a past tense as well."""
    assert "description" in derived_forms("described")
    assert derived_forms("descriptions") == ("describe",)
    assert "analysis" in derived_forms("analyzed")
    assert "behavior" in derived_forms("behaviour")
    assert derived_forms("deploy") == ()
