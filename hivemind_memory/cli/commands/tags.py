"""hm tags: the tags that notes and entries have, with counts."""

from __future__ import annotations

from hivemind_memory.cli.command import CommandRequest, command
from hivemind_memory.cli.options import IN_FOLDER, JSON, SCOPE
from hivemind_memory.cli.output import print_json, print_notices, print_table
from hivemind_memory.cli.row_limit import ALL, LIMIT, RULE, print_left, row_count


@command(
    "tags",
    description=(
        "The most common tag comes first. A note counts once, and so does each entry"
        " that has tags of its own. Tags are shown in lower case; a search for one"
        f" ignores case. {RULE}"
    ),
    flags=(SCOPE, IN_FOLDER, LIMIT, ALL, JSON),
    examples=("hm tags", "hm tags --scope project --json"),
)
def tags(request: CommandRequest) -> int:
    """List the tags."""
    from hivemind_memory.memory.tag_counts import count_tags

    values = request.values
    with request.open_memory() as memory:
        given = {"scope": values["scope"], "folder": values["in"]}
        found = count_tags(
            memory, **{name: given[name] for name in given if given[name]}
        )
    rows = found[: row_count(values, len(found))]
    if values["json"]:
        print_json([{"tag": tag, "count": count} for tag, count in rows])
        return 0
    print_table(("tag", "count"), [(tag, f"{count:,}") for tag, count in rows])
    if not rows:
        print_notices(["no tags here; `hm write --tag WORD` sets one"])
    print_left(len(found) - len(rows), "tag")
    return 0
