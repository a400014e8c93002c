"""What a change has looked up counts as it is once its lock is held.

Another process may change it after it was read, and before the lock is taken.
"""

from __future__ import annotations

from typing import Any

import pytest

from hivemind_memory.curation import inbox
from hivemind_memory.curation.context import CurationContext
from hivemind_memory.errors import ForgottenError, HivemindError, UsageError
from hivemind_memory.memory.memory import Memory
from hivemind_memory.model.curation import MemorySelector, NewMemory
from hivemind_memory.model.memories import ACTIVE
from hivemind_memory.notes.journal import Journal
from tests.support.before_lock import Meanwhile
from tests.support.sandbox import Sandbox, ask, paths

CLAIM = "We deploy on Fridays."
NEWER = "We deploy on Mondays."


@pytest.fixture
def meanwhile(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> Meanwhile:
    return Meanwhile(sandbox, monkeypatch)


def save(memory: Memory, key: str, content: str, **more: Any) -> str:
    """Save a memory; return its id."""
    return memory.save(NewMemory(key=key, content=content, **more)).id


def text_of(memory: Memory, key: str) -> tuple[str, str]:
    """Return what is active under a key, and whether it is."""
    found = memory.curation.show(key).memory
    return found.text, found.status


def test_what_was_replaced_meanwhile_is_not_done_in_its_place(
    memory: Memory, meanwhile: Meanwhile
) -> None:
    """The new todo had the file of the old one, and nobody was told of it any more."""
    old = save(memory, "renew", "Renew the certificates.", type="todo")
    newer = "Renew the domains."
    meanwhile(
        CurationContext,
        "key_lock",
        lambda other: save(other, "renew", newer, reason="new"),
    )

    with pytest.raises(UsageError, match="is superseded"):
        memory.curation.mark_done(old)

    assert text_of(memory, "renew") == (newer, "active")


def test_a_done_by_key_is_of_the_newest_version_and_can_be_undone(
    memory: Memory, meanwhile: Meanwhile
) -> None:
    """It was recorded for the version before, so an undo changed nothing."""
    save(memory, "renew", "Renew the certificates.", type="todo")
    newer = "Renew the domains."
    meanwhile(
        CurationContext,
        "key_lock",
        lambda other: save(other, "renew", newer, reason="new"),
    )

    memory.curation.mark_done("renew")
    assert text_of(memory, "renew") == (newer, "done")

    memory.curation.undo("")
    assert text_of(memory, "renew") == (newer, "active")


def test_what_was_forgotten_meanwhile_is_not_done(
    memory: Memory, meanwhile: Meanwhile
) -> None:
    """It was marked all the same, and the answer said nothing of it."""
    save(memory, "renew", "Renew the certificates.", type="todo")
    meanwhile(
        CurationContext,
        "key_lock",
        lambda other: other.curation.forget(MemorySelector(name="renew")),
    )

    with pytest.raises(ForgottenError):
        memory.curation.mark_done("renew")


def test_an_undone_accept_does_not_hide_what_was_saved_meanwhile(
    memory: Memory, meanwhile: Meanwhile
) -> None:
    """The new memory has the file of the claim, and was put into the inbox for it."""
    claim = save(memory, "deploy", CLAIM, source="external")
    memory.curation.accept(claim)
    meanwhile(
        CurationContext,
        "key_lock",
        lambda other: save(other, "deploy", NEWER, reason="new"),
    )

    with pytest.raises(HivemindError, match="was replaced since"):
        memory.curation.undo("")

    assert text_of(memory, "deploy") == (NEWER, "active")
    assert [r.path for r in memory.memories() if r.status == ACTIVE] == ["deploy.md"]


def test_a_claim_that_was_rejected_meanwhile_stays_in_the_inbox(
    memory: Memory, sandbox: Sandbox, meanwhile: Meanwhile
) -> None:
    """It was moved out of it, forgotten, and the answer said that it was accepted."""
    claim = save(memory, "deploy", CLAIM, source="external")
    meanwhile(CurationContext, "key_lock", lambda other: other.curation.reject(claim))

    with pytest.raises(HivemindError, match="in the inbox"):
        memory.curation.accept(claim)

    assert [file.parent.name for file in sandbox.notes.rglob("*.md")] == ["inbox"]


def test_a_claim_is_not_accepted_for_another_of_its_key(
    memory: Memory, meanwhile: Meanwhile
) -> None:
    """A person has read the first one."""
    claim = save(memory, "deploy", CLAIM, source="external")

    def propose_another(other: Memory) -> None:
        other.curation.reject(claim)
        save(other, "deploy", NEWER, source="external")

    meanwhile(CurationContext, "key_lock", propose_another)

    with pytest.raises(HivemindError, match="in the inbox"):
        memory.curation.accept("deploy")

    assert [one.text for one in memory.curation.pending()] == [NEWER]


def test_a_claim_that_is_edited_while_it_is_read_is_not_accepted(
    memory: Memory, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One text was compared with the active memory, and another one was stored."""
    save(memory, "deploy", CLAIM, source="external")
    [claim] = (sandbox.notes / "inbox").glob("*.md")
    read = inbox.read_memory_file

    def late(*given: Any) -> Any:
        claim.write_text(claim.read_text().replace("Fridays", "Sundays"))
        return read(*given)

    monkeypatch.setattr(inbox, "read_memory_file", late)

    with pytest.raises(HivemindError, match="was changed just now"):
        memory.curation.accept("deploy")

    assert "Sundays" in claim.read_text()
    assert [row.path for row in memory.memories() if row.status == ACTIVE] == []


@pytest.mark.parametrize("how", ["forget", "purge"])
def test_an_entry_that_was_removed_meanwhile_is_not_accepted(
    memory: Memory, sandbox: Sandbox, meanwhile: Meanwhile, how: str
) -> None:
    """It came back as it had been read, after a complete receipt even."""
    entry = memory.write("The zebra came.", source="external").id
    memory.write("The okapi left.", source="external")

    def remove(other: Memory) -> None:
        selector = MemorySelector(name=entry)
        if how == "forget":
            other.curation.forget(selector)
        else:
            assert other.curation.purge(selector).left == ()

    meanwhile(Journal, "session", remove)

    with pytest.raises(HivemindError, match="has changed since"):
        memory.curation.accept(entry)

    assert paths(ask(memory, "zebra")) == []
    written = "".join(file.read_text() for file in sandbox.notes.rglob("*.md"))
    assert ("zebra" in written) == (how == "forget")


def test_an_entry_is_accepted_as_it_was_edited_meanwhile(
    memory: Memory, sandbox: Sandbox, meanwhile: Meanwhile
) -> None:
    """What a person had put into it was gone."""
    entry = memory.write("The zebra came.", source="external")
    file = sandbox.notes / entry.path

    def edit(_: Memory) -> None:
        file.write_text(file.read_text().replace("came.", "came on Sunday."))

    meanwhile(Journal, "session", edit)

    accepted = memory.curation.accept(entry.id).memory

    assert accepted.text == "The zebra came on Sunday."


def test_an_entry_that_is_edited_while_it_moves_is_not_lost(
    memory: Memory, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is in both notes then, with both texts, and the error says so."""
    from hivemind_memory.notes import writer

    entry = memory.write("The zebra came.", source="external")
    file = sandbox.notes / entry.path
    append = writer.append_entry

    def append_and_edit(*given: Any) -> Any:
        placed = append(*given)
        file.write_text(file.read_text().replace("came.", "came on Sunday."))
        return placed

    monkeypatch.setattr(writer, "append_entry", append_and_edit)

    with pytest.raises(HivemindError, match="has changed since"):
        memory.curation.accept(entry.id)

    assert "The zebra came on Sunday." in file.read_text()
