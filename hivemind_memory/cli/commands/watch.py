"""hm watch: keeps the index up to date, and prints a line for each event."""

from __future__ import annotations

import os

from hivemind_memory.cli.command import CommandRequest, command
from hivemind_memory.cli.output import print_line
from hivemind_memory.model.display import count_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType

    from hivemind_memory.model.results import EmbedResult, SyncResult
    from hivemind_memory.watch.events import WatchEvent
    from hivemind_memory.watch.watcher import Watcher

_MISSING_S = 2.0
"""Between two looks for a notes folder that a changed link leads to."""


@command("watch")
def watch(request: CommandRequest) -> int:
    """Index changes until Ctrl-C or SIGTERM."""
    import signal
    import threading

    from hivemind_memory import opening
    from hivemind_memory.access.rules import check_owner

    stop = threading.Event()
    watcher: Watcher | None = None

    def end(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
        stop.set()
        if watcher is not None:
            watcher.interrupt()

    before = signal.signal(signal.SIGTERM, end)
    try:
        while not stop.is_set():
            with request.open_memory() as memory:
                # It tells how many notes there are, and what each change did.
                check_owner(memory.caller, "hm watch")
                # Watching would make the folder: of a drive that is not mounted.
                if watcher is not None and not os.path.isdir(memory.places.notes):
                    stop.wait(_MISSING_S)
                    continue
                watcher = opening.open_watcher(memory)
                watcher.run(stop, _print_event)
    finally:
        signal.signal(signal.SIGTERM, before)
    return 0


def event_line(event: WatchEvent) -> str:
    """Return the line for an event; empty if nothing is worth printing."""
    from hivemind_memory.watch.events import (
        Embedded,
        Following,
        Leading,
        StateChanged,
        Synced,
        SyncFailed,
    )

    line = ""
    match event:
        case Following(leader=leader):
            line = f"{leader or 'another process'} is already watching; on standby"
        case Leading():
            line = "watching; Ctrl-C stops"
        case StateChanged(state=state):
            polling = f"checking every few seconds: {state.reason}"
            is_native = state.mode == "native"
            line = "the system reports changes" if is_native else polling
        case Synced(result=result) if event.is_notable:
            line = _sync_line(result)
        case SyncFailed(error=error, retry_in_s=retry_in_s):
            line = f"could not sync: {error} Trying again in {retry_in_s:.0f} s."
        case Embedded(result=embedding):
            line = _embedding_line(embedding)
    return line


def _print_event(event: WatchEvent) -> None:
    """Print one event with the time of day."""
    import time

    line = event_line(event)
    if line:
        print_line(f"{time.strftime('%H:%M:%S')} {line}")


def _sync_line(result: SyncResult) -> str:
    """Return what a sync did, leaving out what it did not do."""
    done = [
        (result.added, "added"),
        (result.updated, "updated"),
        (result.removed, "removed"),
        (result.recovered, "restored"),
        (len(result.skipped), "skipped"),
    ]
    counts = ", ".join(f"{number:,} {what}" for number, what in done if number)
    notes = count_text(result.added + result.updated + result.unchanged, "note")
    return f"{counts or 'up to date'}; {notes} ({1000 * result.took_s:.0f} ms)"


def _embedding_line(embedding: EmbedResult) -> str:
    """Return what an embedding run did; empty if there was nothing to do."""
    parts = []
    if embedding.embedded or embedding.from_cache:
        number = embedding.embedded + embedding.from_cache
        parts.append(f"{count_text(number, 'vector')} made")
    if embedding.pending and embedding.problem:
        parts.append(f"{embedding.pending:,} pending: {embedding.problem}")
    return ", ".join(parts)
