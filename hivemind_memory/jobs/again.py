"""Runs jobs again, or sooner, because a person says so."""

from __future__ import annotations

from hivemind_memory.state.jobs import Jobs
from hivemind_memory.state.model_rest import ModelRest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.memory.memory import Memory


def run_again(memory: Memory, number: int | None) -> int:
    """Let jobs run again; return how many. Then the language model rests no longer.

    Args:
        memory: As its owner sees it.
        number: Of the only job, which may also wait; None: all that failed or were
            interrupted.
    """
    state = memory.state()
    count = Jobs(state).retry(number, now_s=memory.clocks.now())
    if count:
        ModelRest(state).end()
    return count
