"""hm link and hm unlink: add or remove a link between two memories."""

from __future__ import annotations

from hivemind_memory.cli.command import Argument, CommandRequest, Flag, command
from hivemind_memory.cli.options import JSON
from hivemind_memory.cli.output import print_json, print_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.model.curation import LinkResult

_WEIGHT = Flag(
    ("--weight",), "float", "Weight, 0 to 1 (1).", metavar="X", low=0, high=1
)
_KIND = Flag(
    ("--kind",),
    "text",
    "How they are linked (related_to).",
    choices=("related_to", "updates", "contradicts"),
)
_ENDS = (
    Argument(
        "from", "Key, id or path of the memory that is changed.", completes="keys"
    ),
    Argument("to", "Key, id or path of the other memory.", completes="keys"),
)


@command(
    "link",
    description="If one memory updates another, searches return only the newer one.",
    arguments=_ENDS,
    flags=(_KIND, _WEIGHT, JSON),
    examples=("hm link deploy-day party-day --kind contradicts",),
)
def link(request: CommandRequest) -> int:
    """Link two memories."""
    values = request.values
    weight = 1.0 if values["weight"] is None else values["weight"]
    with request.open_memory() as memory:
        linked = memory.curation.link(
            values["from"],
            values["to"],
            values["kind"] or "related_to",
            weight=weight,
        )
    _print_linked(linked, "linked", as_json=values["json"])
    return 0


@command("unlink", arguments=_ENDS, flags=(_KIND, JSON))
def unlink(request: CommandRequest) -> int:
    """Remove the link between two memories."""
    values = request.values
    with request.open_memory() as memory:
        linked = memory.curation.unlink(
            values["from"],
            values["to"],
            values["kind"] or "related_to",
        )
    _print_linked(linked, "unlinked", as_json=values["json"])
    return 0


def _print_linked(linked: LinkResult, verb: str, *, as_json: bool) -> None:
    """Print the link that was made or removed."""
    if as_json:
        print_json(linked)
    elif linked.is_changed:
        other = linked.to_path or linked.to_id
        line = f"{verb} {linked.from_path} {linked.kind} {other}"
        print_line(line, keep=[linked.from_path, other])
    else:
        print_line(f"unchanged: they were already {verb}")
