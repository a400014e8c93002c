"""A hint is worth reading only if it is nearly always right."""

from __future__ import annotations

import pytest

from hivemind_memory.curation.type_hints import suggest_type
from hivemind_memory.model.curation import TextCandidate
from hivemind_memory.search.similarity import similar_texts, words_in

READS_LIKE = {
    "Never deploy on Fridays: incident #42.": "lesson",
    "The cache was cold. Always warm it before a release.": "lesson",
    "- Avoid global locks in the importer": "lesson",
    "TODO: rotate the certificates": "todo",
    "- [ ] write the changelog": "todo",
    "We still need to migrate the old orders.": "todo",
    "We chose JWT with 1h expiry + refresh tokens": "decision",
    "After a week of tests we have decided to keep Postgres.": "decision",
    "Decision: one repository for all services": "decision",
    "I prefer tabs, and short functions.": "preference",
    "The user really dislikes long answers.": "preference",
    "My favourite editor is Helix": "preference",
    "The goal is a release before March.": "goal",
    "I am the operations agent of the shop.": "identity",
    "Q1 migration was completed successfully on 2026-03-15": "historical",
    "Grafana: https://grafana.internal/d/api-latency": "reference",
}
READS_LIKE_NOTHING = [
    "The tests never ran on Windows, and nobody noticed.",
    "The importer always sorts its input before it writes.",
    "It is not decided yet who pays.",
    "He prefers not to say why the order came late twice",
    "Users need to log in again after an hour.",
    "The API answers in 40 ms, see https://example.org/a for how it was measured.",
    "Auth service migration is in progress, payment gateway is next",
    "The avoidance of locks was the point.",
    "部署在星期五总是失败",
    "",
]


@pytest.mark.parametrize("text", READS_LIKE)
def test_a_way_of_speaking_tells_the_type(text: str) -> None:
    """Sentences as agents write them."""
    hint = suggest_type(text, default="context")

    assert hint is not None
    assert hint.type == READS_LIKE[text]


@pytest.mark.parametrize("text", READS_LIKE_NOTHING)
def test_ordinary_sentences_get_no_hint(text: str) -> None:
    """A hint at every save would be read by nobody."""
    assert suggest_type(text, default="context") is None


@pytest.mark.parametrize(
    ("text", "chosen"),
    [
        ("Never deploy on Fridays.", "lesson"),
        ("Never deploy on Fridays.", "preference"),
        ("Never deploy on Fridays.", "summary"),
        ("The goal is a release before March.", "fact"),
        ("https://example.org", "fact"),
    ],
)
def test_a_type_that_was_chosen_is_doubted_only_on_strong_grounds(
    text: str, chosen: str
) -> None:
    """Whoever named a type has thought about it."""
    assert suggest_type(text, chosen=chosen) is None


def test_a_type_that_surely_is_another_is_doubted() -> None:
    """A todo that is saved as a fact is never done."""
    hint = suggest_type("TODO: rotate the keys", chosen="fact")

    assert hint is not None
    assert (hint.type, hint.words) == ("todo", "TODO")


def test_near_texts_are_found_in_any_script_and_behind_a_front_matter() -> None:
    """Case, punctuation and front matter do not count."""
    text = "never deploy on fridays, nobody is there to help"
    candidates = [
        TextCandidate("far.md", 1, 1, "never say never on fridays"),
        TextCandidate("near.md", 3, 4, f"---\nid: 1\n---\n# {text.upper()}!"),
        TextCandidate("equal.md", 1, 1, text),
    ]

    found = similar_texts(text, candidates)

    assert [one.path for one, _ in found] == ["equal.md", "near.md"]
    assert similar_texts(
        "数据库备份每天运行", [TextCandidate("a.md", 1, 1, "数据库备份每天运行。")]
    )
    assert not similar_texts(
        "数据库备份每天运行", [TextCandidate("a.md", 1, 1, "每天运行测试")]
    )
    assert words_in("ไทย") != words_in("ไม่")
