"""New rules for secrets: what shows one memory does not wait for all the others."""

from __future__ import annotations

import pytest

from hivemind_memory.memory import sync
from hivemind_memory.model.curation import NewMemory
from hivemind_memory.redaction import redact
from tests.memory import test_outdated as outdated
from tests.support.sandbox import Sandbox

sandbox = outdated.sandbox


def test_history_and_show_do_not_wait_until_all_notes_are_read_again(
    sandbox: Sandbox,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """They read the notes of one memory, and mask the keys that other rules indexed."""
    token = outdated.TOKEN
    sandbox.save("t.md", f"---\ntype: decision\nkey: {token}\n---\n\nWords.\n")
    with sandbox.memory() as memory, monkeypatch.context() as patch:
        patch.setattr(redact, "mask", lambda text: text)
        memory.sync()
        memory.save(NewMemory(key="lion", content="It roars.", type="decision"))
        memory.curation.link("lion", "t.md", "related_to")
        memory.sync()
    monkeypatch.setattr(sync, "REDACTION_VERSION", "secrets of next week")

    with sandbox.memory() as memory, outdated.reading_at_rest(monkeypatch):
        shown = memory.curation.show("lion")
        versions = memory.curation.history("lion")
        other = memory.curation.history("t.md")
        assert not outdated.is_done(memory)

    assert [edge.path for edge in shown.edges] == ["t.md"]
    assert [version.path for version in versions.memories] == ["lion.md"]
    assert token not in repr((shown.edges, versions, other.key))
