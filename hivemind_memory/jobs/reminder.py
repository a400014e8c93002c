"""Reminds an agent, once a session, to save what it learned: without a language model.

Where one is chosen, sessions are captured by it and no agent is reminded.
"""

from __future__ import annotations

from hivemind_memory.errors import HivemindError
from hivemind_memory.model.agents import NO_CAPTURE
from hivemind_memory.model.display import first_few
from hivemind_memory.model.listing import MemoryFilter
from hivemind_memory.model.scope import GLOBAL
from hivemind_memory.model.trust import is_trusted
from hivemind_memory.redaction import mask
from hivemind_memory.state.captures import Captures

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.memory.memory import Memory
    from hivemind_memory.transcripts.one_session import SessionReader

MIN_PROMPTS = 3
"""Messages of the user before an agent is reminded: a question or two teach little."""

_MAX_NAMED = 10
_KEY_CHARS = 60


def find_reminder(
    memory: Memory,
    sessions: SessionReader,
    agent: str,
    session: str,
    transcript: str,
) -> str:
    """Return what to tell an agent; empty: nothing, or it was told already.

    Args:
        memory: Of the hook, in the folder of the session.
        sessions: Reads transcripts.
        agent: Its name.
        session: Of the agent.
        transcript: The file, as the agent names it.

    Raises:
        StateUnusableError: That it was told cannot be kept.
    """
    settings = memory.settings
    is_wanted = settings.enabled and settings.capture != NO_CAPTURE
    if not is_wanted or settings.llm_provider != "none" or not session:
        return ""
    captures = Captures(memory.state())
    if captures.is_reminded(agent, session):
        return ""
    prompts, began_at_s = sessions.count_prompts(agent, transcript, most=MIN_PROMPTS)
    if prompts < MIN_PROMPTS:
        return ""
    if not captures.take_reminder(agent, session, now_s=memory.clocks.now()):
        return ""
    return _text(_saved_since(memory, began_at_s))


def _saved_since(memory: Memory, began_at_s: float) -> list[str]:
    """Return what was saved since a session began, the newest first."""
    if not began_at_s:
        return []
    # Times of memories have whole seconds.
    since = memory.clocks.local_iso(int(began_at_s))
    try:
        items = memory.curation.log(MemoryFilter(since=since))
    except HivemindError:
        return []
    scopes = _scopes_of_agent(memory)
    items = tuple(
        item for item in items if item.scope in scopes and is_trusted(item.source)
    )
    names = [item.key or f"a note in {item.path}" for item in items]
    return [mask(name)[:_KEY_CHARS] for name in dict.fromkeys(names)]


def _scopes_of_agent(memory: Memory) -> frozenset[str]:
    """Return the scopes that the agent of the session sees.

    Agents run hooks in a shell that is its owner's, and that sees all of them.
    """
    scopes = memory.caller.scopes
    if scopes is not None:
        return scopes
    return frozenset({memory.here.find(False), GLOBAL})  # noqa: FBT003 - no write


def _text(saved: list[str]) -> str:
    """Return the reminder."""
    if saved:
        named = first_few(saved, _MAX_NAMED)
        already = f"Saved in this project since the session began: {named}."
    else:
        already = "Nothing has been saved in this project since the session began."
    return (
        "Before you finish: did this session teach something that later sessions should"
        " know and that the repository does not say, such as a decision and its reason,"
        " a preference of the user, or a pitfall? If so, keep each by itself now: what"
        " happened or was found with memory_write or `hm write`, the one current answer"
        f" with memory_save or `hm save`. {already} If there is nothing more to"
        " save, just finish; you are asked once a session."
    )
