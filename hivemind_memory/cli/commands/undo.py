"""hm undo: undoes the last change of the memory, or another one."""

from __future__ import annotations

from hivemind_memory.cli.command import Argument, CommandRequest, Flag, command
from hivemind_memory.cli.commands.forget import print_items, print_restored
from hivemind_memory.cli.dates import minute_text
from hivemind_memory.cli.options import DRY_RUN, JSON
from hivemind_memory.cli.output import (
    failed_text,
    print_json,
    print_line,
    print_notices,
)
from hivemind_memory.model.changes import DONE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.model.changes import UndoResult


@command(
    "undo",
    description=(
        "Without ID, undoes your own last change; run it again to undo the one before."
        " Text that was written or saved is hidden, forgotten memories are shown again,"
        " and links are restored. A claim that was accepted or rejected is pending"
        " again. Nothing is deleted: to revert the undo, run hm undo with the id that"
        " it prints."
        "\n\n"
        "A memory that was replaced or edited since is left alone. If your last change"
        " is an edit or a purge, nothing is undone: hm has no copy of that text."
        " Commands that change no memory, such as hm project rename, hm config set,"
        " hm connect and hm eject, are not undone either: hm undo names the command"
        " that reverses them, if there is one."
        "\n\n"
        "Your own changes are those made at any terminal, plus those made in this"
        " terminal with piped input or output. To undo a change that another program or"
        " an agent made, give its id, which hm log --changes lists; if there is one"
        " newer than yours, hm undo says so."
    ),
    arguments=(
        Argument("id", "Id of a change.", is_required=False, completes="changes"),
    ),
    flags=(
        DRY_RUN,
        Flag(
            ("-y", "--yes"),
            "flag",
            "Accepted for consistency; `hm undo` never asks for confirmation.",
        ),
        JSON,
    ),
    examples=("hm undo --dry-run", "hm undo"),
)
def undo(request: CommandRequest) -> int:
    """Undo a change."""
    values = request.values
    with request.open_memory() as memory:
        undone = memory.curation.undo(
            (values["id"] or "").strip(), is_dry_run=values["dry_run"]
        )
    _print_undone(undone, as_json=values["json"])
    return 0


def _print_undone(undone: UndoResult, *, as_json: bool) -> None:
    """Print which change was undone and what that did."""
    if as_json:
        return print_json(undone)
    is_plan = undone.is_dry_run
    verb = "would undo" if is_plan else "undid"
    at = minute_text(undone.at)
    where = f" in {places}" if (places := _scopes_text(undone.scopes)) else ""
    kind = "`hm done`" if undone.kind == DONE else undone.kind
    print_line(f"{verb} the {kind} from {at}{where} ({undone.undone})")
    texts = undone.texts
    print_items("would forget" if is_plan else "forgot", undone.forgotten, texts)
    print_restored("would restore" if is_plan else "restored", undone.restored, texts)
    pending = "would be pending again:" if is_plan else "pending again:"
    print_items(pending, undone.pending, texts)
    print_items("would accept" if is_plan else "accepted", undone.accepted, texts)
    print_items("active again:", undone.reactivated)
    print_items("superseded again:", undone.superseded)
    if undone.link:
        print_line(
            f"{'would restore' if is_plan else 'restored'} the links of {undone.link}"
        )
    for path, state in ((undone.reopened, "open"), (undone.done, "done")):
        if path:
            text = "".join(f": {line}" for line in texts.values())
            print_line(f"{path} {'would be' if is_plan else 'is'} {state} again{text}")
    notices = [failed_text(item) for item in undone.failed]
    if undone.already:
        notices.append("it was already undone")
    if undone.id:
        notices.append(f"`hm undo {undone.id}` redoes it")
    if undone.newer is not None:
        notices.append(undone.newer.notice(undone.newer_count))
    return print_notices(notices)


def _scopes_text(scopes: tuple[str, ...]) -> str:
    """Return where an undo acts: one scope, or how many; empty: nowhere."""
    if len(scopes) > 1:
        return f"{len(scopes)} scopes"
    return (scopes[0] or "the global scope") if scopes else ""
