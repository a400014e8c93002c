"""The command watch: stays, and tells on one line each what the watcher does."""

from __future__ import annotations

import signal
import threading
import time

from hivemind_memory import wiring
from hivemind_memory.cli.escape import escape_line
from hivemind_memory.cli.render import count_text
from hivemind_memory.cli.streams import write_stdout
from hivemind_memory.watch.events import (
    Embedded,
    Following,
    Leading,
    StateChanged,
    Synced,
    SyncFailed,
    WatchEvent,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType

    from hivemind_memory.cli.parse import CommandRequest
    from hivemind_memory.model.results import EmbedResult, SyncResult


def watch(request: CommandRequest) -> int:
    """Keep the index in step until Ctrl-C or a polite kill."""
    stop = threading.Event()
    with wiring.open_memory(memory_dir=request.memory_dir) as memory:
        watcher = wiring.open_watcher(memory)

        def end(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
            stop.set()
            watcher.interrupt()

        before = signal.signal(signal.SIGTERM, end)
        try:
            watcher.run(stop, _print_event)
        finally:
            signal.signal(signal.SIGTERM, before)
    return 0


def event_line(event: WatchEvent) -> str:
    """Return what to tell about an event; empty when it is nobody's concern."""
    line = ""
    match event:
        case Following(leader=leader):
            line = f"{leader or 'another process'} watches already; waiting its turn"
        case Leading():
            line = "watching; Ctrl-C ends it"
        case StateChanged(state=state):
            is_told = state.mode == "native"
            looking = f"looking every few seconds: {state.reason}"
            line = "the system tells of changes" if is_told else looking
        case Synced(result=result) if event.is_notable:
            line = _sync_line(result)
        case SyncFailed(error=error, retry_in_s=retry_in_s):
            line = f"could not sync: {error} Trying again in {retry_in_s:.0f} s."
        case Embedded(result=embedding):
            line = _embedding_line(embedding)
    return line


def _print_event(event: WatchEvent) -> None:
    """Print one event with the time of day."""
    line = event_line(event)
    if line:
        write_stdout(f"{time.strftime('%H:%M:%S')} {escape_line(line)}\n")


def _sync_line(result: SyncResult) -> str:
    """Return what a sync did, leaving out what it did not do."""
    done = [
        (result.added, "added"),
        (result.updated, "updated"),
        (result.removed, "removed"),
        (result.recovered, "put back"),
        (len(result.skipped), "skipped"),
    ]
    said = ", ".join(f"{number:,} {what}" for number, what in done if number)
    notes = count_text(result.added + result.updated + result.unchanged, "note")
    return f"{said or 'in step'}; {notes} ({1000 * result.took_s:.0f} ms)"


def _embedding_line(embedding: EmbedResult) -> str:
    """Return what an embedding run did; empty when there was nothing to do."""
    said = []
    if embedding.embedded or embedding.from_cache:
        number = embedding.embedded + embedding.from_cache
        said.append(f"{count_text(number, 'vector')} made")
    if embedding.pending and embedding.problem:
        said.append(f"{embedding.pending:,} waiting: {embedding.problem}")
    return ", ".join(said)
