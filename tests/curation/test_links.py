"""Edges by hand: one line of one file, and nothing that leads nowhere."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from hivemind_memory.access.rules import Caller
from hivemind_memory.curation.links import link, unlink
from hivemind_memory.errors import (
    HivemindError,
    MemoryNotFoundError,
    NotSavedError,
    UsageError,
)
from tests.support.typed_memory import Shelf, Ticking


@pytest.fixture(params=[True, False], ids=["files", "index"])
def shelf(tmp_path: Path, request: pytest.FixtureRequest) -> Shelf:
    """A home with two memories; the files answer, and then the index."""
    shelf = Shelf(tmp_path / "home", is_scanned=request.param)
    shelf.save("a", "x")
    shelf.save("b", "y")
    return shelf


@pytest.mark.parametrize(
    ("kind", "field"),
    [
        ("related_to", "related"),
        ("updates", "supersedes"),
        ("contradicts", "contradicts"),
    ],
)
def test_a_link_is_one_line_where_it_begins(
    shelf: Shelf, kind: str, field: str
) -> None:
    """All other bytes stay, and the other end is not touched."""
    before = shelf.tree()
    end = shelf.values("b.md")["id"]

    linked = link(shelf.context(), "a", "b", kind)

    value = end if kind == "updates" else f"[{end}]"
    assert shelf.text("a.md") == before["a.md"].decode().replace(
        "---\nx", f"{field}: {value}\n---\nx"
    )
    assert shelf.tree()["b.md"] == before["b.md"]
    assert linked.is_changed
    assert linked.changed_paths == ("a.md",)
    assert (linked.from_path, linked.to_path, linked.to_id) == ("a.md", "b.md", end)


def test_the_same_link_twice_is_one_and_a_new_weight_takes_its_place(
    shelf: Shelf,
) -> None:
    """An agent may say so as often as it likes."""
    shelf.save("c", "z")
    ids = {name: shelf.values(f"{name}.md")["id"] for name in "abc"}
    for end in ("b", "c"):
        link(shelf.context(), "a", end, "related_to")
    before = shelf.text("a.md")

    again = link(shelf.context(), "a", "b", "related_to")
    assert (again.is_changed, shelf.text("a.md")) == (False, before)

    link(shelf.context(), "a", "b.md", "related_to", weight=0.5)
    assert shelf.values("a.md")["related"] == [
        {"id": ids["b"], "weight": 0.5},
        ids["c"],
    ]
    assert not link(shelf.context(), "a", ids["b"], "related_to", weight=0.5).is_changed
    link(shelf.context(), "a", "b", "related_to")
    assert shelf.values("a.md")["related"] == [ids["b"], ids["c"]]


def test_what_a_person_wrote_into_the_list_stays(shelf: Shelf) -> None:
    """A wiki link, a key, a note that is to be written yet."""
    shelf.put(
        "mine.md",
        '---\ntype: fact\nrelated:\n- "[[later]]"\n- {id: b, weight: 0.3}\n---\nmine\n',
    )
    shelf.save("c", "z")

    link(shelf.context(), "mine", "c", "related_to")
    link(shelf.context(), "mine", "b", "related_to", weight=0.7)

    b, c = (shelf.values(f"{name}.md")["id"] for name in "bc")
    assert shelf.values("mine.md")["related"] == [
        *("[[later]]", {"id": b, "weight": 0.7}, c)
    ]


def test_an_end_is_taken_away_however_it_is_named(shelf: Shelf) -> None:
    """Also one that leads nowhere any more; a second time is no error."""
    link(shelf.context(), "a", "b", "contradicts")
    before = shelf.text("a.md")

    ended = unlink(shelf.context(), "a", "b.md", "contradicts")

    assert ended.is_changed
    assert "contradicts" not in shelf.values("a.md")
    assert not unlink(shelf.context(), "a", "b", "contradicts").is_changed

    shelf.put("a.md", before)
    gone = shelf.values("b.md")["id"]
    (shelf.notes / "b.md").unlink()
    assert not unlink(shelf.context(), "a", "b", "contradicts").is_changed
    assert unlink(shelf.context(), "a", str(gone), "contradicts").is_changed


@pytest.mark.parametrize(
    ("arguments", "weight", "error"),
    [
        (("a", "a", "related_to"), 1.0, UsageError),
        (("a", "a.md", "updates"), 1.0, UsageError),
        (("a", "b", "related"), 1.0, UsageError),
        (("a", "b", ""), 1.0, UsageError),
        (("a", "b", "related_to"), 1.5, UsageError),
        (("a", "b", "related_to"), float("nan"), UsageError),
        (("a", "nothing", "related_to"), 1.0, MemoryNotFoundError),
        (("nothing", "b", "related_to"), 1.0, MemoryNotFoundError),
        (("free.md", "b", "related_to"), 1.0, NotSavedError),
    ],
)
def test_what_cannot_be_joined_is_refused(
    shelf: Shelf, arguments: tuple[str, str, str], weight: float, error: type
) -> None:
    """In one sentence, and nothing changes."""
    shelf.put("free.md", "free text of a person\n")
    before = shelf.tree()

    with pytest.raises(error) as caught:
        link(shelf.context(), *arguments, weight=weight)

    assert shelf.tree() == before
    assert isinstance(caught.value, HivemindError)
    assert caught.value.hint


def test_two_memories_never_update_each_other(shelf: Shelf) -> None:
    """Be it by way of a third; contradicting each other is fine."""
    shelf.save("c", "z")
    link(shelf.context(), "a", "b", "updates")
    link(shelf.context(), "b", "c", "updates")
    link(shelf.context(), "a", "b", "contradicts")

    with pytest.raises(UsageError, match=r"a\.md already updates c\.md"):
        link(shelf.context(), "c", "a", "updates")

    link(shelf.context(), "b", "a", "contradicts")
    link(shelf.context(), "a", "c", "updates")
    b, c = (shelf.values(f"{name}.md")["id"] for name in "bc")
    assert shelf.values("a.md")["supersedes"] == [b, c]


def test_what_a_save_replaced_cannot_replace_it(shelf: Shelf) -> None:
    """A chain has one direction."""
    first = shelf.values("a.md")["id"]
    shelf.save("a", "new", "found out")

    with pytest.raises(UsageError, match="updates"):
        link(shelf.context(), str(first), "a", "updates")


def test_processes_that_link_in_a_ring_leave_it_open(tmp_path: Path) -> None:
    """Each alone is right; one of them comes last and hears of it."""
    shelf = Shelf(tmp_path)
    for number in range(6):
        shelf.save(f"k{number}", "x")
    start = time.time() + 0.2
    pids = []
    for number in range(6):
        pid = os.fork()
        if not pid:
            code = 2
            try:
                time.sleep(max(0.0, start - time.time()))
                link(shelf.context(), f"k{number}", f"k{(number + 1) % 6}", "updates")
                code = 0
            except UsageError:
                code = 1
            finally:
                os._exit(code)
        pids.append(pid)

    codes = sorted(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in pids)

    assert codes == [0, 0, 0, 0, 0, 1]


def test_links_of_many_processes_into_one_memory_are_all_there(tmp_path: Path) -> None:
    """One line of one file, read and written by all of them."""
    shelf = Shelf(tmp_path, clock=Ticking())
    for number in range(8):
        shelf.save(f"k{number}", "x")
    pids = []
    for number in range(1, 8):
        pid = os.fork()
        if not pid:
            link(shelf.context(), "k0", f"k{number}", "related_to")
            os._exit(0)
        pids.append(pid)

    codes = {os.waitpid(pid, 0)[1] for pid in pids}

    assert codes == {0}
    assert len(shelf.values("k0.md")["related"]) == 7  # type: ignore[arg-type]


def test_nobody_links_from_or_to_what_is_not_theirs(tmp_path: Path) -> None:
    """And hears the same as for what is not there."""
    owner = Shelf(tmp_path)
    hidden = owner.save("hidden", "x", scope="teams/blue")
    owner.save("global", "x")
    mine = owner.save("mine", "x", scope="teams/red")
    shelf = Shelf(tmp_path, caller=Caller(teams=("teams/red",), is_root=False))

    said = []
    for ref in (hidden.id, hidden.path, "nothing"):
        for pair in ((mine.id, ref), (ref, mine.id)):
            with pytest.raises(MemoryNotFoundError) as caught:
                link(shelf.context(), *pair, "related_to")
            said.append(str(caught.value).replace(ref, "it"))
    with pytest.raises(
        NotSavedError,
        match=r"^You cannot write to the global memory.* Nothing was linked\.$",
    ):
        link(shelf.context(), "global", mine.id, "related_to")

    assert set(said) == {"There is no memory 'it'. Nothing was linked."}
    assert link(shelf.context(), mine.id, "global", "related_to").is_changed


def test_unlink_without_a_kind_removes_every_link_between_the_two(
    shelf: Shelf,
) -> None:
    """Of each kind, whichever of the two it starts at; others stay."""
    shelf.save("c", "z")
    link(shelf.context(), "a", "c", "updates")
    before = shelf.tree()
    for start, end, kind in (
        ("a", "b", "contradicts"),
        ("a", "b", "related_to"),
        ("a", "b", "updates"),
        ("b", "a", "related_to"),
    ):
        link(shelf.context(), start, end, kind)

    done = unlink(shelf.context(), "a", "b")

    assert {(one.kind, one.from_path) for one in (done, *done.others)} == {
        ("contradicts", "a.md"),
        ("related_to", "a.md"),
        ("updates", "a.md"),
        ("related_to", "b.md"),
    }
    assert (done.left, sorted(done.changed_paths)) == ((), ["a.md", "b.md"])
    assert shelf.tree() == before


def test_a_link_that_unlink_leaves_is_named_with_what_removes_it(
    tmp_path: Path,
) -> None:
    """Of another kind, or a reference in a text, which only an editor removes."""
    shelf = Shelf(tmp_path / "home", is_scanned=False)
    for key, text in (("a", "x"), ("b", "y"), ("c", "See [[a]].")):
        shelf.save(key, text)
    link(shelf.context(), "a", "b", "updates")

    other_kind = unlink(shelf.context(), "a", "b", "related_to")
    in_text = unlink(shelf.context(), "a", "c")

    assert not other_kind.is_changed
    assert not in_text.is_changed
    assert [one.remedy for one in (*other_kind.left, *in_text.left)] == [
        "`hm unlink --kind updates a.md b.md` removes it",
        "it is in the text: `hm edit c.md`",
    ]
