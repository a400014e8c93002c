"""The file of transcripts is one file to all processes, whoever makes it anew."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from hivemind_memory.errors import IndexUnusableError
from hivemind_memory.sqlite.connection import write_transaction
from hivemind_memory.transcripts.store import TranscriptStore


def add(store: TranscriptStore, name: str) -> None:
    with store.opened() as connection, write_transaction(connection):
        connection.execute("INSERT INTO meta(key, value) VALUES (?, 1)", (name,))


def names(store: TranscriptStore) -> list[str]:
    with store.opened() as connection:
        rows = connection.execute("SELECT key FROM meta ORDER BY key").fetchall()
        return [str(name) for (name,) in rows]


def test_a_file_that_another_process_made_anew_is_opened_anew(tmp_path: Path) -> None:
    """A server answered from the deleted one, and found what was purged since."""
    one, other = (TranscriptStore(str(tmp_path / "transcripts.db")) for _ in range(2))
    add(one, "purged since")
    for file in tmp_path.glob("transcripts.db*"):
        file.unlink()
    add(other, "read anew")

    assert names(one) == ["read anew"]

    one.close()
    other.close()


def test_two_that_make_the_file_at_once_have_one_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The one that looked first took the log of the other for that of an old file."""
    path = str(tmp_path / "transcripts.db")
    one, other = TranscriptStore(path), TranscriptStore(path)
    monkeypatch.setattr("hivemind_memory.transcripts.store.LOCK_WAIT_S", 0.0)
    real, done = os.path.exists, list[str]()

    def exists(name: Any) -> bool:
        if name == f"{path}-wal" and not done:
            done.append(name)
            with suppress(IndexUnusableError):  # it is not its turn
                add(other, "of the other")
        return real(name)

    with monkeypatch.context() as patched:
        patched.setattr(os.path, "exists", exists)
        add(one, "of the first")

    assert done
    if "of the other" not in names(other):
        add(other, "of the other")
    assert names(one) == names(other) == ["of the first", "of the other"]
    one.close()
    other.close()
