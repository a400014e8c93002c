"""A purge reaches the skills that were made of a memory."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from hivemind_memory.model.curation import PurgeResult, UnfinishedPurge
from tests.skills.bench import STEPS, Bench, git, tree


def place(receipt: PurgeResult, name: str) -> tuple[int, str] | None:
    """Return what a receipt says of a place."""
    return next(
        ((one.count, one.unit) for one in receipt.places if one.name == name), None
    )


def holds(folder: Path, text: bytes) -> list[str]:
    """Return the files below a folder that hold a text."""
    return [
        str(path)
        for path in folder.rglob("*")
        if path.is_file() and text in path.read_bytes()
    ]


def test_every_copy_goes_and_the_receipt_counts_them(bench: Bench) -> None:
    """In the worktree and in the home folder; the dry run says the same."""
    bench.save()
    before = tree(bench.shop, bench.user)
    bench.promote()
    bench.promote(is_for_user=True)
    bench.use(session="a")

    planned = bench.purge(is_dry_run=True)
    assert bench.file().exists()
    receipt = bench.purge()

    for one in (planned, receipt):
        assert place(one, "skills") == (4, "files")
        assert place(one, "uses") == (1, "counts")
    assert planned.out_of_reach == receipt.out_of_reach
    assert receipt.is_complete
    assert tree(bench.shop, bench.user) == before
    assert holds(bench.sandbox.home, b"zanzibar") == []
    assert bench.skills.list() == []


def test_a_purge_in_two_worktrees_leaves_no_line_for_git(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each copy was still needed by the other one, so the name stayed in exclude."""
    bench.save()
    exclude = bench.shop / ".git" / "info" / "exclude"
    git(bench.shop, "commit", "--allow-empty", "-qm", "first")
    before = exclude.read_bytes()
    bench.promote()
    other = (tmp_path / "other").resolve()
    git(bench.shop, "worktree", "add", "-q", str(other))
    monkeypatch.chdir(other)
    bench.skills.sync()
    monkeypatch.chdir(bench.shop)

    receipt = bench.purge()

    assert place(receipt, "skills") == (4, "files")
    assert exclude.read_bytes() == before
    assert list(other.rglob("SKILL.md")) == []


def test_edits_go_with_it_and_the_receipt_says_so(bench: Bench) -> None:
    """They are in the same file as the text; the dry run is the time to copy them."""
    bench.save()
    bench.promote()
    bench.file().write_text(bench.file().read_text() + "4. Call quartzline.\n")
    beside = bench.file().with_name("check.sh")
    beside.write_text("echo ok\n")

    planned = bench.purge(is_dry_run=True)
    receipt = bench.purge()

    assert place(planned, "skills") == (2, "files, 1 edited by hand")
    assert place(receipt, "skills") == (2, "files, 1 edited by hand")
    assert not bench.file().exists()
    assert beside.read_text() == "echo ok\n"
    assert str(beside) in {one.what for one in receipt.out_of_reach}


def test_files_beside_a_skill_are_named_though_its_memory_was_forgotten_before(
    bench: Bench,
) -> None:
    """The skill was away, and its folder with them was not looked at."""
    bench.save()
    bench.promote(to="claude")
    beside = bench.file().with_name("check.sh")
    beside.write_text("echo ok\n")
    bench.forget()

    receipt = bench.purge()

    assert str(beside) in {left.what for left in receipt.out_of_reach}


def test_edits_that_were_kept_while_it_was_away_go_too(bench: Bench) -> None:
    """They wait in state.db for a restore."""
    bench.save()
    bench.promote()
    bench.file().write_text(bench.file().read_text() + "4. Call quartzline.\n")
    bench.forget()
    assert holds(bench.sandbox.home, b"quartzline")

    receipt = bench.purge()

    assert place(receipt, "skills") == (2, "files, 1 edited by hand")
    assert holds(bench.sandbox.home, b"quartzline") == []


def test_a_skill_of_another_memory_with_the_same_words_is_named(bench: Bench) -> None:
    """A person decides about it."""
    bench.save()
    bench.save("release", STEPS.replace("make test", "make check"))
    bench.promote("release")

    receipt = bench.purge()

    named = {one.what: one.why for one in receipt.out_of_reach}
    assert "release" in named[str(bench.file("release"))]
    assert bench.file("release").exists()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may remove everything")
def test_a_copy_that_cannot_be_removed_is_left_for_the_next_purge(bench: Bench) -> None:
    """The plan is kept until it is gone."""
    bench.save()
    bench.promote()
    folder = bench.file().parent
    folder.chmod(0o500)

    receipt = bench.purge()

    assert str(bench.file()) in {one.what for one in receipt.left}
    assert receipt.finish
    folder.chmod(0o700)


def test_a_link_in_its_path_leaves_the_purge_unfinished_until_it_is_gone(
    bench: Bench,
) -> None:
    """Nothing behind it is removed blindly, and nothing is forgotten."""
    bench.save()
    bench.promote(to="claude")
    outside = bench.shop.parent / "outside"
    (bench.shop / ".claude").rename(outside)
    (bench.shop / ".claude").symlink_to(outside)

    receipt = bench.purge()

    assert str(bench.file()) in {one.what for one in receipt.left}
    assert receipt.finish
    (bench.shop / ".claude").unlink()
    outside.rename(bench.shop / ".claude")
    again = bench.memory.curation.purge(UnfinishedPurge(id=receipt.finish.split()[-1]))
    assert again.is_complete
    assert holds(bench.shop, b"zanzibar") == []
