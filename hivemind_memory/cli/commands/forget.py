"""hm forget and hm restore: hide memories, erase them, bring them back."""

from __future__ import annotations

import sys

from hivemind_memory.cli.command import Argument, CommandRequest, Flag, command
from hivemind_memory.cli.confirm import is_sure
from hivemind_memory.cli.options import DRY_RUN, JSON, SCOPE, SOURCES, YES
from hivemind_memory.cli.output import (
    failed_text,
    is_terminal,
    print_json,
    print_line,
    print_notices,
)
from hivemind_memory.model.display import count_text, lines_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from hivemind_memory.memory import Memory
    from hivemind_memory.model.curation import (
        AffectedItem,
        FailedItem,
        ForgetResult,
        MemorySelector,
        PurgeCount,
        PurgeResult,
        RestoreResult,
        UnfinishedPurge,
    )

_WHICH = Argument(
    "ref",
    "Key or id of a memory, id of an entry, or a path.",
    is_required=False,
    completes="names",
)
_HIDDEN = Argument(
    "ref",
    "Id of a forget, key or id of a memory, id of an entry, or a path.",
    is_required=False,
    completes="forgotten",
)
_SETS = (
    Flag(("--session",), "text", "Everything from this session.", metavar="NAME"),
    Flag(
        ("--source",),
        "text",
        "Everything from this source.",
        choices=SOURCES,
    ),
    Flag(("--day",), "day", "Everything written on this day.", metavar="DAY"),
)
_ALL_SCOPES = Flag(
    ("--all-scopes",), "flag", "Include other projects and the global memory."
)

_MAX_SHOWN = 10
"""Memories of a receipt that a terminal shows, and so many places not reached."""

_WHY = {"older": "earlier version", "inbox": "pending claim", "copy": "same text"}
"""Why a memory is affected that was not named -> in words."""

_SINGULAR = {
    "memories": "memory",
    "entries": "entry",
    "files": "file",
    "texts": "text",
    "chunks with their": "chunk with its",
    "vectors": "vector",
    "pages": "page",
    "records": "record",
    "worktrees": "worktree",
    "counters": "counter",
    "changes": "change",
    "messages": "message",
    "rows": "row",
}


@command(
    "forget",
    description=(
        "Forgotten memories no longer appear in searches, lists and injected sections;"
        " hm restore brings them back. --purge also erases the text from notes, earlier"
        " versions, index, vectors, caches and journal, permanently. --session,"
        " --source, --day, or --scope alone, select everything that matches: hm shows"
        " what that is and asks, as it does before a purge. In a repository, only its"
        " project is searched. Without a terminal, or with --json, confirm with --yes."
    ),
    arguments=(_WHICH,),
    flags=(
        *_SETS,
        SCOPE,
        _ALL_SCOPES,
        Flag(("--purge",), "flag", "Erase permanently, from everywhere."),
        Flag(
            ("--finish",),
            "text",
            "With --purge: finish the interrupted purge with this id; newer text is not"
            " touched.",
            metavar="ID",
        ),
        DRY_RUN,
        YES,
        Flag(
            ("--verbose",),
            "flag",
            "Show the whole receipt of a purge; on a terminal a long one is cut.",
        ),
        JSON,
    ),
    examples=(
        "hm forget deploy-day",
        "hm forget --session 3f9a --dry-run",
        "hm forget --session 3f9a --purge --dry-run",
    ),
)
def forget(request: CommandRequest) -> int:
    """Hide memories, or erase them from every place."""
    values = request.values
    selector = _selector(values)
    if values["finish"] is not None:
        return _finish_purge(request, selector)
    with request.open_memory() as memory:
        _print_scope_limit(memory, selector)
        if values["purge"]:
            return _purge_all(memory, selector, values)
        needs_confirmation = selector.is_set and not values["yes"]
        if values["dry_run"] or needs_confirmation:
            plan = memory.curation.forget(selector, is_dry_run=True)
            _print_forgotten(plan, as_json=values["json"])
            if values["dry_run"] or not plan.memories:
                return 0
            count = count_text(len(plan.memories), "memory", "memories")
            if not is_sure(
                f"Forget {count}?", "Nothing was forgotten", as_json=values["json"]
            ):
                return 1
        forgotten = memory.forget(selector)
    _print_forgotten(forgotten, as_json=values["json"])
    return 0


@command(
    "restore",
    description=(
        "REF may be the id that hm forget printed: then exactly what that forget hid"
        " comes back. Any other REF undoes the newest forget that hid any of it."
    ),
    arguments=(_HIDDEN,),
    flags=(*_SETS, SCOPE, _ALL_SCOPES, JSON),
    examples=("hm restore deploy-day", "hm restore --session 3f9a"),
)
def restore(request: CommandRequest) -> int:
    """Bring forgotten memories back."""
    values = request.values
    selector = _selector(values)
    with request.open_memory() as memory:
        _print_scope_limit(memory, selector)
        restored = memory.curation.restore(selector)
    _print_restored(restored, selector.name, as_json=values["json"])
    return 0


def _selector(values: Mapping[str, Any]) -> MemorySelector:
    """Return which memories are meant.

    Raises:
        UsageError: One is named, and others are chosen by what they have in common.
    """
    from hivemind_memory.errors import UsageError
    from hivemind_memory.model.curation import MemorySelector

    given = [name for name in ("session", "source", "day") if values[name]]
    if values["ref"] and given:
        raise UsageError(
            f"a name and --{given[0]} cannot be combined.",
            hint=f"Name one memory, or leave the name out for all that --{given[0]}"
            " selects.",
            effect="Nothing was changed",
        )
    return MemorySelector(
        name=values["ref"] or "",
        scope=values["scope"] or "",
        session=values["session"] or "",
        source=values["source"] or "",
        day=values["day"] or "",
        is_everywhere=values["all_scopes"],
    )


def _print_scope_limit(memory: Memory, selector: MemorySelector) -> None:
    """Say that the selection is limited to one project, unless the person named it."""
    from hivemind_memory.curation.selection import set_scope

    if where := set_scope(memory.caller, selector, memory.find_scope):
        print_notices([f"Looking only in {where}; --all-scopes looks everywhere."])


def _finish_purge(request: CommandRequest, selector: MemorySelector) -> int:
    """Finish an earlier purge; return the exit code."""
    from hivemind_memory.errors import UsageError
    from hivemind_memory.model.curation import MemorySelector, UnfinishedPurge

    values = request.values
    if not values["purge"]:
        raise UsageError("--finish needs --purge.", effect="Nothing was purged")
    if selector != MemorySelector():
        raise UsageError(
            "--finish takes the id of a purge, and nothing else.",
            hint="Leave out the name, --session, --source, --day and the scope.",
            effect="Nothing was purged",
        )
    with request.open_memory() as memory:
        return _purge_all(memory, UnfinishedPurge(id=values["finish"]), values)


def _purge_all(
    memory: Memory,
    selector: MemorySelector | UnfinishedPurge,
    values: Mapping[str, Any],
) -> int:
    """Show what a purge would do, ask, and purge; return the exit code."""
    receipt = _purge(memory, selector, is_dry_run=True)
    if not values["dry_run"]:
        if not values["yes"]:
            _print_receipt(receipt, values)
            if not is_sure(
                "Erase them permanently?", "Nothing was purged", as_json=values["json"]
            ):
                return 1
        shown = None if values["yes"] else receipt.memories
        receipt = _purge(memory, selector, is_dry_run=False, shown=shown)
    _print_receipt(receipt, values)
    return 0 if receipt.is_dry_run or receipt.is_complete else 1


def _purge(
    memory: Memory,
    selector: MemorySelector | UnfinishedPurge,
    *,
    is_dry_run: bool,
    shown: Sequence[AffectedItem] | None = None,
) -> PurgeResult:
    """Purge, what the newest transcripts say included."""
    from hivemind_memory import opening
    from hivemind_memory.model.curation import UnfinishedPurge

    opening.read_sessions(memory)
    # A path, or a scope by itself, plainly means whole notes, whoever wrote them.
    is_forced = isinstance(selector, UnfinishedPurge) or (
        selector.name.endswith(".md") or selector.is_whole_scope
    )
    return memory.curation.purge(
        selector, is_dry_run=is_dry_run, is_forced=is_forced, shown=shown
    )


def _print_forgotten(forgotten: ForgetResult, *, as_json: bool) -> None:
    """Print what is hidden now."""
    if as_json:
        return print_json(forgotten)
    verb = "would forget" if forgotten.is_dry_run else "forgot"
    print_items(verb, forgotten.memories, forgotten.texts)
    print_items("active again:", forgotten.reactivated)
    _print_rest(forgotten.already, "already forgotten", forgotten.failed)
    if forgotten.memories and not forgotten.is_dry_run:
        how = f"hm restore {forgotten.id}".rstrip()
        print_notices([f"`{how}` brings it back; --purge erases it permanently"])
    return None


def _print_restored(restored: RestoreResult, name: str, *, as_json: bool) -> None:
    """Print what is visible again, or that nothing of that *name* was hidden."""
    if as_json:
        return print_json(restored)
    if name and not (restored.memories or restored.failed):
        # Only a change that is undone by its id is recorded even if nothing was left to
        # do.
        why = "was restored before" if restored.id else "is not forgotten"
        return print_notices([f"{name} {why}: nothing to restore."])
    print_restored("restored", restored.memories)
    print_items("superseded again:", restored.superseded)
    print_notices(
        f"more was hidden earlier: `hm restore {change_id}` brings that back, too"
        for change_id in restored.left
    )
    return _print_rest(restored.already, "already visible", restored.failed)


def _print_receipt(receipt: PurgeResult, values: Mapping[str, Any]) -> None:
    """Print where purged memories were, and where they may still be."""
    if values["json"]:
        return print_json(receipt)
    is_whole = values["verbose"] or not is_terminal(sys.stdout)
    most = None if is_whole else _MAX_SHOWN
    shown = receipt.memories[:most]
    print_items("would purge" if receipt.is_dry_run else "purged", shown)
    if rest := len(receipt.memories) - len(shown):
        print_line(f"and {rest:,} more; --verbose lists them all")
    held = [place for place in receipt.places if place.count]
    width = max((len(place.name) for place in held), default=0)
    for place in held:
        print_line(f"  {place.name:{width}}  {_amount(place)}")
    empty = [place.name for place in receipt.places if not place.count]
    if empty:
        print_line(f"  nothing in: {', '.join(empty)}", keep=empty)
    print_items("active again:", receipt.reactivated)
    notices = list(map(failed_text, receipt.left))
    if receipt.left and not receipt.is_dry_run:
        command = f"`{receipt.finish}`" if receipt.finish else "the same purge again"
        notices.append(f"{command} finishes it")
    out = [f"not erased: {item.what}: {item.why}" for item in receipt.out_of_reach]
    if rest := len(out) - len(out[:most]):
        out = [*out[:most], f"{rest:,} more not erased; --verbose lists them all"]
    return print_notices((*notices, *out))


def _amount(place: PurgeCount) -> str:
    """Return the count of one place in a receipt."""
    unit = place.unit
    if place.count == 1 and not unit.startswith("of "):
        for plural, singular in _SINGULAR.items():
            unit = unit.replace(plural, singular)
    return f"{place.count:,} {unit}"


def print_items(
    verb: str, memories: Sequence[AffectedItem], texts: Mapping[str, str] | None = None
) -> None:
    """Print memories, one a line.

    Args:
        verb: What was done to them.
        memories: The memories.
        texts: Id, or path where there is none -> what is shown of a text.
    """
    for item in memories:
        details = ", ".join(name for name in (item.key, _WHY.get(item.why, "")) if name)
        more = f" ({details})" if details else ""
        place = lines_text(item.path, item.start_line, item.end_line)
        text = (texts or {}).get(item.id or item.path, "")
        print_line(f"{verb} {place}{more}{text and ': '}{text}", keep=[place])


def print_restored(
    verb: str, memories: Sequence[AffectedItem], texts: Mapping[str, str] | None = None
) -> None:
    """Print memories that are visible again, and which of them wait in an inbox."""
    from hivemind_memory.model.results import pending_notice

    print_items(verb, memories, texts)
    print_notices(notice for item in memories for notice in pending_notice(item.path))


def _print_rest(already: int, what: str, failed: Sequence[FailedItem]) -> None:
    """Print how many needed no change, and what could not be done."""
    if already:
        print_notices([f"{count_text(already, 'memory', 'memories')} {what}"])
    print_notices(map(failed_text, failed))
