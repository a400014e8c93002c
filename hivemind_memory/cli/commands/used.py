"""hm used: records what came of using a memory."""

from __future__ import annotations

from hivemind_memory.cli.command import Argument, CommandRequest, Flag, command
from hivemind_memory.cli.options import JSON, SCOPE
from hivemind_memory.cli.output import print_json, print_line, print_notices
from hivemind_memory.cli.recorded_command import record_command
from hivemind_memory.model.display import count_text
from hivemind_memory.model.keys import operand

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.model.uses import UseResult

OUTCOMES = ("applied", "ignored", "contradicted", "corrected")
"""Those of ``model.uses``, which help does not load; a test compares."""


@command(
    "used",
    description=(
        "applied: you followed it and it worked. ignored: it did not matter."
        " contradicted: it turned out to be wrong. corrected: it was right only after a"
        " change. Each session counts once; without --session, each day. A memory with"
        " numbered steps that was applied in three sessions, on two days, is offered as"
        " a skill: hm skill promote."
    ),
    arguments=(Argument("ref", "Key, id or path of a memory.", completes="keys"),),
    flags=(
        Flag(
            ("--outcome",),
            "text",
            "What came of it (applied).",
            choices=OUTCOMES,
        ),
        Flag(
            ("--session",),
            "text",
            "The session in which it was used.",
            metavar="NAME",
        ),
        SCOPE,
        JSON,
    ),
    examples=("hm used deploy-shop", "hm used deploy-shop --outcome corrected"),
)
def used(request: CommandRequest) -> int:
    """Record a use."""
    values = request.values
    with request.open_memory() as memory:
        done = memory.curation.uses(memory.settings.skill_uses).record(
            values["ref"],
            values["outcome"] or OUTCOMES[0],
            session=values["session"] or "",
            scope=values["scope"] or "",
        )
    if done.is_new:
        record_command(request, ("used",))
    if values["json"]:
        print_json(done)
        return 0
    print_line(f"{done.outcome}: {done.path} ({done.key})", keep=[done.path])
    print_notices([_counted(done), *_offer(done)])
    return 0


def _counted(done: UseResult) -> str:
    """Return what is counted of a memory by now."""
    counts = done.counts
    sessions = count_text(counts.applied, "session")
    days = f" on {count_text(counts.days, 'day')}" if counts.days else ""
    against = f", {counts.against} against it" if counts.against else ""
    again = "" if done.is_new else "; this session was counted before"
    return f"applied in {sessions}{days}{against}{again}"


def _offer(done: UseResult) -> list[str]:
    """Return that a memory can become a skill, if it can."""
    if not done.is_offered:
        return []
    return [f"it can become a skill: `hm skill promote {operand(done.key)}`"]
