"""Counts what a memory is used for: its recalls, searches and embedded texts.

Nothing here makes an answer or an embedding fail: what cannot be counted now is not.
"""

from __future__ import annotations

from contextlib import contextmanager

from hivemind_memory.state.recall_log import count_search
from hivemind_memory.state.use_days import AskedBy, UseDays

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from hivemind_memory.access.rules import Caller
    from hivemind_memory.model.clocks import Clocks
    from hivemind_memory.model.query import SearchAnswer
    from hivemind_memory.providers.provider import Provider
    from hivemind_memory.state.state_file import StateFile


def count_answer(
    answer: SearchAnswer,
    agent: str,
    caller: Caller,
    state: StateFile,
    clocks: Clocks,
    provider: Provider,
) -> bool:
    """Count a search, and a recall of each of its hits; return whether that was done.

    Args:
        answer: What was found.
        agent: Name of the agent that asked; empty: a person.
        caller: The scopes of who asked.
        state: Where it is counted.
        clocks: Tell the day.
        provider: Knows what was sent for embedding since it was last asked.
    """
    asked = AskedBy(
        day=clocks.today(),
        workspace=caller.workspace,
        project=caller.project,
        agent=agent,
    )
    return count_search(state, answer, clocks.now(), asked, provider.take_sent())


@contextmanager
def counting_sent(
    state: Callable[[], StateFile], clocks: Clocks, provider: Provider
) -> Iterator[None]:
    """Count what is sent for embedding meanwhile, also if that fails."""
    try:
        yield
    finally:
        UseDays(state()).count_sent(provider.take_sent(), clocks.today())
