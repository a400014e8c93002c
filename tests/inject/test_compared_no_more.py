"""What a memory no longer says is compared no more, and its hashes leave the file."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from hivemind_memory.inject.find_copies import VERSION, Known
from hivemind_memory.inject.letters import HASH_BYTES, letters, readable, runs_of
from hivemind_memory.memory.memory import Memory
from hivemind_memory.model.curation import MemorySelector, NewMemory, PurgeResult
from hivemind_memory.opening import open_injector
from tests.inject.repos import PUSH, add_remote, git, tracked
from tests.inject.test_escape import shell
from tests.inject.test_quoted_memories import MEMORY, OTHER, TOLD
from tests.support.sandbox import Sandbox

THIRD = "Invoices older than ninety days are archived by the ledger job in Rotterdam."


@pytest.fixture
def sandbox(tmp_path: Path) -> Sandbox:
    """A home."""
    return Sandbox(tmp_path / "home")


@pytest.fixture
def memory(sandbox: Sandbox) -> Iterator[Memory]:
    """A memory with two typed memories that every section shows."""
    with sandbox.memory() as memory:
        memory.save(NewMemory(key="queue", content=MEMORY, type="lesson"))
        memory.save(NewMemory(key="refund", content=OTHER, type="lesson"))
        yield memory


@pytest.fixture
def worktree(memory: Memory, tmp_path: Path) -> Path:
    """A worktree whose section quotes both."""
    made = tracked(tmp_path)
    add_remote(tmp_path, made)
    open_injector(memory).inject(str(made))
    assert MEMORY in (made / "CLAUDE.md").read_text()
    (made / "notes.txt").write_text(f"{MEMORY}\n{OTHER}\n")
    assert shell(made, PUSH).returncode != 0
    return made


def _hide(memory: Memory, key: str) -> None:
    """Forget a memory, but leave the sections as they are."""
    memory.curation.stored.hide([memory.curation.show(key).memory.path])


def _purge(memory: Memory, name: str, *, is_dry_run: bool = False) -> PurgeResult:
    """Purge a memory, as `hm forget --purge` does."""
    return memory.curation.purge(
        MemorySelector(name=name),
        is_dry_run=is_dry_run,
    )


def _forget(memory: Memory, _home: Path) -> None:
    memory.forget(MemorySelector(name="refund"))


def _supersede(memory: Memory, _home: Path) -> None:
    memory.save(
        NewMemory(key="refund", content=THIRD, type="lesson", reason="it moved")
    )


def _expire(_memory: Memory, home: Path) -> None:
    _edit(home, "---\n", "---\nexpires: 2020-01-01\n")


def _reword(_memory: Memory, home: Path) -> None:
    _edit(home, OTHER, THIRD)


def _delete(_memory: Memory, home: Path) -> None:
    (home / "memory" / "refund.md").unlink()


def _purge_it(memory: Memory, _home: Path) -> None:
    _purge(memory, "refund")


def _edit(home: Path, old: str, new: str) -> None:
    """Edit the note by hand."""
    note = home / "memory" / "refund.md"
    text = note.read_text()
    assert old in text
    note.write_text(text.replace(old, new, 1))


ENDS = [_forget, _supersede, _expire, _reword, _delete, _purge_it]


@pytest.mark.parametrize("end", ENDS)
def test_a_memory_that_is_over_is_compared_no_more(
    end: Callable[[Memory, Path], None],
    memory: Memory,
    sandbox: Sandbox,
    worktree: Path,
) -> None:
    """Forgotten, replaced, expired, edited, deleted or purged: only the other is told.

    At once, without another injection.
    """
    end(memory, sandbox.home)

    done = shell(worktree, PUSH)

    assert done.returncode == 0, done.stderr
    assert done.stderr.startswith(TOLD + b"notes.txt:1: The portcullis")
    assert b"refund webhook" not in done.stderr


@pytest.mark.parametrize("end", ENDS)
def test_the_next_injection_removes_the_hashes_of_a_memory_that_is_over(
    end: Callable[[Memory, Path], None],
    memory: Memory,
    sandbox: Sandbox,
    worktree: Path,
) -> None:
    """And those of the other stay."""
    end(memory, sandbox.home)

    open_injector(memory).inject(str(worktree))

    assert not _hashed(worktree / ".git", OTHER)
    assert _hashed(worktree / ".git", MEMORY)


def test_what_is_restored_is_compared_again(memory: Memory, worktree: Path) -> None:
    """The hashes are still there, or the next injection makes them again."""
    _hide(memory, "refund")
    memory.curation.restore(MemorySelector(name="refund"))
    assert shell(worktree, PUSH).returncode != 0

    memory.forget(MemorySelector(name="refund"))
    (worktree / "notes.txt").unlink()
    open_injector(memory).inject(str(worktree))
    memory.curation.restore(MemorySelector(name="refund"))
    open_injector(memory).inject(str(worktree))
    (worktree / "notes.txt").write_text(f"{MEMORY}\n{OTHER}\n")

    assert shell(worktree, PUSH).returncode != 0


def test_what_an_earlier_version_kept_goes_unless_it_is_shown_again(
    memory: Memory, worktree: Path
) -> None:
    """It named no notes, so a memory that was forgotten would be compared for ever."""
    kept = worktree / ".git" / "info" / "hivemind-words"
    older = re.sub(r"(?m)^(memory \S+ \S+ \S+) .*$", r"\1", kept.read_text())
    kept.write_text(older.replace(VERSION, "hivemind-words 3"))
    _hide(memory, "refund")
    assert shell(worktree, PUSH).returncode != 0

    open_injector(memory).inject(str(worktree))

    assert not _hashed(worktree / ".git", OTHER)
    assert _hashed(worktree / ".git", MEMORY)
    assert shell(worktree, PUSH).returncode == 0


def test_where_the_notes_cannot_be_read_all_is_compared(
    sandbox: Sandbox, worktree: Path
) -> None:
    """A drive that is not mounted makes no memory free."""
    shutil.move(sandbox.home / "memory", sandbox.home / "elsewhere")

    assert shell(worktree, PUSH).returncode != 0


def test_a_purge_removes_the_hashes_of_the_text(memory: Memory, worktree: Path) -> None:
    """Its receipt counts them, as the dry run does; they were kept for ever."""
    planned = _purge(memory, "refund", is_dry_run=True)
    assert _hashed(worktree / ".git", OTHER)

    receipt = _purge(memory, "refund")

    assert _count(planned) == _count(receipt) == 1
    assert not _hashed(worktree / ".git", OTHER)
    assert "refund" not in _text(worktree / ".git")
    assert _hashed(worktree / ".git", MEMORY)


def test_a_purged_entry_leaves_no_hash_and_the_rest_of_its_note_stays(
    memory: Memory, sandbox: Sandbox, tmp_path: Path
) -> None:
    """The note is still there, with other entries."""
    made = tracked(tmp_path)
    kept = memory.write(f"In the shop: {MEMORY}", file="shop.md")
    entry = memory.write(f"In the shop: {OTHER}", file="shop.md")
    open_injector(memory).inject(str(made))
    assert _hashed(made / ".git", OTHER)
    memory.forget(MemorySelector(name="refund"))

    receipt = _purge(memory, entry.id)
    _purge(memory, "refund")

    assert kept.id in (sandbox.home / "memory" / "shop.md").read_text()
    assert receipt.is_complete
    assert not _hashed(made / ".git", OTHER)
    assert _hashed(made / ".git", MEMORY)


def test_a_purge_reaches_a_repository_whose_worktree_is_gone(
    memory: Memory, tmp_path: Path
) -> None:
    """Agents' worktrees are removed; the git folder that keeps the hashes is not."""
    made = tracked(tmp_path)
    git(made, "worktree", "add", "-q", "-b", "task", str(tmp_path / "task"))
    open_injector(memory).inject(str(tmp_path / "task"))
    git(made, "worktree", "remove", "-f", str(tmp_path / "task"))
    assert _hashed(made / ".git", OTHER)

    receipt = _purge(memory, "refund")

    assert _count(receipt) == 1
    assert not _hashed(made / ".git", OTHER)


def test_a_purge_says_that_hashes_could_not_be_removed(
    memory: Memory, worktree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And the command that finishes it removes them."""
    from hivemind_memory.inject import word_file

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    with monkeypatch.context() as patch:
        patch.setattr(word_file, "write_file", refuse)
        receipt = _purge(memory, "refund")
    assert not receipt.is_complete
    [left] = [item for item in receipt.left if item.what.endswith(".git")]
    assert "Permission denied" in left.why
    assert _hashed(worktree / ".git", OTHER)

    assert _purge(memory, "refund").is_complete
    assert not _hashed(worktree / ".git", OTHER)


def test_every_file_that_an_injection_leaves_in_git_belongs_to_a_store(
    memory: Memory, tmp_path: Path
) -> None:
    """One that a purge does not know of would keep the text, or its hashes."""
    from fnmatch import fnmatch

    from hivemind_memory.curation.purge_stores import GIT_FILES_WITHOUT_TEXT, STORES

    made = tracked(tmp_path)
    git(made, "init", "-q", "--bare", "../remote")
    git(made, "push", "-q", "../remote", "main:theirs")
    before = _contents(made / ".git")

    open_injector(memory).inject(str(made))
    shell(made, "git pull -q ../remote theirs && git push -q ../remote main")

    patterns = {*GIT_FILES_WITHOUT_TEXT, "*_HEAD", "logs/*", "objects/*", "refs/*"}
    patterns.update(*(store.git_files for store in STORES))
    after = _contents(made / ".git")
    changed = [name for name in after if after[name] != before.get(name)]
    assert "info/hivemind-words" in changed
    assert [
        name
        for name in changed
        if not any(fnmatch(name, pattern) for pattern in patterns)
    ] == []


def _contents(folder: Path) -> dict[str, bytes]:
    """Return each file below a folder."""
    return {
        os.path.relpath(file, folder): file.read_bytes()
        for file in folder.rglob("*")
        if file.is_file()
    }


def _count(receipt: PurgeResult) -> int:
    """Return of how many memories a receipt says that hashes are removed."""
    [found] = [one for one in receipt.places if one.name == "hashes in git folders"]
    return found.count


def _text(git_folder: Path) -> str:
    """Return the file of hashes, its words from hexadecimal."""
    text = (git_folder / "info" / "hivemind-words").read_text()
    words = [word for word in text.split() if len(word) % 2 == 0]
    plain = b""
    for word in words:
        try:
            plain += bytes.fromhex(word)
        except ValueError:
            continue
    return text + plain.decode("utf-8", "replace")


def _hashed(git_folder: Path, text: str) -> bool:
    """Whether the file of hashes has one of a text, made with its key."""
    known = Known((git_folder / "info" / "hivemind-words").read_text())
    data = letters(readable(text))
    wanted = {known.hash_of(run) for run in (*runs_of(data), data)}
    kept = {bytes.fromhex(memory.name) for memory in known.memories}
    for memory in known.memories:
        runs = memory.runs
        kept |= {runs[at : at + HASH_BYTES] for at in range(0, len(runs), HASH_BYTES)}
    return not wanted.isdisjoint(kept)
