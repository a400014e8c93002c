"""The section for an agent that asks for it when a session starts: nothing is written.

What such a hook may say is limited, so memories are left out from the last one on.
"""

from __future__ import annotations

import os
from dataclasses import replace

from hivemind_memory.errors import NotInjectedError
from hivemind_memory.inject.files import read_file
from hivemind_memory.inject.marked_section import find_section
from hivemind_memory.inject.section import section_body
from hivemind_memory.inject.targets import CLAUDE_FILES, GEMINI_FILE
from hivemind_memory.model.injection import LeftOut, Selection

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.inject.injector import Injector
    from hivemind_memory.model.injection import SectionPlan


LIMIT_CHARS = 9_000
"""Claude Code 2.1.330 shows so many whole; of 11,000 it showed the model a preview. Its
documents say 10,000."""


def session_start_section(injector: Injector, worktree: str, agent: str) -> str:
    """Return the section for a session in *worktree*; empty if there is none to give.

    There is none where injection is switched off, and none where a file that the agent
    reads holds the section already.

    Raises:
        NotInjectedError: The worktree cannot be used.
        UsageError: There is no such folder.
    """
    done = injector.inject(worktree, agent=agent, is_dry_run=True)
    if done.outcome != "planned" or not done.planned.body:
        return ""
    files = (GEMINI_FILE,) if agent == "gemini" else CLAUDE_FILES
    if any(_has_section(done.worktree, file) for file in (*files, done.file)):
        return ""
    return _shortened(done.planned)


def _has_section(root: str, file: str) -> bool:
    """Whether a file of the worktree holds a sound section."""
    try:
        data = read_file(os.path.realpath(root), file).data
        return data is not None and find_section(data) is not None
    except NotInjectedError:
        return False


def _shortened(planned: SectionPlan) -> str:
    """Return the body of a section within the limit."""
    body = planned.body
    while len(body) > LIMIT_CHARS and planned.choice.excerpts:
        *kept, last = planned.choice.excerpts
        left_out = (*planned.choice.left_out, LeftOut(excerpt=last, why="budget"))
        choice = Selection(excerpts=tuple(kept), left_out=left_out)
        planned = replace(planned, choice=choice)
        body = section_body(planned)
    return body[:LIMIT_CHARS]
