"""Projects are renamed, merged and adopted whole, whatever is killed on the way."""

from __future__ import annotations

import json
import os
import sqlite3
from pathlib import Path

import pytest

from hivemind_memory.curation.project_move import ProjectMove, resume_move
from hivemind_memory.errors import NotSavedError, UsageError
from hivemind_memory.memory.memory import Memory
from hivemind_memory.model.curation import NewMemory
from hivemind_memory.projects.folders import find_project
from hivemind_memory.projects.identity import KnownFolder, ProjectRecord, SeenRepository
from hivemind_memory.projects.record_file import read_record, write_record
from tests.support.sandbox import Sandbox, ask, paths

TEXT = "The tide comes at noon.\n"


class KilledError(BaseException):
    """The process ends here; nothing below the test catches it."""


def make(sandbox: Sandbox, name: str, *identities: str) -> None:
    """Make a project that knows some identities."""
    above = sandbox.notes / "projects"
    (above / name).mkdir(parents=True, exist_ok=True)
    if identities:
        write_record(str(above), ProjectRecord(slug=name, identities=identities))


def files(sandbox: Sandbox) -> dict[str, str]:
    """Return the notes of all projects."""
    return {
        file.relative_to(sandbox.notes).as_posix(): file.read_text()
        for file in sorted((sandbox.notes / "projects").rglob("*.md"))
    }


def move(memory: Memory, source: str, target: str, *, merge: bool) -> ProjectMove:
    return memory.curation.projects.move(source, target, is_merge=merge)


def test_references_follow_a_renamed_project(sandbox: Sandbox, memory: Memory) -> None:
    """In the front matter and in links, and nothing else of a note changes."""
    long = "github.com--acme--shop"
    make(sandbox, long, "github.com/acme/shop")
    sandbox.save(f"projects/{long}/tide.md", f"---\ntype: fact\n---\n{TEXT}")
    head = "---\ntype: lesson\nrelated:\n  - projects/{0}/tide.md # why\n---\n"
    body = "See [[projects/{0}/tide|the tide]], not projects/{0}/tide.md.\n"
    sandbox.save("a.md", head.format(long))
    sandbox.save("b.md", body.format(long))

    done = move(memory, long, "shop", merge=False)

    assert sorted(done.references) == ["a.md", "b.md"]
    assert (sandbox.notes / "a.md").read_text() == head.format("shop")
    assert (sandbox.notes / "b.md").read_text() == (
        f"See [[projects/shop/tide|the tide]], not projects/{long}/tide.md.\n"
    )
    assert paths(ask(memory, "tide noon"))[0] == "projects/shop/tide.md"
    assert read_record(str(sandbox.notes / "projects"), "shop").identities


@pytest.mark.parametrize("is_merge", [False, True])
def test_what_is_private_does_not_get_a_name_that_is_not(
    sandbox: Sandbox, is_merge: bool
) -> None:
    """Under it, a language model and visitors got what config.json keeps from them."""
    sandbox.flags["projects"] = {"legal": {"visibility": "private"}}
    sandbox.save("projects/legal/tide.md", TEXT)
    if is_merge:
        make(sandbox, "law")
    for is_dry_run in (True, False):
        with sandbox.memory() as memory, pytest.raises(UsageError) as refused:
            memory.curation.projects.move(
                "legal", "law", is_merge=is_merge, is_dry_run=is_dry_run
            )
    assert refused.value.hint == (
        """`hm config set projects.law '{"visibility": "private"}'` first."""
    )
    assert list(files(sandbox)) == ["projects/legal/tide.md"]

    sandbox.flags["projects"] = {
        name: {"visibility": "private"} for name in ("legal", "law")
    }
    with sandbox.memory() as memory:
        move(memory, "legal", "law", merge=is_merge)
    assert list(files(sandbox)) == ["projects/law/tide.md"]


@pytest.mark.parametrize(
    "related",
    [
        "related: projects/{0}/tide.md",
        "related: [a, projects/{0}/tide, b]  # projects/shop/tide.md stays",
        'related:\r\n- "[[projects/{0}/tide|the tide]]"\r\n- other',
        "related:\n  # the tide\n  - {{path: projects/{0}/tide.md, weight: 0.5}}",
        "related: ['projects/{0}/my tide.md', projects/{0}/my tide.md]",
    ],
)
def test_a_front_matter_keeps_its_form_when_a_project_is_renamed(
    sandbox: Sandbox, memory: Memory, related: str
) -> None:
    """Comments, lists, weights and line ends are the person's."""
    make(sandbox, "old")
    for name in ("tide", "my tide", "my"):
        sandbox.save(f"projects/old/{name}.md", TEXT)
    note = sandbox.notes / "a.md"
    text = f"---\ntype: fact\n{related}\ntags: [x] # why\n---\nBody.\n"
    note.write_bytes(text.format("old").encode())

    move(memory, "old", "new", merge=False)

    assert note.read_bytes().decode() == text.format("new")


def test_a_dry_run_says_it_all_and_moves_nothing(
    sandbox: Sandbox, memory: Memory
) -> None:
    """So a person can look first."""
    make(sandbox, "old")
    sandbox.save("projects/old/tide.md", TEXT)
    sandbox.save("a.md", "[[projects/old/tide]]\n")

    planned = memory.curation.projects.move(
        "old", "new", is_merge=False, is_dry_run=True
    )

    assert planned.moves == (("projects/old/tide.md", "projects/new/tide.md"),)
    assert planned.references == ("a.md",)
    assert list(files(sandbox)) == ["projects/old/tide.md"]
    assert (sandbox.notes / "a.md").read_text() == "[[projects/old/tide]]\n"


def test_two_projects_become_one_with_all_their_notes(
    sandbox: Sandbox, memory: Memory
) -> None:
    """A note whose name is taken gets the name of its project, too."""
    make(sandbox, "one", "github.com/a/one")
    make(sandbox, "two", "github.com/a/two")
    sandbox.save("projects/one/day.md", "one\n")
    sandbox.save("projects/two/day.md", "two\n")
    sandbox.save("projects/one/superseded/x.md", "x\n")
    sandbox.save("a.md", "[[projects/one/day]]\n")

    move(memory, "one", "two", merge=True)

    assert files(sandbox) == {
        "projects/two/day.md": "two\n",
        "projects/two/day-one.md": "one\n",
        "projects/two/superseded/x.md": "x\n",
    }
    assert (sandbox.notes / "a.md").read_text() == "[[projects/two/day-one]]\n"
    assert not (sandbox.notes / "projects" / "one").exists()
    record = read_record(str(sandbox.notes / "projects"), "two")
    assert set(record.identities) == {"github.com/a/one", "github.com/a/two"}


def test_keys_that_clash_are_named_and_nothing_is_moved(
    sandbox: Sandbox, memory: Memory
) -> None:
    """One key has one current answer; only a person can say which."""
    for name in ("one", "two"):
        make(sandbox, name)
        wanted = NewMemory(
            key="tide", type="fact", content=name, scope=f"project/{name}"
        )
        memory.save(wanted)
    before = files(sandbox)

    with pytest.raises(UsageError, match="Both have a memory under tide"):
        move(memory, "one", "two", merge=True)

    assert files(sandbox) == before


@pytest.mark.parametrize("merge", [False, True])
def test_a_move_that_is_killed_at_any_step_is_finished_by_the_next_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, merge: bool
) -> None:
    """Every rename, removal and replacement fails once; nothing is lost or doubled."""
    results = []
    for step in range(40):
        sandbox = Sandbox(tmp_path / f"home{step}")
        make(sandbox, "one", "github.com/a/one")
        if merge:
            make(sandbox, "two", "github.com/a/two")
            sandbox.save("projects/two/day.md", "two\n")
        for name in ("day", "b"):
            sandbox.save(f"projects/one/{name}.md", f"{name}\n")
        sandbox.save("a.md", "[[projects/one/day]] [[projects/one/b]]\n")
        is_done = _move_until(step, sandbox, monkeypatch, merge=merge)
        resume_move(sandbox.places)
        assert not Path(sandbox.places.project_move).exists()
        linking = {"a.md": (sandbox.notes / "a.md").read_text()}
        results.append(linking | files(sandbox))
        if is_done:
            break

    assert is_done
    assert results[-1] == AFTER[merge]
    assert all(one in (BEFORE[merge], AFTER[merge]) for one in results)
    assert results.count(AFTER[merge]) > 1, "no killed move was finished"


BEFORE = {
    False: {
        "a.md": "[[projects/one/day]] [[projects/one/b]]\n",
        "projects/one/b.md": "b\n",
        "projects/one/day.md": "day\n",
    },
    True: {
        "a.md": "[[projects/one/day]] [[projects/one/b]]\n",
        "projects/one/b.md": "b\n",
        "projects/one/day.md": "day\n",
        "projects/two/day.md": "two\n",
    },
}
"""Notes of a move that was killed before it was announced."""
AFTER = {
    False: {
        "a.md": "[[projects/two/day]] [[projects/two/b]]\n",
        "projects/two/b.md": "b\n",
        "projects/two/day.md": "day\n",
    },
    True: {
        "a.md": "[[projects/two/day-one]] [[projects/two/b]]\n",
        "projects/two/b.md": "b\n",
        "projects/two/day-one.md": "day\n",
        "projects/two/day.md": "two\n",
    },
}
"""Notes of a move that is complete."""


def _move_until(
    step: int, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch, *, merge: bool
) -> bool:
    """Move, and fail at a step; return whether it was done before that."""
    left = step

    def failing(name: str) -> None:
        real = getattr(os, name)

        def call(*args: object, **names: object) -> object:
            nonlocal left
            if str(sandbox.home) in f"{args}{os.getcwd()}" or name == "replace":
                left -= 1
                if left == -1:
                    raise KilledError
            return real(*args, **names)

        patched.setattr(os, name, call)

    with sandbox.memory() as memory, monkeypatch.context() as patched:
        memory.sync()
        for name in ("rename", "replace", "unlink", "rmdir"):
            failing(name)
        try:
            move(memory, "one", "two", merge=merge)
        except KilledError:
            return False
    return left >= 0


def test_what_a_killed_process_left_is_finished_when_the_memory_opens(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whichever command comes next."""
    from hivemind_memory import opening

    make(sandbox, "one")
    sandbox.save("projects/one/day.md", TEXT)
    plan = {
        "source": "one",
        "target": "two",
        "moves": [["projects/one/day.md", "projects/two/day.md"]],
    }
    Path(sandbox.places.project_move).write_text(json.dumps(plan))
    monkeypatch.setenv("HIVEMIND_HOME", str(sandbox.home))

    with opening.open_memory():
        assert list(files(sandbox)) == ["projects/two/day.md"]


def test_a_repository_is_adopted_by_a_project(sandbox: Sandbox, memory: Memory) -> None:
    """And the empty project that it was taken for is gone."""
    above = str(sandbox.notes / "projects")
    make(sandbox, "shop", "github.com/ann/shop")
    seen = SeenRepository(
        folder="/x/shop",
        git_folder="/x/shop/.git",
        origin="github.com/corp/s",
        mark="7",
    )
    assert find_project(seen, str(sandbox.notes), {}).slug == "s"

    left = memory.curation.projects.adopt(seen, "s", "shop")

    assert left == ("s",)
    assert find_project(seen, str(sandbox.notes), {}).slug == "shop"
    assert not (sandbox.notes / "projects" / "s").exists()
    assert read_record(above, "shop").folders == (
        KnownFolder(mark="7", path="/x/shop/.git", origin="github.com/corp/s"),
    )


def test_doctor_names_twins_and_orphans(sandbox: Sandbox, memory: Memory) -> None:
    """Otherwise notes lie unseen in a folder no agent reads."""
    make(sandbox, "shop", "github.com/ann/shop")
    make(sandbox, "github.com--ann--shop")
    make(sandbox, "gone", "/nonexistent/gone/.git")

    found = [one for one in memory.diagnose().findings if one.name == "projects"]

    assert [one.is_ok for one in found] == [False, True]
    said = "github.com--ann--shop and shop are probably the same project"
    assert said in found[0].detail
    assert "hm project merge github.com--ann--shop shop" in found[0].hint
    assert "gone" in found[1].detail
    listed = {one.name: one for one in memory.curation.projects.list()}
    assert listed["shop"].twins == ("github.com--ann--shop",)
    assert listed["gone"].is_orphan


def test_doctor_names_a_private_project_whose_folder_has_another_name(
    sandbox: Sandbox,
) -> None:
    """Misspelt, or renamed by hand, it was private no more, and nothing said so."""
    sandbox.flags["projects"] = {
        name: {"visibility": "private"} for name in ("shpo", "legal", "law")
    }
    make(sandbox, "shop")
    make(sandbox, "law")

    with sandbox.memory() as owner:
        findings = owner.diagnose().findings
    found = [one for one in findings if one.name == "private projects"]

    assert [(one.is_ok, one.detail.split(",")[0]) for one in found] == [
        (True, "config.json says that legal is private"),
        (False, "config.json says that shpo is private"),
    ]
    value = """'{"visibility": "private"}'"""
    assert f"`hm config set projects.shop {value}`" in found[1].hint


def test_a_person_can_say_that_two_projects_are_two(
    sandbox: Sandbox, memory: Memory
) -> None:
    """Then nothing asks again."""
    make(sandbox, "shop")
    above = str(sandbox.notes / "projects")
    record = ProjectRecord(
        slug="shop", identities=("github.com/a/b",), former=("github.com/x/t",)
    )
    write_record(above, record)
    seen = SeenRepository(folder="/x", git_folder="/x/.git", origin="github.com/x/t")
    found = find_project(seen, str(sandbox.notes), {})
    assert [name for name, _ in found.likely] == ["shop"]

    memory.curation.projects.adopt(seen, found.slug, found.slug)

    assert find_project(seen, str(sandbox.notes), {}).notice == ""
    assert all(not one.twins for one in memory.curation.projects.list())


def test_keys_that_differ_in_spelling_clash_too(
    sandbox: Sandbox, memory: Memory
) -> None:
    """They are one key, and a merge would leave it with two active memories."""
    make(sandbox, "one")
    make(sandbox, "two")
    sandbox.save("projects/one/a.md", f"---\ntype: fact\nkey: Deploy_Day\n---\n{TEXT}")
    sandbox.save("projects/two/b.md", f"---\ntype: fact\nkey: deploy-day\n---\n{TEXT}")

    with pytest.raises(UsageError, match="Deploy_Day"):
        move(memory, "one", "two", merge=True)

    assert (sandbox.notes / "projects" / "one" / "a.md").exists()


def test_no_two_notes_of_a_merge_get_one_name(sandbox: Sandbox, memory: Memory) -> None:
    """One of them would stay behind, and links to it would lead to the other."""
    make(sandbox, "shop")
    make(sandbox, "store")
    sandbox.save("projects/shop/a.md", "alpha\n")
    sandbox.save("projects/shop/a-shop.md", "beta\n")
    sandbox.save("projects/store/a.md", "gamma\n")
    sandbox.save("x.md", "[[projects/shop/a]] [[projects/shop/a-shop]]\n")

    move(memory, "shop", "store", merge=True)

    store = sandbox.notes / "projects" / "store"
    texts = {file.stem: file.read_text() for file in store.glob("*.md")}
    linked = (sandbox.notes / "x.md").read_text().split()
    assert sorted(texts.values()) == ["alpha\n", "beta\n", "gamma\n"]
    assert [texts[one[2:-2].rpartition("/")[2]] for one in linked] == [
        "alpha\n",
        "beta\n",
    ]


def test_nothing_is_moved_while_the_state_cannot_be_written(
    sandbox: Sandbox, memory: Memory
) -> None:
    """A half-recorded move would make every later command fail."""
    make(sandbox, "one")
    sandbox.save("projects/one/day.md", TEXT)
    memory.close()
    with sqlite3.connect(sandbox.places.state_file) as state:
        state.execute("PRAGMA user_version = 99")
    state.close()

    with sandbox.memory() as again, pytest.raises(NotSavedError) as told:
        move(again, "one", "two", merge=False)

    assert told.value.effect == "Nothing was moved"
    assert files(sandbox).keys() == {"projects/one/day.md"}
    assert not Path(sandbox.places.project_move).exists()


def test_a_move_that_cannot_be_finished_leaves_the_memory_readable(
    sandbox: Sandbox, caplog: pytest.LogCaptureFixture
) -> None:
    """Reads answer; the next command tries again."""
    plan = Path(sandbox.places.project_move)
    plan.parent.mkdir(parents=True, exist_ok=True)
    plan.write_text("no plan")

    resume_move(sandbox.places)

    assert "cannot be read" in caplog.text
    assert plan.exists()


def test_a_move_of_another_folder_of_notes_is_left_to_it(
    sandbox: Sandbox, memory: Memory
) -> None:
    """One home may have several; the plan says whose it is."""
    make(sandbox, "one")
    sandbox.save("projects/one/day.md", TEXT)
    plan = Path(sandbox.places.project_move)
    plan.parent.mkdir(parents=True, exist_ok=True)
    said = {"notes": "/elsewhere", "source": "one", "target": "two", "moves": []}
    plan.write_text(json.dumps(said))

    resume_move(sandbox.places)

    assert files(sandbox).keys() == {"projects/one/day.md"}
    with pytest.raises(NotSavedError, match="another notes folder"):
        move(memory, "one", "three", merge=False)
    assert json.loads(plan.read_text()) == said


@pytest.mark.parametrize("broken", ["one", "two"])
def test_projects_whose_repositories_are_not_known_are_not_merged(
    sandbox: Sandbox, memory: Memory, broken: str
) -> None:
    """Merging would overwrite the unread record."""
    for name in ("one", "two"):
        make(sandbox, name, f"github.com/acme/{name}")
        sandbox.save(f"projects/{name}/{name}.md", TEXT)
    file = sandbox.notes / "projects" / broken / ".project"
    with file.open("ab") as record:
        record.write(b"\0")
    before = file.read_bytes()

    with pytest.raises(UsageError, match="cannot be read: it is binary"):
        move(memory, "one", "two", merge=True)

    assert file.read_bytes() == before
    assert len(files(sandbox)) == 2
