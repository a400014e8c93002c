"""hm inject, eject and why: add a section to an agent's file, remove it, explain it."""

from __future__ import annotations

import os

from hivemind_memory.cli.command import Argument, CommandRequest, Flag, command
from hivemind_memory.cli.confirm import is_sure
from hivemind_memory.cli.dates import minute_text
from hivemind_memory.cli.options import DRY_RUN, JSON, WORKTREE, YES
from hivemind_memory.cli.output import (
    lines_text,
    print_json,
    print_line,
    print_notices,
    print_once,
    write_stdout,
)
from hivemind_memory.errors import UsageError
from hivemind_memory.model.display import count_text, escape_line, escape_text
from hivemind_memory.model.injection_outcomes import (
    OFF,
    PLANNED,
    UNCHANGED,
    WITHOUT_MEMORIES,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from hivemind_memory.memory import Memory
    from hivemind_memory.model.injection import EjectionResult, InjectionResult

_WHYS = {
    "budget": "no room in the budget",
    "cap": "the section already has as many lessons as it takes",
    "count": "over the limit (startup_inject_count)",
    "session": "the section already has enough from this agent's session",
    "copy": "says the same as another memory",
    "overlap": "its lines are already quoted",
    "external": "from an external source, never injected by itself",
    "over": "expired or done",
}
"""Why a memory was left out -> in words."""

_MAX_LEFTOVERS = 10
"""What is shown of what keeps git's settings; JSON has all."""


@command(
    "inject",
    description=(
        "The section is placed between two marker lines; every other byte of the file"
        " is kept, and git sees no change: no status, diff or commit shows it. If the"
        " memories are the same, nothing is written. hm why shows what was chosen."
        " Outside a git repository and in your home folder it asks first."
    ),
    arguments=(WORKTREE,),
    flags=(
        Flag(
            ("--agent",),
            "text",
            "The agent that will read it: claude (the default), codex, gemini,"
            " opencode, qwen, cursor, aider or another.",
            metavar="NAME",
            completes="agents",
        ),
        DRY_RUN,
        YES,
        Flag(("--off",), "flag", "Never inject into this repository again."),
        Flag(("--on",), "flag", "Inject into this repository again."),
        JSON,
    ),
    examples=("hm inject", "hm inject --agent codex ~/code/shop"),
)
def inject(request: CommandRequest) -> int:
    """Inject into a worktree, or turn that off or on."""
    from hivemind_memory import opening
    from hivemind_memory.inject.injection_record import record_of
    from hivemind_memory.model.agents import check_agent

    values = request.values
    check_agent(values["agent"] or "")
    if values["off"] and values["on"]:
        raise UsageError("--off and --on cannot be combined.")
    worktree = values["worktree"] or os.curdir
    with request.open_memory() as memory:
        opening.check_worktree(memory, worktree)
        injector = opening.open_injector(memory)
        if values["off"] or values["on"]:
            ejection = injector.switch(worktree, is_on=values["on"])
            return _show_switch(ejection, as_json=values["json"])
        if not (values["dry_run"] or values["yes"]):
            doubt = injector.doubt_about(worktree)
            refusal = f"Nothing was injected: {doubt}"
            if doubt and not is_sure(
                f"{doubt}. Inject there?", refusal, remedy="pass --yes to inject anyway"
            ):
                return 1
        done = injector.inject(
            worktree, agent=values["agent"] or "", is_dry_run=values["dry_run"]
        )
    if values["json"]:
        record = record_of(done, "")
        del record["at"]
        print_json({**record, "section": done.planned.body})
        return 0
    if done.outcome == PLANNED:
        write_stdout(escape_text(done.planned.body) + "\n" if done.planned.body else "")
    else:
        write_stdout(f"{sentence(done)}\n")
    print_once(_notices(done))
    return 0


@command("eject", arguments=(WORKTREE,), flags=(JSON,))
def eject(request: CommandRequest) -> int:
    """Remove the section."""
    from dataclasses import asdict

    from hivemind_memory import opening

    worktree = request.values["worktree"] or os.curdir
    with request.open_memory() as memory:
        opening.check_worktree(memory, worktree)
        injector = opening.open_injector(memory)
        done = injector.eject(worktree)
    if request.values["json"]:
        print_json(asdict(done))
    else:
        _show_ejection(done)
    return int(bool(done.leftovers))


@command(
    "why",
    description=(
        "For a worktree, shows what was injected, what was left out and why. For a"
        " memory, shows whether it was injected into the current folder, or why not."
    ),
    arguments=(
        Argument(
            "what",
            "Git worktree or folder (the current folder), or key, id or path of a"
            " memory.",
            is_required=False,
            completes="names",
        ),
    ),
    flags=(JSON,),
    examples=("hm why", "hm why deploy-day"),
)
def why(request: CommandRequest) -> int:
    """Show the newest record of the injection log."""
    from hivemind_memory import opening

    named = request.values["what"] or os.curdir
    if not os.path.isdir(named):
        return _show_why(request, named)
    with request.open_memory() as memory:
        opening.check_worktree(memory, named)
        record = opening.open_injector(memory).why(named)
    if request.values["json"]:
        print_json(record)
    elif record is None:
        write_stdout("Nothing has been injected here yet.\n")
    else:
        places = [
            _lines(listed) for listed in (*record["memories"], *record["left_out"])
        ]
        for line in _record_lines(record):
            print_line(line, keep=places)
    return 0


def _show_why(request: CommandRequest, name: str) -> int:
    """Show whether a memory was injected into the current folder, or why not."""
    from hivemind_memory import opening
    from hivemind_memory.context.why_absent import why_absent

    with request.open_memory() as memory:
        path, first, last = memory.curation.locate(name)
        path = memory.read(path, start_line=first or 1, line_count=0).path
        record = opening.open_injector(memory).why(os.curdir)
        found = record or {"memories": [], "left_out": []}
        is_typed = any(row.type for row in memory.memories() if row.path == path)
        # A typed memory is injected as a whole; of a note, only what is asked for.
        lines = range(first, last + 1) if first and not is_typed else None
        injected = _at(found["memories"], path, lines)
        left_out = _at(found["left_out"], path, lines)
        reason = ""
        if not injected:
            is_newer = record is not None and _is_newer(memory, name, record)
            reason = why_absent(memory, path, is_newer=is_newer)
    if injected and not found["is_there"]:
        injected, reason = [], _gone(found)
    elif left_out and not injected:
        reason = _WHYS.get(left_out[0]["why"], left_out[0]["why"])
    if request.values["json"]:
        print_json({"path": path, "is_injected": bool(injected), "reason": reason})
    elif injected:
        print_line(f"injected: {_memory_line(injected[0])}", keep=[_lines(injected[0])])
    elif record is None:
        print_line(
            f"not injected: {path}: nothing has been injected here yet", keep=[path]
        )
    else:
        print_line(f"not injected: {path}: {reason}", keep=[path])
    return 0


def _is_newer(memory: Memory, name: str, record: dict[str, Any]) -> bool:
    """Return whether a memory or an entry was saved after a section was last made."""
    from datetime import datetime

    from hivemind_memory.errors import HivemindError

    try:
        saved = datetime.fromisoformat(memory.curation.show(name).memory.created)
        return saved > datetime.fromisoformat(record["seen_at"] or record["at"])
    except (HivemindError, ValueError, TypeError):
        return False  # a person's note, which has no date, or one without a time


def _at(
    records: Sequence[dict[str, Any]], path: str, lines: range | None
) -> list[dict[str, Any]]:
    """Return the records of a note, or of those of its lines that are asked for."""
    found = [record for record in records if record["path"] == path]
    if lines is None:
        return found
    return [
        record
        for record in found
        if record["start_line"] < lines.stop and lines.start <= record["end_line"]
    ]


def _show_switch(ejection: EjectionResult | None, *, as_json: bool) -> int:
    """Say that injection was turned off or on for a repository."""
    from dataclasses import asdict

    is_on = ejection is None
    if as_json:
        print_json({"is_on": is_on, **(asdict(ejection) if ejection else {})})
    elif ejection is None:
        write_stdout("On: hm inject writes into this repository again.\n")
    else:
        write_stdout("Off: hm inject writes nothing into this repository.\n")
        _show_ejection(ejection)
    return int(ejection is not None and bool(ejection.leftovers))


def _show_ejection(done: EjectionResult) -> None:
    """Say what was removed."""
    for file in done.files:
        write_stdout(f"{escape_line(file)}: section removed\n")
    if not done.files:
        write_stdout("There is no section to remove.\n")
    notices = list(done.warnings)
    if done.leftovers:
        shown = done.leftovers[:_MAX_LEFTOVERS]
        notices += shown
        if more := len(done.leftovers) - len(shown):
            notices.append(f"and {more:,} more: `hm eject --json` lists them")
        notices.append(
            "git keeps its filter and hooks for hm, so that no commit takes the section"
            " along: do the above, then run `hm eject` again"
        )
    elif not done.is_git_restored:
        notices.append("kept hm's git settings: another worktree still has a section")
    print_notices(notices)


def sentence(done: InjectionResult) -> str:
    """Return what an injection did."""
    if done.outcome == OFF:
        return "off for this repository: `hm inject --on` turns it on"
    if done.outcome in WITHOUT_MEMORIES:
        what = "section removed" if done.file else "nothing to inject"
        place = f"{escape_line(done.file)}: " if done.file else ""
        return f"{place}{what}: {done.planned.why_empty}"
    excerpts = done.planned.choice.excerpts
    count = count_text(len(excerpts), "memory", "memories")
    what = "unchanged, " if done.outcome == UNCHANGED else ""
    tokens = f"about {done.planned.tokens} tokens"
    return f"{escape_line(done.file)}: {what}{count}, {tokens}"


def _plan(done: InjectionResult) -> str:
    """Return what an injection would do."""
    if done.planned.why_empty:
        return f"would write nothing: {done.planned.why_empty}"
    excerpts = done.planned.choice.excerpts
    count = count_text(len(excerpts), "memory", "memories")
    tokens = f"about {done.planned.tokens} tokens"
    return f"would write {count} ({tokens}) to {escape_line(done.file)}"


def _notices(done: InjectionResult) -> Iterable[str]:
    """Return what else a person should know about an injection."""
    if done.outcome == PLANNED:
        yield f"dry run: {_plan(done)}"
    choice = done.planned.choice
    if choice.left_out_count:
        count = count_text(choice.left_out_count, "memory", "memories")
        more = "more than " if choice.has_more else ""
        yield f"{more}{count} left out; see `hm why`"
    yield from done.warnings
    yield from done.planned.warnings


def _record_lines(record: dict[str, Any]) -> Iterable[str]:
    """Return a record of the injection log, one fact a line."""
    # Not at the top: the completion reads every command and must start at once.
    from hivemind_memory.model.injection import OVERLAP

    yield f"{minute_text(record['at'])}  {record['file'] or '-'}  {record['outcome']}"
    if not record["is_there"] and record["memories"]:
        yield f"section removed from {record['file']}; it contained:"
    if record["seen_at"]:
        yield f"checked again {minute_text(record['seen_at'])}: unchanged"
    if record["why_empty"]:
        yield record["why_empty"]
    yield f"about {record['tokens']} of {record['budget_tokens']} tokens"
    for facet in record["facets"]:
        yield f"{facet['name']} (weight {facet['weight']:g}): {facet['text']}"
    for memory in record["memories"]:
        yield f"injected: {_memory_line(memory)}"
    for memory in record["left_out"]:
        reason = _WHYS.get(memory["why"], memory["why"])
        what = "quoted" if memory["why"] == OVERLAP else "left out"
        yield f"{what}: {_memory_line(memory)}: {reason}"
    for warning in record["warnings"]:
        yield f"warning: {warning}"
    for other in record["others"]:
        count = count_text(len(other["memories"]), "memory", "memories")
        summary = (
            f"{minute_text(other['at'])}  {other['file'] or '-'}  {other['outcome']}"
        )
        yield f"for another agent: {summary}, {count}"


def _lines(memory: dict[str, Any]) -> str:
    """Return where an injected memory stands, as ``hm get`` takes it."""
    return lines_text(memory["path"], memory["start_line"], memory["end_line"])


def _gone(record: dict[str, Any]) -> str:
    """Return that a section was removed, as a clause."""
    return f"the section was removed from {record['file']}"


def _memory_line(memory: dict[str, Any]) -> str:
    """Return a memory with its score and its parts."""
    parts = " + ".join(
        f"{part['facet']} {part['value']:.3f}" for part in memory["parts"]
    )
    tokens = f", about {memory['tokens']} tokens" if "tokens" in memory else ""
    # Not in records of older versions; a person's memories have none.
    writer = (
        f", by agent session {session}" if (session := memory.get("session")) else ""
    )
    return f"{_lines(memory)}  {memory['score']:.3f} = {parts}{tokens}{writer}"
