"""hm project: which project a folder belongs to, and where its memory is."""

from __future__ import annotations

import os

from hivemind_memory.cli.command import CommandRequest, command
from hivemind_memory.cli.options import JSON, WORKTREE
from hivemind_memory.cli.output import print_json, print_line


@command(
    "project",
    description=(
        "All worktrees of a repository are one project. Its memory is in a folder of"
        " projects/ that carries the repository's name; the file .project in it names"
        " the repository."
    ),
    arguments=(WORKTREE,),
    flags=(JSON,),
    examples=("hm project", "hm project ~/code/shop --json"),
)
def project(request: CommandRequest) -> int:
    """Show a folder's project, and why it is that one."""
    from hivemind_memory import wiring

    folder = os.path.expanduser(request.values["worktree"] or os.curdir)
    with request.open_memory() as memory:
        found = wiring.find_project(folder, memory)
    if request.values["json"]:
        scope = f"projects/{found.slug}"
        print_json({"scope": scope, "identity": found.identity, "why": found.why})
    else:
        print_line(f"projects/{found.slug}  {found.identity}  ({found.why})")
    return 0
