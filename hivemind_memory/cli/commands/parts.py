"""What several commands have in common: their headings, arguments and options."""

from __future__ import annotations

from hivemind_memory.cli.shapes import Argument, Flag

PANELS = FIND, WRITE, CURATE, AGENTS, KEEP, SET = (
    "Find",
    "Write",
    "Curate",
    "Agents",
    "Keep in order",
    "Set up",
)
"""Headings of the list of commands, in order."""

MEMORY_DIR = Flag(
    ("--memory-dir",),
    "text",
    "Folder with the notes, instead of memory/ in the home folder.",
    metavar="FOLDER",
)
JSON = Flag(("--json",), "flag", "Print JSON, complete and for programs.")
NOTE = Argument(
    "path", "Name of a note, such as global.md or projects/site.md.", completes="notes"
)
WORKTREE = Argument(
    "worktree",
    "Folder of a git worktree, or any folder; this one if none is given.",
    is_required=False,
)
SCOPE = Flag(
    ("--scope",),
    "text",
    "global, project, team or workspace; project/NAME and so on.",
    metavar="SCOPE",
)
BY = Flag(
    ("--by",), "text", "Who writes: a person's or an agent's name.", metavar="NAME"
)
SESSION = Flag(
    ("--session",), "text", "The writer's own name for its session.", metavar="NAME"
)
SOURCE = Flag(
    ("--source",),
    "text",
    "What kind of writer; by default human at a terminal, else agent.",
    choices=("human", "agent", "tool", "external"),
)
MEMORY = Argument(
    "ref", "Key or id of a memory, id of an entry, or path of a typed memory."
)
