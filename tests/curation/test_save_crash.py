"""A save is killed, refused, crowded: one memory active, and no text lost."""

from __future__ import annotations

import errno
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hivemind_memory.curation.history import history
from hivemind_memory.curation.save import save
from hivemind_memory.errors import HivemindError, KeyTakenError
from hivemind_memory.model.curation import NewMemory
from tests.support.faults import Faults
from tests.support.tiers import mostly_thorough
from tests.support.typed_memory import ScannedIndex, Shelf, ShelfHandle, Ticking

CALLS = ["open", "write", "fsync", "fchmod", "mkdir", "chmod", "unlink", "rmdir"]
CALLS += ["replace", "link", "stat", "fstat"]
KEY = "deploy lesson"
OLD, NEW = "Never deploy on Fridays.", "Never migrate on Fridays."


def start(shelf: Shelf, kind: str) -> None:
    """Bring a shelf to where a save begins."""
    if kind == "ours":
        shelf.save(KEY, OLD)
    elif kind == "a person's":
        text = f"---\ntype: lesson\nkey: {KEY}\nmine: yes # kept\n---\n\n{OLD}\n"
        shelf.put("deploy-lesson.md", text)


def replace_it(shelf: Shelf) -> None:
    shelf.save(KEY, NEW, "it was the migration")


def is_sound(shelf: Shelf, *, before: bool, after: bool) -> None:
    """Whatever happened: one active, and both texts are where they belong."""
    [path] = shelf.active(KEY)
    said = shelf.said(path).text
    assert said in (OLD, NEW)
    if said == NEW:
        copies = [one for one in shelf.files() if one.startswith("superseded/")]
        assert [shelf.said(one).text for one in copies] == ([OLD] if before else [])
    assert not after or said == NEW


@pytest.mark.parametrize(
    "kind", mostly_thorough(["ours", "a person's", "none"], every=3)
)
def test_killed_at_every_call_it_leaves_one_in_force_and_the_next_save_gets_through(
    tmp_path: Path, kind: str
) -> None:
    """Nobody repairs anything by hand, and no text is ever gone."""
    number, is_through = 0, False
    while not is_through:
        number += 1
        shelf = Shelf(tmp_path / str(number), clock=Ticking())
        start(shelf, kind)
        is_through = survives(lambda shelf=shelf: replace_it(shelf), number)  # type: ignore[misc]
        if kind != "none" or shelf.active(KEY):
            is_sound(shelf, before=kind != "none", after=is_through)

        again = shelf.save(KEY, "Third.", "and then", by="later")

        assert shelf.active(KEY) == ["deploy-lesson.md"]
        told = [one.text for one in history(shelf.context(), again.id).memories]
        wanted = ["Third.", NEW, OLD]
        assert told in (wanted, [wanted[0], OLD], wanted[:2], wanted[:1])
        assert kind == "none" or OLD in told
        copies = [name for name in shelf.files() if name.startswith("superseded/")]
        assert len(copies) == len(told) - 1
    assert number > (20 if kind != "none" else 8)


def test_killed_between_the_copy_and_the_name_the_copy_counts_as_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The one moment in which a text is there twice."""
    shelf = Shelf(tmp_path)
    first = shelf.save(KEY, OLD)
    monkeypatch.setattr(
        "hivemind_memory.curation.save.remove_own_file", lambda *_: None
    )
    faults = Faults("replace", errno.EIO)
    faults.has_next()
    monkeypatch.setattr(os, "replace", faults)
    with pytest.raises(HivemindError):
        replace_it(shelf)
    monkeypatch.undo()

    assert len(shelf.files()) == 2
    assert [one.text for one in history(shelf.context(), KEY).memories] == [OLD]
    assert history(shelf.context(), KEY).missing == ()

    second = shelf.save(KEY, NEW, "it was the migration")

    assert len(shelf.files()) == 2
    assert second.superseded == first.id
    assert shelf.values(second.superseded_path)["superseded_by"] == second.id


@pytest.mark.parametrize("lasts", [False, True], ids=["once", "from then on"])
@pytest.mark.parametrize("name", CALLS)
def test_a_refusal_of_the_disk_at_every_call_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, lasts: bool
) -> None:
    """Refused means as it was before; saved means both are there."""
    faults = Faults(name, errno.EIO if lasts else errno.ENOSPC, lasts=lasts)
    while faults.has_next():
        shelf = Shelf(tmp_path / str(faults.fail_at))
        start(shelf, "ours")
        before = shelf.tree()
        index = ScannedIndex(shelf.notes).frozen()
        context = shelf.context(index=ShelfHandle(lambda index=index, **_: index))
        wanted = NewMemory(key=KEY, content=NEW, reason="it was the migration")
        error = None
        with monkeypatch.context() as patch:
            patch.setattr(os, faults.name, faults)
            try:
                save(context, wanted)
            except HivemindError as refused:
                error = refused
        is_sound(shelf, before=True, after=error is None)
        is_in_place = shelf.said("deploy-lesson.md").text == NEW
        if error is not None and not is_in_place and not lasts:
            assert shelf.tree() == before, error
        if is_in_place:
            assert error is None or "power failure" in str(error)


def survives(work: Callable[[], None], number: int) -> bool:
    """Do some work in a process that is killed at its call of that number."""
    pid = os.fork()
    if not pid:
        _die_at(number)
        try:
            work()
        finally:
            os._exit(0)
    return os.waitpid(pid, 0)[1] == 0


def _die_at(number: int) -> None:
    """Make this process kill itself before its call of that number."""
    count = [0]

    def dying(real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **names: Any) -> Any:
            count[0] += 1
            if count[0] == number:
                os.kill(os.getpid(), signal.SIGKILL)
            return real(*args, **names)

        return call

    for name in CALLS:
        if name not in ("stat", "fstat"):
            setattr(os, name, dying(getattr(os, name)))


@pytest.mark.parametrize(
    "is_scanned", mostly_thorough([True, False], every=2), ids=["files", "index"]
)
def test_of_twelve_processes_that_save_one_key_without_a_reason_one_wins(
    tmp_path: Path, is_scanned: bool
) -> None:
    """The others are told what is active now."""
    told = in_twelve(
        tmp_path, is_scanned, lambda shelf, at: shelf.save(KEY, f"by {at}")
    )

    shelf = Shelf(tmp_path)
    assert sorted(told) == ["saved", *["taken"] * 11]
    assert len(shelf.files()) == 1


@pytest.mark.parametrize(
    "is_scanned", mostly_thorough([True, False], every=2), ids=["files", "index"]
)
def test_of_twelve_processes_with_a_reason_each_replaces_the_one_before(
    tmp_path: Path, is_scanned: bool
) -> None:
    """A chain of twelve, without a loop and without a gap."""
    told = in_twelve(
        tmp_path,
        is_scanned,
        lambda shelf, at: shelf.save(KEY, f"by {at}", "I know better"),
    )

    shelf = Shelf(tmp_path)
    assert told == ["saved"] * 12
    chain = history(shelf.context(), KEY)
    assert len({one.text for one in chain.memories}) == len(chain.memories) == 12
    assert (chain.missing, chain.is_cut) == ((), False)
    for newer, older in zip(chain.memories, chain.memories[1:], strict=False):
        assert newer.supersedes == (older.id,)
        assert older.superseded_by == newer.id
    assert shelf.active(KEY) == ["deploy-lesson.md"]


def test_twelve_processes_with_keys_of_one_name_take_twelve_files(
    tmp_path: Path,
) -> None:
    """The names are alike, the locks are not: the last word has the file system."""
    told = in_twelve(
        tmp_path, True, lambda shelf, at: shelf.save("a" + "!" * (at + 1), f"by {at}")
    )

    shelf = Shelf(tmp_path)
    assert told == ["saved"] * 12
    assert sorted(shelf.said(path).text for path in shelf.files()) == sorted(
        f"by {at}" for at in range(12)
    )


def in_twelve(
    home: Path, is_scanned: bool, work: Callable[[Shelf, int], object]
) -> list[str]:
    """Let twelve processes do some work at one moment; return how each one went."""
    Shelf(home)
    at_s = time.time() + 0.2
    said = home / "said"
    said.mkdir()
    pids = []
    for number in range(12):
        pid = os.fork()
        if not pid:
            word = "died"
            try:
                shelf = Shelf(home, is_scanned=is_scanned, clock=Ticking(at_s))
                time.sleep(max(0.0, at_s - time.time()))
                work(shelf, number)
                word = "saved"
            except KeyTakenError:
                word = "taken"
            except BaseException as error:  # noqa: BLE001 - the parent is to hear of all
                word = repr(error)
            finally:
                (said / str(number)).write_text(word)
                os._exit(0)
        pids.append(pid)
    for pid in pids:
        os.waitpid(pid, 0)
    return sorted(file.read_text() for file in said.iterdir())
