"""Chains are told as far as they go, and nobody hears of what is not theirs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from hivemind_memory.access.rules import Caller
from hivemind_memory.curation import history as history_module
from hivemind_memory.curation.history import history, show
from hivemind_memory.curation.links import link
from hivemind_memory.errors import MemoryNotFoundError
from hivemind_memory.model.curation import History, MemorySelector, RecallCounts
from hivemind_memory.state.recall_log import RecallLog
from tests.support.sandbox import Sandbox
from tests.support.typed_memory import Shelf


@pytest.fixture(params=[True, False], ids=["files", "index"])
def shelf(tmp_path: Path, request: pytest.FixtureRequest) -> Shelf:
    """A home without a memory; the files answer, and then the index."""
    return Shelf(tmp_path / "home", is_scanned=request.param)


def texts(told: History) -> list[str]:
    return [one.text for one in told.memories]


def three(shelf: Shelf) -> list[str]:
    """Save a memory and replace it twice; return the ids, oldest first."""
    return [
        shelf.save("k", "one").id,
        shelf.save("k", "two", "first reason").id,
        shelf.save("k", "three", "second reason").id,
    ]


def test_a_history_tells_newest_to_oldest_with_reasons(shelf: Shelf) -> None:
    """By its key, and by the id of each of its memories."""
    ids = three(shelf)

    for ref in ("k", *ids, "k.md", f"superseded/k--{ids[0]}.md"):
        told = history(shelf.context(), ref)
        assert texts(told) == ["three", "two", "one"]
        assert [one.reason for one in told.memories] == [
            *("second reason", "first reason", "")
        ]
        assert [one.status for one in told.memories] == [
            *("active", "superseded", "superseded")
        ]
        assert (told.missing, told.is_cut, told.key) == ((), False, "k")


def test_files_that_a_person_renamed_and_edited_are_still_in_the_chain(
    shelf: Shelf,
) -> None:
    """Ids join them, not names."""
    ids = three(shelf)
    middle = shelf.notes / f"superseded/k--{ids[1]}.md"
    text = middle.read_text().replace("key: k\n", "key: another\n")
    middle.unlink()
    shelf.put("old/what we thought.md", text.replace("two", "two, edited"))

    told = history(shelf.context(), "k")

    assert texts(told) == ["three", "two, edited", "one"]


def test_a_link_that_is_missing_is_named_and_the_rest_is_told(shelf: Shelf) -> None:
    """The key still joins what lies on both sides of the gap."""
    ids = three(shelf)
    (shelf.notes / f"superseded/k--{ids[1]}.md").unlink()

    told = history(shelf.context(), "k")

    assert (texts(told), told.missing) == (["three", "one"], (ids[1],))


def test_a_circle_ends(shelf: Shelf) -> None:
    """A person may write anything into a front matter."""
    for name, older in (("a", "b"), ("b", "c"), ("c", "a")):
        shelf.put(
            f"{name}.md",
            f"---\nid: {name}\ntype: fact\nsupersedes: [{older}, {name}]\n"
            f"superseded_by: {older}\ncreated: 2026-01-01\n---\n{name}\n",
        )

    told = history(shelf.context(), "a")

    assert sorted(texts(told)) == ["a", "b", "c"]


def test_an_endless_chain_is_cut_and_says_so(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is replaced hundreds of times is a counter, and no memory."""
    monkeypatch.setattr(history_module, "MAX_CHAIN", 2)
    three(shelf)

    told = history(shelf.context(), "k")

    assert (len(told.memories), told.is_cut) == (2, True)
    assert told.warning == "older versions are not shown"


@pytest.mark.parametrize("asked", range(6))
def test_of_a_chain_that_is_too_long_the_newest_versions_are_told(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch, asked: int
) -> None:
    """They were left out, the active one with them, and the oldest were told."""
    monkeypatch.setattr(history_module, "MAX_CHAIN", 3)
    words = ("one", "two", "three", "four", "five", "six")
    ids = [shelf.save("k", word, word).id for word in words]

    told = history(shelf.context(), ids[asked])

    by_key = history(shelf.context(), "k")
    assert texts(by_key) == ["six", "five", "four"]
    assert by_key.memories[0].status == "active"
    assert texts(told)[:2] == ["six", "five"]
    assert words[asked] in texts(told)


def test_what_was_forgotten_and_what_waits_is_no_part_of_a_history(
    shelf: Shelf,
) -> None:
    """Forgotten text is shown nowhere, and a claim was never active."""
    three(shelf)
    shelf.save("k", "a claim", source="external")
    [path] = [name for name in shelf.files() if shelf.said(name).text == "two"]
    shelf.put(path, shelf.text(path).replace("---\ntwo", "forgotten: true\n---\ntwo"))

    told = history(shelf.context(), "k")

    assert texts(told) == ["three", "one"]


def test_nothing_of_another_scope_is_told(tmp_path: Path) -> None:
    """Neither by key nor by id, nor along a link."""
    owner = Shelf(tmp_path)
    hidden = owner.save("k", "theirs", scope="teams/blue")
    mine = owner.save("k", "mine", scope="teams/red")
    link(owner.context(), mine.id, hidden.id, "updates")
    shelf = Shelf(tmp_path, caller=Caller(teams=("teams/red",)))

    assert texts(history(shelf.context(), "k")) == ["mine"]
    assert texts(history(owner.context(), mine.id)) == ["mine", "theirs"]
    for ref in (hidden.id, hidden.path, "nothing", "", " ", "\ud800", "k" * 5000):
        for ask in (history, show):
            with pytest.raises(MemoryNotFoundError, match="There is no memory"):
                ask(shelf.context(), ref)
    with pytest.raises(MemoryNotFoundError):
        history(shelf.context(), "k", scope="teams/blue")
    [edge] = show(shelf.context(), mine.id).edges
    assert (edge.path, edge.key, edge.id) == ("", "", hidden.id)
    assert show(owner.context(), mine.id).edges[0].path == hidden.path


def test_a_visitor_is_shown_a_public_memory_alone(tmp_path: Path) -> None:
    """Without its edges, its versions and its counts; of others nothing."""
    owner = Shelf(tmp_path)
    owner.save("k", "the first", visibility="public")
    owner.save("k", "the second", visibility="public", reason="new")
    owner.save("secret", "x", visibility="private", related=("k",))
    RecallLog(owner.context().state()).count([("", owner.save("o", "y").id)], 1)
    shelf = Shelf(tmp_path, caller=Caller(is_member=False))

    shown = show(shelf.context(), "k")

    assert [each.text for each in shown.chain] == ["the second"]
    assert (shown.edges, shown.recall) == ((), RecallCounts())
    for name in ("secret", "no-such"):
        with pytest.raises(MemoryNotFoundError):
            show(shelf.context(), name)


def test_a_memory_is_shown_with_its_edges_both_ways(shelf: Shelf) -> None:
    """And its chain, and how often it was asked for."""
    ids = three(shelf)
    other = shelf.save("other", "says otherwise", contradicts=("k",))
    link(shelf.context(), "k", "other", "related_to", weight=0.25)
    for at_s in (1, 2, 3):
        RecallLog(shelf.context().state()).count([("", ids[2])], at_s)

    shown = show(shelf.context(), "k")

    assert (shown.memory.id, shown.memory.text) == (ids[2], "three")
    seen = {
        (edge.kind, edge.is_outgoing, edge.path, edge.id, edge.key, edge.weight)
        for edge in shown.edges
    }
    assert seen == {
        ("updates", True, f"superseded/k--{ids[1]}.md", ids[1], "k", 1.0),
        ("related_to", True, other.path, other.id, "other", 0.25),
        ("contradicts", False, other.path, other.id, "other", 1.0),
    }
    assert [one.text for one in shown.chain] == ["three", "two", "one"]
    assert shown.recall.access_count == 3


def test_free_text_and_an_appended_entry_are_shown_too(shelf: Shelf) -> None:
    """A search shows an id or a path of them, and that is what one asks with."""
    entry = "01ARYZ6S410000000000000000"
    shelf.put(
        "2026-11-21.md",
        "# A day\n\n\n"
        f"<!-- hm id={entry} by=codex source=agent at=2026-11-21T10:00:00+00:00 -->\n"
        "what was said\n",
    )
    shelf.put("notes/free.md", "free text\n")

    free = show(shelf.context(), "notes/free.md")
    said = show(shelf.context(), entry)

    assert (free.memory.text, free.memory.type) == ("free text", "")
    assert (said.memory.text, said.memory.by) == ("what was said", "codex")
    assert (said.memory.start_line, said.memory.end_line) == (4, 5)
    with pytest.raises(MemoryNotFoundError):
        show(shelf.context(), entry[:-1] + "1")


def test_what_two_have_replaced_comes_after_both(shelf: Shelf) -> None:
    """Links by hand make more than a line of a chain."""
    header = "---\ntype: fact\nid: {id}\ncreated: {day}T10:00:00+00:00\n"
    links = "supersedes: [{links}]\n---\ntext {id}\n"
    for name, day, names in (("a", "2026-01-01", "b, c"), ("b", "2026-01-02", "c")):
        text = (header + links).format(id=name, day=day, links=names)
        shelf.put(f"{name}.md", text)
    shelf.put("c.md", (header + "---\ntext c\n").format(id="c", day="2026-01-03"))

    told = history(shelf.context(), "c")

    assert texts(told) == ["text a", "text b", "text c"]


def test_a_second_memory_by_hand_hides_no_earlier_version(shelf: Shelf) -> None:
    """Only a copy that says the same may be the rest of a save that was killed."""
    shelf.put("k.md", "---\ntype: fact\nkey: k\n---\nby hand\n")
    gone = "superseded_by: 01JD0000000000000000000009\n"
    first = f"---\ntype: fact\nkey: k\nid: one\n{gone}---\nfirst\n"
    shelf.put("superseded/k--one.md", first)

    assert texts(history(shelf.context(), "k")) == ["by hand", "first"]


@pytest.mark.parametrize(
    "name", ["projects/b/deploy", "projects/b/deploy.md", "deploy"]
)
@pytest.mark.parametrize("kind", ["history", "link", "forget", "purge"])
def test_a_file_of_another_folder_never_stands_for_a_name(
    sandbox: Sandbox, kind: str, name: str
) -> None:
    """A name is an id, a key or a whole path, in every command alike."""
    sandbox.save("projects/a/deploy.md", "---\ntype: fact\nkey: ours\n---\ntext\n")
    sandbox.save("other.md", "---\ntype: fact\nkey: other\n---\ntext\n")
    with sandbox.memory() as memory:
        curation = memory.curation
        calls: dict[str, Callable[[], object]] = {
            "history": lambda: curation.history(name),
            "link": lambda: curation.link("other", name, "related_to"),
            "forget": lambda: curation.forget(MemorySelector(name=name)),
            "purge": lambda: curation.purge(MemorySelector(name=name)),
        }
        with pytest.raises(MemoryNotFoundError):
            calls[kind]()
        assert curation.history("projects/a/deploy").key == "ours"
