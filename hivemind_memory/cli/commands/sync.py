"""hm sync and rebuild: update the index, or rebuild it from the notes."""

from __future__ import annotations

import errno
import os

from hivemind_memory.cli.command import CommandRequest, command
from hivemind_memory.cli.indexing import SYNC_KEPT
from hivemind_memory.cli.options import JSON
from hivemind_memory.cli.output import (
    print_indexed,
    print_line,
    print_notices,
    print_sync,
)
from hivemind_memory.files.errors import reason_of
from hivemind_memory.model.display import count_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.memory import Memory
    from hivemind_memory.memory.note_indexer import Progress
    from hivemind_memory.model.results import (
        EmbedResult,
        SyncResult,
    )

_REBUILD_KEPT = (
    "no note was changed, and the old index still answers; `hm rebuild` resumes,"
    " `hm sync` removes the unfinished one"
)
_INDEX_KEPT = (
    "no note was changed; the index is complete, and the vectors computed so far are"
    " kept; `hm sync` resumes"
)


@command(
    "sync",
    description=(
        "Searches update the index, too; hm sync also shows progress, computes missing"
        " vectors and reads new lines of transcripts."
    ),
    flags=(JSON,),
)
def sync(request: CommandRequest) -> int:
    """Update the index."""
    result, embedding = _index(request, "hm sync", should_rebuild=False)
    print_sync(result, embedding, as_json=request.values["json"])
    with request.open_memory(is_reported=True) as memory:
        if memory.settings.session_sources:
            from hivemind_memory.cli.commands.activity import read_rest

            print_notices(read_rest(memory))
    return _code_of(result)


@command(
    "rebuild",
    description=(
        "The old index answers until the new one is complete, and no text is sent to"
        " the embedding provider a second time."
    ),
    flags=(JSON,),
)
def rebuild(request: CommandRequest) -> int:
    """Rebuild the index."""
    result, embedding = _index(request, "hm rebuild", should_rebuild=True)
    if request.values["json"]:
        print_sync(result, embedding, as_json=True)
        return _code_of(result)
    notes = count_text(result.added + result.updated + result.unchanged, "note")
    chunks = count_text(result.chunks, "chunk")
    print_line(f"rebuilt the index: {notes}, {chunks} ({result.took_s:.2f} s)")
    print_indexed(result, embedding)
    return _code_of(result)


def _code_of(result: SyncResult) -> int:
    """Return 1 if notes were not read for want of descriptors: the next try may."""
    lack = OSError(errno.EMFILE, os.strerror(errno.EMFILE))
    is_short = any(reason_of(lack) in note.reason for note in result.skipped)
    return 1 if is_short else 0


def _index(
    request: CommandRequest, name: str, *, should_rebuild: bool
) -> tuple[SyncResult, EmbedResult]:
    """Update or rebuild the index, and compute missing vectors."""
    from hivemind_memory.access.rules import check_owner
    from hivemind_memory.cli.progress import ProgressDisplay

    kept = _REBUILD_KEPT if should_rebuild else SYNC_KEPT
    try:
        with request.open_memory() as memory, ProgressDisplay() as progress:
            check_owner(memory.caller, name)
            if should_rebuild:
                result = memory.rebuild(_say_resumed(memory, progress))
            else:
                result = memory.sync(progress)
            kept = _INDEX_KEPT
            # A person who has just set the key waits for no minute.
            return result, memory.embed_pending(progress, should_ask=True)
    except KeyboardInterrupt:
        print_notices([f"stopped: {kept}"])
        raise


def _say_resumed(memory: Memory, progress: Progress) -> Progress:
    """Return *progress*, which first says so if an interrupted rebuild is resumed."""
    if not os.path.exists(memory.places.rebuild_file):
        return progress
    said = False

    def show(phase: str, done: int, total: int) -> None:
        nonlocal said
        if not said:
            said = True
            print_notices(["resuming the interrupted rebuild; what it indexed is kept"])
        progress(phase, done, total)

    return show
