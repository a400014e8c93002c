"""The benchmarks of capture and judgement count what a scripted model gets right."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from benchmarks.capture import try_wire
from benchmarks.judgement import KINDS, LABELS, judge
from tests.support.capture_home import proposal
from tests.support.chat_server import ChatServer
from tests.support.lesson_sessions import lesson_sessions, lines_of

SESSIONS = {each.taught: each for each in lesson_sessions()}


def flags_for(server: ChatServer) -> dict[str, object]:
    """Return the options that choose a server."""
    return {
        "llm_provider": "openai",
        "llm_model": "m",
        "llm_base_url": server.url_for("openai"),
        "llm_calls_per_day": 10_000,
    }


def told(request: dict[str, Any]) -> dict[str, Any]:
    """Return what a request tells the model."""
    data: dict[str, Any] = json.loads(request["messages"][-1]["content"])
    return data


def test_the_labels_are_three_hundred_pairs_of_four_kinds() -> None:
    lines = (LABELS / "edges.jsonl").read_text("utf-8").splitlines()
    pairs = [json.loads(line) for line in lines]

    assert Counter(pair["relation"] for pair in pairs) == dict.fromkeys(KINDS, 75)
    assert len({(pair["older"], pair["saved"]) for pair in pairs}) == 300


def test_sixty_sessions_say_what_their_lessons_must_have() -> None:
    sessions = list(lesson_sessions())

    assert len({each.key for each in sessions}) == 60
    for each in sessions:
        said = " ".join(each.taught).casefold()
        assert all(word in said for word in each.must), each.key
        assert all(word in each.lesson.casefold() for word in each.must), each.key


def test_a_model_that_always_says_the_same_is_right_about_a_quarter() -> None:
    with ChatServer() as server:
        server.reply = lambda _: {
            "relations": [{"id": "older", "kind": "updates", "weight": 0.9}]
        }
        rows, failed = judge("edges", flags_for(server), 12)

    assert failed == 0
    assert [(row.of, row.right, row.said) for row in rows] == [
        (3, 3, 12),
        (3, 0, 0),
        (3, 0, 0),
        (3, 0, 0),
    ]
    assert rows[0].text.split()[-2:] == ["1.00", "0.25"]


def test_a_model_that_knows_half_of_the_lessons_finds_half() -> None:
    def reply(request: dict[str, Any]) -> object:
        shown = told(request)["transcript"]
        texts = {row["text"] for row in shown}
        [taught] = [each for key, each in SESSIONS.items() if set(key) <= texts]
        first, last = lines_of(shown, taught.taught)
        is_known = int(taught.session[:8], 16) % 2
        lesson = taught.lesson if is_known else "The tests are green after the change."
        return {"memories": [proposal(lesson, first, last, key=taught.key)]}

    with ChatServer() as server:
        server.reply = reply
        [row], failed = judge("capture", flags_for(server), 6)

    assert failed == 0
    assert (row.of, row.right) == (6, 3)


def test_a_briefing_is_judged_by_what_it_says_and_leaves_out() -> None:
    """The model repeats all entries: it says what it must, and what is outdated."""

    def reply(request: dict[str, Any]) -> object:
        texts = [entry["text"] for entry in told(request)["entries"]]
        return {
            "briefing": " ".join(texts) + " That is all that there is to say of it."
        }

    with ChatServer() as server:
        server.reply = reply
        rows, failed = judge("briefings", flags_for(server), 3)

    assert failed == 0
    assert [(row.of, row.right) for row in rows] == [(3, 3), (4, 4), (3, 1)]


def test_the_labels_of_forty_briefings_can_be_met() -> None:
    lines = (LABELS / "briefings.jsonl").read_text("utf-8").splitlines()
    cases = [json.loads(line) for line in lines]

    assert len({case["scope"] for case in cases}) == 40
    for case in cases:
        texts = " ".join(entry["text"] for entry in case["entries"]).casefold()
        assert len(case["entries"]) >= 3
        assert all(word.casefold() in texts for word in case["must"]), case["scope"]


@pytest.mark.parametrize("wire", ["openai", "ollama"])
def test_sessions_of_all_agents_are_captured_once(tmp_path: Path, wire: str) -> None:
    counts, problems = try_wire(tmp_path, wire, 5, 3)

    assert problems == []
    assert counts["proposed"] == 5
