"""Says for ``hm doctor`` whether the section of the current folder can be relied on.

It may quote what a memory no longer says, and what keeps it out of commits may be gone:
a person, or another program, has changed the settings of git. Changes nothing.
"""

from __future__ import annotations

import os
import shlex

from hivemind_memory.errors import HivemindError
from hivemind_memory.files.descriptors import open_regular
from hivemind_memory.files.marked_section import body_of
from hivemind_memory.inject.git_settings import CLEAN, FILTER, FILTER_OPTION
from hivemind_memory.inject.hook_repair import hooks_findings
from hivemind_memory.inject.section import render_excerpt
from hivemind_memory.model.display import count_text, listed
from hivemind_memory.model.results import Finding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from hivemind_memory.git.repository import Repository
    from hivemind_memory.inject.injector import Injector
    from hivemind_memory.state.state_file import StateFile

_NAME = "section here"
_MAX_NAMED = 3


def injection_findings(
    injector: Injector, state: StateFile, folder: str
) -> list[Finding]:
    """Return what is found about injections, after putting back the hooks of git.

    Args:
        injector: Knows what was injected.
        state: Knows the worktrees into which something was injected.
        folder: In a worktree, or any other.
    """
    return [*hooks_findings(injector, state), *_findings_in(injector, folder)]


def _findings_in(injector: Injector, folder: str) -> list[Finding]:
    """Return a finding for each file of a folder that has a section."""
    try:
        newest = injector.why(folder)
        records = [newest, *newest["others"]] if newest else []
        repository = injector.repository_of(folder)
        return [
            _finding(injector, record, repository)
            for record in records
            if record["is_there"] and record["file"]
        ]
    except (HivemindError, OSError):
        return []  # other checks, and `hm inject`, say what is wrong


def _finding(
    injector: Injector, record: dict[str, Any], repository: Repository | None
) -> Finding:
    """Return the state of one section."""
    file = record["file"]
    problems = []
    if repository is not None and not _is_kept_out(repository, file):
        problems.append(f"nothing keeps the section in {file} out of commits")
    if outdated := _outdated(injector, record):
        named = listed(list(dict.fromkeys(outdated))[:_MAX_NAMED])
        count = count_text(len(outdated), "memory", "memories")
        problems.append(
            f"the section in {file} is older than {count} that it quotes: {named}"
        )
    agent = ("--agent", record["agent"]) if record["agent"] else ()
    command = shlex.join(("hm", "inject", *agent))
    well = f"{file} has one" + (", and git does not see it" if repository else "")
    return Finding(
        name=_NAME,
        is_ok=not problems,
        detail="; ".join(problems) or well,
        hint=f"`{command}` writes it again." if problems else "",
    )


def _is_kept_out(repository: Repository, file: str) -> bool:
    """Return whether git ignores a file, or filters the section out of it."""
    if repository.is_ignored(file):
        return True
    if repository.filter_of(file) != FILTER:
        return False
    found = repository.run("config", "--get", FILTER_OPTION).stdout
    return os.fsdecode(found).removesuffix("\n") == CLEAN


def _outdated(injector: Injector, record: dict[str, Any]) -> list[str]:
    """Return the notes of which a section quotes what they no longer say."""
    path = os.path.join(record["worktree"], *record["file"].split("/"))
    with open(path, "rb", opener=open_regular) as file:
        shown = body_of(file.read())
    again = injector.inject(record["worktree"], agent=record["agent"], is_dry_run=True)
    now = {
        (excerpt.path, excerpt.id or excerpt.start_line): render_excerpt(excerpt)
        for excerpt in again.planned.choice.excerpts
    }
    texts = injector.active_texts()
    return [
        quoted["path"]
        for quoted in record["memories"]
        if texts.is_active(injector.notes, quoted["path"]) is False
        or _is_gone(injector.notes, quoted)
        or now.get((quoted["path"], quoted["id"] or quoted["start_line"]), shown)
        not in shown
    ]


def _is_gone(notes: str, quoted: dict[str, Any]) -> bool:
    """Return whether a note no longer holds a memory."""
    try:
        path = os.path.join(notes, *quoted["path"].split("/"))
        with open(path, "rb", opener=open_regular) as note:
            return quoted["id"].encode() not in note.read()
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False  # it cannot be read now
