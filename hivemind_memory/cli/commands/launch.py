"""The commands that start agents, and the hook for those who start them otherwise."""

from __future__ import annotations

from hivemind_memory.cli.commands.parts import AGENTS, JSON, WORKTREE
from hivemind_memory.cli.shapes import Argument, Command, Flag

_READERS = Flag(
    ("--agent",),
    "text",
    "Who will read them: claude (the default), or several, as claude,codex.",
    metavar="NAMES",
)

COMMANDS: tuple[Command, ...] = (
    Command(
        "launch",
        "launching:launch",
        "Start an agent in a worktree, with its memories, in a session of tmux.",
        panel=AGENTS,
        description=(
            "If it runs there already, its session is shown. Without tmux it runs here,"
            " in the foreground. No key is ever sent to it. What comes after -- are its"
            " own arguments."
        ),
        arguments=(
            Argument(
                "agent",
                "claude, codex, gemini, opencode, qwen, cursor, aider, a name from the"
                " option agents, or any program.",
            ),
            Argument(
                "args",
                "Its own arguments, after --.",
                is_required=False,
                is_many=True,
            ),
        ),
        flags=(
            Flag(
                ("--worktree",),
                "text",
                "Folder to work in; this one if neither this nor --branch is given.",
                metavar="FOLDER",
            ),
            Flag(
                ("--branch",),
                "text",
                "Work in the worktree of this branch; both are made if they are not"
                " there.",
                metavar="NAME",
            ),
            Flag(("--detach",), "flag", "Do not show it; print how to."),
        ),
        examples=(
            "hm launch claude",
            "hm launch codex --branch fix-login",
            "hm launch claude --detach -- --model haiku",
        ),
    ),
    Command(
        "sessions",
        "launching:sessions",
        "List the agents that hm launch started: session, agent, worktree, since.",
        panel=AGENTS,
        flags=(JSON,),
    ),
    Command(
        "exec",
        "launching:exec_",
        "Put memories into this worktree, then become a command: for other launchers.",
        panel=AGENTS,
        description=(
            "The agent is known by the name of its program. It starts whatever becomes"
            " of the memories, in the same process and terminal; standard output is its"
            " alone. 127: there is no such program; 126: it cannot be run."
        ),
        arguments=(Argument("command", "The command, after --.", is_many=True),),
        flags=(
            Flag(
                ("--agent",),
                "text",
                "Who reads them, if the program's name does not tell.",
                metavar="NAME",
            ),
        ),
        examples=("hm exec -- claude --continue",),
    ),
    Command(
        "git-hook status",
        "git_hooking:status",
        "Say whether a repository has the hook.",
        panel=AGENTS,
        arguments=(WORKTREE,),
        flags=(JSON,),
    ),
    Command(
        "git-hook install",
        "git_hooking:install",
        "Let git itself put memories into every new worktree of a repository.",
        panel=AGENTS,
        description=(
            "A block in the hook post-checkout, which runs after git worktree add. It"
            " never fails, waits 20 seconds at most, and does nothing once hm is gone."
            " A hook of yours stays as it is around it; one that is no script for sh,"
            " and core.hooksPath, are refused."
        ),
        arguments=(WORKTREE,),
        flags=(_READERS,),
        examples=("hm git-hook install --agent claude,codex",),
    ),
    Command(
        "git-hook remove",
        "git_hooking:remove",
        "Take the hook away, to the byte.",
        panel=AGENTS,
        arguments=(WORKTREE,),
    ),
    Command(
        "git-hook run",
        "git_hooking:run",
        "What the hook calls: put memories into this worktree, in silence.",
        panel=AGENTS,
        flags=(_READERS,),
    ),
)
