"""What other processes read before a purge does not come back after its receipt."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from hivemind_memory.curation import purge_stores
from hivemind_memory.index.sqlite.engine import SqliteEngine
from hivemind_memory.index.sqlite.index import SqliteIndex
from hivemind_memory.index.sqlite.lock import index_lock
from hivemind_memory.index.sqlite.swap import replace_index
from hivemind_memory.memory import sync
from hivemind_memory.model.curation import PurgeResult
from tests.support.purge_rig import Bench, traces, words_of
from tests.support.sandbox import Sandbox

ENTRY_ID = "01M81TN0CR7EVB3KPXN8M50S78"
SECRET = "Zanzibarquux wombatopolis keeps flimmerkeks in vault xylophonist."
ENTRY = (
    f"<!-- hm id={ENTRY_ID} at=2026-11-22T14:03:11+01:00 by=claude source=agent -->\n"
    f"{SECRET}\n"
)
MEMORY = f"""---
id: {ENTRY_ID}
type: fact
key: vault
source: human
created: 2026-11-22T14:03:11+01:00
---

{SECRET}
"""


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bench]:
    # Notes are read without the lock of the writers, as when many have changed.
    monkeypatch.setattr(sync, "QUICK_NOTES", -1)
    sandbox = Sandbox(tmp_path / "home")
    with sandbox.memory() as memory:
        yield Bench(sandbox, memory)


def purge_before(
    bench: Bench, method: str, busy: Callable[[], object]
) -> list[PurgeResult]:
    """Run *busy*, and purge right before it first calls a method of an index."""
    receipts: list[PurgeResult] = []
    real = getattr(SqliteIndex, method)

    def purge_first(index: SqliteIndex, *args: Any, **kwargs: Any) -> Any:
        patch.stop()
        receipts.append(bench.purge(ENTRY_ID))
        return real(index, *args, **kwargs)

    patch = mock.patch.object(SqliteIndex, method, purge_first)
    patch.start()
    busy()
    return receipts


def left_of(bench: Bench) -> list[str]:
    return traces(bench.sandbox.home, words_of(SECRET), bench.sandbox.index_file)


@pytest.mark.parametrize(
    ("before", "with_secret"),
    [
        pytest.param(
            "# Notes\n\nweather\n", f"# Notes\n\nweather\n\n{ENTRY}", id="entry"
        ),
        pytest.param(None, MEMORY, id="memory"),
    ],
)
def test_an_index_that_is_again_as_it_was_does_not_take_an_older_reading(
    bench: Bench, before: str | None, with_secret: str
) -> None:
    """The text was written, read, purged; the index holds what it held at first."""
    if before is not None:
        bench.sandbox.save("n.md", before)
    with bench.sandbox.memory() as busy:
        busy.sync()
        bench.sandbox.save("n.md", with_secret)

        receipts = purge_before(bench, "replace", busy.sync)

        assert [receipt.is_complete for receipt in receipts] == [True]
        assert left_of(bench) == []


def test_a_rebuild_that_read_the_notes_before_the_purge_brings_nothing_back(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It ends between the change of the notes and the cleaning of the index."""
    bench.sandbox.save("n.md", MEMORY)
    stale = SqliteIndex(str(bench.sandbox.home / "stale.db"), now=time.time)
    bench.memory.index_handle.syncer.sync(stale)
    real = SqliteEngine.vacuum

    def vacuum(engine: SqliteEngine, *args: Any, **kwargs: Any) -> Any:
        path = str(bench.sandbox.index_file)
        with index_lock(path):
            replace_index(stale, path)
        stale.close()
        for end in ("", "-wal", "-shm"):
            (bench.sandbox.home / f"stale.db{end}").unlink(missing_ok=True)
        return real(engine, *args, **kwargs)

    monkeypatch.setattr(SqliteEngine, "vacuum", vacuum)

    receipt = bench.purge(ENTRY_ID)

    assert receipt.is_complete
    assert bench.found("zanzibarquux") == []
    assert left_of(bench) == []


def test_a_receipt_says_when_the_index_could_not_be_updated_again(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.sandbox.save("n.md", MEMORY)
    bench.memory.sync()
    problem = purge_stores.HivemindError("The index is in use.")
    monkeypatch.setattr(
        "hivemind_memory.memory.open_index.IndexHandle.index_after_purge",
        mock.Mock(side_effect=problem),
    )

    receipt = bench.purge(ENTRY_ID)

    assert [(one.what, one.why) for one in receipt.left] == [
        ("index", "The index is in use.")
    ]
