"""Shows the context of a task: to a person, and to programs."""

from __future__ import annotations

from hivemind_memory.cli.output import print_notices, write_stdout
from hivemind_memory.model.display import count_text, escape_line, escape_text
from hivemind_memory.redaction import mask

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.working.task_context import TaskContext

_MAX_LEFT_OUT = 10


def context_value(built: TaskContext) -> dict[str, object]:
    """Return a context for programs."""
    selection = built.built.selection
    costs = {mask(chosen.block.id): chosen.tokens for chosen in selection.selected}
    return {
        "context": built.built.entries,
        "report": {
            "max_tokens": selection.max_tokens,
            "used_tokens": selection.used_tokens,
            "over_budget": selection.over_budget,
            "tokens": costs,
            "left_out": [
                {
                    "id": mask(skipped.block.id),
                    "tokens": skipped.tokens,
                    "why": skipped.why,
                }
                for skipped in selection.left_out
            ],
            "notes": built.notes,
        },
    }


def print_context(built: TaskContext) -> None:
    """Print a context for a person, or for a program that pastes it."""
    selection = built.built.selection
    pairs = zip(built.built.entries, selection.selected, strict=True)
    for entry, chosen in pairs:
        said = entry["metadata"]
        disputed_by = said.get("disputed_by")
        dispute = f"disputed by {disputed_by}" if disputed_by else ""
        reasons = (said.get("why") or entry["priority"], dispute, said.get("note"))
        why = "; ".join(str(reason) for reason in reasons if reason)
        head = f"## {entry['id']} ({chosen.tokens:,} tokens; {why})"
        write_stdout(
            f"{escape_line(head)}\n\n{escape_text(entry['content'].rstrip())}\n\n"
        )
    used, most = selection.used_tokens, selection.max_tokens
    blocks = count_text(len(selection.selected), "block")
    lines = [f"{blocks}, {used:,} of {most:,} tokens"]
    if selection.over_budget:
        lines.append("critical blocks alone exceed the budget; nothing else fits")
    if selection.left_out:
        lines.append(f"left out: {count_text(len(selection.left_out), 'block')}")
    shown = selection.left_out[:_MAX_LEFT_OUT]
    lines += [
        f"  {escape_line(mask(skipped.block.id))}: {skipped.why}" for skipped in shown
    ]
    if (more := len(selection.left_out) - _MAX_LEFT_OUT) > 0:
        lines.append(f"  and {more:,} more; --json lists all")
    print_notices([*lines, *built.notes])
