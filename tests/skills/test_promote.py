"""A promoted memory is where agents read it, and nothing of a person's is touched."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from hivemind_memory.access.rules import Caller
from hivemind_memory.curation import skill_sync, skills
from hivemind_memory.errors import HivemindError, SkillNotWrittenError, UsageError
from hivemind_memory.files.atomic import PartialFile
from hivemind_memory.model.skills import EDITED, FAILED, UP_TO_DATE
from hivemind_memory.state.skills import SkillCopy, SkillStore
from tests.skills.bench import FOLDERS, LONGER, STEPS, Bench, git, tree


def test_it_is_written_where_agents_read_it_and_git_does_not_see_it(
    bench: Bench,
) -> None:
    """In the folder of Claude Code, and in that of all others."""
    bench.save()

    done = bench.promote()

    assert done.name == "deploy-shop"
    assert [bench.file(above=above).read_text() for above in FOLDERS] == [done.text] * 2
    assert STEPS in done.text
    assert bench.status() == ""
    assert set(bench.state().values()) == {UP_TO_DATE}


def test_a_dry_run_writes_nothing(bench: Bench) -> None:
    """Not even a row."""
    bench.save()
    before = tree(bench.shop, bench.user)

    done = bench.promote(is_dry_run=True)

    assert done.written
    assert tree(bench.shop, bench.user) == before
    assert SkillStore(bench.memory.state()).all() == []


@pytest.mark.parametrize("is_there", [False, True])
def test_demotion_gives_every_byte_back(bench: Bench, *, is_there: bool) -> None:
    """Folders that were there stay, even empty; those that were made go."""
    bench.save()
    bench.save("release", STEPS.replace("deploy", "release"))
    exclude = bench.shop / ".git/info/exclude"
    exclude.write_bytes(b"# mine\r\nbuild/")
    if is_there:
        (bench.shop / ".claude/skills").mkdir(parents=True)
        (bench.shop / ".agents").mkdir()
        (bench.shop / ".agents/notes.txt").write_text("mine")
    before = tree(bench.shop, bench.user)
    for ref in ("deploy-shop", "release"):
        bench.promote(ref)

    bench.skills.demote("deploy-shop")
    assert bench.file("release").exists()
    bench.skills.demote("release")

    assert tree(bench.shop, bench.user) == before


def test_an_edited_copy_is_removed_only_if_a_person_says_so(bench: Bench) -> None:
    """The edits are nowhere else."""
    bench.save()
    bench.promote()
    bench.file().write_text(bench.file().read_text() + "4. Tell the team.\n")

    with pytest.raises(UsageError, match=r"edited by hand\. Nothing was demoted"):
        bench.skills.demote("deploy-shop")
    assert bench.state()[FOLDERS[0]] == EDITED
    bench.skills.demote("deploy-shop", discards_edits=True)

    assert not (bench.shop / ".claude").exists()


def test_files_that_a_person_put_beside_it_stay(bench: Bench) -> None:
    """They are not ours."""
    bench.save()
    bench.promote()
    beside = bench.file().with_name("check.sh")
    beside.write_text("echo ok\n")

    bench.skills.demote("deploy-shop")

    assert beside.read_text() == "echo ok\n"
    assert not bench.file().exists()


@pytest.mark.parametrize(
    "path",
    [
        ".claude/skills/deploy-shop/SKILL.md",
        ".claude/skills/deploy-shop/run.sh",
        ".agents/skills/deploy-shop/SKILL.md",
        ".claude/commands/deploy-shop.md",
    ],
)
@pytest.mark.parametrize("is_users", [False, True])
def test_a_name_that_a_person_uses_is_refused(
    bench: Bench, path: str, *, is_users: bool
) -> None:
    """In the worktree and in the home folder, whose skills hide those of a worktree."""
    own = (bench.user if is_users else bench.shop) / path
    own.parent.mkdir(parents=True)
    own.write_text("mine")
    bench.save()
    before = tree(bench.shop, bench.user)

    for is_for_user in (False, True) if is_users else (False,):
        with pytest.raises(UsageError, match="hm did not create it"):
            bench.promote(is_for_user=is_for_user)

    assert tree(bench.shop, bench.user) == before
    assert bench.skills.list() == []


def test_a_skill_that_git_tracks_is_not_replaced(bench: Bench) -> None:
    """Even where it is missing on the disk at the moment."""
    own = bench.file()
    own.parent.mkdir(parents=True)
    own.write_text("mine")
    git(bench.shop, "add", "-f", ".")
    git(bench.shop, "commit", "-q", "-m", "own")
    own.unlink()
    own.parent.rmdir()
    bench.save()

    with pytest.raises(UsageError, match="tracked by git"):
        bench.promote()


def test_a_link_out_of_the_worktree_is_not_followed(bench: Bench) -> None:
    """Nothing is written outside."""
    outside = bench.shop.parent / "outside"
    outside.mkdir()
    (bench.shop / ".claude").symlink_to(outside)
    bench.save()

    with pytest.raises(UsageError, match="leads out of the worktree"):
        bench.promote()

    assert list(outside.iterdir()) == []


def test_a_link_within_the_worktree_means_one_copy(bench: Bench) -> None:
    """Many link one folder of skills to the other."""
    (bench.shop / ".agents/skills").mkdir(parents=True)
    (bench.shop / ".claude").mkdir()
    (bench.shop / ".claude/skills").symlink_to("../.agents/skills")
    bench.save()

    done = bench.promote()

    assert done.written == (str(bench.file(above=FOLDERS[1])),)
    assert bench.file().exists()
    assert "deploy-shop" not in bench.status()


def test_it_goes_into_the_home_folder_only_if_asked(bench: Bench) -> None:
    """And only a memory that is for every project."""
    bench.save()
    bench.promote()
    assert not (bench.user / ".claude").exists()

    done = bench.promote(is_for_user=True, to="claude")

    assert done.written == (str(bench.user / ".claude/skills/deploy-shop/SKILL.md"),)
    bench.save("own", scope="project/shop")
    with pytest.raises(UsageError, match="of projects/shop"):
        bench.promote("own", is_for_user=True)
    bench.save("mine", visibility="private")
    with pytest.raises(UsageError, match="is private"):
        bench.promote("mine", is_for_user=True)


def test_a_memory_of_another_project_is_not_shown_to_agents_here(bench: Bench) -> None:
    """What they do not see they cannot run."""
    bench.save("own", scope="project/other")

    with pytest.raises(UsageError, match="do not see"):
        bench.promote("own")


@pytest.mark.parametrize(
    ("why", "more"),
    [
        ("is pending", {"source": "external"}),
        ("has fewer than two numbered steps", {"text": "Just do it."}),
        ("expired", {"expires": "2020-01-01"}),
    ],
)
def test_what_may_not_be_a_skill_is_refused(
    bench: Bench, why: str, more: dict[str, str]
) -> None:
    """In a sentence, and nothing is written."""
    bench.save(**more)

    with pytest.raises(HivemindError, match=f"{why}.*Nothing was promoted"):
        bench.promote()

    assert not (bench.shop / ".claude").exists()


def test_an_accepted_claim_from_outside_is_still_no_skill(bench: Bench) -> None:
    """Accepting it does not vouch for it."""
    bench.save(source="external")
    bench.memory.curation.accept("deploy-shop")

    with pytest.raises(UsageError, match="untrusted"):
        bench.promote()


def test_a_disputed_memory_is_no_skill(bench: Bench) -> None:
    """Until that is settled."""
    bench.save()
    bench.save("never", "Never deploy by hand.")
    bench.memory.curation.link("never", "deploy-shop", "contradicts")

    with pytest.raises(UsageError, match=r"disputed by never\.md"):
        bench.promote()
    bench.forget("never")

    assert bench.promote().written


def test_an_agent_makes_no_skill(bench: Bench) -> None:
    """It would tell the next one what to do."""
    bench.save()
    bench.promote()
    agent = Caller(is_owner=False, is_agent=True)
    with bench.memory.as_caller(agent) as memory:
        limited = Bench(bench.sandbox, memory, bench.shop, bench.user)
        for refused in (
            lambda: limited.promote(name="other"),
            lambda: limited.skills.demote("deploy-shop"),
            limited.skills.sync,
        ):
            with pytest.raises(UsageError, match="for a person to decide"):
                refused()
        assert [skill.name for skill in limited.skills.list()] == ["deploy-shop"]


def test_a_caller_of_other_scopes_sees_no_skill_of_it(bench: Bench) -> None:
    """Neither its name nor its files."""
    bench.save("own", scope="project/shop")
    bench.promote("own")
    with bench.memory.as_caller(Caller(project="projects/other")) as memory:
        limited = Bench(bench.sandbox, memory, bench.shop, bench.user)
        assert limited.skills.list() == []
        with pytest.raises(HivemindError, match="There is no skill 'own'"):
            limited.skills.show("own")


def test_if_one_copy_cannot_be_written_none_is(bench: Bench) -> None:
    """Agents would differ."""
    bench.save()
    before = tree(bench.shop, bench.user)
    create, made = PartialFile.create, []

    def fail_once(partial: PartialFile, name: str) -> bool:
        if name == "SKILL.md":
            made.append(name)
            if len(made) == 2:
                raise OSError(28, "No space left on device")
        return create(partial, name)

    with (
        mock.patch.object(PartialFile, "create", fail_once),
        pytest.raises(
            SkillNotWrittenError, match=r"the disk is full.*Nothing was promoted"
        ),
    ):
        bench.promote()

    assert tree(bench.shop, bench.user) == before
    assert bench.skills.list() == []
    assert bench.promote().written


def test_a_copy_that_could_not_be_taken_back_is_still_known(bench: Bench) -> None:
    """It was in no row, so neither a demotion nor a purge found it."""
    bench.save()
    write, made = skills.write_copy, []

    def fail_at_second(copy: SkillCopy, *given: Any, **more: Any) -> None:
        made.append(copy)
        if len(made) == 2:
            raise SkillNotWrittenError("No space is left.", effect="")
        write(copy, *given, **more)

    def fail(*_: Any, **__: Any) -> None:
        raise SkillNotWrittenError("The folder is read-only.", effect="")

    with (
        mock.patch.object(skills, "write_copy", fail_at_second),
        mock.patch.object(skills, "remove_copy", fail),
        pytest.raises(SkillNotWrittenError),
    ):
        bench.promote()

    assert [one.name for one in bench.skills.list()] == ["deploy-shop"]
    [left] = bench.shop.rglob("SKILL.md")
    bench.purge()
    assert not left.exists()


def test_promoting_again_only_adds_places(bench: Bench, tmp_path: Path) -> None:
    """Its name stays."""
    bench.save()
    first = bench.promote(to="claude")
    again = bench.promote()

    assert again.already == first.written
    assert again.written == (str(bench.file(above=FOLDERS[1])),)
    with pytest.raises(UsageError, match="is already the skill deploy-shop"):
        bench.promote(name="other")
    bench.save("deploy_shop_2", STEPS)
    with pytest.raises(UsageError, match="is made from deploy-shop"):
        bench.promote("deploy_shop_2", name="deploy-shop")


def test_edits_that_wait_for_a_restore_are_not_overwritten(bench: Bench) -> None:
    """A person took the mark out of the note by hand, and promotes again."""
    bench.save()
    bench.promote(to="claude")
    text = bench.file().read_text() + "4. Tell the team.\n"
    bench.file().write_text(text)
    note = bench.sandbox.notes / "deploy-shop.md"
    before = note.read_bytes()
    bench.forget()
    note.write_bytes(before)

    with pytest.raises(UsageError, match="waiting to be put back"):
        bench.promote(to="claude")
    bench.skills.sync()

    assert bench.file().read_text() == text


def test_outside_a_repository_it_says_what_to_do(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The home folder is never chosen silently."""
    bench.save()
    outside = tmp_path / "outside"
    outside.mkdir()
    monkeypatch.chdir(outside)

    with pytest.raises(UsageError, match="in no git repository"):
        bench.promote()

    assert os.listdir(outside) == []


def test_a_description_with_a_secret_is_refused(bench: Bench) -> None:
    """It stands in the front matter, which every agent reads first."""
    bench.save()
    token = "ghp_" + "A1b2C3d4" * 5

    with pytest.raises(UsageError) as refusal:
        bench.promote(description=f"Deploys with {token}.")

    assert token not in str(refusal.value)
    assert not bench.file().exists()


def test_a_copy_that_changes_while_it_is_written_is_not_overwritten(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A person saves it in their editor just between reading and writing."""
    bench.save()
    bench.promote(to="claude")
    bench.save(text=LONGER, reason="it takes longer")
    read = skill_sync.read_copy

    def read_before_an_edit(copy: SkillCopy) -> bytes | None:
        found = read(copy)
        bench.file().write_text("mine")
        return found

    monkeypatch.setattr(skill_sync, "read_copy", read_before_an_edit)
    [copy] = bench.skills.sync().copies

    assert copy.outcome == FAILED
    assert bench.file().read_text() == "mine"


def test_a_caller_writes_no_skill_for_agents_who_see_more(bench: Bench) -> None:
    """A person's shell may be limited to some scopes, and the worktree to others."""
    bench.save("everywhere", scope="global")
    limited = Caller(workspace="workspaces/desk")
    with bench.memory.as_caller(limited) as memory:
        shell = Bench(bench.sandbox, memory, bench.shop, bench.user)

        with pytest.raises(UsageError, match="see other scopes than you do"):
            shell.promote("everywhere")

    assert not bench.file("everywhere").exists()


def test_a_caller_that_only_reads_records_no_use(bench: Bench) -> None:
    bench.save()
    reader = Caller(is_owner=True, is_read_only=True)
    with (
        bench.memory.as_caller(reader) as memory,
        pytest.raises(HivemindError, match="read"),
    ):
        Bench(bench.sandbox, memory, bench.shop, bench.user).use()

    assert bench.use().counts.applied == 1
