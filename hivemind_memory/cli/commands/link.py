"""hm link and hm unlink: add or remove a link between two memories."""

from __future__ import annotations

from hivemind_memory.cli.command import Argument, CommandRequest, Flag, command
from hivemind_memory.cli.options import JSON
from hivemind_memory.cli.output import print_json, print_line, print_notices

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.model.link_results import LinkResult

_WEIGHT = Flag(
    ("--weight",), "float", "Weight, 0 to 1 (1).", metavar="X", low=0, high=1
)
_KINDS = ("related_to", "updates", "contradicts")
"""Those of ``model.memories``, which help does not load; a test compares."""

_KIND = Flag(("--kind",), "text", "How they are linked (related_to).", choices=_KINDS)
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


@command(
    "unlink",
    description=(
        "Without --kind, removes all links between them, whichever of the two they"
        " start at. If a link"
        " cannot be removed this way, the output says how to remove it."
    ),
    arguments=(
        Argument("from", "Key, id or path of a memory.", completes="keys"),
        Argument("to", "Key, id or path of the other memory.", completes="keys"),
    ),
    flags=(
        Flag(
            ("--kind",),
            "text",
            "Only the link of this kind that starts at FROM.",
            choices=_KINDS,
        ),
        JSON,
    ),
    examples=("hm unlink deploy-day party-day",),
)
def unlink(request: CommandRequest) -> int:
    """Remove the links between two memories."""
    values = request.values
    with request.open_memory() as memory:
        linked = memory.curation.unlink(
            values["from"], values["to"], values["kind"] or ""
        )
    _print_linked(linked, "unlinked", as_json=values["json"])
    return 0


def _print_linked(linked: LinkResult, verb: str, *, as_json: bool) -> None:
    """Print the links that were made or removed, and which are left."""
    if as_json:
        return print_json(linked)
    made = [linked] if linked.is_changed else []
    for link_ in (*made, *linked.others):
        other = link_.to_path or link_.to_id
        line = f"{verb} {link_.from_path} {link_.kind} {other}"
        print_line(line, keep=[link_.from_path, other])
    if not made and not linked.left:
        print_line(f"unchanged: they were already {verb}")
    elif not made:
        print_line("unchanged: no such link could be removed")
    return print_notices(
        f"still there: {left.from_path} {left.kind} {left.to_path}; {left.remedy}"
        for left in linked.left
    )
