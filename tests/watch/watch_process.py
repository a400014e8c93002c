"""A process that watches a folder and prints what happens; run by tests.

Usage: watch_process.py FOLDER LOCK [SYNC_S]
"""

from __future__ import annotations

import signal
import sys
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from watch.fakes import FolderMemory, make_watcher

from hivemind_memory.model.results import SyncResult
from hivemind_memory.watch.events import WatchEvent


def main() -> None:
    folder, lock, *rest = sys.argv[1:]
    memory = FolderMemory(Path(folder))
    if rest:
        memory.sync = lambda: slow_sync(float(rest[0]))  # type: ignore[method-assign]
    watcher = make_watcher(memory, lock=Path(lock))
    stop = threading.Event()

    def on_signal(*_: object) -> None:
        stop.set()
        watcher.interrupt()

    signal.signal(signal.SIGTERM, on_signal)
    watcher.run(stop, tell)
    names = sorted(thread.name for thread in threading.enumerate())
    print("stopped with", *names, flush=True)


def slow_sync(sync_s: float) -> SyncResult:
    print("syncing", flush=True)
    time.sleep(sync_s)
    return SyncResult()


def tell(event: WatchEvent) -> None:
    print(type(event).__name__, event, flush=True)


if __name__ == "__main__":
    main()
