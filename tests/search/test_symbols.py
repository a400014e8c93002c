"""Words that are what they are by their signs."""

from __future__ import annotations

import pytest

from hivemind_memory.model.symbols import is_all_signs, may_hold_signs, signed_words
from hivemind_memory.model.terms import query_terms
from tests.search.test_terms import tokens_of


def shown(text: str) -> list[str]:
    """Return the words with signs of a text, as a person writes them."""
    return [
        "".join(
            chr(ord(each) - 0xE400) if 0xE400 <= ord(each) < 0xE480 else each
            for each in word
        )
        for word in signed_words(text)
    ]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("C++ or C#, not F#.", "c++ c# f#"),
        ("`B::C` and std::vector<int>", "b::c std::vector"),
        ("git push --force-with-lease -u origin", "--force-with-lease -u"),
        ("copy .env and .env.local, not ./run.sh or ../x", ".env .env.local"),
        ("a && b || c; a != b, x => y", "&& || != =>"),
        ("# Title\n\n- item\n* x\n\n| a | b |\n|---|---|\n---\n", ""),
        ("a-b, a.b, wait... what?? <!-- x --> 1 + 1", ""),
        ("## Notes on C#\n", "c#"),
    ],
)
def test_signs_that_mean_something_are_kept(text: str, words: str) -> None:
    """Those of Markdown and of sentences are not."""
    assert shown(text) == words.split()


@pytest.mark.parametrize("word", ["C++", "g++", "C#", "B::C", ".env", "-m", "&&", "=>"])
def test_each_is_one_token_in_notes_and_queries(word: str) -> None:
    """Else it would not be found, or a place in a chunk would be counted wrongly."""
    [term] = signed_words(word)

    assert may_hold_signs(word)
    assert len(tokens_of(term)) == 1
    asked = {each.text: each.is_phrase for each in query_terms(word).terms}
    assert asked[term] == (not is_all_signs(term))


def test_most_queries_hold_none() -> None:
    """And pay nothing for it."""
    assert not may_hold_signs("where is the port of staging?")
