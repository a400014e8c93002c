"""The section for an agent whose hook asks for it: for a session or for a subagent.

No file of the worktree is written. What a hook may return is limited, so the last
memories are dropped until the section fits. An agent that starts no session after it
has compressed one gets the section with the next prompt.
"""

from __future__ import annotations

import json
from contextlib import suppress

from hivemind_memory.files.descriptors import open_regular
from hivemind_memory.inject.agent_files import CLAUDE_FILES
from hivemind_memory.inject.injection_record import is_for_others
from hivemind_memory.inject.section import section_body
from hivemind_memory.inject.section_file import has_section
from hivemind_memory.inject.section_form import HEADLINE
from hivemind_memory.model.injection import LeftOut, Selection
from hivemind_memory.model.injection_outcomes import PLANNED
from hivemind_memory.model.value import replaced

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from hivemind_memory.inject.injector import Injector
    from hivemind_memory.model.injection import SectionPlan
    from hivemind_memory.state.injection_log import InjectionLog


LIMIT_CHARS = 9_000
"""Claude Code 2.1.330 shows that many in full, and only a preview of 11,000. Its
documentation says 10,000."""

WITHOUT_FILES = frozenset({"Explore", "Plan"})
"""Subagents of Claude Code that are not given its files: they know no CLAUDE.md."""

_CHANGE = b'{"$set"'
"""So begins a line of a transcript that is no message."""


def session_start_section(
    injector: Injector,
    worktree: str,
    agent: str,
    log: InjectionLog,
    *,
    reads_files: bool = True,
    note: Callable[[str], None] = lambda _: None,
) -> str:
    """Return the section for a session in *worktree*; empty if there is none.

    There is none where injection is switched off, or where a file that the agent reads
    contains the section already. One that was made for other scopes than the agent's
    doesn't count: it stays in its file, because a hook writes none, and is noted.

    Args:
        injector: Plans the section.
        worktree: Folder of the session.
        agent: Its name.
        log: Says for which scopes a section was made.
        reads_files: Whether it is given the files of the worktree, and nothing refuses
            an injection altogether.
        note: Takes a sentence for whoever reads the agent's log.

    Raises:
        NotInjectedError: The worktree cannot be used.
        GitError: Git cannot be used there.
        UsageError: The folder does not exist.
        StateUnusableError: The injection log cannot be read.
    """
    # Nothing has to be chosen for an agent that reads a section already.
    found: list[str] = []
    if reads_files:
        root, file = injector.target_of(worktree, agent)
        files = (*CLAUDE_FILES, file) if agent == "claude" else (file,)
        found = [name for name in dict.fromkeys(files) if has_section(root, name)]
    if found:
        caller = injector.caller_in(worktree, is_look=True)
        if not all(is_for_others(log, root, name, caller) for name in found):
            return ""
    done = injector.inject(worktree, agent=agent, is_dry_run=True)
    if done.outcome != PLANNED or not done.planned.body:
        return ""
    if found:
        note(f"{', '.join(found)}: made for another scope; `hm inject` replaces it")
    return _shortened(done.planned)


def has_lost_section(transcript: str) -> bool:
    """Return whether a session of Gemini CLI had the section and no longer has it.

    Its transcript has a line for each message. When it compresses a session, a line
    with what is left replaces those before it. That it is about to compress it says
    with every prompt, whether it does or not, so its word is not taken for it.

    Args:
        transcript: The file, as the agent names it; nothing is lost if it cannot be
            read.
    """
    headline = json.dumps(HEADLINE)[1:-1].encode()
    had_it = has_it = False
    with suppress(OSError), open(transcript, "rb", opener=open_regular) as lines:
        for line in lines:
            if line.startswith(_CHANGE) and _replaces_messages(line):
                has_it = False
            if headline in line:
                had_it = has_it = True
    return had_it and not has_it


def _replaces_messages(line: bytes) -> bool:
    """Return whether a line of a transcript has all messages that are left."""
    try:
        change = json.loads(line)["$set"]
    except (ValueError, KeyError):
        return False
    return isinstance(change, dict) and "messages" in change


def _shortened(planned: SectionPlan) -> str:
    """Return the body of a section, cut to the limit."""
    body = planned.body
    while len(body) > LIMIT_CHARS and planned.choice.excerpts:
        *kept, last = planned.choice.excerpts
        left_out = (*planned.choice.left_out, LeftOut(excerpt=last, why="budget"))
        choice = Selection(excerpts=tuple(kept), left_out=left_out)
        planned = replaced(planned, choice=choice)
        body = section_body(planned)
    return body[:LIMIT_CHARS]
