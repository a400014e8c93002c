"""hm bulletin: the briefing of a scope, composed or written by the language model."""

from __future__ import annotations

from hivemind_memory.cli.command import CommandRequest, Flag, command
from hivemind_memory.cli.dates import minute_text
from hivemind_memory.cli.options import JSON, SCOPE
from hivemind_memory.cli.output import print_json, print_line, print_notices
from hivemind_memory.model.display import clause, count_text
from hivemind_memory.model.scope import scope_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.memory.memory import Memory


@command(
    "bulletin",
    description=(
        "Prints the first sentences of the memories that matter most in one scope,"
        " about 120 words: what is pinned, identities, decisions and goals, then"
        " preferences and lessons, then others. It is composed each time, so nothing"
        " forgotten is in it. It leaves out what agents are never told unprompted:"
        " claims from tools and outside sources, and what has expired or is done. If a"
        " language model is chosen (llm_provider), it prints what the model wrote, as"
        " long as the memories still say what it is based on."
    ),
    flags=(
        SCOPE,
        Flag(
            ("--refresh",),
            "flag",
            "Have the language model write a new one now, even if nothing has changed."
            " Owner only.",
        ),
        JSON,
    ),
    examples=("hm bulletin", "hm bulletin --scope global", "hm bulletin --refresh"),
)
def bulletin(request: CommandRequest) -> int:
    """Print the briefing for a scope."""
    from hivemind_memory.context.briefing import find_briefing

    with request.open_memory() as memory:
        is_written = not request.values["refresh"] or _refresh(
            memory, request.values["scope"] or ""
        )
        briefing = find_briefing(memory, request.values["scope"] or "")
    if request.values["json"]:
        print_json(briefing)
        return 0 if is_written else 1
    for line in briefing.body.split("\n") if briefing.body else ():
        print_line(line)
    if briefing.warning:
        print_notices([briefing.warning])
    scope = scope_text(briefing.scope)
    if briefing.body:
        count = count_text(len(briefing.sources), "memory", "memories")
        made = f"from {count} in {scope}"
        if briefing.is_model:
            made = (
                f"written by {briefing.model} from {count} in {scope},"
                f" {minute_text(briefing.generated_at)}"
            )
        print_notices([made])
        if briefing.is_stale and not briefing.warning:
            print_notices(["memories were saved since"])
    else:
        print_notices([f"no briefing for {scope}: {clause(briefing.why_empty)}"])
        if briefing.scope:
            print_notices(
                ["`hm bulletin --scope global` prints the one for all projects"]
            )
    return 0 if is_written else 1


def _refresh(memory: Memory, name: str) -> bool:
    """Have the language model write a briefing; if it does not, say why."""
    from hivemind_memory.access.rules import check_owner
    from hivemind_memory.context.briefing import find_scope
    from hivemind_memory.jobs.refresh import refresh_briefing

    check_owner(memory.caller, "hm bulletin --refresh")
    if why_not := refresh_briefing(memory, find_scope(memory, name)):
        print_notices([f"the language model wrote nothing: {clause(why_not)}"])
    return not why_not
