"""What is built: the entries, their cost, and what a snapshot brings back."""

from __future__ import annotations

import json
import stat
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings

from hivemind_memory.errors import HivemindError, NotSavedError, UsageError
from hivemind_memory.working import (
    ContextMemoryBlock,
    FileMemoryBlock,
    HistoryMemoryBlock,
    KnowledgeMemoryBlock,
    MemoryBlock,
    MemoryCompressor,
    MemoryType,
    MessageMemoryBlock,
    Priority,
    StatusMemoryBlock,
    TaskMemoryBlock,
    WorkingMemory,
)
from hivemind_memory.working.entries import entry_tokens
from hivemind_memory.working.json_values import json_safe
from tests.support.tiers import examples
from tests.working.blocks_of import NOW, SETS

GOLDEN = Path(__file__).parents[2] / "fixtures" / "working" / "context.json"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Files as an agent has them."""
    (tmp_path / "AGENTS.md").write_text("Use British English.\n")
    (tmp_path / "cart.py").write_text(
        "".join(f"line_{n} = {n}\n" for n in range(1, 31))
    )
    (tmp_path / "mail.txt").write_text("Can you review the rounding?\nThanks.\n")
    return tmp_path


def one_of_each() -> list[MemoryBlock]:
    """A block of every kind, the same at every time."""
    at = {"timestamp": NOW}
    return [
        FileMemoryBlock(location="AGENTS.md", type=MemoryType.ROM, **at),
        FileMemoryBlock(location="cart.py", start_line=3, end_line=4, **at),
        FileMemoryBlock(location="gone.py", **at),
        StatusMemoryBlock(status_type="mailbox", value={"unread": 1}, **at),
        TaskMemoryBlock(
            task_id="T-1",
            description="Round sums",
            project="shop",
            dependencies=("T-0",),
            expiry=NOW + timedelta(days=1),
            **at,
        ),
        MessageMemoryBlock(
            from_agent="ann",
            to_agent="bob",
            subject="Review",
            preview="Can you",
            full_path="mail.txt",
            **at,
        ),
        KnowledgeMemoryBlock(
            topic="rounding",
            subtopic="tax",
            location="hm:rounding",
            confidence=0.75,
            **at,
        ),
        HistoryMemoryBlock(
            action_type="run_tests",
            action_detail="cart",
            result="3 failed",
            metadata={"when": NOW, "odd": object, "type": "claimed"},
            **at,
        ),
        ContextMemoryBlock(context_type="project_context", summary="A shop.", **at),
    ]


def filled(root: Path, **options: object) -> WorkingMemory:
    memory = WorkingMemory(
        str(root),
        read_memory=lambda name: f"The memory {name}: half up.",
        **options,  # type: ignore[arg-type]
    )
    for block in one_of_each():
        memory.add(block)
    return memory


def test_a_context_is_the_golden_one(root: Path) -> None:
    """Programs parse it; a field that changes its name breaks them."""
    built = filled(root).build(10_000, now=NOW)

    assert json.loads(built.text) == json.loads(GOLDEN.read_text(encoding="utf-8"))


def test_the_cost_is_that_of_what_is_sent(root: Path) -> None:
    """A budget that counts something else is no budget."""
    built = filled(root, count_tokens=len).build(100_000, now=NOW)

    costs = [entry_tokens(entry, len) for entry in built.entries]
    assert [one.tokens for one in built.selection.selected] == costs
    assert len(built.text) <= built.selection.used_tokens
    for budget in range(1, 4_000, 37):
        small = filled(root, count_tokens=len).build(budget, now=NOW)
        assert (
            len(small.text) <= budget
            or small.selection.over_budget
            or not small.entries
        )


def test_secrets_in_files_and_metadata_are_masked(root: Path) -> None:
    """What leaves goes to a model that someone else runs."""
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"
    (root / "env.py").write_text(f'TOKEN = "{token}"\n')
    memory = WorkingMemory(str(root))
    memory.add(FileMemoryBlock(location="env.py", metadata={"seen": f"token {token}"}))

    assert token not in memory.build_context()


def test_a_secret_in_metadata_is_known_by_its_name(root: Path) -> None:
    """A password alone looks like any word; the member's name tells what it is."""
    metadata = {"password": "hunter2-Xq9", "db": {"password": "hunter2-Xq9"}}
    memory = WorkingMemory(str(root))
    memory.add(FileMemoryBlock(location="cart.py", metadata=metadata))

    assert "hunter2" not in memory.build_context()


def test_a_file_that_differs_from_its_digest_is_marked(root: Path) -> None:
    """The program knows that what it remembers of it is old."""
    memory = WorkingMemory(str(root))
    digest = memory.loader.digest_of("cart.py")
    memory.add(FileMemoryBlock(location="cart.py", digest=digest))
    [same] = memory.build().entries
    (root / "cart.py").write_text("other\n")
    [changed] = memory.build().entries

    assert "changed" not in same["metadata"]
    assert changed["metadata"]["changed"] is True


def test_only_what_may_fit_is_loaded(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A thousand references cost nothing until they are in."""
    memory = WorkingMemory(str(root))
    for number in range(200):
        (root / f"{number}.txt").write_text("word " * 50)
        memory.add(FileMemoryBlock(location=f"{number}.txt"))
    opened: list[str] = []
    original = memory.loader._file

    def counting(walk: object, location: str) -> object:
        opened.append(location)
        return original(walk, location)  # type: ignore[arg-type]

    monkeypatch.setattr(memory.loader, "_file", counting)
    built = memory.build(600)

    assert 0 < len(opened) <= len(built.entries) + 60
    assert len(built.selection.left_out) == 200 - len(built.entries)


@pytest.mark.parametrize(
    ("value", "safe"),
    [
        ({"a": {1, 2}}, {"a": [1, 2]}),
        (float("nan"), {"not_json": "nan"}),
        (b"x", {"not_json": "b'x'"}),
        (Priority.LOW, 4),
        (NOW, "2026-11-21T09:30:00+00:00"),
    ],
)
def test_any_value_becomes_json(value: object, safe: object) -> None:
    assert json_safe(value) == safe
    json.dumps(json_safe(value), allow_nan=False)


def test_a_value_that_holds_itself_becomes_json() -> None:
    loop: list[object] = []
    loop.append(loop)

    json.dumps(json_safe(loop))


# -- compression -----------------------------------------------------------------


def long(text: str) -> str:
    return text * 200


@pytest.mark.parametrize(
    ("block", "text", "kept", "lost"),
    [
        (
            FileMemoryBlock(location="a.ts"),
            long("export function sum(a: number) {\n  const b = a;\n  return b;\n}\n"),
            "    1 export function sum(a: number) {",
            "return b",
        ),
        (
            FileMemoryBlock(location="a.md"),
            long("# Title\n\nFirst one. Second one.\nThird one.\n\n"),
            "First one.",
            "Second one.",
        ),
        (
            KnowledgeMemoryBlock(topic="t", location="hm:k"),
            long("## Part\n\nA sentence! Another one.\n\n"),
            "## Part\nA sentence!",
            "Another",
        ),
        (
            HistoryMemoryBlock(action_type="a", action_detail="d"),
            "".join(f"{n} was done and it was good\n" for n in range(900)),
            "… 880 earlier lines\n880 was",
            "\n879 was",
        ),
        (
            FileMemoryBlock(location="a.csv"),
            "".join(f"{n},{n},{n}\n" for n in range(900)),
            "… 850 lines …",
            "500,500",
        ),
        (
            FileMemoryBlock(location="broken.py"),
            long("def f(:\n" + "    pass  # broken\n" * 9),
            "    1 def f(:",
            "broken",
        ),
    ],
    # The id of a history has the time in it, and each worker must see the same names.
    ids=lambda value: getattr(value, "location", "") or type(value).__name__,
)
def test_a_long_text_is_shortened_by_its_kind(
    block: MemoryBlock, text: str, kept: str, lost: str
) -> None:
    shorter = MemoryCompressor().compress_if_needed(text, block)

    assert kept in shorter
    assert lost not in shorter
    assert len(shorter) < len(text)


def test_a_summarizer_shortens_instead_of_the_rules(root: Path) -> None:
    (root / "long.py").write_text(long("x = 1\n") * 20)
    memory = WorkingMemory(str(root), summarizer=lambda text, block: block.id)
    memory.add(FileMemoryBlock(location="long.py"))
    memory.add(FileMemoryBlock(location="cart.py", end_line=1))

    contents = {entry["id"]: entry["content"] for entry in memory.build().entries}

    assert contents["file:long.py"] == "file:long.py"
    assert contents["file:cart.py:1-1"] == "line_1 = 1"


# -- snapshots -------------------------------------------------------------------


@given(SETS)
@settings(max_examples=examples(50))
def test_a_snapshot_brings_back_what_was_there(
    tmp_path_factory: pytest.TempPathFactory, blocks: list[MemoryBlock]
) -> None:
    root = tmp_path_factory.mktemp("root")
    memory = WorkingMemory(str(root))
    for block in blocks:
        memory.add(block)
    memory.scorer.add_recent_file("a.py")
    path = str(root / "blocks.json")

    memory.save(path)
    opened = WorkingMemory.open(path, str(root))

    assert opened.blocks == memory.blocks
    assert opened.scorer.recent_files == ("a.py",)
    assert opened.opened_changes == {}


def test_a_snapshot_says_which_files_have_changed_since(root: Path) -> None:
    """And is readable by its owner alone, and names no folder outside the root."""
    path = root / "blocks.json"
    memory = filled(root)
    memory.save(str(path))
    text = path.read_text()
    (root / "cart.py").write_text("other\n")
    (root / "AGENTS.md").unlink()

    opened = WorkingMemory.open(str(path), str(root))

    assert opened.opened_changes == {
        "file:cart.py:3-4": "changed",
        "rom:AGENTS.md": "missing",
    }
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert str(root) not in text
    assert "line_3" not in text


def test_the_difference_of_two_moments(root: Path) -> None:
    """What a program tells its model when it thinks again."""
    memory = filled(root)
    before = memory.moment()
    assert memory.diff(before) == replace(memory.diff(before), added=(), changed=())

    memory.remove("task:T-1")
    memory.add(FileMemoryBlock(location="mail.txt"))
    memory.update_confidence("knowledge:hm:rounding", 0.5)
    (root / "cart.py").write_text("other\n")
    found = memory.diff(before)

    assert found.added == ("file:mail.txt",)
    assert found.removed == ("task:T-1",)
    assert found.changed == ("file:cart.py:3-4", "knowledge:hm:rounding")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is not JSON"),
        ("{}", "holds no blocks"),
        ('{"blocks": 3}', "holds no blocks"),
        ('{"blocks": [], "version": 2}', "has version 2"),
        ('[{"type": "file"}]', "block 1: .*location"),
        ('[{"type": "file", "location": "../a"}]', "location"),
        ('[{"type": "file", "location": "a"}, 3]', "block 2"),
    ],
)
def test_a_file_that_is_no_snapshot_is_refused_whole(
    root: Path, text: str, said: str
) -> None:
    path = root / "blocks.json"
    path.write_text(text)
    memory = WorkingMemory(str(root))

    with pytest.raises(UsageError, match=said):
        memory.load(str(path))

    assert memory.blocks == ()


def test_what_cannot_be_read_or_written_is_said(root: Path) -> None:
    memory = filled(root)

    with pytest.raises(HivemindError, match="cannot be read"):
        memory.load(str(root / "missing.json"))
    with pytest.raises(NotSavedError, match="Nothing was saved"):
        memory.save(str(root / "missing" / "blocks.json"))


def test_a_block_that_is_gone_or_replaced_is_not_called_changed(root: Path) -> None:
    """Whether it is removed, cleaned up, added or loaded again."""
    path, gone = str(root / "blocks.json"), "file:gone.py"
    memory = WorkingMemory(str(root))

    def reopened() -> WorkingMemory:
        (root / "gone.py").write_text("a = 1\n")
        memory.add(
            FileMemoryBlock(location="gone.py", priority=Priority.LOW, confidence=0.01)
        )
        memory.save(path)
        (root / "gone.py").unlink()
        opened = WorkingMemory.open(path, str(root))
        assert opened.opened_changes == {gone: "missing"}
        return opened

    removed, cleaned, added, loaded = (reopened() for _ in range(4))
    removed.remove(gone)
    cleaned.cleanup()
    added.add(FileMemoryBlock(location="gone.py"))
    (root / "gone.py").write_text("a = 1\n")
    loaded.load(path)

    assert [block.id for block in added.blocks] == [gone]
    assert [block.id for block in loaded.blocks] == [gone]
    assert removed.blocks == cleaned.blocks == ()
    for one in (removed, cleaned, added, loaded):
        assert one.opened_changes == {}
