"""The section for an agent whose hook asks for it: for a session or for a subagent.

No file of the worktree is written. What a hook may return is limited, so the last
memories are dropped until the section fits. An agent that only says that it is about to
compress a session gets the section with the next prompt; a mark remembers that.
"""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import replace
from hashlib import sha256

from hivemind_memory.files.descriptors import make_private_folder
from hivemind_memory.inject.agent_files import CLAUDE_FILES
from hivemind_memory.inject.section import section_body
from hivemind_memory.inject.section_file import has_section
from hivemind_memory.model.injection import LeftOut, Selection
from hivemind_memory.model.injection_outcomes import PLANNED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.inject.injector import Injector
    from hivemind_memory.model.injection import SectionPlan


LIMIT_CHARS = 9_000
"""Claude Code 2.1.330 shows that many in full, and only a preview of 11,000. Its
documentation says 10,000."""

WITHOUT_FILES = frozenset({"Explore", "Plan"})
"""Subagents of Claude Code that are not given its files: they know no CLAUDE.md."""

_MARK = "compressed-"
_MARK_AGE_S = 86_400.0


def session_start_section(
    injector: Injector, worktree: str, agent: str, *, reads_files: bool = True
) -> str:
    """Return the section for a session in *worktree*; empty if there is none.

    There is none where injection is switched off, or where a file that the agent reads
    contains the section already.

    Args:
        injector: Plans the section.
        worktree: Folder of the session.
        agent: Its name.
        reads_files: Whether it is given the files of the worktree.

    Raises:
        NotInjectedError: The worktree cannot be used.
        GitError: Git cannot be used there.
        UsageError: The folder does not exist.
    """
    done = injector.inject(worktree, agent=agent, is_dry_run=True)
    if done.outcome != PLANNED or not done.planned.body:
        return ""
    files = (*CLAUDE_FILES, done.file) if agent == "claude" else (done.file,)
    is_there = any(has_section(done.worktree, file) for file in files)
    return "" if reads_files and is_there else _shortened(done.planned)


def mark_compression(folder: str, session: str, now_s: float) -> None:
    """Remember that a session is being compressed; forget old sessions.

    Args:
        folder: Of the locks; a mark is an empty file there.
        session: The agent's name for it.
        now_s: Seconds since 1970.

    Raises:
        OSError: The mark cannot be written.
    """
    make_private_folder(folder)
    for name in os.listdir(folder):
        if name.startswith(_MARK):
            path = os.path.join(folder, name)
            with suppress(OSError):  # another process was quicker
                if now_s - os.stat(path).st_mtime > _MARK_AGE_S:
                    os.unlink(path)
    with open(_mark_of(folder, session), "wb"):
        return


def take_compression(folder: str, session: str) -> bool:
    """Return whether a session was compressed since this was asked last."""
    try:
        os.unlink(_mark_of(folder, session))
    except OSError:
        return False
    return True


def _mark_of(folder: str, session: str) -> str:
    """Return the path of a session's mark."""
    digest = sha256(session.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return os.path.join(folder, f"{_MARK}{digest}")


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
