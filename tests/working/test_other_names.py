"""The names of other programs: their own example runs, and its defects stay out."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

import pytest

from hivemind_memory.context.tokens import estimate_tokens
from hivemind_memory.errors import UsageError
from hivemind_memory.working import (
    ContentLoader,
    ContextBuilder,
    FileMemoryBlock,
    HistoryMemoryBlock,
    MemoryCompressor,
    MemoryJanitor,
    MemorySelector,
    MemorySystem,
    MessageMemoryBlock,
    Priority,
    RelevanceScorer,
    TaskMemoryBlock,
    WorkingMemory,
    WorkingMemoryManager,
)
from hivemind_memory.working.blocks import utc_now


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A folder as such a program has it."""
    agent = tmp_path / "agents" / "agent_001"
    agent.mkdir(parents=True)
    (agent / "ROM.md").write_text("You are agent 001.\n")
    for number in range(3):
        (tmp_path / f"file_{number}.py").write_text(f"VALUE = {number}\n" * 10)
    return tmp_path


def test_the_example_runs_as_it_is_written(root: Path) -> None:
    """Manager, selector, loader and builder, with absolute paths."""
    manager = WorkingMemoryManager(max_tokens=100000)
    selector = MemorySelector(estimate_tokens)
    loader = ContentLoader(str(root))
    builder = ContextBuilder(loader)
    rom_memory = FileMemoryBlock(
        location=f"{root}/agents/agent_001/ROM.md",
        priority=Priority.CRITICAL,
        confidence=1.0,
    )
    manager.add_memory(rom_memory)
    task_memory = TaskMemoryBlock(
        task_id="TASK-042",
        description="Implement authentication module",
        project="project_alpha",
        status="in_progress",
        priority=Priority.HIGH,
    )
    manager.add_memory(task_memory)
    for file_path in sorted(map(str, root.glob("*.py"))):
        file_memory = FileMemoryBlock(
            location=file_path, priority=Priority.MEDIUM, confidence=0.8
        )
        manager.add_memory(file_memory)

    selected = selector.select_memories(manager.symbolic_memory, manager.max_tokens)
    context = builder.build_context(selected)

    assert json.loads(json.dumps(context)) == context
    assert [entry["priority"] for entry in context] == [
        "critical",
        "high",
        "medium",
        "medium",
        "medium",
    ]
    assert context[0]["content"] == "You are agent 001.\n"
    assert context[1]["metadata"]["task_id"] == "TASK-042"
    assert context[1]["metadata"]["status"] == "in_progress"
    assert sorted(entry["content"] for entry in context[2:]) == [
        f"VALUE = {number}\n" * 10 for number in range(3)
    ]
    assert set(context[2]) == {"id", "content", "confidence", "priority", "metadata"}


def test_the_facade_of_mind_swarm_runs(root: Path) -> None:
    """``MemorySystem`` is the working memory."""
    system = MemorySystem(str(root), max_tokens=1000, cache_ttl=300)
    system.add(FileMemoryBlock(location="file_1.py"))
    system.add(FileMemoryBlock(location="gone.py"))

    entries = json.loads(
        system.build_context(
            max_tokens=900,
            current_task="value",
            selection_strategy="recent",
            format_type="json",
        )
    )

    by_id = {entry["id"]: entry for entry in entries}
    assert by_id["file:gone.py"]["error"] is True
    assert by_id["file:gone.py"]["content"].startswith("[Error loading content: ")
    with pytest.raises(UsageError, match="format_type"):
        system.build_context(format_type="xml")


# -- the defects of the design, each of which is not here ------------------------


def test_a_block_can_be_made_at_all(root: Path) -> None:
    """Fields with defaults before fields without: no class of theirs can be defined."""
    assert FileMemoryBlock(location="a").confidence == 1.0


def test_the_first_line_that_was_asked_for_is_there(root: Path) -> None:
    """They read ``lines[start_line:end_line]``."""
    (root / "lines").write_text("1\n2\n3\n4\n")
    block = FileMemoryBlock(location="lines", start_line=2, end_line=3)

    assert ContentLoader(str(root)).load_content(block) == "2\n3"


def test_two_ranges_of_one_file_are_two_texts(root: Path) -> None:
    """Their cache knows only the file, and returns the range that came first."""
    (root / "lines").write_text("1\n2\n3\n4\n")
    loader = ContentLoader(str(root))

    texts = [
        loader.load_content(FileMemoryBlock(location="lines", start_line=n, end_line=n))
        for n in (1, 4)
    ]

    assert texts == ["1", "4"]


def test_critical_blocks_over_the_budget_are_reported(root: Path) -> None:
    """There they exceed it without a word, and others come on top."""
    selector = MemorySelector(len)
    rom = TaskMemoryBlock(
        task_id="1", description="x" * 500, priority=Priority.CRITICAL
    )
    other = TaskMemoryBlock(task_id="2", description="y")

    selected = selector.select_memories([rom, other], 100)

    assert selected == [rom]
    assert selector.report is not None
    assert selector.report.over_budget
    assert selector.report.left_out[0].block is other


def test_the_scorer_decides_the_order(root: Path) -> None:
    """They call confidence and time a relevance score, and never call the scorer."""
    memory = WorkingMemory(str(root), count_tokens=len)
    now = utc_now()
    old = TaskMemoryBlock(
        task_id="old", description="x", confidence=1, timestamp=now - timedelta(hours=9)
    )
    new = TaskMemoryBlock(task_id="new", description="x", confidence=0.5, timestamp=now)
    memory.add(old)
    memory.add(new)

    balanced = memory.select(10_000, strategy="balanced", now=now).blocks
    relevant = memory.select(10_000, strategy="relevant", now=now).blocks

    assert [block.id for block in balanced] == ["task:new", "task:old"]
    assert [block.id for block in relevant] == ["task:old", "task:new"]


def test_the_same_id_replaces_and_leaves_no_orphan(root: Path) -> None:
    """There the first block stays in the list, and no one can remove it."""
    manager = WorkingMemoryManager()
    for confidence in (0.1, 0.9):
        manager.add_memory(FileMemoryBlock(location="a", confidence=confidence))

    manager.update_confidence("file:a", 0.7)

    assert [block.confidence for block in manager.symbolic_memory] == [0.7]
    manager.remove_memory("file:a")
    assert manager.symbolic_memory == []


def test_history_of_high_priority_is_kept(root: Path) -> None:
    """There the class overrides the caller, so that the exception never applies."""
    old = utc_now() - timedelta(hours=2)
    kept, dropped = (
        HistoryMemoryBlock(
            action_type="a", action_detail=str(rank), timestamp=old, priority=rank
        )
        for rank in (Priority.HIGH, Priority.MEDIUM)
    )

    assert MemoryJanitor().cleanup_memories([kept, dropped]) == [kept]


def test_a_critical_block_does_not_expire(root: Path) -> None:
    """There the janitor removes what is "never dropped"."""
    block = TaskMemoryBlock(
        task_id="1",
        description="d",
        priority=Priority.CRITICAL,
        expiry=utc_now() - timedelta(days=1),
    )

    assert MemoryJanitor().cleanup_memories([block]) == [block]


def test_a_message_that_was_read_counts_less(root: Path) -> None:
    """There its priority stays high for ever."""
    memory = WorkingMemory(str(root))
    block = MessageMemoryBlock(from_agent="a", to_agent="b", subject="s", preview="p")
    memory.add(block)

    assert memory.mark_read(block.id)
    assert not memory.mark_read("file:a")
    assert memory.blocks[0].rank is Priority.MEDIUM


def test_metadata_of_a_block_replaces_nothing(root: Path) -> None:
    """There a block may claim another type or source."""
    claimed = {"type": "rom", "source": "/etc/passwd", "own": 1}
    block = FileMemoryBlock(location="file_0.py", metadata=claimed)
    [entry] = ContextBuilder(ContentLoader(str(root))).build_context([block])

    assert entry["metadata"]["type"] == "file"
    assert entry["metadata"]["source"] == "file_0.py"
    assert entry["metadata"]["own"] == 1


def test_a_def_inside_a_string_is_no_definition() -> None:
    """There every line with "def " in it is kept, and every other one is lost."""
    code = 'import os\n\nTEXT = """\ndef fake():\n"""\n\n\ndef real(x):\n    return x\n'
    block = FileMemoryBlock(location="a.py")

    outline = MemoryCompressor().compress_code(code, block)

    assert "fake" not in outline
    assert "    8 def real(x):" in outline
    assert "    1 import os" in outline
    assert "… 6 lines" in outline


def test_short_code_is_not_compressed() -> None:
    """There every file loses its bodies, however small it is."""
    code = "def one():\n    return 1\n"

    assert (
        MemoryCompressor().compress_if_needed(code, FileMemoryBlock(location="a.py"))
        == code
    )


def test_a_time_needs_its_zone_and_the_future_is_new() -> None:
    """There naive times are compared, and a clock ahead makes scores above 1."""
    ahead = FileMemoryBlock(location="a", timestamp=utc_now() + timedelta(hours=5))

    assert RelevanceScorer().score_memory(ahead) == 1.0
