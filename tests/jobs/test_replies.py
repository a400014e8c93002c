"""Whatever a model replies: no memory is lost, and no link is invented."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hivemind_memory.jobs.briefing_text import briefing_in
from hivemind_memory.jobs.relations import MIN_WEIGHT, relations_in, schema_for
from hivemind_memory.jobs.unfounded import find_unfounded
from hivemind_memory.model.memories import EDGE_KINDS
from hivemind_memory.model.relations import Relation
from hivemind_memory.providers.chat_reply import NoObjectError, read_object
from tests.support.capture_replies import try_capture_replies
from tests.support.consolidation_replies import try_consolidation_replies
from tests.support.cpu import cpu_s
from tests.support.model_replies import WORDS, is_wrong_briefing, try_replies
from tests.support.tiers import examples

GIVEN = ("01A", "01B", "notes/c.md")
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(max_size=8), inner, max_size=4)
    ),
    max_leaves=12,
)
ROW = st.fixed_dictionaries(
    {
        "id": st.sampled_from([*GIVEN, "01X", "", "none"]) | JSON,
        "kind": st.sampled_from([*EDGE_KINDS, "none", "forget"]) | JSON,
        "weight": st.floats(-1, 2) | JSON,
    }
)
REPLY = st.fixed_dictionaries({"relations": st.lists(ROW | JSON, max_size=8) | JSON})


@settings(max_examples=examples(400))
@given(REPLY | st.dictionaries(st.text(max_size=10), JSON, max_size=3))
def test_only_what_was_given_and_is_sure_counts(reply: dict[str, Any]) -> None:
    try:
        found = relations_in(reply, GIVEN)
    except ValueError:
        assert not isinstance(reply.get("relations"), list)
        return

    assert len({relation.ref for relation in found}) == len(found)
    for relation in found:
        assert relation.ref in GIVEN
        assert relation.kind in EDGE_KINDS
        assert MIN_WEIGHT <= relation.weight <= 1
    # It is one that the reply has, and not put together from several.
    rows: list[Any] = reply["relations"] if found else []
    for ref, kind, weight in found:
        assert {"id": ref, "kind": kind, "weight": weight} in rows


@settings(max_examples=examples(400))
@given(st.text(max_size=200) | st.text("{}[]\"':,a1 \n`", max_size=200))
def test_any_text_is_an_object_or_refused(text: str) -> None:
    try:
        found: object = read_object(text)
    except NoObjectError:
        found = {}

    assert isinstance(found, dict)


def test_the_first_relation_of_a_memory_counts() -> None:
    """A reply that says two things of one memory does not do both."""
    rows = [
        {"id": "01A", "kind": "none", "weight": 1},
        {"id": "01A", "kind": "contradicts", "weight": 0.9},
        {"id": "01A", "kind": "updates", "weight": 1},
    ]

    assert relations_in({"relations": rows}, GIVEN) == (
        Relation("01A", "contradicts", 0.9),
    )


def test_the_schema_names_the_ids_that_were_given() -> None:
    """A server that keeps to it cannot let a model invent one."""
    schema: Any = schema_for(GIVEN)

    row = schema["properties"]["relations"]["items"]
    assert row["properties"]["id"]["enum"] == list(GIVEN)
    assert sorted(row["required"]) == sorted(row["properties"])


@pytest.mark.thorough
def test_no_reply_loses_a_memory(tmp_path: Path) -> None:
    """``benchmarks/model_replies.py`` tries thousands."""
    assert try_replies(tmp_path, count=120, seed=3) == []


def test_no_reply_about_a_session_loses_or_invents_anything(tmp_path: Path) -> None:
    """``benchmarks/model_replies.py`` tries thousands."""
    assert try_capture_replies(tmp_path, count=40, seed=3) == []


def test_no_reply_to_a_consolidation_loses_a_memory(tmp_path: Path) -> None:
    """``benchmarks/model_replies.py`` tries thousands."""
    assert try_consolidation_replies(tmp_path, 40, 3, least_applied=5) == []


def test_a_word_without_end_takes_no_time() -> None:
    """Pattern matching holds up every thread of an agent's server."""
    part, whole = (
        cpu_s(lambda count=count: find_unfounded("a" * count, ["a"]))  # type: ignore[misc]
        for count in (10_000, 200_000)
    )

    assert find_unfounded("a" * 200_000, ["a"]) == ""
    assert whole < 60 * max(part, 0.001)


def test_a_briefing_of_endless_words_or_with_a_heading_is_not_shown() -> None:
    words = "The shop is deployed on Mondays from the cellar by two people. " * 2

    assert briefing_in({"briefing": words}, []) == words.strip()
    for reply in (f"{words}{'a' * 5_000}", f"{words}\n# System\n{words}"):
        with pytest.raises(ValueError, match=r"characters|plain prose"):
            briefing_in({"briefing": reply}, [])


def test_a_briefing_with_a_secret_is_not_shown() -> None:
    """Of plain letters, so that nothing else in it is unknown to the memories."""
    words = "The shop is deployed on Mondays from the cellar by two people. " * 2
    secret = f"{words}The password is correcthorsebatterystaple."

    with pytest.raises(ValueError, match="looks like a secret"):
        briefing_in({"briefing": secret}, [])


@pytest.mark.parametrize("words", [*WORDS, "It also runs on port 9731.", "```"])
def test_the_rig_finds_what_no_memory_says_within_a_briefing(words: str) -> None:
    """It compared the whole briefing with the words, and so found none."""
    prose = "The shop is deployed on Mondays from the cellar by two people. " * 2

    assert not is_wrong_briefing(prose)
    assert is_wrong_briefing(f"{prose} {words} {prose}")
