"""Which file an agent reads first. No I/O: the caller says which files exist.

What each agent reads was verified with the agent itself; see docs/injection.md.
"""

from __future__ import annotations

from hivemind_memory.model.agents import RULES_FOLDER
from hivemind_memory.model.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

CLAUDE_FILE = "CLAUDE.md"
LOCAL_FILE = "CLAUDE.local.md"
RULES_FILE = ".claude/rules/hivemind-memory.md"
AGENTS_FILE = "AGENTS.md"
GEMINI_FILE = "GEMINI.md"
AIDER_FILE = ".aider.hivemind.md"
"""Aider reads only what ``--read`` names, so it gets a file of its own."""

CLAUDE_FILES = (CLAUDE_FILE, LOCAL_FILE, RULES_FILE)
KNOWN_FILES = (*CLAUDE_FILES, AGENTS_FILE, GEMINI_FILE, AIDER_FILE)
"""Where a section may be, whatever the settings say."""

IMPORT = b"@AGENTS.md\n"
"""Claude Code ignores AGENTS.md if there is a CLAUDE.md, unless that imports it."""

_CLAUDE = frozenset({"", "claude"})
_READS_GEMINI = frozenset({"gemini"})


@value
class TargetFile:
    """Where a section goes."""

    file: str
    """Relative to the worktree, with forward slashes."""

    fallback: str = ""
    """The file to use if git would see a change in the first one."""

    siblings: tuple[str, ...] = ()
    """Other files that the same agent reads: a section there would be a duplicate."""


def choose_target(
    agent: str, setting: str, exists: Callable[[str], bool]
) -> TargetFile:
    """Return where the section for *agent* goes.

    A setting that names one of Claude Code's files is for Claude Code alone; any other
    file is for every agent.

    Args:
        agent: Its name, such as ``claude``; empty: Claude Code.
        setting: The option ``inject_target``, checked.
        exists: Whether the worktree contains a file.
    """
    wanted = _parsed(setting)
    if wanted not in CLAUDE_FILES:
        return TargetFile(file=wanted)
    name = agent.lower()
    if name in _READS_GEMINI:
        return TargetFile(file=GEMINI_FILE)
    if name == "aider":
        return TargetFile(file=AIDER_FILE)
    if name == "opencode" and not exists(AGENTS_FILE) and exists(CLAUDE_FILE):
        # It reads CLAUDE.md if there is no AGENTS.md: a new one would hide it.
        return TargetFile(file=CLAUDE_FILE)
    if name not in _CLAUDE:  # AGENTS.md is what an unknown agent most likely reads
        return TargetFile(file=AGENTS_FILE)
    siblings = tuple(file for file in CLAUDE_FILES if file != wanted)
    fallback = RULES_FILE if wanted != RULES_FILE else ""
    return TargetFile(file=wanted, fallback=fallback, siblings=siblings)


def head_of(file: str, exists: Callable[[str], bool]) -> bytes:
    """Return what a file that we create must begin with."""
    others = (*CLAUDE_FILES[:2], ".claude/CLAUDE.md")
    is_first = not any(exists(other) for other in others if other != file)
    is_hiding = file in CLAUDE_FILES[:2] and is_first and exists(AGENTS_FILE)
    return IMPORT if is_hiding else b""


def _parsed(setting: str) -> str:
    """Return the file that a setting names."""
    if setting.rstrip("/") + "/" == RULES_FOLDER:
        return RULES_FILE
    return setting.replace("\\", "/")
