"""A purge that could not do everything is finished by the id that it was given."""

from __future__ import annotations

import json
import re
from pathlib import Path
from unittest import mock

import pytest

from hivemind_memory.access.rules import OWNER, Caller
from hivemind_memory.cli.main import main
from hivemind_memory.curation import purge_notes
from hivemind_memory.curation.purge import purge
from hivemind_memory.errors import MemoryNotFoundError, NotSavedError, UsageError
from hivemind_memory.model.curation import PurgeResult, UnfinishedPurge
from hivemind_memory.notes.memory_file import remove_note
from tests.support.purge_rig import Bench
from tests.support.sandbox import Sandbox

SECRET = "Zanzibarquux wombatopolis keeps flimmerkeks in vault xylophonist."
NEWER = "The new port is 5433."
SHOP, RED = Caller(project="projects/shop"), Caller(teams=("teams/red",))


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """A home with a person in it."""
    sandbox = Sandbox(tmp_path / "home")
    return Bench(sandbox, sandbox.memory())


def stop_at(bench: Bench, name: str, caller: Caller = OWNER) -> str:
    """Purge while the disk keeps one note; return the id of what is left."""

    def refuse(folder: object, path: str, **more: object) -> None:
        if path.endswith("copyk.md"):
            raise NotSavedError("the disk refused.", effect=f"{path} was not removed")
        remove_note(folder, path, **more)  # type: ignore[arg-type]

    with mock.patch.object(purge_notes, "remove_note", side_effect=refuse):
        receipt = bench.purge(name, caller)
    assert receipt.finish.startswith("hm forget --purge --finish ")
    return receipt.finish.rpartition(" ")[2]


def finish(
    bench: Bench, name: str, caller: Caller = OWNER, *, is_dry_run: bool = False
) -> PurgeResult:
    """Finish a purge."""
    return purge(bench.context(caller), UnfinishedPurge(id=name), is_dry_run=is_dry_run)


def leave_copy(bench: Bench, scope: str = "") -> str:
    """Save two memories of one text, purge them and keep one; return the id."""
    folder = f"{scope}/" if scope else ""
    bench.save("secretk", SECRET, scope=scope)
    bench.sandbox.save(
        f"{folder}copyk.md", f"---\ntype: fact\nkey: copyk\n---\n\n{SECRET}\n"
    )
    return stop_at(bench, f"{folder}secretk.md", SHOP if scope else OWNER)


def test_a_finished_purge_leaves_a_memory_that_was_saved_since(bench: Bench) -> None:
    """The same purge again would remove it, for it has the key."""
    left = leave_copy(bench)
    bench.save("secretk", NEWER)
    bench.sandbox.save("user.md", "---\ntype: fact\nrelated: secretk\n---\n\nUser.\n")
    before = bench.read("secretk.md")

    dry = finish(bench, left, is_dry_run=True)
    receipt = finish(bench, left)

    for one in (dry, receipt):
        assert [item.path for item in one.memories] == ["copyk.md"]
    assert receipt.is_complete
    assert receipt.finish == ""
    assert bench.read("secretk.md") == before
    assert "related: secretk" in bench.read("user.md")
    assert bench.found("5433") == ["secretk.md"]
    assert bench.state.unfinished() == {}
    with pytest.raises(MemoryNotFoundError, match="no unfinished purge"):
        finish(bench, left)


def test_a_finished_purge_leaves_the_text_that_a_person_saved_again(
    bench: Bench,
) -> None:
    """It was forced, so the tombstone is gone, and the memory is another one."""
    left = leave_copy(bench)
    bench.state.remove_tombstone(SECRET, "")
    bench.sandbox.save(
        "secretk.md",
        f"---\nid: {'01M8'.ljust(26, '0')}\ntype: fact\nkey: secretk\n---\n{SECRET}\n",
    )

    receipt = finish(bench, left)

    assert receipt.is_complete
    assert SECRET in bench.read("secretk.md")


def test_what_is_still_left_has_the_same_command(bench: Bench) -> None:
    """So it can be pasted until it succeeds."""
    left = leave_copy(bench)
    with mock.patch.object(
        purge_notes, "remove_note", side_effect=NotSavedError("the disk refused.")
    ):
        receipt = finish(bench, left)

    assert receipt.finish == f"hm forget --purge --finish {left}"
    assert finish(bench, left).is_complete


def test_a_purge_is_finished_by_who_may_see_all_of_it(bench: Bench) -> None:
    """For others it does not exist, in the words for an id that nobody has."""
    left = leave_copy(bench, "projects/shop")
    of_owner = leave_copy(bench)

    for name, caller in ((left, RED), (of_owner, SHOP), (of_owner, RED)):
        for is_dry_run in (True, False):
            with pytest.raises(MemoryNotFoundError) as told:
                finish(bench, name, caller, is_dry_run=is_dry_run)
            with pytest.raises(MemoryNotFoundError) as missing:
                finish(bench, "0" * 8, caller, is_dry_run=is_dry_run)
            said = str(told.value).replace(name, "0" * 8)
            assert (said, told.value.hint) == (str(missing.value), missing.value.hint)
    with pytest.raises(UsageError, match="for a person"):
        finish(bench, left, Caller(project="projects/shop", is_agent=True))

    assert finish(bench, left, SHOP).is_complete
    assert finish(bench, of_owner).is_complete


def test_a_purge_that_only_another_reader_holds_up_keeps_its_plan(bench: Bench) -> None:
    """Without the plan, what is deleted in state.db could not be erased later."""
    bench.save("secretk", SECRET)
    with mock.patch.object(type(bench.state), "vacuum", return_value=False):
        receipt = bench.purge("secretk")

    assert [one.what for one in receipt.left] == ["state.db"]
    assert finish(bench, receipt.finish.rpartition(" ")[2]).is_complete
    assert bench.state.unfinished() == {}


def test_doctor_prints_the_command_that_finishes_a_purge(
    bench: Bench,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """It used to say \"the same purge\", which nobody knows."""
    monkeypatch.setenv("HIVEMIND_HOME", str(bench.sandbox.home))
    monkeypatch.setenv("HIVEMIND_EMBEDDING_PROVIDER", "none")
    left = leave_copy(bench)
    bench.memory.close()

    main(["doctor"])
    said = capsys.readouterr().out
    [command] = re.findall("`hm (forget --purge .*?)`", said)
    codes = [main([*command.split(), *more]) for more in (["--dry-run"], ["--yes"])]
    shown = capsys.readouterr().out
    main(["doctor"])

    assert "1 purge was not finished" in said
    assert command.endswith(left)
    assert codes == [0, 0]
    assert "would purge copyk.md" in shown
    assert "not finished" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--finish", "abc"], "--finish needs --purge"),
        (["key", "--purge", "--finish", "abc"], "and nothing else"),
        (["--purge", "--finish", "abc", "--yes"], "no unfinished purge abc"),
    ],
)
def test_a_wrong_finish_is_one_sentence(
    bench: Bench,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: list[str],
    said: str,
) -> None:
    """It says what is wrong, and that nothing was purged."""
    monkeypatch.setenv("HIVEMIND_HOME", str(bench.sandbox.home))

    code = main(["forget", *words])

    told = capsys.readouterr().err
    assert code
    assert said in told
    assert "Nothing was purged" in told


def test_the_plan_of_one_purge_does_not_replace_that_of_another(
    bench: Bench, tmp_path: Path
) -> None:
    """A hidden section that a limited caller left is added to the owner's own plan."""
    bench.save("secretk", SECRET)
    bench.sandbox.save("copyk.md", f"---\ntype: fact\nkey: copyk\n---\n\n{SECRET}\n")
    (tmp_path / "tree").mkdir()
    left = stop_at(bench, "secretk")
    bench.save("secretk", NEWER)
    bench.injected = mock.Mock(
        count_quoting=lambda paths, ids: {str(tmp_path / "tree"): 1},
        count_copies=lambda _worktree: 0,
        erase_copies=lambda _worktree: (0, {}),
        find_copies=lambda *_: {},
        git_folders=dict,
        is_within=lambda *_: False,
        refresh_section=lambda _: "it is broken",
        rename=lambda *_, **__: 0,
    )

    bench.purge("secretk", SHOP)

    plans = [json.loads(one) for one in bench.state.unfinished().values()]
    assert any("copyk.md" in one["paths"] for one in plans)
    assert finish(bench, left, is_dry_run=True)
