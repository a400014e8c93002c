"""Arguments and options that several commands share."""

from __future__ import annotations

from hivemind_memory.cli.command import Argument, Flag

SOURCES = ("human", "agent", "tool", "external")
"""Those of ``model.trust``, which ``hm --version`` does not load; a test compares."""

PORT = 8737
"""Of a server on this machine, if no option names another."""

MEMORY_DIR = Flag(
    ("--memory-dir",),
    "path",
    "Notes folder to use instead of memory/ in the home folder.",
    metavar="FOLDER",
)
JSON = Flag(("--json",), "flag", "Print everything as JSON.")
DRY_RUN = Flag(("--dry-run",), "flag", "Show what would change without changing it.")
YES = Flag(("-y", "--yes"), "flag", "Do not ask for confirmation.")
SCOPE = Flag(
    ("--scope",),
    "text",
    "global, project, team or workspace; project/NAME and so on.",
    metavar="SCOPE",
    completes="scopes",
)
GLOBAL = Flag(("-g", "--global"), "flag", "Same as --scope global.")
BY = Flag(
    ("--by",), "text", "Name of the writer: a person or an agent.", metavar="NAME"
)
SESSION = Flag(("--session",), "text", "Name of the writer's session.", metavar="NAME")
SOURCE = Flag(
    ("--source",),
    "text",
    "What kind of writer it is; human at a terminal, otherwise agent.",
    choices=SOURCES,
)
SINCE = Flag(
    ("--since",),
    "moment",
    "Only items from this time or later: 2026-11-21, yesterday, 30m, 2h, 7d, 2w.",
    metavar="WHEN",
)
TYPE = Flag(
    ("--type",),
    "text",
    "Only memories of these types, such as lesson,decision.",
    metavar="TYPES",
    is_list=True,
    completes="types",
)
AGENT = Flag(
    ("--agent",),
    "text",
    "Only items by this agent or person, as given with --by.",
    metavar="NAME",
    completes="writers",
)
ONLY_SOURCE = Flag(
    ("--source",),
    "text",
    "Only items by this kind of writer.",
    choices=SOURCES,
)
SOURCE_REF = Flag(
    ("--source-ref",),
    "text",
    "What it was derived from, such as specs/ios.md#L40.",
    metavar="REF",
)
ONLY_SOURCE_REF = Flag(
    ("--source-ref",),
    "text",
    "Only items derived from a source that begins with this.",
    metavar="REF",
)
TAGS = Flag(
    ("--tag", "--tags"),
    "text",
    "Tags to find it by, separated by commas.",
    metavar="WORDS",
    completes="tags",
    is_many=True,
)
ONLY_TAG = Flag(
    ("--tag",),
    "text",
    "Only items with this tag. Repeat it, or use commas, to require several.",
    metavar="WORD",
    completes="tags",
    is_many=True,
)
IN_FOLDER = Flag(
    ("--folder", "--in"),
    "text",
    "Only notes below this folder, such as projects/shop/api.",
    metavar="FOLDER",
    completes="folders",
)
FORCE = Flag(("--force",), "flag", "Store the text even if it was purged before.")

NOTE = Argument(
    "path",
    "Name of a note, such as global.md or projects/site.md.",
    completes="names",
)
WORKTREE = Argument(
    "worktree",
    "Git worktree or folder (the current folder).",
    is_required=False,
    is_raw=True,
)
MEMORY = Argument(
    "ref",
    "Key or id of a memory, id of an entry, or path with or without lines.",
    completes="names",
)
