"""hm inbox: lists, accepts, edits and rejects untrusted claims that are pending."""

from __future__ import annotations

from hivemind_memory.cli.command import Argument, CommandRequest, command
from hivemind_memory.cli.commands.edit import edit_note
from hivemind_memory.cli.dates import day_text
from hivemind_memory.cli.list_filter import first_line
from hivemind_memory.cli.options import JSON
from hivemind_memory.cli.output import (
    print_json,
    print_line,
    print_notices,
    print_table,
)
from hivemind_memory.model.display import lines_text
from hivemind_memory.model.keys import operand
from hivemind_memory.model.scope import INBOX, place_in_scope

_CLAIM = Argument("ref", "Key, id or path of a pending claim.", completes="claims")


@command("inbox list", flags=(JSON,))
def list_(request: CommandRequest) -> int:
    """List the pending claims."""
    with request.open_memory() as memory:
        claims = memory.curation.pending()
    if request.values["json"]:
        print_json(claims)
        return 0
    rows = [
        (
            claim.key or claim.id,
            ", ".join(filter(None, (claim.source, claim.source_ref))),
            day_text(claim.created),
            lines_text(claim.path, claim.start_line, claim.end_line),
            first_line(claim.text),
        )
        for claim in claims
    ]
    print_table(("key", "source", "day", "location", "text"), rows, is_cut=True)
    if not claims:
        print_notices(["the inbox is empty"])
    if links := [claim.id for claim in claims if place_in_scope(claim.path) != INBOX]:
        shown = operand(links[0])
        print_notices([f"`hm show {shown}` prints both texts of a proposed link"])
    return 0


@command(
    "inbox accept",
    description=(
        "From then on, every search finds the claim. It keeps its source: one from"
        " a tool or from outside is marked as untrusted and never injected. To vouch"
        " for it, change its source with hm edit. If its key already has an active"
        " memory, nothing is changed, unless that memory says the same: then the claim"
        " is dropped, and hm undo makes it pending again."
    ),
    arguments=(_CLAIM,),
    flags=(JSON,),
)
def accept(request: CommandRequest) -> int:
    """Make a pending claim a memory."""
    with request.open_memory() as memory:
        claim = memory.curation.accept(request.values["ref"])
    accepted = claim.memory
    if request.values["json"]:
        print_json(accepted)
        return 0
    place = lines_text(accepted.path, accepted.start_line, accepted.end_line)
    if claim.updated:
        other = claim.updated.path
        what = "linked" if claim.is_new else "already linked:"
        print_line(f"{what} {accepted.path} updates {other}", keep=[other])
        return 0
    if claim.dropped:
        print_line(f"dropped the claim: {place} already says the same", keep=[place])
        return 0
    named = f" as {accepted.type} {accepted.key}".rstrip() if accepted.type else ""
    print_line(f"accepted {place}{named}", keep=[place])
    return 0


@command(
    "inbox edit",
    description="It stays pending; hm inbox accept makes it a memory.",
    arguments=(_CLAIM,),
)
def edit(request: CommandRequest) -> int:
    """Open a pending claim in the editor, then index it."""
    with request.open_memory() as memory:
        claim = memory.curation.find_pending(request.values["ref"])
    return edit_note(request, claim)


@command(
    "inbox reject",
    description="hm restore brings it back to the inbox.",
    arguments=(_CLAIM,),
    flags=(JSON,),
)
def reject(request: CommandRequest) -> int:
    """Forget a pending claim."""
    with request.open_memory() as memory:
        rejected = memory.curation.reject(request.values["ref"])
    if request.values["json"]:
        print_json(rejected)
        return 0
    for item in rejected.memories:
        place = lines_text(item.path, item.start_line, item.end_line)
        print_line(f"rejected {place}", keep=[place])
    return 0
