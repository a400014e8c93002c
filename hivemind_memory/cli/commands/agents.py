"""The commands that serve agents and their worktrees."""

from __future__ import annotations

from hivemind_memory.cli.commands.parts import AGENTS, JSON, WORKTREE
from hivemind_memory.cli.shapes import Command, Flag

COMMANDS: tuple[Command, ...] = (
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
                " cursor or another.",
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
        ),
        examples=("hm mcp", "hm mcp --http --port 8737"),
    ),
)
