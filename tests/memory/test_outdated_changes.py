"""New rules for secrets: a change of one memory does not wait for all the others."""

from __future__ import annotations

import pytest

from hivemind_memory.errors import MemoryNotFoundError
from hivemind_memory.memory import sync
from hivemind_memory.model.curation import MemorySelector, NewMemory
from hivemind_memory.redaction import redact
from tests.memory import test_outdated as outdated
from tests.support.sandbox import Sandbox

sandbox = outdated.sandbox
LION = MemorySelector(name="lion")


@pytest.fixture
def upgraded(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> Sandbox:
    """Memories and a claim, one with a secret as its key, before newer rules."""
    text = f"---\ntype: decision\nkey: {outdated.TOKEN}\n---\n\nWords.\n"
    sandbox.save("t.md", text)
    sandbox.save("inbox/claim.md", text.replace("Words", "Claimed"))
    with sandbox.memory() as memory, monkeypatch.context() as patch:
        patch.setattr(redact, "mask", lambda text: text)
        memory.sync()
        for key, content in (("lion", "It roars."), ("lynx", "It purrs.")):
            memory.save(NewMemory(key=key, content=content, type="decision"))
        memory.curation.link("lion", "lynx", "related_to")
        memory.sync()
    monkeypatch.setattr(sync, "REDACTION_VERSION", "secrets of next week")
    return sandbox


def test_link_unlink_forget_undo_and_inbox_do_not_wait_until_all_notes_are_read_again(
    upgraded: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They find one memory in the index, and read and write its note."""
    with upgraded.memory() as memory, outdated.reading_at_rest(monkeypatch):
        curation = memory.curation
        linked = curation.link("lion", "lynx", "contradicts")
        unlinked = curation.unlink("lion", "lynx", "related_to")
        relinked = curation.undo("")
        forgotten = curation.forget(LION)
        restored = curation.undo("")
        again = curation.forget(LION)
        shown = curation.restore(LION)
        secret = curation.forget(MemorySelector(name="t.md"))
        accepted = curation.accept("inbox/claim.md")
        pending = curation.undo("")
        rejected = curation.reject(pending.pending[0].path)
        assert not outdated.is_done(memory)

    assert linked.is_changed
    assert unlinked.is_changed
    assert relinked.link == "lion.md"
    assert restored.restored == shown.memories
    for done in (forgotten, again, secret, rejected):
        assert len(done.memories) == 1
    assert accepted.text == "Claimed."
    assert len(pending.pending) == 1
    assert outdated.TOKEN not in repr((secret, rejected))


def test_an_error_names_no_key_that_other_rules_indexed(
    upgraded: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is offered what the name may have been meant to be, from the index."""
    with upgraded.memory() as memory, outdated.reading_at_rest(monkeypatch):
        with pytest.raises(MemoryNotFoundError) as refused:
            memory.curation.forget(MemorySelector(name=outdated.TOKEN[:-1]))
        assert not outdated.is_done(memory)

    assert outdated.TOKEN not in str(refused.value)
