"""The names of the agents, for help, options and completion, which import only this.

How each is connected, injected for or started is in the folder that does it; a test
compares the names.
"""

from __future__ import annotations

from hivemind_memory.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

PROGRAMS = {
    "claude": "claude",
    "codex": "codex",
    "gemini": "gemini",
    "opencode": "opencode",
    "qwen": "qwen",
    "cursor": "cursor-agent",
    "aider": "aider",
}
"""Agent -> its program. Any other name means an agent that reads AGENTS.md."""

RULES_FOLDER = ".claude/rules/"
"""A folder whose files Claude Code reads, as ``inject_target`` names it."""

CONNECTABLE = ("claude", "codex", "gemini", "cursor", "opencode", "qwen", "vscode")
"""Agents that ``hm connect`` knows, in its order."""

WITH_HOOKS = ("claude", "codex", "gemini", "qwen")
"""Those of them that run a command when a session starts."""

WITH_PERMISSIONS = ("claude",)
"""Those of them whose settings can allow single tools."""

TRANSCRIPT_SOURCES = ("claude", "codex", "gemini", "opencode", "qwen")
"""Agents whose transcripts can be read, as ``session_sources`` names them."""

WITH_CAPTURE = ("claude", "codex", "gemini", "qwen")
"""Those that run a command when a session ends."""

CAPTURES = NO_CAPTURE, TO_INBOX, SAVE_SURE = ("off", "inbox", "save")
"""What the option ``capture`` may be."""

OTHER_NAMES = {
    **dict.fromkeys(("code", "vs-code", "copilot", "github-copilot"), "vscode"),
    "claude-code": "claude",
    "gemini-cli": "gemini",
    "qwen-code": "qwen",
    "qwen-cli": "qwen",
    "codex-cli": "codex",
    "open-code": "opencode",
}
"""What people call an agent, or its command -> its name here."""

PROJECT_HEADER = "Hivemind-Project"
"""HTTP header by which a connection names its project, or a folder in it."""

_GUESS = "Did you mean"
_KNOWN = "Known agents"
_SIMILAR = 0.75
"""Similarity from which a name is a typo: ``cluade`` is, ``pi`` is not. Higher than for
a mere hint, because such a name is refused, and any program may be an agent."""


def meant_agent(name: str, known: Iterable[str] = PROGRAMS) -> str:
    """Return the agent that a mistyped name means; empty if it is none or is right.

    >>> meant_agent("cluade"), meant_agent("Claude"), meant_agent("pi")
    ('claude', '', '')
    """
    from hivemind_memory.model.keys import closest  # only for names a person types

    names = list(known)
    close = closest(name, names, similarity=_SIMILAR)
    return close[0] if close and name.lower() not in names else ""


_AS_CLIENT = "-mcp-client"
"""Follows the name of some agents, and the name of a server may follow it."""


def own_name(name: str) -> str:
    """Return the name that an agent has here, whatever it is called elsewhere.

    >>> own_name("claude-code"), own_name("Claude"), own_name("My-bot")
    ('claude', 'claude', 'My-bot')
    >>> own_name("gemini-cli-mcp-client"), own_name("qwen-cli-mcp-client-hivemind")
    ('gemini', 'qwen')
    """
    low = name.lower().partition(_AS_CLIENT)[0]
    return OTHER_NAMES.get(low, low if low in PROGRAMS else name)


def check_agent(name: str, also: Iterable[str] = ()) -> None:
    """Refuse a name that looks like a mistyped agent.

    Args:
        name: Any name.
        also: Names of the user's own agents.

    Raises:
        UsageError: It is nearly, but not quite, the name of a known agent.
    """
    meant = "" if name in also else meant_agent(name)
    if meant:
        message = f"{name!r} is not an agent that hm knows; nothing was changed."
        raise UsageError(message, hint=f"{_GUESS} {meant}?")


def check_known_agent(name: str, also: Iterable[str] = ()) -> None:
    """Refuse any name that is no agent's; see ``check_agent``.

    Args:
        name: Any name.
        also: Names of the user's own agents.

    Raises:
        UsageError: It is not the name of a known agent.
    """
    check_agent(name, also)
    known = tuple(dict.fromkeys((*PROGRAMS, *also)))
    if name.lower() not in known and name not in known:
        message = f"{name!r} is not an agent that hm knows; nothing was changed."
        raise UsageError(message, hint=f"{_KNOWN}: {', '.join(known)}.")


def guess_of(error: Exception) -> str:
    """Return the hint of an error that says which agent was meant, or nothing."""
    hint = getattr(error, "hint", "")
    return hint if hint.startswith((_GUESS, _KNOWN)) else ""


def list_names(names: Iterable[str]) -> str:
    """Return names as a sentence lists them.

    >>> list_names(["claude", "codex", "gemini"])
    'claude, codex and gemini'
    """
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


def sources_named(names: str) -> tuple[str, ...]:
    """Return the agents that the option ``session_sources`` names, each once.

    >>> sources_named("codex, claude,codex")
    ('codex', 'claude')
    """
    parts = (name.strip().lower() for name in names.split(","))
    return tuple(dict.fromkeys(name for name in parts if name))
