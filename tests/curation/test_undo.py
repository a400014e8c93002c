"""Undoing the last change, and restoring exactly one forget."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from hivemind_memory.curation import forget
from hivemind_memory.curation.reactivate import reactivate_older
from hivemind_memory.errors import (
    MemoryNotFoundError,
    NotSavedError,
    StateUnusableError,
    UsageError,
)
from hivemind_memory.memory.memory import Memory
from hivemind_memory.model.curation import MemorySelector, NewMemory
from hivemind_memory.model.memories import ACTIVE
from hivemind_memory.model.results import NOT_RECORDED
from hivemind_memory.state.change_log import ChangeLog
from tests.support.sandbox import Sandbox, ask, paths


def save(memory: Memory, key: str, content: str, **more: str) -> str:
    """Save a memory; return its id."""
    return memory.save(NewMemory(key=key, content=content, **more)).id  # type: ignore[arg-type]


def found(memory: Memory, question: str) -> list[str]:
    """Return the notes that a search finds."""
    return paths(ask(memory, question))


def texts(sandbox: Sandbox) -> str:
    """Return everything that the notes hold."""
    return "\n".join(one.read_text() for one in sorted(sandbox.notes.rglob("*.md")))


def test_an_undo_takes_back_a_write(memory: Memory, sandbox: Sandbox) -> None:
    """The entry is hidden and stays in its note."""
    memory.write("The walrus is staging.")

    done = memory.curation.undo("")

    assert (done.kind, [one.kind for one in done.forgotten]) == ("write", ["entry"])
    assert found(memory, "walrus") == []
    assert "The walrus is staging." in texts(sandbox)


@pytest.mark.parametrize("is_locked", [False, True])
def test_what_the_log_of_changes_lacks_is_said(
    memory: Memory, monkeypatch: pytest.MonkeyPatch, *, is_locked: bool
) -> None:
    """With a locked log, a save said nothing, and an undo undid an older change."""
    if is_locked:
        problem = StateUnusableError("another process keeps state.db locked")

        def refuse(*_: object, **__: object) -> None:
            raise problem

        monkeypatch.setattr(ChangeLog, "add", refuse)
    written = memory.write("The walrus is staging.")
    saved = memory.save(NewMemory(key="deploy-day", content="We deploy on Tuesdays."))

    assert (NOT_RECORDED in written.warnings) is is_locked
    assert (NOT_RECORDED in saved.warnings) is is_locked


def test_an_undo_of_a_save_makes_the_version_before_active_again(
    memory: Memory,
) -> None:
    """As a forgotten session does."""
    save(memory, "deploy-day", "We deploy on Tuesdays.")
    save(memory, "deploy-day", "We deploy whenever.", reason="a web page said so")

    done = memory.curation.undo("")

    assert [one.key for one in done.reactivated] == ["deploy-day"]
    assert memory.curation.show("deploy-day").memory.text == "We deploy on Tuesdays."


def test_an_undo_of_a_link_leaves_the_links_before(memory: Memory) -> None:
    """In their order and with their weights."""
    for key in ("a", "b", "c"):
        save(memory, key, f"About {key} alone")
    memory.curation.link("a", "b", "related_to", weight=0.5)
    before = memory.curation.show("a").edges
    memory.curation.link("a", "c", "related_to")

    memory.curation.undo("")

    assert memory.curation.show("a").edges == before


def test_one_of_several_links_is_undone_and_redone_and_the_later_ones_stay(
    memory: Memory,
) -> None:
    """`hm undo ID` of any but the last was refused: "linked again since"."""
    for key in ("a", "b", "c", "d"):
        save(memory, key, f"About {key} alone")
    for other in ("b", "c", "d"):
        memory.curation.link("a", other, "contradicts")
    listed = memory.curation.changes(3)[:3]
    assert [change.text for change in listed] == [
        "contradicts d",
        "contradicts c",
        "contradicts b",
    ]

    undone = memory.curation.undo(listed[1].id)

    ends = {edge.path for edge in memory.curation.show("a").edges}
    assert ends == {"b.md", "d.md"}
    assert memory.curation.changes(1)[0].text == "no longer contradicts c"
    memory.curation.undo(undone.id)
    ends = {edge.path for edge in memory.curation.show("a").edges}
    assert ends == {"b.md", "c.md", "d.md"}


def test_a_link_that_is_gone_is_not_undone(memory: Memory) -> None:
    for key in ("a", "b", "c"):
        save(memory, key, f"About {key} alone")
    for other in ("b", "c"):
        memory.curation.link("a", other, "related_to")
    first = memory.curation.changes(2)[1]
    memory.curation.unlink("a", "b")

    with pytest.raises(NotSavedError, match="linked again since"):
        memory.curation.undo(first.id)


def test_an_undo_of_a_claim_takes_back_the_claim(memory: Memory) -> None:
    """``learn`` saves under a key of its own making."""
    wanted = NewMemory(key="", content="WAL allows one writer")
    memory.curation.learn(wanted, topic="sqlite", confidence="high")

    assert memory.curation.undo("").kind == "save"
    assert found(memory, "writer") == []


def test_the_next_undo_goes_further_back(memory: Memory) -> None:
    """As in an editor; an undo is not what the next one undoes."""
    memory.write("The first walrus.")
    memory.write("The second seal.")

    memory.curation.undo("")
    memory.curation.undo("")

    assert found(memory, "walrus seal") == []
    with pytest.raises(MemoryNotFoundError, match="no change left to undo"):
        memory.curation.undo("")


def test_an_undo_is_taken_back_by_its_id(memory: Memory) -> None:
    """And that again: what is in effect and what is not stays known."""
    memory.write("The walrus is staging.")
    undone = memory.curation.undo("")

    again = memory.curation.undo(undone.id)

    assert found(memory, "walrus") != []
    with pytest.raises(UsageError, match="is already undone"):
        memory.curation.undo(undone.id)
    assert memory.curation.undo("").undone == undone.undone
    assert found(memory, "walrus") == []
    assert again.id


def test_a_dry_run_says_what_would_be_and_changes_nothing(
    memory: Memory, sandbox: Sandbox
) -> None:
    """It names the same items as the undo that follows."""
    save(memory, "deploy-day", "We deploy on Tuesdays.")
    before = texts(sandbox)

    plan = memory.curation.undo("", is_dry_run=True)

    assert (texts(sandbox), plan.is_dry_run, plan.id) == (before, True, "")
    done = memory.curation.undo("")
    # The mark moves the text by a line, so the lines are those before and after it.
    assert [one.id for one in done.forgotten] == [one.id for one in plan.forgotten]


@pytest.mark.parametrize("build", ["replace", "edit", "link", "accept", "delete"])
def test_a_change_that_others_built_upon_is_refused(
    memory: Memory, sandbox: Sandbox, build: str
) -> None:
    """In one sentence, and nothing is changed."""
    save(memory, "other", "Quite another thing")
    if build == "accept":
        save(memory, "k", "The first text", source="external")
    else:
        save(memory, "k", "The first text")
    if build == "link":
        memory.curation.link("k", "other", "related_to")
    change = memory.curation.changes()[0].id
    if build == "replace":
        save(memory, "k", "A newer text", reason="it is newer")
    elif build == "edit":
        note = sandbox.notes / "k.md"
        note.write_text(note.read_text().replace("first", "edited"))
    elif build == "link":
        memory.curation.link("k", "other", "contradicts")
        memory.curation.link("k", "other", "related_to", weight=0.2)
    elif build == "accept":
        memory.curation.accept("k")
    else:
        (sandbox.notes / "k.md").unlink()
    before = texts(sandbox)

    for is_dry_run in (True, False):
        with pytest.raises((NotSavedError, MemoryNotFoundError)) as refused:
            memory.curation.undo(change, is_dry_run=is_dry_run)

        assert "Nothing was undone" in str(refused.value)
        assert refused.value.hint
    assert texts(sandbox) == before


def test_an_edited_entry_is_left_alone(memory: Memory, sandbox: Sandbox) -> None:
    """A person who mends an agent's entry has built upon it."""
    path = memory.write("The walrus is staging.").path
    note = sandbox.notes / path
    note.write_text(note.read_text().replace("walrus", "seal"))

    with pytest.raises(NotSavedError, match="edited since"):
        memory.curation.undo("")

    assert found(memory, "seal") != []


def test_each_caller_takes_back_its_own_changes(sandbox: Sandbox) -> None:
    """A person does not undo what an agent wrote a second later."""
    with sandbox.memory() as person, sandbox.memory() as agent:
        person.origin = "person"
        person.write("The walrus is staging.")
        agent.write("The seal is live.")

        person.curation.undo("")

        assert found(person, "walrus") == []
        assert found(person, "seal") != []
        with pytest.raises(MemoryNotFoundError):
            person.curation.undo("")


def test_a_restore_undoes_exactly_one_forget(memory: Memory) -> None:
    """The session was hidden apart from one entry, which had been hidden before."""
    first = memory.write("The walrus is staging.", session="s1")
    memory.write("The seal is live.", session="s1")
    alone = memory.forget(MemorySelector(name=first.id))
    rest = memory.forget(MemorySelector(session="s1"))

    done = memory.curation.restore(MemorySelector(session="s1"))

    assert done.left == (alone.id,)
    assert found(memory, "seal") != []
    assert found(memory, "walrus") == []
    memory.curation.undo(done.id)
    assert found(memory, "seal") == []
    memory.curation.restore(MemorySelector(name=alone.id))
    assert (found(memory, "walrus") != [], found(memory, "seal")) == (True, [])
    memory.curation.restore(MemorySelector(name=rest.id))
    assert found(memory, "seal") != []


def test_a_forget_is_restored_by_its_id_alone(memory: Memory) -> None:
    """The id of another change is named for what it is."""
    memory.write("The walrus is staging.")
    change = memory.curation.changes()[0].id

    with pytest.raises(UsageError, match="is a write, not a forget"):
        memory.curation.restore(MemorySelector(name=change))


def test_a_purge_leaves_no_record_of_what_is_purged(
    memory: Memory, sandbox: Sandbox
) -> None:
    """Paths are made from keys, and the file of the log is vacuumed."""
    save(memory, "walrus-password", "It hangs on the fridge")
    memory.curation.link("walrus-password", _saved(memory), "related_to")
    memory.forget(MemorySelector(name="walrus-password"))
    assert memory.curation.changes()

    memory.curation.purge(MemorySelector(name="walrus-password"))

    kinds = {one.kind for one in memory.curation.changes()}
    assert kinds == {"save", "purge"}
    raw = b"".join(one.read_bytes() for one in sandbox.home.glob("state.db*"))
    assert b"walrus" not in raw
    with pytest.raises(UsageError, match=r"^The \w+ 01\w+ cannot be undone"):
        memory.curation.undo("")


def test_nothing_says_that_a_purge_can_be_taken_back(memory: Memory) -> None:
    """Neither the hint of a restore nor that of an undo."""
    save(memory, "tide", "At noon")
    memory.curation.purge(MemorySelector(name="tide"))
    [purged] = [one.id for one in memory.curation.changes() if one.kind == "purge"]

    with pytest.raises(UsageError, match="is a purge: what was purged is") as restored:
        memory.curation.restore(MemorySelector(name=purged))
    with pytest.raises(UsageError, match="what was purged is erased") as undone:
        memory.curation.undo(purged)

    for refused in (restored.value, undone.value):
        assert "hm undo" not in refused.hint
        assert "hm log --changes" in refused.hint


def _saved(memory: Memory) -> str:
    """Save something else to link to; return its id."""
    return save(memory, "other", "Quite another thing")


_UNDO = """
import sys
from hivemind_memory import opening
from hivemind_memory.errors import HivemindError
from hivemind_memory.model.curation import MemorySelector, NewMemory
home, what = sys.argv[1:]
with opening.open_memory(home=home, flags={"embedding_provider": "none"}) as memory:
    memory.origin = "person"
    for turn in range(6):
        try:
            if what == "undo":
                memory.curation.undo("")
            elif what == "save":
                memory.save(NewMemory(key="k", content=f"text {turn}", reason="new"))
            elif what == "restore":
                memory.curation.restore(MemorySelector(name="k"))
        except HivemindError as error:
            print(error)
"""


def test_a_save_between_the_two_steps_of_an_undo_stays_the_only_active_one(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It took the file of what was hidden, so the version before came back as well."""
    save(memory, "k", "The first.")
    save(memory, "k", "The second.", reason="new")

    def late(*args: Any) -> Any:
        save(memory, "k", "The third.")
        return reactivate_older(*args)

    monkeypatch.setattr(forget, "reactivate_older", late)
    done = memory.curation.undo("")

    assert done.reactivated == ()
    active = [row for row in memory.memories() if row.status == ACTIVE]
    assert [row.path for row in active] == ["k.md"]
    assert memory.curation.show("k").memory.text == "The third."


def test_what_a_killed_save_left_does_not_keep_the_save_before_from_being_undone(
    memory: Memory, sandbox: Sandbox
) -> None:
    """Its copy has the id of the active memory, and was taken for a replaced one."""
    saved = save(memory, "k", "The first.")
    copy = sandbox.notes / "superseded" / f"k-{saved}.md"
    copy.parent.mkdir(exist_ok=True)
    text = (sandbox.notes / "k.md").read_text()
    left = text.replace("---\nThe", f"superseded_by: {saved[:-1]}0\n---\nThe")
    copy.write_text(left)
    memory.sync()

    tried = memory.curation.undo("", is_dry_run=True)
    done = memory.curation.undo("")

    assert [one.path for one in tried.forgotten] == ["k.md"]
    assert [one.path for one in done.forgotten] == ["k.md"]


def test_an_undo_of_an_accept_names_the_copies_of_the_claim(
    memory: Memory, sandbox: Sandbox
) -> None:
    """Two notes of one id were an unexpected error."""
    save(memory, "k", "The first.", source="external")
    memory.curation.accept("k")
    text = (sandbox.notes / "k.md").read_text()
    (sandbox.notes / "k (conflicted copy).md").write_text(text)
    memory.sync()

    with pytest.raises(UsageError, match="Several notes have the id") as refused:
        memory.curation.undo("")

    assert "k (conflicted copy).md" in str(refused.value)
    (sandbox.notes / "k (conflicted copy).md").unlink()
    assert [one.key for one in memory.curation.undo("").pending] == ["k"]


@pytest.mark.parametrize("other", ["undo", "restore", "save"])
def test_two_processes_that_undo_at_once_lose_no_note(
    sandbox: Sandbox, memory: Memory, other: str
) -> None:
    """Each change is undone once, and every text is still in a note."""
    memory.origin = "person"
    save(memory, "k", "the very first")
    for number in range(8):
        memory.write(f"Entry number {number}.")
    memory.curation.forget(MemorySelector(name="k"))

    started = [
        subprocess.Popen(
            [sys.executable, "-c", _UNDO, str(sandbox.home), what],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=sandbox.home,
            text=True,
        )
        for what in ("undo", other)
    ]
    outputs = [one.communicate(timeout=120) for one in started]

    assert [one.returncode for one in started] == [0, 0], outputs
    held = texts(sandbox)
    assert "the very first" in held
    assert all(f"Entry number {number}." in held for number in range(8))
    undone = [one.undoes for one in memory.curation.changes() if one.is_undo]
    assert len(undone) == len(set(undone))

    active = [
        row
        for row in memory.memories()
        if row.key == "k" and not row.status and "superseded" not in row.path
    ]
    assert len(active) <= 1


def test_a_purge_drops_only_link_records_that_name_its_key_as_a_whole(
    memory: Memory, sandbox: Sandbox
) -> None:
    """Not those of another key that begins with it or ends with it."""
    for key in ("deploy", "deploy-day", "redeploy", "end"):
        save(memory, key, f"About {key} alone")
    for name in ("other", "same"):
        key = "redeploy, '[[deploy-day|that day]]'" if name == "other" else "[[deploy]]"
        text = f"---\ntype: context\nkey: {name}\nrelated: [{key}]\n---\nWritten.\n"
        (sandbox.notes / f"{name}.md").write_text(text)
        memory.curation.link(name, "end", "related_to")

    memory.curation.purge(MemorySelector(name="deploy"))

    links = [one for one in memory.curation.changes() if one.kind == "link"]
    assert [one.items[0].path for one in links] == ["other.md"]
    assert memory.curation.undo(links[0].id).link == "other.md"


def test_an_undo_after_an_edit_does_not_take_back_something_else(
    memory: Memory, sandbox: Sandbox
) -> None:
    """It hid the entry before, and the next undo the one before that."""
    memory.write("The walrus is staging.")
    sandbox.save("plan.md", "Changed in an editor.\n")
    memory.curation.record_other("edit", "plan.md")
    [edit, write] = memory.curation.changes()

    for _ in range(2):
        with pytest.raises(UsageError, match="an edit of plan") as caught:
            memory.curation.undo("")
        assert write.id in caught.value.hint
    with pytest.raises(UsageError, match="is an edit of plan"):
        memory.curation.undo(edit.id)

    assert found(memory, "walrus")
    assert memory.curation.undo(write.id).kind == "write"


def test_an_undo_says_where_it_acts(memory: Memory) -> None:
    """The last change may be in another project than the shell."""
    memory.write("The walrus is staging.", scope="project/zoo")

    assert memory.curation.undo("").scopes == ("projects/zoo",)
