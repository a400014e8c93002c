"""The table of commands: for each one its file, its heading in help, its summary.

The overview needs nothing else. The command itself, with its options, is in the file of
``commands`` that is named here, which is imported when the command is used.
"""

from __future__ import annotations

from importlib import import_module

from hivemind_memory.cli.command import Command

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

PANELS = FIND, WRITE, CURATE, AGENTS, MAINTAIN, SET_UP = (
    "Find",
    "Write",
    "Curate",
    "Agents",
    "Maintain",
    "Set up",
)
"""Headings of the list of commands, in order."""

_FILES = (
    (FIND, "search", {"search": "Search the notes with a question in your own words."}),
    (FIND, "get", {"get": "Print a note, or some of its lines."}),
    (FIND, "list", {"list": "List the notes, or memories by type, status or day."}),
    (FIND, "bulletin", {"bulletin": "Print the briefing for a scope."}),
    (FIND, "tags", {"tags": "List the tags, and how many items have each."}),
    (
        FIND,
        "activity",
        {
            "activity search": "Search what agents said and did: transcripts, calls.",
            "activity show": "Show one hit, and what was said around it.",
            "activity list": "List the sessions of agents, newest first.",
        },
    ),
    (FIND, "log", {"log": "List what was written and by whom, newest first."}),
    (WRITE, "write", {"write": "Add an entry to today's note, or to another."}),
    (WRITE, "edit", {"edit": "Open a note in your editor, then index it."}),
    (
        CURATE,
        "save",
        {
            "save": "Save a memory under a key; a new text replaces the old one.",
            "learn": "Save a claim and how certain it is; saving it again updates it.",
        },
    ),
    (
        CURATE,
        "show",
        {
            "show": "Show a memory and its metadata.",
            "history": "Show the versions of a memory and why each was replaced.",
        },
    ),
    (
        CURATE,
        "link",
        {
            "link": "Link two memories: related_to, updates or contradicts.",
            "unlink": "Remove the link between two memories.",
        },
    ),
    (
        CURATE,
        "forget",
        {
            "forget": "Hide memories, or erase them permanently with --purge.",
            "restore": "Restore memories that were forgotten.",
        },
    ),
    (
        CURATE,
        "undo",
        {"undo": "Undo the last change: write, save, forget, link or learn."},
    ),
    (CURATE, "done", {"done": "Mark a todo or a goal as done."}),
    (CURATE, "used", {"used": "Record whether a memory helped."}),
    (
        CURATE,
        "inbox",
        {
            "inbox list": "List the untrusted claims that are pending.",
            "inbox accept": "Make a pending claim a memory; it keeps its source.",
            "inbox edit": "Open a pending claim in your editor.",
            "inbox reject": "Forget a pending claim.",
        },
    ),
    (
        WRITE,
        "kv",
        {
            "kv get": "Print the value of a key.",
            "kv set": "Set the value of a key, optionally for a limited time.",
            "kv list": "List the keys with their values.",
            "kv delete": "Delete a key; its version number is kept.",
        },
    ),
    (
        AGENTS,
        "connect",
        {
            "connect": "Register the server with the agents on this machine.",
            "disconnect": "Undo what connect did: server, hooks and permissions.",
        },
    ),
    (
        AGENTS,
        "hook",
        {
            "hook session-start": "Print memories for a new session; run by agents.",
            "hook session-end": "Queue the capture of a session; run by agents.",
        },
    ),
    (
        AGENTS,
        "inject",
        {
            "inject": "Put memories into the file that an agent reads first.",
            "eject": "Remove the injected section and restore git's settings.",
        },
    ),
    (
        AGENTS,
        "skill",
        {
            "skill promote": "Turn a memory into a skill that agents follow.",
            "skill list": "List the skills, and the memories that can become one.",
            "skill show": "Show a skill and its copies.",
            "skill sync": "Update skills from their memories.",
            "skill demote": "Remove a skill from all folders; its memory stays.",
        },
    ),
    (AGENTS, "why", {"why": "Show what was injected, what was left out, and why."}),
    (
        AGENTS,
        "context",
        {
            "context build": "Print the context for a task, within a token budget.",
            "context add": "Add a file, lines of it or a memory to a file of blocks.",
            "context list": "List the blocks of a file.",
            "context clean": "Remove the blocks that no longer matter.",
        },
    ),
    (
        AGENTS,
        "project",
        {
            "project show": "Show which project a folder belongs to, and why.",
            "project list": "List all projects, with orphans and likely duplicates.",
            "project adopt": "Make a folder's repository part of a project.",
            "project rename": "Give a project another name.",
            "project merge": "Move the notes of a project into another one.",
        },
    ),
    (
        AGENTS,
        "mcp",
        {"mcp": "Serve agents over the Model Context Protocol; run by agents."},
    ),
    (AGENTS, "dashboard", {"dashboard": "Open the memory in your browser."}),
    (
        AGENTS,
        "serve",
        {"serve": "Serve agents and other programs on this machine over HTTP."},
    ),
    (
        AGENTS,
        "token",
        {
            "token add": "Create a token for a client of hm serve or hm mcp --http.",
            "token list": "List the tokens, and what each may see and do.",
            "token revoke": "Revoke a token.",
        },
    ),
    (
        AGENTS,
        "launch",
        {
            "launch": "Start an agent with its memories in a tmux session.",
            "exec": "Inject, then exec a command, replacing the hm process.",
        },
    ),
    (
        AGENTS,
        "sessions",
        {
            "sessions": "List the agents that hm launch started.",
            "attach": "Attach to the tmux session of an agent.",
            "kill": "End an agent and its session; asks first.",
        },
    ),
    (
        AGENTS,
        "git_hook",
        {
            "git-hook status": "Show whether a repository has the hook.",
            "git-hook install": "Inject into every new worktree of a repository.",
            "git-hook remove": "Remove the hook and restore the file byte for byte.",
            "git-hook run": "Inject into this worktree, silently; run by the hook.",
        },
    ),
    (
        MAINTAIN,
        "sync",
        {
            "sync": "Update the index.",
            "rebuild": "Rebuild the index from the notes.",
        },
    ),
    (
        MAINTAIN,
        "status",
        {
            "status": "Show notes, chunks, vectors, provider and skipped files.",
        },
    ),
    (
        MAINTAIN,
        "doctor",
        {
            "doctor": "Check for problems, say how to fix them, and delete temporary"
            " files of interrupted commands.",
        },
    ),
    (CURATE, "capture", {"capture": "Propose memories from a session of an agent."}),
    (CURATE, "consolidate", {"consolidate": "Merge near copies, as a diff to apply."}),
    (
        MAINTAIN,
        "jobs",
        {
            "jobs list": "List the jobs of the language model.",
            "jobs retry": "Run jobs again that failed or were interrupted.",
        },
    ),
    (MAINTAIN, "watch", {"watch": "Watch the notes and index changes as they happen."}),
    (
        MAINTAIN,
        "eval",
        {
            "eval run": "Ask golden questions and print how good the answers are.",
            "eval suggest": "Print a draft of golden questions.",
        },
    ),
    (
        MAINTAIN,
        "backup",
        {
            "backup": "Write notes, journal, state and settings to one file.",
            "restore-backup": "Restore a backup into an empty home.",
        },
    ),
    (
        MAINTAIN,
        "vault",
        {
            "vault list": "List the keys of the vault; no value is shown.",
            "vault set": "Store a secret, typed or from standard input.",
            "vault get": "Show the value of a key, on a terminal only.",
            "vault delete": "Delete a key and its value.",
            "vault exec": "Run a command with secrets in its environment.",
        },
    ),
    (SET_UP, "init", {"init": "Create the notes folder and a first note."}),
    (
        SET_UP,
        "config",
        {
            "config list": "Show every option with its value and where it was set.",
            "config get": "Print the value of an option; secrets are not shown.",
            "config set": "Set an option in config.json.",
            "config unset": "Remove an option from config.json.",
            "config path": "Print the path of config.json.",
        },
    ),
    (
        SET_UP,
        "model",
        {
            "model list": "List the local models: which are downloaded, which is used.",
            "model fetch": "Download a local model.",
        },
    ),
    (
        SET_UP,
        "completion",
        {"completion": "Print the completion script for bash, zsh or fish."},
    ),
    (
        SET_UP,
        "help",
        {
            "help": "Show help on a command, or on all of them.",
            "version": "Print the version.",
        },
    ),
)
"""Heading, file of ``commands``, and the commands in it with what each does."""

_TABLE = {
    name: (file, panel, summary)
    for panel, file, commands in _FILES
    for name, summary in commands.items()
}
"""Name -> file, heading, summary; in the order of the list."""

_HIDDEN = {"__complete": "completion"}
"""Commands that only a script calls -> their file."""

FIRST = (
    *("init", "connect", "search", "list", "get", "write"),
    *("save", "edit", "forget", "inject", "status", "config"),
)
"""The commands and groups that a person uses first, in the order of the overview."""

GROUPS = {
    "activity": ("Search what agents said and did.", FIND, "list"),
    "inbox": ("List, accept and reject untrusted claims.", CURATE, "list"),
    "hook": ("Commands that agents run after hm connect.", AGENTS, "session-start"),
    "git-hook": ("Git hook that injects into new worktrees.", AGENTS, "status"),
    "context": ("Build the context of a task; keep blocks for it.", AGENTS, "build"),
    "project": ("Show, list, rename, adopt and merge projects.", AGENTS, "show"),
    "skill": ("Turn memories into skills, and keep them up to date.", AGENTS, "list"),
    "token": ("Make, list and revoke tokens for clients of hm serve.", AGENTS, "list"),
    "kv": ("Store values for programs under keys, with versions.", WRITE, "list"),
    "vault": ("Store secrets, and pass them to commands.", MAINTAIN, "list"),
    "jobs": ("List and retry the jobs of the language model.", MAINTAIN, "list"),
    "eval": ("Measure how well your own questions are answered.", MAINTAIN, "run"),
    "config": ("Show and change the options in config.json.", SET_UP, "list"),
    "model": ("List and download models that run on this machine.", SET_UP, "list"),
}
"""Group -> summary, heading, and the command it runs when none is named."""

ALIASES = {
    "ls": "list",
    "rm": "forget",
    "add": "write",
    "close": "done",
    "find": "search",
    "grep": "search",
    "cat": "get",
}
"""What people type by habit -> the command it stands for."""

SECOND_ALIASES = {"ls": ("list",), "rm": ("delete", "revoke")}
"""The same after the name of a group -> its command, whichever of them it has."""


def full_second(group: str, word: str) -> str:
    """Return the second word of a command in *group* that *word* is short for.

    >>> full_second("token", "rm"), full_second("kv", "get")
    ('revoke', 'get')
    """
    meant = SECOND_ALIASES.get(word, ())
    return next((full for full in meant if f"{group} {full}" in _TABLE), word)


def command_names(group: str | None = None) -> Iterator[str]:
    """Yield the names of all commands, or those in *group*; empty: in no group."""
    for name in _TABLE:
        first, _, second = name.partition(" ")
        if group is None or (first if second else "") == group:
            yield name


def summary_of(name: str) -> str:
    """Return what a command does, in one sentence."""
    return _TABLE[name][2] if name in _TABLE else ""


def panel_of(name: str) -> str:
    """Return the heading under which a command is listed."""
    return _TABLE[name][1]


def find_command(name: str) -> Command | None:
    """Return the command called *name*, or nothing."""
    return load_command(name) if name in _TABLE or name in _HIDDEN else None


def load_command(name: str) -> Command:
    """Return the command called *name*, which is one of the table."""
    file = _TABLE[name][0] if name in _TABLE else _HIDDEN[name]
    module = import_module(f"hivemind_memory.cli.commands.{file}")
    for declared in vars(module).values():
        if isinstance(declared, Command) and declared.name == name:
            return declared
    message = f"commands/{file}.py has no command {name}"
    raise LookupError(message)


def all_commands() -> tuple[Command, ...]:
    """Return every command that help lists, in the order of the list."""
    return tuple(map(load_command, _TABLE))
