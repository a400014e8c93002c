"""The rule of selection, compared with a model of it that is written another way."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from zlib import crc32

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hivemind_memory.errors import UsageError
from hivemind_memory.working import KnowledgeMemoryBlock, MemoryBlock, Priority
from hivemind_memory.working.scoring import (
    RECENT_FILES,
    STRATEGIES,
    RelevanceScorer,
    sort_key,
)
from hivemind_memory.working.selection import Selection, select_blocks
from tests.working.blocks_of import NOW, SETS


def cost_of(block: MemoryBlock) -> int:
    """A cost that depends on nothing but the block."""
    return 1 + crc32(block.id.encode()) % 40


# -- the model: no sorting by key, no single pass ------------------------------


def model_score(
    block: MemoryBlock, strategy: str, task: set[str], now: datetime
) -> float:
    score = block.confidence
    if isinstance(block, KnowledgeMemoryBlock):
        words = set(block.topic.casefold().split())
        score *= 1 + 0.2 * len(words & task)
    if strategy == "balanced":
        seconds = (now - block.timestamp).total_seconds()
        score /= 1 + max(0, seconds) / 3600
    return 0 if strategy == "recent" else min(1, score)


def comes_first(one: MemoryBlock, other: MemoryBlock, strategy: str) -> bool:
    first = model_score(one, strategy, set(), NOW)
    second = model_score(other, strategy, set(), NOW)
    if first != second:
        return first > second
    if one.timestamp != other.timestamp:
        return one.timestamp > other.timestamp
    return one.id < other.id


def model(blocks: list[MemoryBlock], budget: int, strategy: str) -> set[str]:
    """Return the ids that are in."""
    chosen = {
        block.id: block for block in blocks if block.priority is Priority.CRITICAL
    }
    if sum(map(cost_of, chosen.values())) > budget:
        return set(chosen)
    for priority, percent in ((2, 80), (3, 90), (4, 95)):
        rest = [block for block in blocks if block.rank.value == priority]
        while rest:
            best = rest[0]
            for block in rest[1:]:
                if comes_first(block, best, strategy):
                    best = block
            rest.remove(best)
            spent = sum(map(cost_of, chosen.values()))
            if 100 * (spent + cost_of(best)) <= percent * budget or (
                # Whole tokens: the share is rounded down, which changes nothing.
                spent + cost_of(best) <= percent * budget // 100
            ):
                chosen[best.id] = best
    return set(chosen)


# -- the comparison ------------------------------------------------------------


def choose(blocks: list[MemoryBlock], budget: int, strategy: str) -> Selection:
    order = sort_key(RelevanceScorer(), strategy, NOW)
    return select_blocks(blocks, max_tokens=budget, cost=cost_of, order=order)


def ids(selection: Selection) -> set[str]:
    return {block.id for block in selection.blocks}


BUDGETS = st.integers(1, 500)
KNOWN = st.sampled_from(STRATEGIES)


@given(SETS, BUDGETS, KNOWN)
def test_the_rule_is_that_of_the_model(
    blocks: list[MemoryBlock], budget: int, strategy: str
) -> None:
    """Critical always; then by priority and order, each within its share."""
    selection = choose(blocks, budget, strategy)

    assert ids(selection) == model(blocks, budget, strategy)
    assert ids(selection) | {one.block.id for one in selection.left_out} == {
        block.id for block in blocks
    }


@given(SETS, BUDGETS, KNOWN)
def test_the_budget_is_exceeded_by_critical_blocks_alone_and_that_is_said(
    blocks: list[MemoryBlock], budget: int, strategy: str
) -> None:
    """A program that sends too much is refused by its model."""
    selection = choose(blocks, budget, strategy)

    used = sum(map(cost_of, selection.blocks))
    assert selection.used_tokens == used
    assert selection.over_budget == (used > budget)
    if selection.over_budget:
        assert {block.priority for block in selection.blocks} == {Priority.CRITICAL}
    critical = {block.id for block in blocks if block.priority is Priority.CRITICAL}
    assert critical <= ids(selection)


@given(SETS, BUDGETS, KNOWN, st.randoms())
def test_the_order_in_which_blocks_came_does_not_count(
    blocks: list[MemoryBlock], budget: int, strategy: str, random: object
) -> None:
    """The same blocks make the same prompt, which a provider may have cached."""
    first = choose(blocks, budget, strategy)
    random.shuffle(blocks)  # type: ignore[attr-defined]
    second = choose(blocks, budget, strategy)

    assert [
        block.id for block in first.blocks if block.rank is not Priority.CRITICAL
    ] == [block.id for block in second.blocks if block.rank is not Priority.CRITICAL]
    assert ids(first) == ids(second)


@given(SETS, BUDGETS, KNOWN, st.data())
def test_what_is_in_stays_in_when_it_matters_more(
    blocks: list[MemoryBlock], budget: int, strategy: str, data: st.DataObject
) -> None:
    """Nobody loses a block by being surer of it, or by dropping one that was out."""
    selection = choose(blocks, budget, strategy)
    if not selection.selected:
        return
    raised = data.draw(st.sampled_from(selection.blocks))
    others = [block for block in blocks if block.id != raised.id]

    surer = choose([*others, replace(raised, confidence=1.0)], budget, strategy)
    inside = [block for block in blocks if block.id in ids(selection)]
    without = choose(inside, budget, strategy)

    assert raised.id in ids(surer)
    assert ids(without) == ids(selection)


@given(SETS, BUDGETS)
def test_a_least_cost_changes_nothing_but_what_is_asked(
    blocks: list[MemoryBlock], budget: int
) -> None:
    """It only saves loading what cannot fit."""
    order = sort_key(RelevanceScorer(), "balanced", NOW)
    asked: list[str] = []

    def counting(block: MemoryBlock) -> int:
        asked.append(block.id)
        return cost_of(block)

    plain = choose(blocks, budget, "balanced")
    bounded = select_blocks(
        blocks, max_tokens=budget, cost=counting, order=order, least_tokens=1
    )

    assert ids(bounded) == ids(plain)
    assert len(asked) == len(set(asked))


@pytest.mark.parametrize("budget", [0, -1, True, 1.5, "9", None])
def test_a_budget_is_a_whole_number_above_zero(budget: object) -> None:
    """And the message has the field and the value."""
    with pytest.raises(UsageError, match=r"max_tokens .* not"):
        choose([], budget, "balanced")  # type: ignore[arg-type]


def test_a_strategy_is_one_of_three() -> None:
    with pytest.raises(UsageError, match="balanced, recent, relevant"):
        choose([], 9, "best")


def test_the_file_that_is_forgotten_is_the_one_least_lately_used() -> None:
    """A set would forget any one of them."""
    scorer = RelevanceScorer()
    for number in range(RECENT_FILES):
        scorer.add_recent_file(f"{number}.py")

    scorer.add_recent_file("0.py")
    scorer.add_recent_file("new.py")

    assert "0.py" in scorer.recent_files
    assert "1.py" not in scorer.recent_files
    assert len(scorer.recent_files) == RECENT_FILES


def test_words_of_a_task_are_cut_as_a_search_cuts_them() -> None:
    """Splitting at blanks finds nothing in Chinese, and nothing beside a comma."""
    block = KnowledgeMemoryBlock(
        topic="部署 servers", location="hm:x", confidence=0.5, timestamp=NOW
    )

    for task in ("怎么部署?", "servers, please"):
        scorer = RelevanceScorer(task)
        assert scorer.score_memory(block, NOW) > 0.5, task
    assert RelevanceScorer("nothing").score_memory(block, NOW) == 0.5
