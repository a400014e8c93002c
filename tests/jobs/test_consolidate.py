"""Near copies, what a model may make of them, and how a person applies it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hivemind_memory.context.briefing import told_in
from hivemind_memory.curation.context import CurationContext
from hivemind_memory.jobs.consolidate import apply_merges
from hivemind_memory.jobs.consolidation import (
    Merge,
    ask_for_merges,
    find_clusters,
    merges_in,
)
from hivemind_memory.jobs.consolidation_file import parse_merges, render_merges
from hivemind_memory.memory.leading import LeadingMemory
from hivemind_memory.memory.memory import Memory
from hivemind_memory.model.curation import MemorySelector, NewMemory
from hivemind_memory.model.memories import ACTIVE
from hivemind_memory.providers.vectors import pack
from hivemind_memory.redaction import mask
from hivemind_memory.testing import FakeChat, FakeEmbedder
from tests.support.fake_provider import FakeProvider
from tests.support.sandbox import Sandbox, ask

TEXTS = {
    "day": "We deploy the shop on Mondays at 10:30 from infra/prod.",
    "when": "We deploy the shop on Mondays at 10:30, from infra/prod, never later.",
    "lunch": "Lunch is at noon in the kitchen on the second floor.",
}
MERGED = "We deploy the shop on Mondays at 10:30 from infra/prod, and never later."


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Sandbox(tmp_path / "home").memory() as opened:
        for key, text in TEXTS.items():
            opened.save(NewMemory(key=key, content=text, type="decision"))
        yield opened


def ids(memory: Memory) -> dict[str, str]:
    rows = memory.memories()
    return {row.key: row.memory_id for row in rows if row.status == ACTIVE}


def good(memory: Memory, **more: object) -> dict[str, Any]:
    known = ids(memory)
    refs = [known["day"], known["when"]]
    row = {"type": "decision", "key": "day", "content": MERGED, "from": refs, **more}
    return {"merged": [row], "keep": []}


def propose(memory: Memory, reply: dict[str, Any]) -> list[Merge]:
    [cluster] = find_clusters(memory, [""])
    return merges_in(reply, cluster, memory.state())


def test_near_copies_of_a_type_are_found(memory: Memory) -> None:
    memory.save(NewMemory(key="a fact", content=TEXTS["day"] + " Yes.", type="fact"))

    [cluster] = find_clusters(memory, [""])

    assert {each.key for each in cluster} == {"day", "when"}


def test_a_memory_with_a_secret_is_not_merged(memory: Memory) -> None:
    """The model is shown the text without it, and its text would replace it."""
    note = Path(memory.places.notes) / "when.md"
    note.write_text(f"{note.read_text()}\nThe password is hunter2-Xq9zz.\n")

    assert find_clusters(memory, [""]) == []


def test_a_diff_is_applied_and_taken_back_by_its_session(memory: Memory) -> None:
    [cluster] = find_clusters(memory, [""])
    before = ids(memory)
    reply = good(memory)
    merges = ask_for_merges(memory, cluster, FakeChat(lambda _: reply))
    file = render_merges(merges, {each.id: each for each in cluster})
    assert f"- {TEXTS['when']}" in file
    parts = parse_merges(file.replace("never later", "no later"))

    session, [done] = apply_merges(memory, [(1, parts[0])])

    assert not done.problem
    assert ask(memory, "deploy shop Mondays").hits[0].key == "day"
    told = {row.key for row in told_in(memory, "")}
    assert told == {"day", "lunch"}
    assert find_clusters(memory, [""]) == []
    shown = memory.curation.show("day").memory
    assert shown.text == MERGED.replace("never later", "no later")
    assert shown.reason == "consolidated"
    memory.curation.forget(MemorySelector(session=session))
    assert ids(memory) == before
    assert {row.key for row in told_in(memory, "")} == set(TEXTS)


def test_the_name_of_a_session_never_looks_secret(memory: Memory) -> None:
    """One in two hundred was masked, and could not be undone by its session."""
    names = {apply_merges(memory, [])[0] for _ in range(3_000)}

    assert len(names) > 2_990
    assert [name for name in names if mask(name) != name] == []


def test_what_has_changed_since_is_refused(memory: Memory) -> None:
    merges = propose(memory, good(memory))
    memory.save(NewMemory(key="when", content="On Tuesdays.", reason="moved"))
    before = ids(memory)

    _, [done] = apply_merges(memory, [(1, merges[0])])

    assert "changed since" in done.problem
    assert ids(memory) == before


@pytest.mark.parametrize("key", ["day", "when"])
def test_what_was_edited_since_is_refused(memory: Memory, key: str) -> None:
    """By hand, under the same id: what a person wrote was in no diff."""
    merges = propose(memory, good(memory))
    note = Path(memory.places.notes) / f"{key}.md"
    note.write_text(f"{note.read_text()}\nExcept in August.\n")

    _, [done] = apply_merges(memory, [(1, merges[0])])

    assert "changed since" in done.problem
    assert "Except in August." in memory.curation.show(key).memory.text


@pytest.mark.parametrize("edited", ["day", "when"])
def test_what_is_edited_while_a_part_is_applied_is_not_hidden(
    memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, edited: str
) -> None:
    """It was read and compared, and the edit came before the lock."""
    merges = propose(memory, good(memory))
    path = memory.curation.show(edited).memory.path
    note = tmp_path / "home" / "memory" / path
    real = CurationContext.key_lock

    def late(*given: Any, **more: Any) -> Any:
        monkeypatch.setattr(CurationContext, "key_lock", real)
        note.write_text(note.read_text().replace("Mondays", "Sundays"))
        return real(*given, **more)

    monkeypatch.setattr(CurationContext, "key_lock", late)

    _, [done] = apply_merges(memory, [(1, merges[0])])

    assert "has changed" in done.problem
    hits = ask(memory, "deploy shop Sundays").hits
    assert edited in [hit.key for hit in hits]


@pytest.mark.parametrize(
    "change",
    [
        {"content": MERGED.replace("10:30", "10:45")},
        {"content": MERGED.replace("infra/prod", "infra/test")},
        {"content": f"{MERGED} Ask `bob`."},
        {"content": ""},
        {"content": "word " * 1_000},
        {"content": None},
        {"content": f"{MERGED}\r```\rand more"},  # would begin other lines
        {"content": f"{MERGED}\x1b[1A\x1b[2K"},  # would hide the line above
        {"content": f"{MERGED}\u202e\x9b"},
        {"content": f"{MERGED}\ud800"},
        {"key": "another"},
        {"key": ["day"]},
        {"from": ["01ARZ3NDEKTSV4RRFFQ69G5FAV", "01ARZ3NDEKTSV4RRFFQ69G5FAX"]},
        {"from": []},
        {"from": "day"},
    ],
)
def test_a_merge_that_says_more_than_its_memories_is_refused(
    memory: Memory, change: dict[str, object]
) -> None:
    with pytest.raises(ValueError, match="with"):
        propose(memory, good(memory, **change))


def test_a_memory_that_is_named_twice_is_refused(memory: Memory) -> None:
    reply = good(memory)
    reply["keep"] = [ids(memory)["day"]]

    with pytest.raises(ValueError, match="twice"):
        propose(memory, reply)


def test_a_private_memory_is_not_sent(memory: Memory) -> None:
    more = "We deploy the shop on Mondays at 10:30 from infra/prod, we do."
    memory.save(
        NewMemory(key="own", content=more, type="decision", visibility="private")
    )

    [cluster] = find_clusters(memory, [""])

    assert "own" not in {each.key for each in cluster}


def test_a_text_cannot_end_its_part(memory: Memory) -> None:
    """A fence or a comment in a memory is a line of the diff, and stays one."""
    merges = propose(memory, good(memory))
    text = f"```\n{MERGED}\n<!-- hm consolidate {{}} -->\n```diff\n+ x"
    [merge] = [
        Merge(
            scope="global",
            type="decision",
            key="day -->",
            content=text,
            sources=merges[0].sources,
        )
    ]
    memories = {each.id: each for each in find_clusters(memory, [""])[0]}

    assert parse_merges(render_merges([merge], memories)) == [merge]


def test_no_memory_can_pass_for_the_merged_text(memory: Memory) -> None:
    """What a diff shows of a memory begins no line of its own, and steers nothing."""
    note = Path(memory.places.notes) / "when.md"
    note.write_bytes(note.read_bytes().rstrip() + b"\r+ Run it.\x1b[2K\rNow.\n")
    [cluster] = find_clusters(memory, [""])
    [merge] = propose(memory, good(memory))
    path = Path(memory.places.home) / "merged.md"
    path.write_text(render_merges([merge], {each.id: each for each in cluster}))

    [parsed] = parse_merges(path.read_text())

    assert parsed.content == MERGED
    assert "\x1b" not in path.read_text()


def test_what_is_private_is_merged_with_nothing_public(tmp_path: Path) -> None:
    """The merged text would be seen wherever the public one is."""
    sandbox = Sandbox(tmp_path / "home", flags={"llm_send_private": True})
    with sandbox.memory() as memory:
        for key in ("day", "when"):
            new = NewMemory(key=key, content=TEXTS[key], type="decision")
            memory.save(new)
        [merge] = propose(memory, good(memory))
        path = memory.curation.show("when").memory.path
        note = sandbox.notes / path
        text = note.read_text()
        note.write_text(text.replace("type: ", "visibility: private\ntype: ", 1))

        assert find_clusters(memory, [""]) == []
        _, [done] = apply_merges(memory, [(1, merge)])

        assert done.id
        assert memory.curation.show("day").memory.visibility == "private"


def test_no_memory_is_merged_of_which_the_model_is_shown_a_part(
    memory: Memory, tmp_path: Path
) -> None:
    path = memory.curation.show("when").memory.path
    with (tmp_path / "home" / "memory" / path).open("a") as note:
        note.write("\nWe deploy the shop on Mondays at 10:30." * 120)

    assert find_clusters(memory, [""]) == []


class Meaning(FakeEmbedder):
    """Knows that wheels and tyres are the same."""

    def _embed(self, text: str) -> bytes:
        near = {"wheels": (1.0, 0.05), "tyres": (1.0, 0.0)}
        found = (vector for word, vector in near.items() if word in text)
        return pack(next(found, (0.0, 1.0)))


def test_memories_without_a_common_word_are_found_by_their_vectors(
    tmp_path: Path,
) -> None:
    """Where there are vectors; nothing is embedded for that."""
    sandbox = Sandbox(tmp_path / "home")
    texts = {
        "wheels": "All wheels need exchange before snow falls in November.",
        "tyres": "Winter tyres go onto each car early, ahead of ice and frost.",
        "lunch": "Lunch is at noon in the kitchen on the second floor.",
    }
    with sandbox.memory() as memory:
        for key, text in texts.items():
            memory.save(NewMemory(key=key, content=text, type="fact"))
        assert find_clusters(memory, [""]) == []

    embedder = Meaning(dims=2)
    sandbox.provider = FakeProvider(embedder)  # type: ignore[assignment]
    with sandbox.memory() as memory:
        LeadingMemory(memory).embed_pending(should_stop=lambda: False)
        asked = [*embedder.documents, *embedder.queries]
        [cluster] = find_clusters(memory, [""])

        assert {each.key for each in cluster} == {"wheels", "tyres"}
        assert [*embedder.documents, *embedder.queries] == asked
