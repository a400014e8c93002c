"""What was kept for the caller comes before free text that shares a word with it."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hivemind_memory.access.rules import Caller
from hivemind_memory.memory.memory import Memory
from hivemind_memory.model.query import Query, SearchAnswer
from hivemind_memory.model.value import replaced
from hivemind_memory.search.nearness import nearer
from tests.support.sandbox import Sandbox
from tests.support.tiers import examples

TOPICS = ("session", "deploy", "token", "cache", "login", "queue", "worker", "cookie")
OWN = {
    topic: f"---\ntype: decision\nkey: rule-{n}\n---\n"
    f"Whoever changes it asks the team first, as the {topic} is shared by both"
    " services and nobody sees it in the tests.\n"
    for n, topic in enumerate(TOPICS)
}
BETTER = "# Session length limits\n\nThe session length limit is one day.\n"


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    """Return a memory of 900 global notes and some of a project."""
    sandbox = Sandbox(tmp_path_factory.mktemp("near") / "home")
    chance = random.Random(33)
    for number in range(900):
        topic = TOPICS[number % len(TOPICS)]
        words = [f"word{chance.randrange(2_000)}" for _ in range(20)]
        sandbox.save(
            f"imported-{number}.md",
            f"# The {topic}\n\nA {topic} {' '.join(words)} {topic}s of the {topic}.\n",
        )
    sandbox.save("better.md", BETTER)
    for number, text in enumerate(OWN.values()):
        sandbox.save(f"projects/shop/rule-{number}.md", text)
    with sandbox.memory() as opened:
        opened.sync()
        yield opened


def search(
    memory: Memory, question: str, *, project: str = "projects/shop", weight: float = 1
) -> SearchAnswer:
    """Return what a caller of a project finds."""
    with memory.as_caller(Caller(project=project)) as seen:
        options = replaced(seen._search_settings, nearness_weight=weight)
        seen._search_settings = options
        return seen.search(Query(text=question, max_results=100, should_explain=True))


def rank_of(answer: SearchAnswer, folder: str) -> int:
    """Return the rank of the first hit in a folder; 1,000: there is none."""
    ranks = (n for n, hit in enumerate(answer.hits, 1) if hit.path.startswith(folder))
    return next(ranks, 1_000)


@pytest.mark.parametrize("topic", TOPICS)
def test_what_a_project_keeps_about_a_word_is_first_among_900_notes(
    memory: Memory, topic: str
) -> None:
    """Imported notes that say the word more often buried it."""
    before = rank_of(search(memory, topic, weight=0), "projects/shop")
    after = rank_of(search(memory, topic), "projects/shop")

    assert before > 50
    assert after == 1


def test_a_clearly_better_global_hit_stays_before_a_weak_one_of_the_project(
    memory: Memory,
) -> None:
    """Nearness at most doubles a raw score."""
    answer = search(memory, "session length limit")

    assert answer.hits[0].path == "better.md"
    assert rank_of(answer, "projects/shop") > 1


def test_nearness_is_a_part_of_the_score_that_adds_up(memory: Memory) -> None:
    """And says what the memory was kept for."""
    answer = search(memory, "session")
    best = answer.hits[0]

    assert sum(part.value for part in best.parts) == pytest.approx(best.score)
    part = next(part for part in best.parts if part.name == "nearness")
    assert part.value > 0
    assert part.note == "kept for projects/shop, an active decision"


def test_without_a_project_nothing_changes(memory: Memory) -> None:
    """Order, scores and confidences of global notes are the same to the last bit."""
    for question in (*TOPICS, "session length limit", "word7 cookie"):
        near = search(memory, question, project="")
        plain = search(memory, question, project="", weight=0)
        assert near.hits == plain.hits


def test_nearness_changes_no_confidence(memory: Memory) -> None:
    """Where a text lies says nothing of how well it answers."""
    near = search(memory, "session length limit")
    plain = search(memory, "session length limit", weight=0)
    known = {hit.path: hit.confidence for hit in plain.hits}

    assert near.report.confidence == plain.report.confidence
    assert known["better.md"] == near.hits[0].confidence


def test_text_from_outside_is_not_near_wherever_it_lies(tmp_path: Path) -> None:
    """Else whoever can write into a project decides what is first."""
    sandbox = Sandbox(tmp_path / "home")
    text = "The session ends after a day."
    sandbox.save("projects/shop/page.md", f"---\nsource: external\n---\n{text}\n")
    sandbox.save("plain.md", f"{text}\n")
    with sandbox.memory() as memory:
        first, second = search(memory, "session").hits

    assert first.score == second.score


@given(
    raw_scores=st.lists(st.floats(1e-6, 1 - 1e-6), min_size=2, max_size=2),
    nearness=st.integers(0, 100).map(lambda percent: percent / 100),
)
def test_nearness_is_bounded_and_keeps_the_order(
    raw_scores: list[float], nearness: float
) -> None:
    """It takes nothing away, doubles at most, and presses no score to 1."""
    low, high = sorted(raw_scores)

    assert nearer(low, 0) == low
    assert low <= nearer(low, nearness) <= 2 * low
    assert nearer(low, nearness) <= nearer(high, nearness) < 1


_PLACE = st.sampled_from(["", "projects/shop/", "teams/red/", "projects/site/"])
_HEAD = st.sampled_from(
    ["", "---\ntype: decision\n---\n", "---\nsource: external\n---\n"]
)
_WORDS = st.lists(
    st.sampled_from(["session", "limit", "cache", "token"]), min_size=1, max_size=12
)


@given(notes=st.lists(st.tuples(_PLACE, _HEAD, _WORDS), min_size=1, max_size=40))
@settings(max_examples=examples(25), deadline=None)
def test_nearness_lets_nothing_appear_that_is_hidden_and_can_be_off(
    notes: list[tuple[str, str, list[str]]],
) -> None:
    """Other projects stay hidden, text from outside gains nothing, and 0 is off."""
    with tempfile.TemporaryDirectory() as folder:
        sandbox = Sandbox(Path(folder, "home"))
        for number, (place, head, words) in enumerate(notes):
            # Of equal texts one is shown, and the nearest of them is that one.
            text = f"{' '.join(words)} number{number}"
            sandbox.save(f"{place}n{number}.md", f"{head}{text}\n")
        with sandbox.memory() as memory:
            near = search(memory, "session limit")
            off = search(memory, "session limit", weight=0)

    visible = {hit.path for hit in near.hits}
    assert not any(path.startswith(("projects/site", "teams/")) for path in visible)
    before = {hit.path: hit.score for hit in off.hits}
    assert visible == before.keys()
    for hit in near.hits:
        is_near = hit.path.startswith("projects/shop") and hit.source != "external"
        assert (hit.score > before[hit.path]) == is_near, hit


def test_a_word_that_hundreds_of_its_chunks_hold_is_answered_by_typed_memories(
    tmp_path: Path,
) -> None:
    """Of chunks that hold the same words they are looked up first."""
    sandbox = Sandbox(tmp_path / "home")
    for number in range(80):
        sandbox.save(f"n{number}.md", "A session, sessions of the session.\n")
        sandbox.save(
            f"projects/shop/a{number}.md",
            f"{' '.join(f'w{number}x{word}' for word in range(40))} one session.\n",
        )
    sandbox.save(
        "projects/shop/rule.md",
        f"---\ntype: decision\n---\nOne session, {' and '.join(TOPICS[1:])}.\n",
    )
    with sandbox.memory() as memory:
        assert search(memory, "session").hits[0].path == "projects/shop/rule.md"
