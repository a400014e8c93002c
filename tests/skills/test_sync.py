"""Skills follow their memories; what a person edited is never overwritten unasked."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from hivemind_memory import opening
from hivemind_memory.access.rules import Caller
from hivemind_memory.errors import GitError, SkillNotWrittenError, UsageError
from hivemind_memory.inject.injector import Injector
from hivemind_memory.model.curation import MemorySelector
from hivemind_memory.model.skills import (
    AWAY,
    CONFLICT,
    EDITED,
    FAILED,
    GONE,
    KEPT,
    MERGED,
    MISSING,
    OUTDATED,
    UP_TO_DATE,
    WRITTEN,
    SkillSync,
)
from hivemind_memory.state.skills import Skill, SkillStore
from tests.skills.bench import FOLDERS, LONGER, Bench, git


@pytest.fixture
def made(bench: Bench) -> Bench:
    """A skill for Claude Code alone."""
    bench.save()
    bench.promote(to="claude")
    return bench


def edit(bench: Bench, before: str, after: str) -> str:
    """Edit the skill as a person does; return the whole file."""
    text = bench.file().read_text()
    assert before in text
    bench.file().write_text(text.replace(before, after))
    return text.replace(before, after)


def supersede(bench: Bench, text: str = LONGER) -> tuple[str, ...]:
    """Save another text; return the warnings."""
    return bench.save(text=text, reason="it takes longer").warnings


def outcomes(done: SkillSync) -> list[str]:
    return [copy.outcome for copy in done.copies]


def test_a_new_text_is_told_and_written_when_a_person_asks(made: Bench) -> None:
    """An agent may have saved it: no agent follows it before a person has looked."""
    warnings = supersede(made)

    assert any("`hm skill sync`" in warning for warning in warnings)
    assert "ten minutes" in made.file().read_text()
    assert made.state() == {FOLDERS[0]: OUTDATED}
    finding = next(
        one for one in opening.diagnose(made.memory).findings if one.name == "skills"
    )
    assert not finding.is_ok
    assert "deploy-shop" in finding.detail

    assert outcomes(made.skills.sync()) == [WRITTEN]

    text = made.file().read_text()
    assert "twenty minutes" in text
    assert 'hivemind-version: "2"' in text
    assert made.state() == {FOLDERS[0]: UP_TO_DATE}
    assert made.skills.sync().is_complete
    assert made.file().read_text() == text


def test_an_edit_stays_if_the_memory_has_not_changed(made: Bench) -> None:
    """However often it is asked."""
    text = edit(made, "make test", "make -j test")

    for _ in range(2):
        assert outcomes(made.skills.sync()) == [KEPT]
        assert made.file().read_text() == text
    assert made.state() == {FOLDERS[0]: EDITED}


def test_an_edit_and_a_new_text_are_merged(made: Bench) -> None:
    """If they are on other lines."""
    edit(made, "make test", "make -j test")
    supersede(made)

    assert outcomes(made.skills.sync()) == [MERGED]

    text = made.file().read_text()
    assert "make -j test" in text
    assert "twenty minutes" in text
    assert outcomes(made.skills.sync()) == [KEPT]
    assert made.file().read_text() == text


def test_an_edited_description_survives_a_new_version(made: Bench) -> None:
    """It is near the lines that change with each version."""
    edit(made, "How the zanzibar shop is deployed.", "Deploys it. Use it on Tuesdays.")
    supersede(made)

    assert outcomes(made.skills.sync()) == [MERGED]
    assert "Use it on Tuesdays." in made.file().read_text()


def test_a_conflict_is_told_and_nothing_is_overwritten(made: Bench) -> None:
    """Until a person says what counts."""
    text = edit(made, "ten minutes", "an hour")
    supersede(made)

    done = made.skills.sync()
    assert outcomes(done) == [CONFLICT]
    assert not done.is_complete
    assert "--edited keep" in done.copies[0].why
    assert made.file().read_text() == text

    assert outcomes(made.skills.sync(edited="keep")) == [KEPT]
    assert made.file().read_text() == text
    assert outcomes(made.skills.sync()) == [KEPT]

    assert outcomes(made.skills.sync(edited="replace")) == [WRITTEN]
    assert "twenty minutes" in made.file().read_text()
    assert made.state() == {FOLDERS[0]: UP_TO_DATE}


def test_bytes_that_are_no_text_are_an_edit_like_any_other(made: Bench) -> None:
    """They can only be kept or replaced."""
    made.file().write_bytes(b"\xff\xfe mine")
    supersede(made)

    assert outcomes(made.skills.sync()) == [CONFLICT]
    assert made.file().read_bytes() == b"\xff\xfe mine"


def test_a_missing_copy_is_put_back(made: Bench) -> None:
    """As after `git clean -fdx`; whoever wants it gone demotes it."""
    shutil.rmtree(made.shop / ".claude")
    assert made.state() == {FOLDERS[0]: MISSING}

    assert outcomes(made.skills.sync()) == [WRITTEN]

    assert made.state() == {FOLDERS[0]: UP_TO_DATE}


def test_a_dry_run_of_a_sync_changes_nothing(made: Bench) -> None:
    """It says what would be done."""
    edit(made, "make test", "make -j test")
    supersede(made)
    before = made.file().read_bytes()

    assert outcomes(made.skills.sync(is_dry_run=True)) == [MERGED]

    assert made.file().read_bytes() == before
    assert outcomes(made.skills.sync()) == [MERGED]


def test_a_text_that_can_be_no_skill_leaves_it_as_it_is(made: Bench) -> None:
    """The sync says why."""
    supersede(made, "We deploy no more.")

    done = made.skills.sync()

    assert outcomes(done) == [UP_TO_DATE]
    assert "has fewer than two numbered steps" in done.problems[0]
    assert "ten minutes" in made.file().read_text()


def test_forgetting_takes_it_from_agents_and_restoring_gives_it_back(
    made: Bench,
) -> None:
    """With what was edited in it; nothing of it is left on the disk meanwhile."""
    text = edit(made, "make test", "make -j test")

    made.forget()
    assert not (made.shop / ".claude").exists()
    assert "hivemind-skills" not in (made.shop / ".git/info/exclude").read_text()
    assert made.state() == {FOLDERS[0]: AWAY}

    made.memory.curation.restore(MemorySelector(name="deploy-shop"))
    assert made.file().read_text() == text
    assert made.status() == ""

    made.memory.curation.undo("")  # the restore
    assert not made.file().exists()


def test_a_note_that_is_deleted_takes_its_skill_with_it_at_the_next_sync(
    made: Bench,
) -> None:
    """A person may delete it by hand."""
    (made.sandbox.notes / "deploy-shop.md").unlink()

    done = made.skills.sync()

    assert outcomes(done) == [AWAY]
    assert "gone" in done.copies[0].why
    assert not made.file().exists()


def test_what_was_done_is_no_skill_until_it_is_open_again(made: Bench) -> None:
    """It does not count meanwhile."""
    made.memory.curation.mark_done("deploy-shop")
    assert not made.file().exists()

    made.memory.curation.mark_done("deploy-shop", is_open=True)
    assert made.file().exists()


def test_what_was_done_is_no_skill_though_its_newest_text_was_never_synced(
    made: Bench,
) -> None:
    """The version that the skill was made from was only superseded."""
    supersede(made)

    made.memory.curation.mark_done("deploy-shop")

    assert not made.file().exists()
    made.memory.curation.mark_done("deploy-shop", is_open=True)
    assert "ten minutes" in made.file().read_text()


def test_a_forgotten_version_is_never_shown_again(made: Bench) -> None:
    """A session replaced the text, a person synced, and then forgot that session."""
    made.save(text=LONGER, reason="a page said so", session="3f9a")
    made.skills.sync()
    assert "twenty minutes" in made.file().read_text()

    made.memory.forget(MemorySelector(session="3f9a"))
    assert not made.file().exists()

    assert outcomes(made.skills.sync()) == [WRITTEN]
    assert "ten minutes" in made.file().read_text()
    assert "twenty" not in made.file().read_text()


def test_a_place_that_was_taken_meanwhile_is_not_overwritten(made: Bench) -> None:
    """A person wrote a skill of that name while ours was away."""
    made.forget()
    made.file().parent.mkdir(parents=True)
    made.file().write_text("mine")

    restored = made.memory.curation.restore(MemorySelector(name="deploy-shop"))

    assert "hm did not create it" in restored.failed[0].why
    assert made.file().read_text() == "mine"
    assert outcomes(made.skills.sync()) == [FAILED]
    assert made.file().read_text() == "mine"


def test_another_worktree_gets_it_with_a_sync_there(
    made: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And git does not see it there either."""
    other = (tmp_path / "other").resolve()
    git(made.shop, "worktree", "add", "-q", str(other))
    monkeypatch.chdir(other)
    [skill] = made.skills.list()
    assert skill.problem == "it is not in this worktree"

    assert outcomes(made.skills.sync()) == [UP_TO_DATE, WRITTEN]
    [skill] = made.skills.list()
    assert skill.problem == ""

    assert (other / FOLDERS[0] / "deploy-shop/SKILL.md").exists()
    assert git(other, "status", "--porcelain") == ""
    monkeypatch.chdir(made.shop)
    git(made.shop, "worktree", "remove", "--force", str(other))
    assert sorted(outcomes(made.skills.sync())) == [GONE, UP_TO_DATE]
    assert outcomes(made.skills.sync()) == [UP_TO_DATE]
    assert made.status() == ""


def test_a_lost_line_that_hides_it_from_git_is_put_back(made: Bench) -> None:
    """The next `git add .` would have committed it."""
    exclude = made.shop / ".git/info/exclude"
    before = exclude.read_bytes()
    exclude.write_text("")
    assert made.status() != ""

    assert outcomes(made.skills.sync()) == [UP_TO_DATE]

    assert made.status() == ""
    made.skills.sync()
    assert exclude.read_bytes().count(b"deploy-shop") == before.count(b"deploy-shop")


def test_a_skill_of_a_person_in_another_worktree_stays(
    made: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Or in their home, where it has the same name."""
    other = (tmp_path / "other").resolve()
    git(made.shop, "worktree", "add", "-q", str(other))
    monkeypatch.chdir(other)
    own = made.user / FOLDERS[0] / "deploy-shop/SKILL.md"
    own.parent.mkdir(parents=True)
    own.write_text("mine")

    done = made.skills.sync()

    assert outcomes(done) == [UP_TO_DATE, FAILED]
    assert "hm did not create it" in done.copies[1].why
    assert not (other / FOLDERS[0] / "deploy-shop").exists()
    assert own.read_text() == "mine"


def test_a_link_in_its_path_is_told(made: Bench) -> None:
    """Whoever put it there, nothing is written behind it."""
    outside = made.shop.parent / "outside"
    shutil.move(made.shop / ".claude", outside)
    (made.shop / ".claude").symlink_to(outside)
    supersede(made)

    done = made.skills.sync()

    assert outcomes(done) == [FAILED]
    assert "link" in done.copies[0].why
    with pytest.raises(SkillNotWrittenError, match="link"):
        made.skills.demote("deploy-shop")


def test_a_project_that_is_renamed_keeps_its_skills(bench: Bench) -> None:
    """And the uses that were counted."""
    bench.save(scope="project/shop")
    bench.use(session="a")
    bench.promote(to="claude")

    bench.memory.curation.projects.move("shop", "store", is_merge=False)

    [skill] = bench.skills.list()
    assert (skill.scope, skill.problem) == ("projects/store", "")
    bench.use(scope="project/store", session="b")
    assert bench.use(scope="project/store", session="c").counts.applied == 3


def into_another_project(bench: Bench) -> None:
    """Put the repository of another project where that of the skill was."""
    bench.shop.rename(bench.shop.with_name("moved"))
    bench.shop.mkdir()
    git(bench.shop, "init", "-q")
    git(bench.shop, "commit", "-q", "--allow-empty", "-m", "first")
    git(bench.shop, "remote", "add", "origin", "https://git.example.org/bank.git")


@pytest.mark.parametrize("has_own_copy", [False, True])
def test_a_path_that_is_of_another_project_by_now_gets_no_skill(
    bench: Bench, *, has_own_copy: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Promotion was refused there; a sync wrote both files."""
    bench.save(scope="project/shop")
    bench.promote(to="claude")
    text = bench.file().read_text()
    into_another_project(bench)
    monkeypatch.chdir(bench.shop)
    if has_own_copy:  # as a copied folder brings it
        bench.file().parent.mkdir(parents=True)
        bench.file().write_text(text)

    done = bench.skills.sync()

    assert outcomes(done) == [AWAY]
    assert "do not see" in done.copies[0].why
    assert not bench.file().exists()
    again = bench.skills.sync()
    assert outcomes(again) == []
    assert "`hm skill promote deploy-shop`" in again.problems[0]
    [skill] = bench.skills.list()
    assert skill.problem == "it is no longer in any folder"
    assert skill.hint == "hm skill promote deploy-shop"


def test_an_edited_copy_that_may_not_be_read_there_is_told(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.save(scope="project/shop")
    bench.promote(to="claude")
    into_another_project(bench)
    monkeypatch.chdir(bench.shop)
    bench.file().parent.mkdir(parents=True)
    bench.file().write_text("mine")

    done = bench.skills.sync()

    assert outcomes(done) == [FAILED]
    assert "edited by hand" in done.copies[0].why
    assert bench.file().read_text() == "mine"


def test_a_memory_that_became_private_leaves_the_home(bench: Bench) -> None:
    """Its new text was written where every project reads it."""
    bench.save(scope="global")
    bench.promote(to="claude", is_for_user=True)
    file = bench.user / FOLDERS[0] / "deploy-shop/SKILL.md"
    assert file.exists()
    note = bench.sandbox.notes / "deploy-shop.md"
    note.write_text(note.read_text().replace("---\n", "---\nvisibility: private\n", 1))

    done = bench.skills.sync()

    assert outcomes(done) == [AWAY]
    assert "is private" in done.copies[0].why
    assert not file.exists()


def test_a_restored_memory_puts_no_skill_into_another_project(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The copies were put back where they had been, whoever works there now."""
    bench.save(scope="project/shop")
    bench.promote(to="claude")
    bench.forget()
    into_another_project(bench)
    monkeypatch.chdir(bench.shop)

    restored = bench.memory.curation.restore(MemorySelector(name="deploy-shop"))

    assert "do not see" in restored.failed[0].why
    assert not bench.file().exists()


def test_a_restored_memory_that_became_private_stays_out_of_the_home(
    bench: Bench,
) -> None:
    bench.save(scope="global")
    bench.promote(to="claude", is_for_user=True)
    bench.forget()
    [note] = bench.sandbox.notes.rglob("deploy-shop*.md")
    note.write_text(note.read_text().replace("---\n", "---\nvisibility: private\n", 1))

    restored = bench.memory.curation.restore(MemorySelector(name="deploy-shop"))

    assert "is private" in restored.failed[0].why
    assert not (bench.user / FOLDERS[0] / "deploy-shop").exists()


def test_a_restored_skill_of_a_team_that_is_unknown_there_stays_away(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only projects were asked for; a sync took it away again."""
    monkeypatch.setenv("HIVEMIND_TEAM", "ops")
    bench.save(scope="team/ops")
    bench.promote(to="claude")
    bench.forget()
    monkeypatch.delenv("HIVEMIND_TEAM")

    restored = bench.memory.curation.restore(MemorySelector(name="deploy-shop"))

    assert "do not see" in restored.failed[0].why
    assert not bench.file().exists()


@pytest.mark.parametrize("is_restored", [False, True], ids=["sync", "restore"])
def test_a_skill_that_comes_back_hides_none_of_a_person(
    bench: Bench, *, is_restored: bool
) -> None:
    """Promotion refuses a name that the home has; what was away was not asked."""
    bench.save()
    bench.promote(to="claude")
    bench.forget()
    own = bench.user / FOLDERS[0] / "deploy-shop/SKILL.md"
    own.parent.mkdir(parents=True)
    own.write_text("mine")

    restored = bench.memory.curation.restore(MemorySelector(name="deploy-shop"))
    why = restored.failed[0].why if is_restored else bench.skills.sync().copies[0].why

    assert why == f"{own.parent} already exists, and hm did not create it."
    assert not bench.file().exists()


def test_a_version_is_counted_once_however_often_a_sync_is_in_conflict(
    made: Bench,
) -> None:
    """Each sync that wrote nothing made a new version."""
    made.promote(to="codex")
    edit(made, "ten minutes", "two hours")
    supersede(made)

    assert sorted(outcomes(made.skills.sync())) == [CONFLICT, WRITTEN]
    for _ in range(2):
        assert sorted(outcomes(made.skills.sync())) == [CONFLICT, UP_TO_DATE]
    [skill] = made.skills.list()
    supersede(made, LONGER.replace("twenty", "thirty"))
    made.skills.sync()

    assert skill.version == 2
    assert made.skills.show("deploy-shop").version == 3


def test_a_version_is_not_counted_while_the_worktree_is_gone(
    made: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And a sync is not asked for what it cannot do."""
    monkeypatch.chdir(made.user)
    made.shop.rename(made.shop.with_name("moved"))
    supersede(made)

    for _ in range(2):
        assert outcomes(made.skills.sync()) == [GONE]

    [skill] = made.skills.list()
    assert (skill.version, skill.problem) == (1, "a copy is missing")


def test_a_dry_run_says_what_this_worktree_would_get(
    made: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = (tmp_path / "other").resolve()
    git(made.shop, "worktree", "add", "-q", str(other))
    monkeypatch.chdir(other)
    before = made.skills.show("deploy-shop")

    would = made.skills.sync(is_dry_run=True)

    assert made.skills.show("deploy-shop") == before
    assert not (other / FOLDERS[0]).exists()
    assert [copy.outcome for copy in made.skills.sync().copies] == outcomes(would)


def test_a_name_is_found_though_it_is_the_key_of_another_skill(bench: Bench) -> None:
    """Both had it, in one scope, and no option could tell them apart."""
    bench.save("alpha")
    bench.save("beta", text=LONGER)
    bench.promote("alpha", name="beta", to="claude")
    bench.promote("beta", name="alpha", to="claude")

    assert bench.skills.show("beta").key == "alpha"
    assert [copy.name for copy in bench.skills.sync("alpha").copies] == ["alpha"]
    bench.skills.demote("alpha")
    assert bench.skills.show("alpha").name == "beta"


def test_of_skills_of_one_name_a_sync_takes_that_of_a_scope(made: Bench) -> None:
    """The hint named an option that a sync did not have."""
    other = Skill(
        name="deploy-shop", scope="projects/x", ref="1", key="other", version=1
    )
    SkillStore(made.memory.state()).put(other)

    with pytest.raises(UsageError, match="Several scopes"):
        made.skills.sync("deploy-shop")

    assert outcomes(made.skills.sync("deploy-shop", scope="global")) == [UP_TO_DATE]


def test_a_new_description_is_written_into_the_copies(made: Bench) -> None:
    """It was stored, and the file was said to be unchanged."""
    edit(made, "ten minutes", "two hours")

    done = made.promote(to="claude", description="Deploys the shop. Use it on Fridays.")

    assert [copy.outcome for copy in done.synced] == [MERGED]
    assert "on Fridays" in made.file().read_text()
    assert "two hours" in made.file().read_text()
    [skill] = made.skills.list()
    assert (skill.version, skill.problem) == (2, "")


def test_a_skill_that_no_sync_can_mend_names_the_command_that_can(made: Bench) -> None:
    hints = []
    made.memory.curation.mark_done("deploy-shop")
    hints.append(made.skills.show("deploy-shop").hint)
    made.memory.curation.mark_done("deploy-shop", is_open=True)
    made.forget()
    hints.append(made.skills.show("deploy-shop").hint)
    made.memory.curation.restore(MemorySelector(name="deploy-shop"))
    supersede(made)
    hints.append(made.skills.show("deploy-shop").hint)

    assert hints == [
        "hm done --reopen deploy-shop",
        "hm restore deploy-shop",
        "hm skill sync",
    ]


def test_a_git_that_fails_takes_no_skill_away(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Which project a worktree is of was unknown once, and every copy was forgotten."""
    bench.save(scope="project/shop")
    bench.promote(to="claude")

    def fail(*_: object, **__: object) -> Caller:
        raise GitError("git did not answer.")

    with monkeypatch.context() as patched:
        patched.setattr(Injector, "caller_in", fail)
        done = bench.skills.sync()
    assert outcomes(done) == [FAILED]
    assert "git did not answer" in done.copies[0].why
    with monkeypatch.context() as patched:
        unknown = Caller(project_problem="There are two projects.")
        patched.setattr(Injector, "caller_in", lambda *_, **__: unknown)
        done = bench.skills.sync()
    assert outcomes(done) == [FAILED]

    assert bench.file().exists()
    assert outcomes(bench.skills.sync()) == [UP_TO_DATE]
