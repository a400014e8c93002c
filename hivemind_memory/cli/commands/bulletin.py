"""hm bulletin: the briefing of a scope, composed from its memories."""

from __future__ import annotations

from hivemind_memory.cli.command import CommandRequest, command
from hivemind_memory.cli.options import JSON, SCOPE
from hivemind_memory.cli.output import print_json, print_line, print_notices
from hivemind_memory.model.display import count_text
from hivemind_memory.model.scope import scope_text


@command(
    "bulletin",
    description=(
        "Prints the first sentences of the memories that matter most in one scope,"
        " about 120 words: what is pinned, identities, decisions and goals, then"
        " preferences and lessons, then others. It is composed each time, so nothing"
        " forgotten is in it. It leaves out what agents are never told unasked: claims"
        " from tools and outside sources, and what has expired or is done."
    ),
    flags=(SCOPE, JSON),
    examples=("hm bulletin", "hm bulletin --scope global"),
)
def bulletin(request: CommandRequest) -> int:
    """Print the briefing of a scope."""
    from hivemind_memory.context.briefing import find_briefing

    with request.open_memory() as memory:
        briefing = find_briefing(memory, request.values["scope"] or "")
    if request.values["json"]:
        print_json(briefing)
        return 0
    for line in briefing.body.split("\n") if briefing.body else ():
        print_line(line)
    scope = scope_text(briefing.scope)
    if briefing.body:
        count = count_text(len(briefing.sources), "memory", "memories")
        print_notices([f"composed from {count} in {scope}"])
    else:
        print_notices([f"no briefing of {scope}: {briefing.why_empty}"])
        if briefing.scope:
            print_notices(
                ["`hm bulletin --scope global` prints the one for all projects"]
            )
    return 0
