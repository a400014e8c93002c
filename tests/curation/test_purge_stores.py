"""Every file that the program creates below its home belongs to a store of a purge."""

from __future__ import annotations

import os
from fnmatch import fnmatch
from pathlib import Path

import pytest

from hivemind_memory.cli.main import main
from hivemind_memory.curation.purge_stores import FILES_WITHOUT_TEXT, STORES
from hivemind_memory.environment import git_environ
from hivemind_memory.files.places import token_file
from hivemind_memory.mcp_server.token_file import read_token
from hivemind_memory.memory.memory import Memory
from hivemind_memory.model.curation import MemorySelector, NewMemory
from hivemind_memory.model.query import Query
from hivemind_memory.model.value import replaced
from hivemind_memory.opening import (
    open_activity,
    open_injector,
    open_watcher,
)
from hivemind_memory.testing import FakeEmbedder
from hivemind_memory.working.task_context import ContextRequest, build_context
from tests.support.fake_provider import FakeProvider
from tests.support.sandbox import Sandbox
from tests.transcripts.places import put_recorded


def test_every_file_below_the_home_belongs_to_a_store(
    sandbox: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A new file must join the list, or a purge would leave the text in it."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("HIVEMIND_HOME", str(sandbox.home))
    (tmp_path / "claude").touch(0o755)  # so connect takes it for installed
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    worktree = tmp_path / "worktree"
    worktree.mkdir()
    sandbox.provider = FakeProvider(FakeEmbedder())

    with sandbox.memory() as memory:
        use_all(sandbox, memory, worktree)

    patterns = {*FILES_WITHOUT_TEXT}.union(*(store.files for store in STORES))
    created = [one.relative_to(sandbox.home) for one in sandbox.home.rglob("*")]
    files = [one.as_posix() for one in created if (sandbox.home / one).is_file()]
    assert [
        one for one in files if not any(fnmatch(one, pattern) for pattern in patterns)
    ] == []
    assert {"connections.json", "mcp-token"} <= set(files)
    for store in STORES:
        # A killed process leaves the one, an earlier version of the program the other.
        # Others are in no file of the home, but in folders of git or worktrees.
        if {*store.files[:1]} - {"memory/*.tmp", "injections.jsonl*"}:
            assert any(fnmatch(one, store.files[0]) for one in files), store.files
        assert store.files or store.git_files or store.worktree_files


def test_a_purge_deletes_what_a_killed_backup_left(sandbox: Sandbox) -> None:
    """Its copy of ``state.db`` names keys; no store covered it."""
    copy = sandbox.home / ".hm-abc" / "state.db"
    unnamed = sandbox.home / ".hm-0123456789abcdef.tmp"
    with sandbox.memory() as memory:
        memory.save(NewMemory(key="zanzibar", content="The port is 5433."))
        copy.parent.mkdir()
        for file in (copy, unnamed):
            file.write_text("zanzibar")
            os.utime(file, (1, 1))

        memory.curation.purge(MemorySelector(name="zanzibar"))

    assert not copy.parent.exists()
    assert not unnamed.exists()


def use_all(sandbox: Sandbox, memory: Memory, worktree: Path) -> None:
    """Do everything that creates files."""
    assert main(["connect", "claude", "--yes"]) == 0
    read_token(token_file(str(sandbox.home)), lambda: "a token of many letters")
    memory.write("The kettle is blue.", file="day.md")
    memory.write("A claim from a page.", source="external")
    memory.save(NewMemory(key="port", content="The port is 5433."))
    memory.save(NewMemory(key="port", content="It is 5434.", reason="it moved"))
    memory.save(NewMemory(key="claim", content="From a page.", source="external"))
    memory.record_recall(memory.search(Query(text="kettle")))
    memory.sync()
    memory.embed_pending()
    (worktree / "page.md").write_text("# Kettles\n\nThey are blue.\n")
    request = ContextRequest(max_tokens=900, root=str(worktree), task="kettle")
    build_context(memory, request, environ=git_environ())
    open_injector(memory).inject(str(worktree))
    put_recorded(worktree.parent, "claude")
    reading = replaced(memory.settings, session_sources="claude")
    memory.settings, settings = reading, memory.settings
    with open_activity(memory) as activity:
        activity.read()
    memory.settings = settings
    assert main(["config", "set", "max_note_mb", "7"]) == 0
    assert main(["backup", str(worktree.parent / "backup.tar.gz")]) == 0
    memory.forget(MemorySelector(name="port"))
    memory.rebuild()
    sandbox.index_file.write_bytes(b"damaged " * 1000)
    memory.search(Query(text="kettle"))
    memory.diagnose()
    open_watcher(memory)
    memory.curation.purge(MemorySelector(name="port"), is_dry_run=True)
