"""hm project: shows, lists, renames, merges and adopts projects."""

from __future__ import annotations

import os
from shlex import quote

from hivemind_memory.cli.command import Argument, CommandRequest, command
from hivemind_memory.cli.dates import day_text
from hivemind_memory.cli.options import DRY_RUN, JSON, WORKTREE
from hivemind_memory.cli.output import (
    print_json,
    print_line,
    print_notices,
    print_table,
)
from hivemind_memory.cli.recorded_command import record_command
from hivemind_memory.environment import git_environ
from hivemind_memory.errors import ProjectUnknownError
from hivemind_memory.files.errors import no_folder
from hivemind_memory.model.display import count_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.curation.project_move import ProjectMove
    from hivemind_memory.curation.projects import ListedProject
    from hivemind_memory.memory import Memory
    from hivemind_memory.projects.folders import ProjectFolder

_OLD = Argument("name", "Name of a project, as in projects/NAME.", completes="projects")


@command(
    "project show",
    description=(
        "All worktrees of a repository are one project. Its memory is in projects/NAME,"
        " named after the repository, which the file .project there identifies. The"
        " project stays the same when the repository is moved or its origin changes."
    ),
    arguments=(WORKTREE,),
    flags=(JSON,),
    examples=("hm project", "hm project ~/code/shop --json"),
)
def show(request: CommandRequest) -> int:
    """Show a folder's project, and why it is that one."""
    from hivemind_memory import opening

    with request.open_memory() as memory:
        found = opening.find_project(_folder(request), memory, is_look=True)
    if request.values["json"]:
        print_json(
            {
                "scope": found.scope if found.slug else "",
                "identity": found.identity,
                "why": found.why,
                "likely": [{"name": name, "why": why} for name, why in found.likely],
            }
        )
        return 0
    if not found.slug:
        print_line(f"no project: {found.why}")
        return 0
    print_line(f"{found.scope}  {found.identity}  ({found.why})")
    print_notices([found.notice] if found.notice else [])
    return 0


@command(
    "project list",
    description=(
        "Prints name, number of notes, day of the last change, and identity."
        " orphan marks a project whose repository is gone. Likely duplicates are named."
    ),
    flags=(JSON,),
)
def list_(request: CommandRequest) -> int:
    """List all projects."""
    with request.open_memory() as memory:
        listed = memory.curation.projects.list()
    if request.values["json"]:
        print_json(listed)
        return 0
    rows = [
        (
            project.name,
            count_text(project.notes, "note"),
            day_text(project.updated_at) or "-",
            _identity(project),
            _remark(project),
        )
        for project in listed
    ]
    print_table(("project", "notes", "changed", "identity", ""), rows)
    if not listed:
        print_notices(["there are no projects yet"])
    return 0


def _identity(listed: ListedProject) -> str:
    """Return which repository a project belongs to, as a list shows it."""
    if listed.problem:
        return f"unknown: its .project file cannot be read: {listed.problem}"
    # A repository whose origin belongs to another project is known by its git folder.
    former = (f"once {name}" for name in listed.former)
    return next(iter((*listed.identities, *listed.folders, *former)), "made by hand")


@command(
    "project adopt",
    description=(
        "Use it if a repository was mistaken for a new project: from then on it belongs"
        " to the project NAME. Given the name of its current project, it stays"
        " separate, and hm stops asking."
    ),
    arguments=(_OLD, WORKTREE),
    flags=(JSON,),
    examples=("hm project adopt shop", "hm project adopt shop ~/code/store"),
)
def adopt(request: CommandRequest) -> int:
    """Make a folder's repository part of a project."""
    from hivemind_memory.projects.lookup import seen_repository

    folder, name = _folder(request), request.values["name"]
    with request.open_memory() as memory:
        try:
            current = _find(folder, memory).slug
        except ProjectUnknownError:
            current = ""  # this is the command that mends it
        seen = seen_repository(folder, git_environ())
        memory.curation.projects.adopt(seen, current, name)
        notes = {
            project.name: project.notes for project in memory.curation.projects.list()
        }
    place = seen.folder
    left = current if current != name else ""
    back = ("project", "adopt", left, place) if left in notes else ()
    record_command(request, ("project", "adopt", name, place), back)
    if request.values["json"]:
        print_json({"scope": f"projects/{name}", "left": left and f"projects/{left}"})
        return 0
    print_line(f"projects/{name}  {seen.identity}")
    if notes.get(left):
        kept = count_text(notes[left], "note")
        print_notices(
            [
                (
                    f"projects/{left} keeps {kept}:"
                    f" `hm project merge {quote(left)} {quote(name)}`"
                )
            ]
        )
    return 0


@command(
    "project rename",
    description=(
        "Its notes move to the folder of the new name, and references by path follow."
        " Nothing else changes: its repositories are still found."
    ),
    arguments=(_OLD, Argument("new", "Its new name.")),
    flags=(DRY_RUN, JSON),
    examples=("hm project rename github.com--acme--shop shop",),
)
def rename(request: CommandRequest) -> int:
    """Give a project another name."""
    return _move(request, request.values["new"], is_merge=False)


@command(
    "project merge",
    description=(
        "The notes move, and the repositories of both belong to the other project from"
        " then on. If a note's name is already taken there, the source project's name"
        " is appended to it. If both have an active memory under the same key,"
        " nothing is changed."
    ),
    arguments=(
        _OLD,
        Argument(
            "into", "Name of the project that receives the notes.", completes="projects"
        ),
    ),
    flags=(DRY_RUN, JSON),
    examples=("hm project merge shop-e5182aba shop --dry-run",),
)
def merge(request: CommandRequest) -> int:
    """Move the notes of a project into another one."""
    return _move(request, request.values["into"], is_merge=True)


def _move(request: CommandRequest, target: str, *, is_merge: bool) -> int:
    """Move the notes of a project, and print what was done."""
    values = request.values
    with request.open_memory() as memory:
        done = memory.curation.projects.move(
            values["name"],
            target,
            is_merge=is_merge,
            is_dry_run=values["dry_run"],
        )
    if values["json"]:
        print_json(done)
    else:
        _print_move(done)
    return 0


def _print_move(done: ProjectMove) -> None:
    """Print what was moved, or what would be."""
    for old, new in done.moves if done.is_dry_run else ():
        print_line(f"{old} -> {new}", keep=[old, new])
    verb = "would move" if done.is_dry_run else "moved"
    files = count_text(len(done.moves), "file")
    print_line(f"{verb} {files} from projects/{done.source} to projects/{done.target}")
    if done.references:
        verb = "would change" if done.is_dry_run else "changed"
        print_line(f"{verb} references in {count_text(len(done.references), 'note')}")
    print_notices(f"{path} still refers to the old path" for path in done.left)


def _remark(listed: ListedProject) -> str:
    """Return what a person should know about a project."""
    remarks = ["orphan"] if listed.is_orphan else []
    if listed.twins:
        remarks.append(f"probably the same as {', '.join(listed.twins)}")
    return "; ".join(remarks)


def _find(folder: str, memory: Memory) -> ProjectFolder:
    """Return the project of a folder."""
    from hivemind_memory import opening

    return opening.find_project(folder, memory, is_look=False)


def _folder(request: CommandRequest) -> str:
    """Return the folder that a request names; the current one if it names none.

    Raises:
        UsageError: There is no such folder.
    """
    folder = os.path.expanduser(request.values["worktree"] or os.curdir)
    if not os.path.isdir(folder):
        raise no_folder(folder)
    return folder
