"""The commands that serve agents and their worktrees."""

from __future__ import annotations

from hivemind_memory.cli.commands.parts import AGENTS, JSON, WORKTREE
from hivemind_memory.cli.shapes import Argument, Command, Flag

_CONNECTABLE = Argument(
    "who",
    "claude, codex, gemini, cursor, opencode, qwen, or all; none means all.",
    is_required=False,
    is_many=True,
    completes="connectable",
)
_DRY_RUN = Flag(("--dry-run",), "flag", "Show what would change, and change nothing.")
_YES = Flag(("--yes",), "flag", "Do not ask.")

COMMANDS: tuple[Command, ...] = (
    Command(
        "connect",
        "connecting:connect",
        "Register the memory's server with the agents that are installed.",
        panel=AGENTS,
        description=(
            "Shows how each agent stands and what would change in its settings, then"
            " asks. Everything else in these files stays, comments included. Without a"
            " terminal nothing is changed unless --yes is given."
        ),
        arguments=(_CONNECTABLE,),
        flags=(
            Flag(
                ("--hooks",),
                "flag",
                "Also give the memories at the start of each session, without a file:"
                " claude and gemini.",
            ),
            Flag(
                ("--allow",),
                "flag",
                "Let claude call the tools that only read without asking each time.",
            ),
            Flag(
                ("--http",),
                "flag",
                "Register the address of hm mcp --http, with its token.",
            ),
            Flag(
                ("--port",),
                "int",
                "Port for --http (8737).",
                metavar="N",
                low=1,
                high=65535,
            ),
            _DRY_RUN,
            _YES,
            JSON,
        ),
        examples=("hm connect --dry-run", "hm connect claude --hooks --allow"),
    ),
    Command(
        "disconnect",
        "connecting:disconnect",
        "Take back what connect did: server, hooks and permissions.",
        panel=AGENTS,
        arguments=(_CONNECTABLE,),
        flags=(_DRY_RUN, _YES, JSON),
    ),
    Command(
        "hook session-start",
        "session_hooking:session_start",
        "Print the memories for a session that starts; run by the agent.",
        panel=AGENTS,
        description=(
            "Reads the agent's JSON on standard input, of which the folder counts, and"
            " answers in JSON. Nothing is written. Silent where injection is off, and"
            " where a file that the agent reads holds the section already. Always ends"
            " with 0, within seconds."
        ),
        flags=(
            Flag(
                ("--agent",),
                "text",
                "Who asks: claude (the default) or gemini.",
                metavar="NAME",
            ),
        ),
    ),
    Command(
        "inject",
        "injecting:inject",
        "Put the memories that matter here into the file that an agent reads first.",
        panel=AGENTS,
        description=(
            "The section stands between two marker lines; every other byte of the file"
            " stays, and git sees no change: no status, diff or commit shows it. The"
            " same memories write nothing. What was chosen, and why: hm why."
        ),
        arguments=(WORKTREE,),
        flags=(
            Flag(
                ("--agent",),
                "text",
                "Who will read it: claude (the default), codex, gemini, opencode,"
                " qwen, cursor, aider or another.",
                metavar="NAME",
            ),
            Flag(("--dry-run",), "flag", "Print the section and write nothing."),
            Flag(("--off",), "flag", "Never inject into this repository again."),
            Flag(("--on",), "flag", "Inject into this repository again."),
            JSON,
        ),
        examples=("hm inject", "hm inject --agent codex ~/code/shop"),
    ),
    Command(
        "eject",
        "injecting:eject",
        "Take the injected section away, and give git its settings back.",
        panel=AGENTS,
        arguments=(WORKTREE,),
        flags=(JSON,),
    ),
    Command(
        "why",
        "injecting:why",
        "Show what was last injected into a worktree, and what was left out and why.",
        panel=AGENTS,
        arguments=(WORKTREE,),
        flags=(JSON,),
    ),
    Command(
        "mcp",
        "serving:mcp",
        "Serve agents over the Model Context Protocol; started by the agent itself.",
        panel=AGENTS,
        description=(
            "The agent that starts it speaks to it on standard input and output, and it"
            " leaves when that agent leaves. With --http it stays and serves any number"
            " of agents on this machine; each must send the token as Authorization:"
            " Bearer TOKEN. While it runs it keeps the index in step, as hm watch does."
        ),
        flags=(
            Flag(("--http",), "flag", "Serve over HTTP, on 127.0.0.1 alone."),
            Flag(
                ("--port",),
                "int",
                "Port for --http (8737); 0 takes any that is free.",
                metavar="N",
                low=0,
                high=65535,
            ),
            Flag(
                ("--token-file",),
                "text",
                "File with the token for --http, made if it is not there"
                " (mcp-token in the home folder).",
                metavar="FILE",
            ),
            Flag(
                ("--project",),
                "text",
                "Project whose memory is read and written: a name, none, or auto, the"
                " default: that of the folder in which the server starts.",
                metavar="NAME",
            ),
            Flag(
                ("--team",),
                "text",
                "Teams whose memory is read and written, separated by commas.",
                metavar="NAMES",
            ),
            Flag(
                ("--workspace",),
                "text",
                "Workspace whose memory is read and written.",
                metavar="NAME",
            ),
        ),
        examples=("hm mcp", "hm mcp --http --port 8737"),
    ),
)
