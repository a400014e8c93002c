"""A purge that could not finish, and what lies behind followed links.

The text is there until it is gone: each receipt says so, however often it is repeated.
"""

from __future__ import annotations

from pathlib import Path
from unittest import mock

import pytest

from hivemind_memory.curation import purge_notes
from hivemind_memory.errors import MemoryNotFoundError, NotePathError, NotSavedError
from hivemind_memory.model.curation import PurgeResult
from hivemind_memory.notes.memory_file import remove_note
from tests.support.purge_rig import Bench
from tests.support.sandbox import Sandbox

SECRET = "Zanzibarquux wombatopolis keeps flimmerkeks in vault xylophonist."
OTHER = "A quokka sleeps under the old jetty."


@pytest.fixture
def team(tmp_path: Path) -> Path:
    """A folder of notes elsewhere."""
    folder = tmp_path.resolve() / "elsewhere"
    folder.mkdir()
    return folder


@pytest.fixture
def bench(tmp_path: Path, team: Path) -> Bench:
    """A home with a link to that folder, listed by a person."""
    flags = {"followed_links": {"team": str(team)}}
    sandbox = Sandbox(tmp_path / "home", flags=flags)
    (sandbox.notes / "team").symlink_to(team)
    return Bench(sandbox, sandbox.memory())


def memory_text(key: str, text: str) -> str:
    """Return a memory as a person writes it."""
    return f"---\ntype: fact\nkey: {key}\n---\n\n{text}\n"


def locked(*names: str) -> mock._patch[mock.MagicMock]:
    """Let the disk refuse to remove some notes."""

    def refuse(folder: object, path: str, **more: object) -> None:
        if path in names:
            raise NotSavedError("the disk refused.", effect=f"{path} was not removed")
        remove_note(folder, path, **more)  # type: ignore[arg-type]

    return mock.patch.object(purge_notes, "remove_note", side_effect=refuse)


def count(receipt: PurgeResult, name: str) -> int:
    """Return what a receipt counts in a place."""
    [found] = [one.count for one in receipt.places if one.name == name]
    return found


def test_a_repeated_purge_says_what_is_left_until_it_is_gone(bench: Bench) -> None:
    """Its key is gone by then, and the copy is found by the plan."""
    bench.save("secretk", SECRET)
    bench.sandbox.save("copyk.md", memory_text("copyk", SECRET))

    with locked("copyk.md"):
        for _ in range(3):
            receipt = bench.purge("secretk")
            assert [one.what for one in receipt.left] == ["copyk.md"]
            assert not receipt.is_complete
            assert "copyk.md" not in [one.path for one in receipt.memories]
            assert bench.found("zanzibarquux") == ["copyk.md"]
    last = bench.purge("secretk")

    assert last.is_complete
    assert [one.path for one in last.memories] == ["copyk.md"]
    assert bench.found("zanzibarquux") == []
    with pytest.raises(MemoryNotFoundError):
        bench.purge("secretk")


def test_a_repeated_purge_removes_an_entry_that_stayed(bench: Bench) -> None:
    """An entry is found again by its id, the memory that named it is gone."""
    bench.memory.write(SECRET, file="n.md")
    bench.memory.write(OTHER, file="n.md")
    bench.save("secretk", SECRET)
    stuck = mock.patch.object(
        purge_notes, "change_entries", side_effect=NotSavedError("the disk refused.")
    )

    with stuck:
        assert not bench.purge("secretk").is_complete
        assert not bench.purge("secretk").is_complete
        assert bench.found("zanzibarquux") == ["n.md"]
    receipt = bench.purge("secretk")

    assert receipt.is_complete
    assert SECRET not in bench.read("n.md")
    assert OTHER in bench.read("n.md")


def test_a_receipt_does_not_list_what_the_disk_kept(bench: Bench) -> None:
    """Neither among what was purged nor in its counts."""
    bench.memory.write(SECRET, file="n.md")
    bench.save("secretk", SECRET)
    stuck = mock.patch.object(
        purge_notes, "change_entries", side_effect=NotSavedError("the disk refused.")
    )

    with stuck:
        receipt = bench.purge("secretk")

    assert [one.what for one in receipt.left] == ["n.md", "journal"]
    assert [one.path for one in receipt.memories] == ["secretk.md"]
    assert count(receipt, "entries in notes") == 0


@pytest.mark.parametrize("is_dry_run", [True, False])
def test_pending_claims_are_all_that_wait_in_an_inbox(
    bench: Bench, is_dry_run: bool
) -> None:
    """Named, selected or copied; only those of a purged key were counted."""
    bench.save("port", "The port is 5433.")
    bench.save("claim", SECRET, source="external", session="5e55")
    bench.save("copy", SECRET, source="external")
    bench.memory.write("A seal was seen.", source="external", session="5e55")
    bench.memory.write("An otter was seen.", source="agent", session="5e55")

    receipt = bench.purge(session="5e55", is_dry_run=is_dry_run)

    assert count(receipt, "pending claims") == 3
    assert count(receipt, "earlier versions") == 0


def test_a_claim_that_a_person_has_forgotten_does_not_wait(bench: Bench) -> None:
    """It is in the inbox, and nobody is asked about it any more."""
    bench.save("claim", SECRET, source="external")
    [claim] = bench.there()
    bench.forget(claim)

    receipt = bench.purge(claim)

    assert count(receipt, "typed memories") == 1
    assert count(receipt, "pending claims") == 0


def test_an_earlier_version_is_counted_however_it_is_named(bench: Bench) -> None:
    """Its own path named it, and the receipt said that there was none."""
    bench.save("port", SECRET)
    bench.save("port", OTHER, reason="it moved")
    [older] = [one for one in bench.there() if one.startswith("superseded/")]

    receipt = bench.purge(older)

    assert count(receipt, "earlier versions") == 1
    assert bench.there() == ["port.md"]


def test_a_repeated_purge_leaves_what_was_written_since(bench: Bench) -> None:
    """A note at the same path, with other text, is another note."""
    bench.save("secretk", SECRET)
    bench.sandbox.save("copyk.md", memory_text("copyk", SECRET))
    with locked("copyk.md"):
        bench.purge("secretk")
    bench.sandbox.save("copyk.md", memory_text("copyk", OTHER))

    assert bench.purge("secretk").is_complete
    assert OTHER in bench.read("copyk.md")


def test_a_repeated_purge_names_a_note_that_holds_more_since(bench: Bench) -> None:
    """What a person added is not removed unasked, and the text is not passed over."""
    bench.save("secretk", SECRET)
    bench.sandbox.save("copyk.md", memory_text("copyk", SECRET))
    with locked("copyk.md"):
        bench.purge("secretk")
    bench.sandbox.save("copyk.md", memory_text("copyk", f"# A\n{SECRET}\n# B\n{OTHER}"))

    for _ in range(2):
        [left] = bench.purge("secretk").left
        assert left.what == "copyk.md"
        assert "purge it by its path" in left.why
    assert OTHER in bench.read("copyk.md")


def test_a_copy_behind_a_link_is_named_as_not_erased_each_time(
    bench: Bench, team: Path
) -> None:
    """Nothing is written there, so no purge can finish it."""
    bench.save("secretk", SECRET)
    bench.sandbox.save("copyk.md", memory_text("copyk", SECRET))
    (team / "far.md").write_text(memory_text("far", SECRET))

    with locked("copyk.md"):
        first = bench.purge("secretk")
        second = bench.purge("secretk")
    third = bench.purge("secretk")

    for receipt in (first, second, third):
        far = [one for one in receipt.out_of_reach if one.what == "team/far.md"]
        assert len(far) == 1
        assert "behind the link team" in far[0].why
        assert str(team / "far.md") in far[0].why
    assert [one.what for one in first.left] == ["copyk.md"]
    assert [one.what for one in second.left] == ["copyk.md"]
    assert third.is_complete
    assert SECRET in (team / "far.md").read_text()


@pytest.mark.parametrize("name", ["far", "team/far.md"])
def test_a_memory_behind_a_link_is_refused_before_a_tombstone(
    bench: Bench, team: Path, name: str
) -> None:
    """Its text could not be saved again, and would still be found."""
    (team / "far.md").write_text(memory_text("far", SECRET))

    for is_dry_run in (True, False):
        with pytest.raises(NotePathError, match="Nothing was purged") as caught:
            bench.purge(name, is_dry_run=is_dry_run)
        assert "behind the link team" in str(caught.value)
        assert not bench.state.has_tombstone(SECRET)


def test_a_purge_of_a_scope_leaves_out_what_lies_behind_links(
    bench: Bench, team: Path
) -> None:
    """The dry run promises what the purge keeps."""
    (bench.sandbox.notes / "team").unlink()
    bench.save("near", SECRET, scope="projects/shop")
    (bench.sandbox.notes / "projects" / "shop" / "docs").symlink_to(team)
    (team / "far.md").write_text(memory_text("far", OTHER))
    links = {"projects/shop/docs": str(team)}
    with bench.sandbox.memory(followed_links=links) as memory:
        shop = Bench(bench.sandbox, memory)
        for is_dry_run in (True, False):
            receipt = shop.purge(scope="projects/shop", is_dry_run=is_dry_run)
            assert [one.key for one in receipt.memories] == ["near"]
            assert receipt.left == ()
            away = [one.what for one in receipt.out_of_reach]
            assert "projects/shop/docs/far.md" in away
    assert not bench.state.has_tombstone(OTHER)


def test_a_reference_behind_a_link_does_not_keep_a_purge_from_its_end(
    bench: Bench, team: Path
) -> None:
    """It is named with the file that a person may change."""
    bench.save("near", SECRET)
    (team / "far.md").write_text(
        f"---\ntype: fact\nkey: far\nrelated: near\n---\n\n{OTHER}\n"
    )

    receipt = bench.purge("near")

    assert receipt.is_complete
    [far] = [one for one in receipt.out_of_reach if one.what == "team/far.md"]
    assert "refers to it" in far.why
