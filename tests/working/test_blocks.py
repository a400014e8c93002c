"""Blocks are checked when they are made, and are read back as they were written."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from copy import deepcopy
from dataclasses import FrozenInstanceError, asdict, replace
from datetime import datetime
from typing import Any

import pytest
from hypothesis import given

from hivemind_memory.errors import UsageError
from hivemind_memory.working import (
    ContextMemoryBlock,
    FileMemoryBlock,
    HistoryMemoryBlock,
    KnowledgeMemoryBlock,
    MemoryBlock,
    MemoryType,
    MessageMemoryBlock,
    Priority,
    StatusMemoryBlock,
    TaskMemoryBlock,
    create_memory_from_action,
)
from hivemind_memory.working.block_json import block_from_json, block_to_json
from hivemind_memory.working.janitor import clean_up
from tests.working.blocks_of import BLOCKS, NOW, SETS

SENT: dict[str, Any] = {"from_agent": "a", "to_agent": "b"}
BAD: dict[str, Callable[[], object]] = {
    "confidence": lambda: FileMemoryBlock(location="a", confidence=1.01),
    "confidence ": lambda: FileMemoryBlock(location="a", confidence=float("nan")),
    "confidence  ": lambda: FileMemoryBlock(location="a", confidence=True),
    "location": lambda: FileMemoryBlock(location=" "),
    "start_line": lambda: FileMemoryBlock(location="a", start_line=0),
    "end_line": lambda: FileMemoryBlock(location="a", start_line=5, end_line=4),
    "type": lambda: FileMemoryBlock(location="a", type=MemoryType.TASK),
    "timestamp": lambda: FileMemoryBlock(location="a", timestamp=datetime(2026, 1, 1)),
    "expiry": lambda: FileMemoryBlock(location="a", expiry=datetime(2026, 1, 1)),
    "priority": lambda: FileMemoryBlock(location="a", priority="high"),  # type: ignore[arg-type]
    "metadata": lambda: FileMemoryBlock(location="a", metadata=[]),  # type: ignore[arg-type]
    "dependencies": lambda: TaskMemoryBlock(
        task_id="1", description="", dependencies=("2", "2")
    ),
    "relevance_score": lambda: KnowledgeMemoryBlock(
        topic="t", location="l", relevance_score=-0.1
    ),
    "subject": lambda: MessageMemoryBlock(**SENT, subject=5),
    "preview": lambda: MessageMemoryBlock(**SENT, subject="s", preview=None),
    "full_path": lambda: MessageMemoryBlock(**SENT, subject="s", full_path="a\0b"),
    "full_path ": lambda: MessageMemoryBlock(**SENT, subject="s", full_path=5),
    "read": lambda: MessageMemoryBlock(**SENT, subject="s", read="no"),
    "summary": lambda: ContextMemoryBlock(context_type="c", summary=b"s"),  # type: ignore[arg-type]
    "action_detail": lambda: HistoryMemoryBlock(action_type="a", action_detail=b"d"),  # type: ignore[arg-type]
    "result": lambda: HistoryMemoryBlock(
        action_type="a",
        action_detail="d",
        result=3,  # type: ignore[arg-type]
    ),
    "description": lambda: TaskMemoryBlock(task_id="1", description=None),  # type: ignore[arg-type]
    "project": lambda: TaskMemoryBlock(task_id="1", description="", project=5),  # type: ignore[arg-type]
    "topic": lambda: KnowledgeMemoryBlock(topic=None, location="l"),  # type: ignore[arg-type]
    "digest": lambda: FileMemoryBlock(location="a", digest=5),  # type: ignore[arg-type]
    "confidence   ": lambda: FileMemoryBlock(location="a", confidence=10**5000),
    "related_ids": lambda: ContextMemoryBlock(
        context_type="c",
        summary="s",
        related_ids="ab",  # type: ignore[arg-type]
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_a_wrong_field_is_named_with_its_value(name: str) -> None:
    """A block that exists is valid, so nothing checks it again."""
    with pytest.raises(UsageError) as caught:
        BAD[name]()

    assert name.strip() in str(caught.value)


def test_a_block_does_not_change() -> None:
    """A program may keep one while another thread selects."""
    block = FileMemoryBlock(location="a", metadata={"a": 1})

    with pytest.raises(FrozenInstanceError):
        block.confidence = 0.5  # type: ignore[misc]
    with pytest.raises(TypeError):
        block.metadata["a"] = 2  # type: ignore[index]
    with pytest.raises(UsageError):
        MemoryBlock(id="x")


@pytest.mark.parametrize(
    "made_again",
    [
        deepcopy,
        lambda block: pickle.loads(pickle.dumps(block)),
        lambda block: type(block)(**asdict(block)),
    ],
)
def test_a_block_can_be_copied_and_given_to_another_process(
    made_again: Callable[[MemoryBlock], MemoryBlock],
) -> None:
    """As programs do with values; the copy does not change either."""
    block = StatusMemoryBlock(status_type="m", value=[1], metadata={"a": {"b": [1]}})

    again = made_again(block)

    assert again == block
    assert len({again, block}) == 1
    with pytest.raises(TypeError):
        again.metadata["a"] = 2  # type: ignore[index]


def test_a_priority_is_that_of_the_kind_only_if_none_is_given() -> None:
    """Otherwise history could never be of high priority, nor be spared by a janitor."""
    message = {"from_agent": "a", "to_agent": "b", "subject": "s"}

    usual = [
        FileMemoryBlock(location="a"),
        FileMemoryBlock(location="a", type=MemoryType.ROM),
        StatusMemoryBlock(status_type="mailbox", value=1),
        TaskMemoryBlock(task_id="1", description="d"),
        MessageMemoryBlock(**message),
        MessageMemoryBlock(**message, read=True),
        KnowledgeMemoryBlock(topic="t", location="hm:k"),
        HistoryMemoryBlock(action_type="a", action_detail="d"),
    ]
    given = [replace(block, priority=Priority.LOW) for block in usual]

    assert "".join(block.rank.name[0] for block in usual) == "MCHHHMMM"
    assert {block.rank for block in given} == {Priority.LOW}


def test_an_id_follows_from_kind_and_place() -> None:
    """Paths alone clash, and with a time in them nothing is ever the same."""
    assert FileMemoryBlock(location="a.py").id == "file:a.py"
    assert FileMemoryBlock(location="a.py", start_line=2).id == "file:a.py:2-"
    assert FileMemoryBlock(location="a.py", end_line=4).id == "file:a.py:1-4"
    assert KnowledgeMemoryBlock(topic="t", location="hm:k").id == "knowledge:hm:k"
    assert TaskMemoryBlock(task_id="7", description="d", id="own").id == "own"
    one, other = (
        HistoryMemoryBlock(action_type="a", action_detail=text, timestamp=NOW)
        for text in ("x", "y")
    )
    assert one.id != other.id


@given(BLOCKS)
def test_a_block_is_read_as_it_was_written(block: MemoryBlock) -> None:
    """Through real JSON."""
    written = json.loads(json.dumps(block_to_json(block)))

    assert block_from_json(written) == block


@pytest.mark.parametrize(
    ("value", "named"),
    [
        ([], "object"),
        ({}, "type"),
        ({"type": "dream"}, "type"),
        ({"type": "file"}, "location"),
        ({"type": "file", "location": 3}, "location"),
        ({"type": "file", "location": "a", "priority": "urgent"}, "priority"),
        ({"type": "file", "location": "a", "timestamp": "soon"}, "timestamp"),
        ({"type": "file", "location": "a", "timestamp": "2026-01-01"}, "timestamp"),
        ({"type": "file", "location": "a", "metadata": 3}, "metadata"),
        ({"type": "file", "location": "a", "more": 1, "metadata": 3}, "metadata"),
        ({"type": "file", "location": "a", "start_line": "3"}, "start_line"),
        (
            {
                "type": "message",
                "from_agent": "a",
                "to_agent": "b",
                "subject": "",
                "preview": 3,
            },
            "preview",
        ),
        (
            {"type": "task", "task_id": "1", "description": "", "dependencies": 3},
            "dependencies",
        ),
    ],
)
def test_json_that_is_no_block_is_refused_in_a_sentence(value: Any, named: str) -> None:
    with pytest.raises(UsageError, match=named):
        block_from_json(value)


def test_fields_of_other_programs_are_kept() -> None:
    """Such as the cycle count of those that think in cycles."""
    value = {"type": "FILE", "location": "a", "cycle_count": 3, "priority": None}

    block = block_from_json(value)

    assert block.metadata == {"cycle_count": 3}
    assert block.rank is Priority.MEDIUM


# -- the janitor and the actions -----------------------------------------------


@given(SETS)
def test_the_janitor_says_why_and_never_takes_a_critical_block(
    blocks: list[MemoryBlock],
) -> None:
    done = clean_up(blocks, NOW)

    taken = [one.block for one in done.removed]
    assert sorted([*done.kept, *taken], key=lambda b: b.id) == sorted(
        blocks, key=lambda b: b.id
    )
    assert all(one.why for one in done.removed)
    assert all(block.rank is not Priority.CRITICAL for block in taken)
    for block in blocks:
        age = (NOW - block.timestamp).total_seconds()
        is_over = block.rank is not Priority.CRITICAL and (
            (block.expiry is not None and block.expiry <= NOW)
            or (block.rank is Priority.LOW and block.confidence < 0.1)
            or (
                isinstance(block, HistoryMemoryBlock)
                and block.rank is not Priority.HIGH
                and age > 3600
            )
        )
        assert (block in taken) == is_over


def test_an_action_makes_a_list_whatever_it_was() -> None:
    """One value here and a list there makes every caller ask which it got."""
    message = {
        "from": "a",
        "to": "b",
        "subject": "s",
        "content": "c" * 200,
        "path": "m",
    }

    [file] = create_memory_from_action("read_file", {"path": "a.py", "start_line": 3})
    mail = create_memory_from_action("check_mailbox", {"messages": [message, message]})
    [other] = create_memory_from_action("run_tests", "3 failed")

    assert isinstance(file, FileMemoryBlock)
    assert (file.rank, file.start_line) == (Priority.HIGH, 3)
    assert [type(one) for one in mail] == [MessageMemoryBlock] * 2
    assert isinstance(mail[0], MessageMemoryBlock)
    assert len(mail[0].preview) == 100
    assert isinstance(other, HistoryMemoryBlock)
    assert create_memory_from_action("check_mailbox", {"messages": []}) == []


@pytest.mark.parametrize(
    ("action", "result", "field"),
    [
        ("read_file", {}, "path"),
        ("read_file", None, "fields"),
        ("check_mailbox", {}, "messages"),
        ("check_mailbox", {"messages": 3}, "messages"),
        ("check_mailbox", {"messages": [{"from": "a"}]}, "to"),
    ],
)
def test_an_action_without_a_field_names_it(
    action: str, result: Any, field: str
) -> None:
    with pytest.raises(UsageError, match=field):
        create_memory_from_action(action, result)
