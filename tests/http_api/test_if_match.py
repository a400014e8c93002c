"""``If-Match`` counts until the memory is forgotten, not only when it is looked at."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from hivemind_memory.access.rules import Caller
from hivemind_memory.curation.context import CurationContext
from hivemind_memory.curation.curation import Curation
from hivemind_memory.errors import HivemindError
from hivemind_memory.http_api.event_feed import EventFeed
from hivemind_memory.http_api.failures import Failure
from hivemind_memory.http_api.memories import (
    ChangeFields,
    SaveFields,
    change_memory,
    forget_memory,
    read_memory,
    save_memory,
)
from hivemind_memory.http_api.routes import Call
from hivemind_memory.memory.memory import Memory
from hivemind_memory.model.curation import MemoryDetails, MemorySelector, NewMemory
from hivemind_memory.notes.journal import Journal
from tests.support.before_lock import Meanwhile
from tests.support.sandbox import Sandbox

TOKEN = "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"
OLD = "We deploy on Tuesdays."
NEW = "We deploy on Mondays."


@pytest.fixture
def sandbox(tmp_path: Path) -> Sandbox:
    return Sandbox(tmp_path / "home")


@pytest.fixture
def memory(sandbox: Sandbox) -> Iterator[Memory]:
    with sandbox.memory() as opened:
        yield opened


@pytest.fixture
def meanwhile(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> Meanwhile:
    return Meanwhile(sandbox, monkeypatch)


def save(memory: Memory, content: str, **more: Any) -> str:
    """Save a memory; return its id."""
    return memory.save(NewMemory(key="deploy", content=content, **more)).id


def call_of(memory: Memory, name: str, version: str = "") -> Call:
    """Return a request about a memory, with ``If-Match`` if a version is given."""
    return Call(
        memory=memory,
        by="",
        session="",
        path={"id": name},
        headers={"if-match": version} if version else {},
        feed=EventFeed.__new__(EventFeed),  # no route here reads it
    )


def etag_of(memory: Memory, name: str) -> str:
    """Return the version that a client reads."""
    call = call_of(memory, name)
    read_memory(call)
    return call.reply_headers["etag"]


def edit(sandbox: Sandbox) -> Callable[[Memory], object]:
    """Return what changes the text of the note in an editor; its id stays."""

    def act(_: Memory) -> None:
        note = sandbox.notes / "deploy.md"
        note.write_text(note.read_text().replace(OLD, NEW))

    return act


def replace(other: Memory) -> None:
    save(other, NEW, reason="a new rota")


def forget_and_save(other: Memory) -> None:
    other.curation.forget(MemorySelector(name="deploy"))
    save(other, NEW)


@pytest.mark.parametrize("name", ["key", "id"])
@pytest.mark.parametrize("how", ["edit", "replace", "save again"])
def test_a_version_that_was_changed_meanwhile_is_not_forgotten(
    memory: Memory, sandbox: Sandbox, meanwhile: Meanwhile, how: str, name: str
) -> None:
    """It was hidden, though nobody had read it."""
    known = {"key": "deploy", "id": save(memory, OLD)}
    version = etag_of(memory, "deploy")
    act = {"edit": edit(sandbox), "replace": replace, "save again": forget_and_save}
    meanwhile(CurationContext, "key_lock", act[how])

    call = call_of(memory, known[name], version)
    if how == "save again":  # someone else has forgotten that version
        assert not forget_memory(call).deleted
    else:
        with pytest.raises(Failure) as caught:
            forget_memory(call)
        assert caught.value.status == 412
        assert caught.value.more["expected"] == version
        assert caught.value.more["current"] != version

    shown = memory.curation.show("deploy").memory
    assert (shown.text, shown.status) == (NEW, "active")


def test_the_older_versions_stay_if_the_active_one_was_changed(
    memory: Memory, sandbox: Sandbox, meanwhile: Meanwhile
) -> None:
    """A key means all of them; they were hidden before it was looked at."""
    save(memory, "We never deploy.")
    save(memory, OLD, reason="we do")
    version = etag_of(memory, "deploy")
    meanwhile(CurationContext, "key_lock", edit(sandbox))

    with pytest.raises(Failure):
        forget_memory(call_of(memory, "deploy", version))

    chain = memory.curation.history("deploy").memories
    assert [each.text for each in chain] == [NEW, "We never deploy."]


def test_an_entry_that_was_edited_meanwhile_is_not_forgotten(
    memory: Memory, sandbox: Sandbox, meanwhile: Meanwhile
) -> None:
    entry = memory.write(OLD, file="deploy.md").id
    version = etag_of(memory, entry)
    meanwhile(Journal, "session", edit(sandbox))

    with pytest.raises(Failure) as caught:
        forget_memory(call_of(memory, entry, version))

    assert caught.value.status == 412
    assert memory.curation.show(entry).memory.text == NEW


@pytest.mark.parametrize("version", ["*", "read"])
def test_what_nobody_changed_is_forgotten(memory: Memory, version: str) -> None:
    save(memory, "We never deploy.")
    save(memory, OLD, reason="we do")
    if version == "read":
        version = etag_of(memory, "deploy")

    assert forget_memory(call_of(memory, "deploy", version)).deleted
    assert not forget_memory(call_of(memory, "deploy", version)).deleted


def test_a_caller_that_sees_no_secrets_may_change_a_memory_with_one(
    memory: Memory, sandbox: Sandbox
) -> None:
    """What it has read is masked, and was taken for an older version."""
    save(memory, OLD)
    note = sandbox.notes / "deploy.md"
    note.write_text(f"{note.read_text()}\nThe token is {TOKEN}.\n")
    agent = memory.as_caller(Caller(is_agent=True))
    call = call_of(agent, "deploy", etag_of(agent, "deploy"))

    changed = change_memory(call, ChangeFields(supersede_reason="new", content=NEW))

    assert changed.content == NEW


def test_a_change_of_something_else_keeps_a_secret_that_the_caller_does_not_see(
    memory: Memory, sandbox: Sandbox
) -> None:
    """Its text was written back as it was read: masked."""
    save(memory, OLD)
    note = sandbox.notes / "deploy.md"
    note.write_text(f"{note.read_text()}\nThe token is {TOKEN}.\n")
    agent = memory.as_caller(Caller(is_agent=True))
    call = call_of(agent, "deploy", etag_of(agent, "deploy"))

    changed = change_memory(call, ChangeFields(supersede_reason="new", importance=0.9))

    assert TOKEN in note.read_text()
    assert "importance: 0.9" in note.read_text()
    assert TOKEN not in changed.content
    assert agent.curation.undo("").forgotten


def remove_all(sandbox: Sandbox) -> None:
    """Remove the notes, as another program does."""
    for note in sandbox.notes.rglob("*.md"):
        note.unlink()


def refuse_to_list(sandbox: Sandbox) -> None:
    """Have no descriptor left."""
    raise HivemindError("The notes folder cannot be listed.")


@pytest.mark.parametrize(
    ("happens", "status"), [(remove_all, 409), (refuse_to_list, 503)]
)
def test_a_memory_that_cannot_be_read_back_is_said_to_be_saved(
    sandbox: Sandbox,
    memory: Memory,
    monkeypatch: pytest.MonkeyPatch,
    happens: Callable[[Sandbox], None],
    status: int,
) -> None:
    """The answer was an unexpected error, and a client would save it again."""
    real = Curation.show

    def show(self: Curation, *words: Any, **more: Any) -> MemoryDetails:
        happens(sandbox)
        return real(self, *words, **more)

    monkeypatch.setattr(Curation, "show", show)
    call = call_of(memory, "")
    del call.path["id"]

    with pytest.raises(Failure, match="was saved") as caught:
        save_memory(call, SaveFields(key="deploy", content=OLD))

    assert caught.value.status == status
