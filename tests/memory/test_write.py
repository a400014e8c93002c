"""Where an entry may be written, and what the answer says."""

from __future__ import annotations

from pathlib import Path

import apsw
import pytest

from hivemind_memory.access.rules import Caller
from hivemind_memory.errors import NotePathError, NotSavedError
from hivemind_memory.memory.memory import Memory
from hivemind_memory.model.curation import NewMemory
from tests.support.sandbox import Sandbox, ask, paths

AGENT = Caller(project="projects/shop")
SECRET = "ghp_LEjCfMBeBbCCb4DHj8ga9B5KEDK4FgjMfCBG"


@pytest.mark.parametrize(
    "file", ["superseded/k.md", "projects/shop/superseded/k.md", "Superseded/k.md"]
)
def test_an_agent_writes_nothing_among_replaced_versions(
    sandbox: Sandbox, memory: Memory, file: str
) -> None:
    """There it would count as an earlier version of a memory."""
    refused = pytest.raises(NotSavedError, match="Replaced versions are kept there")
    with memory.as_caller(AGENT) as agent, refused:
        agent.write("Never deploy.", file=file)
    with pytest.raises(NotSavedError):
        memory.write("An agent in a shell.", file=file, source="agent")

    assert list(sandbox.notes.rglob("k.md")) == []
    assert memory.write("By hand.", file="superseded/k.md", source="human").path


@pytest.mark.parametrize("file", ["inbox/k.md", "projects/shop/inbox/k.md"])
def test_what_an_agent_writes_to_an_inbox_is_pending(memory: Memory, file: str) -> None:
    """And the answer says so."""
    with memory.as_caller(AGENT) as agent:
        written = agent.write("The kettle is blue.", file=file)

        [said] = written.warnings
        assert said.startswith(f"it waits in {file} for a person to accept it")
        assert "`hm inbox`" in said
        assert paths(ask(agent, "kettle")) == []


def test_a_claim_from_outside_is_pending_too(memory: Memory) -> None:
    """Without a file it goes to the inbox of its scope."""
    with memory.as_caller(AGENT) as agent:
        written = agent.write("The kettle is blue.", source="external")

    assert written.path.startswith("projects/shop/inbox/")
    assert "it waits in" in written.warnings[0]


@pytest.mark.parametrize("folder", ["", "sub/", "projects/shop/"])
def test_no_new_note_is_named_after_a_secret(
    sandbox: Sandbox, memory: Memory, folder: str
) -> None:
    """Names are shown unmasked; one that is there already stays writable."""
    name = f"{folder}{SECRET}.md"
    sentence = r"The file name looks like a secret \(github-pat\)\. Nothing was saved\."
    for source in ("human", "agent"):
        with pytest.raises(NotePathError, match=sentence) as refused:
            memory.write("hi", file=name, source=source)
        assert SECRET not in f"{refused.value}{refused.value.hint}"
    with memory.as_caller(AGENT) as agent, pytest.raises(NotePathError, match=sentence):
        agent.write("hi", file=f"{SECRET}.md")
    assert list(sandbox.notes.rglob("*ghp_*")) == []

    (sandbox.notes / folder).mkdir(parents=True, exist_ok=True)
    (sandbox.notes / name).write_text("mine\n")
    assert memory.write("hi", file=name, source="human").path == name


def test_appending_never_makes_a_note_too_large_to_be_searched(
    sandbox: Sandbox, memory: Memory
) -> None:
    """All that it held vanished from every search, and each later entry with it."""
    memory.write("We deploy on Tuesdays.", file="deploy.md", scope="global")
    memory.folder.max_note_bytes = 50_000
    before = (sandbox.notes / "deploy.md").read_bytes()

    with pytest.raises(NotSavedError, match=r"no search .* Nothing was saved"):
        memory.write("kiwi " * 9_000, file="deploy.md", scope="global")

    assert (sandbox.notes / "deploy.md").read_bytes() == before
    assert paths(ask(memory, "tuesdays")) == ["deploy.md"]
    assert memory.write("Short.", file="deploy.md", scope="global").is_indexed


def test_nothing_is_saved_while_it_cannot_be_checked_what_was_purged(
    sandbox: Sandbox, memory: Memory
) -> None:
    """A purged text was saved again, with a warning; a person may insist."""
    memory.write("We deploy on Tuesdays.", scope="global")
    memory.state().add_tombstones(["kiwi"])
    state = apsw.Connection(sandbox.places.state_file)
    state.pragma("user_version", 99)
    state.close()
    memory.state().close()

    refused = r"purged before: .* newer version"
    with pytest.raises(NotSavedError, match=refused):
        memory.write("kiwi", scope="global")
    with pytest.raises(NotSavedError, match=refused):
        memory.save(NewMemory(key="k", content="kiwi"))
    assert paths(ask(memory, "kiwi")) == []

    done = memory.write("kiwi", scope="global", source="human", is_forced=True)
    assert "still listed as purged" in done.warnings[0]


def test_a_write_says_that_the_list_of_purged_texts_is_lost(
    sandbox: Sandbox, memory: Memory
) -> None:
    """Without a word, what was purged could be saved again."""
    memory.state().add_tombstones(["kiwi"])
    memory.state().close()
    for suffix in ("-wal", "-shm"):
        Path(sandbox.places.state_file + suffix).unlink(missing_ok=True)
    Path(sandbox.places.state_file).write_bytes(b"noise" * 5_000)

    done = memory.write("plum", scope="global")

    assert "not known what was purged before" in done.warnings[0]
