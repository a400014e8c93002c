"""What was added to a memory's note stays when its text is replaced."""

from __future__ import annotations

import pytest

from hivemind_memory.memory.memory import Memory
from hivemind_memory.model.curation import NewMemory, SaveResult
from hivemind_memory.model.query import Query
from tests.support.sandbox import Sandbox

ADDED = "The kettle in the deploy room is broken."


def replace_text(memory: Memory, *, is_upsert: bool, content: str) -> SaveResult:
    """Save under the key of before, as a program or as a person does."""
    more = {"plugin_source": "agent"} if is_upsert else {}
    return memory.save(
        NewMemory(
            key="deploy-day",
            content=content,
            type="fact",
            reason="" if is_upsert else "a new team",
            is_upsert=is_upsert,
            more=more,
        )
    )


@pytest.mark.parametrize("is_upsert", [True, False])
def test_an_entry_below_a_memory_stays_when_its_text_is_replaced(
    memory: Memory, *, is_upsert: bool
) -> None:
    """An upsert dropped it without a copy, and a new version hid it."""
    saved = replace_text(memory, is_upsert=is_upsert, content="We deploy on Tuesdays.")
    memory.write(ADDED, file=saved.path)

    replace_text(memory, is_upsert=is_upsert, content="We deploy on any day.")

    hits = memory.search(Query(text="kettle deploy room")).hits
    assert [hit.path for hit in hits if ADDED in hit.snippet] == [saved.path]
    note = memory.read(saved.path).text
    assert "any day" in note
    assert "Tuesdays" not in note
    assert note.count(ADDED) == 1


def test_an_upsert_keeps_what_a_person_added_to_the_front_matter(
    memory: Memory, sandbox: Sandbox
) -> None:
    """Programs know nothing of links and tags, and so took them away."""
    first = memory.save(NewMemory(key="team", content="Four people.", type="fact"))
    saved = replace_text(memory, is_upsert=True, content="We deploy on Tuesdays.")
    file = sandbox.notes / saved.path
    added = f"related: {first.id}\ntags: [deploy]\n---\n"
    file.write_text(file.read_text().replace("---\nWe", f"{added}We"))
    memory.sync()

    replace_text(memory, is_upsert=True, content="We deploy on any day.")

    text = file.read_text()
    assert f"related: {first.id}\n" in text
    assert "tags: [deploy]\n" in text
    assert "any day" in text
