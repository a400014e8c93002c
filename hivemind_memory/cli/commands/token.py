"""hm token: makes, lists and revokes the tokens of clients over HTTP."""

from __future__ import annotations

from hivemind_memory.cli.command import Argument, CommandRequest, Flag, command
from hivemind_memory.cli.dates import minute_text
from hivemind_memory.cli.options import JSON
from hivemind_memory.cli.output import (
    print_json,
    print_line,
    print_notices,
    print_table,
)
from hivemind_memory.cli.recorded_command import record_command
from hivemind_memory.model.display import escape_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.curation.access_tokens import AccessTokens
    from hivemind_memory.memory.memory import Memory
    from hivemind_memory.state.tokens import Token


@command(
    "token add",
    description=(
        "Prints the token, which is shown only once; a hash of it is stored. A"
        " client sends it to hm serve or hm mcp --http as Authorization: Bearer TOKEN."
        " Without --project it works in the project that each connection names. What it"
        " writes is listed under its NAME."
    ),
    arguments=(Argument("name", "Name for the token, such as laptop or ci."),),
    flags=(
        Flag(
            ("--project",),
            "text",
            "The only project it reads and writes; none for no project.",
            metavar="NAME",
            completes="projects",
        ),
        Flag(
            ("--team",),
            "text",
            "Its teams, separated by commas.",
            metavar="NAMES",
            is_list=True,
        ),
        Flag(("--workspace",), "text", "Its workspace.", metavar="NAME"),
        Flag(("--read-only",), "flag", "It may search and read, but change nothing."),
        Flag(
            ("--expires",),
            "due",
            "Last day it is valid: 2026-11-21, tomorrow, 7d, 2w.",
            metavar="DAY",
        ),
        JSON,
    ),
    examples=(
        "hm token add ci --project shop --read-only",
        "hm token add laptop --expires 30d",
    ),
)
def add(request: CommandRequest) -> int:
    """Make a token."""
    from hivemind_memory.cli.agent_server import check_workspace, warn_of_new_project
    from hivemind_memory.notes.memory_header import day_of_iso

    values = request.values
    if workspace := (values["workspace"] or "").strip():
        check_workspace(workspace)
    if (project := (values["project"] or "").strip()) != "none":
        warn_of_new_project(project, request.memory_dir)
    teams = (values["team"] or "").split(",")
    with request.open_memory() as memory:
        secret = _tokens_of(memory).add(
            values["name"],
            workspace=workspace,
            teams=[team.strip() for team in teams if team.strip()],
            project=project,
            is_read_only=values["read_only"],
            expires_day=day_of_iso(values["expires"] or "") or 0,
        )
    name = values["name"]
    record_command(request, ("token", "add", name), ("token", "revoke", name))
    if values["json"]:
        print_json({"name": values["name"], "token": secret})
        return 0
    print_line(secret)
    print_notices(["Copy the token now: it is not shown again."])
    return 0


@command(
    "token list",
    description=(
        "Prints the name of each token, what it may see and do, its expiry date and"
        " when it was last used. Tokens themselves are not stored. The server's own"
        " token, in the file mcp-token, is not listed."
    ),
    flags=(JSON,),
)
def list_(request: CommandRequest) -> int:
    """List the tokens."""
    with request.open_memory() as memory:
        tokens = _tokens_of(memory).all()
        today = memory.clocks.today()
        local_iso = memory.clocks.local_iso

        def moment(at_s: int) -> str:
            return local_iso(at_s) if at_s else ""

        shown = [
            {
                "name": token.name,
                "project": token.project,
                "teams": list(token.teams),
                "workspace": token.workspace,
                "is_read_only": token.is_read_only,
                "expires": _iso_day(token),
                "is_expired": token.is_expired(today),
                "created_at": moment(token.created_at),
                "used_at": moment(token.used_at),
            }
            for token in tokens
        ]
    if request.values["json"]:
        print_json(shown)
        return 0
    rows = [
        (
            str(row["name"]),
            _access_text(token),
            f"{row['expires']} (expired)" if row["is_expired"] else str(row["expires"]),
            minute_text(str(row["used_at"])) if row["used_at"] else "never",
        )
        for row, token in zip(shown, tokens, strict=True)
    ]
    print_table(("token", "access", "expires", "last used"), rows)
    if not rows:
        print_notices(["no tokens yet; `hm token add NAME` makes one"])
    return 0


@command(
    "token revoke",
    description="The next request that uses it is refused.",
    arguments=(Argument("name", "Name of a token."),),
    examples=("hm token revoke laptop",),
)
def revoke(request: CommandRequest) -> int:
    """Revoke a token."""
    name = request.values["name"]
    with request.open_memory() as memory:
        _tokens_of(memory).revoke(name)
    record_command(request, ("token", "revoke", name))
    print_line(f"{escape_line(name)}: revoked")
    return 0


def _tokens_of(memory: Memory) -> AccessTokens:
    """Return the tokens of a memory."""
    from hivemind_memory.curation.access_tokens import AccessTokens

    return AccessTokens(memory.state(), memory.clocks, memory.caller)


def _iso_day(token: Token) -> str:
    """Return the last day of a token; empty: it has none."""
    from hivemind_memory.model.clocks import iso_day

    return iso_day(token.expires_day) if token.expires_day else ""


def _access_text(token: Token) -> str:
    """Return what a token may see and do, as a list shows it."""
    parts = [
        *([f"project {token.project}"] if token.project else []),
        *([f"teams {', '.join(token.teams)}"] if token.teams else []),
        *([f"workspace {token.workspace}"] if token.workspace else []),
    ]
    what = ", ".join(parts) or "any project"
    return f"{what}, read-only" if token.is_read_only else what
