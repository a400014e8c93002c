"""A proposed link is about the texts that the model read, and is made once."""

from __future__ import annotations

from pathlib import Path

import pytest

from hivemind_memory.curation import link_proposals
from hivemind_memory.curation.inbox import AcceptedClaim
from hivemind_memory.errors import ProposalOutdatedError
from hivemind_memory.model.curation import StoredMemory
from hivemind_memory.state.model_links import ModelLinks
from tests.support.model_home import NEW, OLD, ModelHome
from tests.support.sandbox import Sandbox


@pytest.fixture
def home(tmp_path: Path) -> ModelHome:
    made = ModelHome(Sandbox(tmp_path))
    made.save("deploy-day", OLD)
    made.run()
    made.save("deploy-time", NEW)
    made.reply_with("updates")
    made.run()
    return made


def proposed(home: ModelHome) -> StoredMemory:
    """Return the only proposal, as the inbox lists it."""
    [claim] = home.with_memory(lambda memory: memory.curation.pending())
    return claim


def add_line(home: ModelHome, key: str) -> None:
    """Change a memory by hand, at its end."""
    note = home.sandbox.notes / f"{key}.md"
    note.write_text(f"{note.read_text()}\nOnly after lunch.\n")


def accept(home: ModelHome, ref: str) -> AcceptedClaim:
    """Accept a proposal."""
    return home.with_memory(lambda memory: memory.curation.accept(ref))


@pytest.mark.parametrize("key", ["deploy-day", "deploy-time"])
def test_a_proposal_is_not_accepted_once_one_of_its_memories_was_edited(
    home: ModelHome, key: str
) -> None:
    """The new line of the older memory was hidden, and no one had compared it."""
    claim = proposed(home)
    add_line(home, key)

    with pytest.raises(ProposalOutdatedError) as refused:
        accept(home, claim.id)

    said = f"Since this link was proposed, {key} was edited. Nothing was linked."
    assert str(refused.value) == said
    command = "hm link --kind updates deploy-time.md deploy-day.md"
    assert f"`{command}`" in refused.value.hint
    assert home.edges("deploy-time") == []
    word = "older" if key == "deploy-day" else "newer"
    assert f"\n{word}, edited since this was proposed: We" in proposed(home).text


def test_a_link_made_by_hand_is_proposed_no_more(home: ModelHome) -> None:
    add_line(home, "deploy-day")
    ends = ("deploy-time.md", "deploy-day.md", "updates")

    home.with_memory(lambda memory: memory.curation.link(*ends))

    assert home.with_memory(lambda memory: memory.curation.pending()) == ()
    state = home.with_memory(lambda memory: ModelLinks(memory.state()).proposals())
    assert state == []


def test_a_proposal_without_hashes_is_accepted_as_it_was(home: ModelHome) -> None:
    """An older version of the program kept none."""
    claim = proposed(home)
    with home.sandbox.memory() as memory:
        sql = "UPDATE link_proposals SET from_hash = x'', to_hash = x''"
        memory.state().run(lambda c: c.execute(sql), 1_000)
    add_line(home, "deploy-day")

    accept(home, claim.id)

    assert home.edges("deploy-time") == [("updates", "deploy-day", "")]


def test_of_several_who_accept_a_link_at_once_only_the_first_is_told_that_it_is_new(
    home: ModelHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All of them were told "linked"."""
    claim = proposed(home)
    waiting, done = [1, 2], []
    link = link_proposals.link

    def link_after_another(*ends: object, **more: object) -> object:
        if waiting:
            waiting.pop()
            done.append(accept(home, claim.id).is_new)
        return link(*ends, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(link_proposals, "link", link_after_another)
    done.append(accept(home, claim.id).is_new)

    assert done == [True, False, False]
    assert home.edges("deploy-time") == [("updates", "deploy-day", "")]


def test_a_link_that_is_there_already_keeps_its_weight(home: ModelHome) -> None:
    """Made by hand in the note, so that the proposal still waits."""
    claim = proposed(home)
    note = home.sandbox.notes / "deploy-time.md"
    edge = "type: fact\nsupersedes: deploy-day.md"
    note.write_text(note.read_text().replace("type: fact", edge, 1))
    before = note.read_text()

    accepted = accept(home, claim.id)

    assert not accepted.is_new
    assert note.read_text() == before
