"""The section for an agent whose hook asks for it when a session starts.

Nothing is written. What a hook may return is limited, so the last memories are dropped
until the section fits.
"""

from __future__ import annotations

from dataclasses import replace

from hivemind_memory.inject.section import section_body
from hivemind_memory.inject.section_file import has_section
from hivemind_memory.inject.targets import CLAUDE_FILES, GEMINI_FILE
from hivemind_memory.model.injection import LeftOut, Selection

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.inject.injector import Injector
    from hivemind_memory.model.injection import SectionPlan


LIMIT_CHARS = 9_000
"""Claude Code 2.1.330 shows that many in full, and only a preview of 11,000. Its
documentation says 10,000."""


def session_start_section(injector: Injector, worktree: str, agent: str) -> str:
    """Return the section for a session in *worktree*; empty if there is none.

    There is none where injection is switched off, or where a file that the agent reads
    contains the section already.

    Raises:
        NotInjectedError: The worktree cannot be used.
        GitError: Git cannot be used there.
        UsageError: The folder does not exist.
    """
    done = injector.inject(worktree, agent=agent, is_dry_run=True)
    if done.outcome != "planned" or not done.planned.body:
        return ""
    files = (GEMINI_FILE,) if agent == "gemini" else CLAUDE_FILES
    if any(has_section(done.worktree, file) for file in (*files, done.file)):
        return ""
    return _shortened(done.planned)


def _shortened(planned: SectionPlan) -> str:
    """Return the body of a section, cut to the limit."""
    body = planned.body
    while len(body) > LIMIT_CHARS and planned.choice.excerpts:
        *kept, last = planned.choice.excerpts
        left_out = (*planned.choice.left_out, LeftOut(excerpt=last, why="budget"))
        choice = Selection(excerpts=tuple(kept), left_out=left_out)
        planned = replace(planned, choice=choice)
        body = section_body(planned)
    return body[:LIMIT_CHARS]
