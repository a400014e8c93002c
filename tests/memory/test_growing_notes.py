"""A note that agents append to: only its end is read, and the index is the same."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from hivemind_memory.index.sqlite import note_parts
from hivemind_memory.markdown import blocks
from hivemind_memory.memory.memory import Memory
from hivemind_memory.model.note_path import NotePath
from tests.support.sandbox import Sandbox, ask, difference_from_fresh, paths

DAY = NotePath("day.md")
ENTRY = "The heron stands in the reeds. " * 12


@pytest.fixture
def read_chars(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return how many characters are masked, text by text."""
    seen: list[int] = []
    masked = blocks.BlockReader._masked

    def counted(reader: blocks.BlockReader, text: str) -> str:
        seen.append(len(text))
        return masked(reader, text)

    monkeypatch.setattr(blocks.BlockReader, "_masked", counted)
    return seen


def test_of_a_note_that_has_grown_only_the_end_is_read_and_compared(
    memory: Memory, read_chars: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server kept every chunk of the day: 10 KB more for each entry."""
    memory.sync()
    for number in range(150):
        memory.write(f"{number} {ENTRY}", file=DAY)
    read_chars.clear()
    for part in ("replace_changed_chunks", "replace_large_note"):
        monkeypatch.setattr(note_parts, part, lambda *_: pytest.fail("all of it"))

    for number in range(150, 180):
        assert memory.write(f"{number} {ENTRY}", file=DAY).is_indexed

    assert max(read_chars) < 2 * blocks.BLOCK_CHARS
    assert sum(read_chars) / 30 < 4 * blocks.BLOCK_CHARS


def test_another_process_that_has_read_nothing_reads_only_the_end_too(
    sandbox: Sandbox,
    memory: Memory,
    read_chars: list[int],
) -> None:
    """What the index has of a note is known by its digest, not by who read it."""
    memory.sync()
    for number in range(12):
        memory.write(f"{number} {ENTRY * 8}", file=DAY)
    other = sandbox.memory()
    read_chars.clear()

    other.write("The okapi hides.", file=DAY)

    assert sum(read_chars) < 5 * blocks.BLOCK_CHARS
    assert paths(ask(memory, "okapi")) == [DAY]
    memory.sync()
    assert difference_from_fresh(sandbox, memory) == []


@pytest.mark.parametrize("seed", range(3))
def test_after_any_edits_the_index_is_that_of_the_notes_alone(
    sandbox: Sandbox, memory: Memory, seed: int
) -> None:
    """Whatever a person does to a note between two entries."""
    chance = random.Random(seed)
    memory.sync()
    day = Path(sandbox.notes) / DAY
    for number in range(25):
        link = chance.choice(["", "", f" See [[note {number % 5}]]."])
        memory.write(f"{number} {ENTRY * chance.randrange(1, 8)}{link}", file=DAY)
        data = day.read_bytes()
        at = chance.randrange(len(data))
        edit = chance.choice(["none", "none", "none", "end", "middle", "cut", "bytes"])
        if edit == "end":
            last = chance.choice([b"```\n", b"# A heading\n", b"the end [[last]]"])
            day.write_bytes(data + last)
        elif edit == "middle":
            day.write_bytes(data[:at] + b" [[egret]]\n" + data[at:])
        elif edit == "cut":
            day.write_bytes(data[:at] + data[at + 300 :])
        elif edit == "bytes":
            day.write_bytes(data + b"caf\xc3")
        if edit != "none":
            memory.sync()

    memory.sync()
    assert difference_from_fresh(sandbox, memory) == []


def test_a_note_that_the_index_has_newer_meanwhile_is_read_as_a_whole(
    sandbox: Sandbox,
    memory: Memory,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The end alone, added to what another process indexed, would be half a note."""
    memory.sync()
    for number in range(13):  # so large that no lock is held while it is read
        memory.write(f"{number} {ENTRY * 24}", file=DAY)
    other = sandbox.memory()
    day = Path(sandbox.notes) / DAY
    read_grown = blocks.BlockReader.read_grown
    waiting = [True]

    def overtaken(*args: object) -> object:
        if waiting.pop() if waiting else False:
            text = day.read_text(encoding="utf-8")
            day.write_text("Nothing but a quagga.\n" + text[:900], encoding="utf-8")
            other.sync()
        return read_grown(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(blocks.BlockReader, "read_grown", overtaken)

    memory.write("The okapi hides.", file=DAY)

    assert not waiting
    memory.sync()
    assert paths(ask(memory, "quagga")) == [DAY]
    assert difference_from_fresh(sandbox, memory) == []


@pytest.mark.parametrize(
    ("end", "added"),
    [
        ("The heron.\n\n<!--\nSee [[egret]].\n", "-->\nThe ibis.\n"),
        ("[birds]: [[egret]].md\n", "\n\n# The ibis\n\nIt wades.\n"),
        ("password: [[egret]]", "Zk8#qLw02mPx91vTbR\n"),
    ],
    ids=["closes a comment", "leaves a definition alone", "makes a secret of it"],
)
def test_a_link_that_is_none_any_more_once_the_note_has_grown_is_no_edge(
    sandbox: Sandbox, memory: Memory, end: str, added: str
) -> None:
    """The edges of what is read again were kept, whatever became of them."""
    memory.sync()
    for number in range(12):
        memory.write(f"{number} {ENTRY * 8}", file=DAY)
    memory.write(end, file=DAY)
    day = Path(sandbox.notes) / DAY
    day.write_text(day.read_text("utf-8").removesuffix("\n") + "\n", "utf-8")
    memory.sync()

    with day.open("a", encoding="utf-8") as file:
        file.write(added)
    memory.sync()

    assert difference_from_fresh(sandbox, memory) == []
