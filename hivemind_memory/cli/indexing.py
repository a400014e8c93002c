"""Updates the index around an answer: with progress before it, the rest after it."""

from __future__ import annotations

import sys
from contextlib import contextmanager, suppress

from hivemind_memory.cli.output import is_terminal, print_notices
from hivemind_memory.errors import IndexUnusableError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from hivemind_memory.memory import Memory

SYNC_KEPT = (
    "no note was changed, and what was indexed so far is kept; `hm sync` resumes"
)
"""What a person who stops an update of the index wants to know."""

MAX_REST_S = 20
"""What the largest note takes to index, twice over."""


@contextmanager
def stop_notice(kept: str) -> Iterator[None]:
    """Say what is kept when a person stops what is done meanwhile."""
    try:
        yield
    except KeyboardInterrupt:
        print_notices([f"stopped: {kept}"])
        raise


def catch_up(memory: Memory) -> None:
    """Index what changed and show progress, for a person who would see nothing.

    A search and a list do it too, but cannot show how far they are, and a search leaves
    large notes for later: a person waits for them, and gets one whole answer.
    """
    if is_terminal(sys.stderr) and memory.settings.enabled:
        from hivemind_memory.cli.progress import ProgressDisplay

        try:
            with stop_notice(SYNC_KEPT), ProgressDisplay() as progress:
                memory.sync(progress, keeps_rebuild=True)
        except IndexUnusableError:
            return  # the answer comes without the index, and says so


def finish_indexing(memory: Memory) -> None:
    """Index the large notes that an answer did not wait for: the next one has them.

    So it is for a program. The process would else end before the thread that indexes
    them does.
    """
    wait = memory.index_handle.wait_for_rest
    with suppress(KeyboardInterrupt):
        is_done = wait(0)
        if is_done is False:
            print_notices([f"indexing them now, which takes {MAX_REST_S} s at most"])
            is_done = wait(MAX_REST_S)
            if not is_done:
                print_notices(["not finished: `hm sync` indexes the rest"])
        if is_done:
            print_notices(["indexed now: search again for an answer from all notes"])
