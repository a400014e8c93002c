"""Records commands that change no memory, so that ``hm undo`` does not pass them by."""

from __future__ import annotations

from contextlib import suppress

from hivemind_memory.errors import HivemindError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from hivemind_memory.cli.command import CommandRequest


def record_command(
    request: CommandRequest, done: Sequence[str], back: Sequence[str] = ()
) -> None:
    """Record a command that a person ran; if that fails, nothing is said.

    Programs and agents run some of them all day, and the log keeps a limited number.

    Args:
        request: For which memory.
        done: Its words after ``hm``; no value that may be secret, and no key of a
            memory, which a purge would not find here.
        back: Those of the command that reverses it; empty: there is none.
    """
    from shlex import join

    from hivemind_memory.model.changes import COMMAND

    names = [join(("hm", *words)) for words in (done, back) if words]
    with suppress(HivemindError), request.open_memory(is_reported=True) as memory:
        is_typed = memory.origin == "person" or memory.find_terminal()
        if is_typed and not memory.caller.is_agent:
            memory.curation.record_other(COMMAND, *names)
