"""hm why: what was injected and what was left out, and the reason for each."""

from __future__ import annotations

import os

from hivemind_memory.cli.command import Argument, CommandRequest, Flag, command
from hivemind_memory.cli.dates import minute_text
from hivemind_memory.cli.options import JSON
from hivemind_memory.cli.output import (
    print_json,
    print_line,
    print_notices,
    write_stdout,
)
from hivemind_memory.model.display import count_text, lines_text
from hivemind_memory.model.injection_words import (
    LEFT_OUT_WORDS,
    SEARCHED_WORDS,
    reasons_text,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from hivemind_memory.inject.injector import Injector
    from hivemind_memory.memory import Memory


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
    flags=(
        Flag(
            ("--explain",),
            "flag",
            "Show what was searched for, how each score was calculated, and each memory"
            " that was left out.",
        ),
        JSON,
    ),
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
        injector = opening.open_injector(memory)
        record = injector.why(named)
        if record:
            _add_words(memory, injector, named, record["memories"])
    if request.values["json"]:
        print_json(record)
    elif record is None:
        write_stdout("Nothing has been injected here yet.\n")
        print_notices(["`hm inject --dry-run --json` says what would be, and why"])
    else:
        _print_record(record, is_explained=request.values["explain"])
    return 0


def _show_why(request: CommandRequest, name: str) -> int:
    """Show whether a memory was injected into the current folder, or why not."""
    from hivemind_memory import opening
    from hivemind_memory.context.why_absent import why_absent
    from hivemind_memory.curation.copies import copies_of, copy_notice

    with request.open_memory() as memory:
        path, first, last, _ = memory.curation.locate(name)
        path = memory.read(path, start_line=first or 1, line_count=0).path
        injector = opening.open_injector(memory)
        record = injector.why(os.curdir)
        found = record or {"memories": [], "left_out": []}
        rows = memory.memories()
        is_typed = any(row.type for row in rows if row.path == path)
        # A typed memory is injected as a whole; of a note, only what is asked for.
        lines = range(first, last + 1) if first and not is_typed else None
        injected = _at(found["memories"], path, lines)
        _add_words(memory, injector, os.curdir, injected)
        left_out = _at(found["left_out"], path, lines)
        reason = record["why_empty"] if record else ""
        if not injected and not reason:
            is_newer = record is not None and _is_newer(memory, name, record)
            reason = why_absent(memory, path, is_newer=is_newer)
    if injected and not found["is_there"]:
        injected, reason = [], _gone(found)
    elif left_out and not injected:
        reason = LEFT_OUT_WORDS.get(left_out[0]["why"], left_out[0]["why"])
    if request.values["json"]:
        print_json({"path": path, "is_injected": bool(injected), "reason": reason})
    elif injected:
        said = _memory_line if request.values["explain"] else _reason_line
        print_line(f"injected: {said(injected[0])}", keep=[_lines(injected[0])])
    elif record is None:
        print_line(
            f"not injected: {path}: nothing has been injected here yet", keep=[path]
        )
    else:
        print_line(f"not injected: {path}: {reason}", keep=[path])
    begun = [_begun(found)] if record and record["begun_at"] else []
    print_notices([*begun, *map(copy_notice, copies_of(rows, path))])
    return 0


def _add_words(
    memory: Memory, injector: Injector, folder: str, records: Sequence[dict[str, Any]]
) -> None:
    """Add to records of memories the words of the worktree that each of them has."""
    from contextlib import suppress

    from hivemind_memory.context.facets import facets_of
    from hivemind_memory.context.matched_words import matched_words
    from hivemind_memory.errors import HivemindError
    from hivemind_memory.git.worktree import worktree_state
    from hivemind_memory.redaction import mask

    root, repository = injector.root_of(folder), injector.repository_of(folder)
    facets = facets_of(worktree_state(root, repository))
    for record in records:
        first, last = record["start_line"], record["end_line"]
        with suppress(HivemindError):  # a note that is gone matches nothing
            text = memory.read(
                record["path"], start_line=first, line_count=last - first + 1
            ).text
            record["words"] = matched_words(facets, f"{record['path']} {mask(text)}")


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


def _print_record(record: dict[str, Any], *, is_explained: bool) -> None:
    """Print a record of the injection log, what happened in its first line."""
    places = [_lines(listed) for listed in (*record["memories"], *record["left_out"])]
    lines = _explained_lines(record) if is_explained else _short_lines(record)
    for line in (_head(record), *lines):
        print_line(line, keep=places)
    if not is_explained and (record["memories"] or record["left_out"]):
        print_notices(["`hm why --explain` shows scores and what was left out"])


def _head(record: dict[str, Any]) -> str:
    """Return when a section was made, its file, and what came of it."""
    head = f"{minute_text(record['at'])}  {record['file'] or '-'}  {record['outcome']}"
    if record["why_empty"]:
        return f"{head}: {record['why_empty']}"
    count = count_text(len(record["memories"]), "memory", "memories")
    tokens = f"about {record['tokens']} of {record['budget_tokens']} tokens"
    return f"{head}: {count}, {tokens}"


def _short_lines(record: dict[str, Any]) -> Iterable[str]:
    """Return what was injected, and how much was left out for which reason."""
    yield from _state_lines(record)
    yield from _briefing_lines(record)
    for memory in record["memories"]:
        yield f"injected: {_reason_line(memory)}"
    counts: dict[str, int] = {}
    for memory in record["left_out"]:
        counts[memory["why"]] = counts.get(memory["why"], 0) + 1
    for reason, count in counts.items():
        memories = count_text(count, "memory", "memories")
        yield f"left out: {memories}: {LEFT_OUT_WORDS.get(reason, reason)}"
    yield from _last_lines(record)


def _explained_lines(record: dict[str, Any]) -> Iterable[str]:
    """Return all that a record says, one fact a line."""
    # Not at the top: the completion reads every command and must start at once.
    from hivemind_memory.model.injection import OVERLAP

    yield from _state_lines(record)
    if record["seen_at"]:
        yield f"checked again {minute_text(record['seen_at'])}: unchanged"
    yield from dict.fromkeys(map(_facet_line, record["facets"]))
    yield from _briefing_lines(record)
    for memory in record["memories"]:
        yield f"injected: {_memory_line(memory)}"
    for memory in record["left_out"]:
        reason = LEFT_OUT_WORDS.get(memory["why"], memory["why"])
        what = "quoted" if memory["why"] == OVERLAP else "left out"
        yield f"{what}: {_memory_line(memory)}: {reason}"
    yield from _last_lines(record)


def _briefing_lines(record: dict[str, Any]) -> Iterable[str]:
    """Return that a section begins with a briefing; earlier records say nothing."""
    if sources := record.get("briefing"):
        count = count_text(len(sources), "memory", "memories")
        named = "`hm bulletin --json` names them"
        yield f"injected: the briefing, made from {count} ({named})"


def _facet_line(facet: dict[str, Any]) -> str:
    """Return what was searched for; commits give the same line each."""
    text = facet["text"] or SEARCHED_WORDS.get(facet["name"], "")
    return f"{facet['name']} (weight {facet['weight']:g}): {text}"


def _last_lines(record: dict[str, Any]) -> Iterable[str]:
    """Return the warnings, and what was injected for other agents."""
    for warning in record["warnings"]:
        yield f"warning: {warning}"
    for other in record["others"]:
        count = count_text(len(other["memories"]), "memory", "memories")
        summary = (
            f"{minute_text(other['at'])}  {other['file'] or '-'}  {other['outcome']}"
        )
        yield f"for another agent: {summary}, {count}"


def _state_lines(record: dict[str, Any]) -> Iterable[str]:
    """Return that a section is no longer there, or may be another one, if so."""
    if record["begun_at"]:
        yield _begun(record)
    if not record["is_there"] and record["memories"]:
        yield f"section removed from {record['file']}; it contained:"


def _lines(memory: dict[str, Any]) -> str:
    """Return where an injected memory stands, as ``hm get`` takes it."""
    return lines_text(memory["path"], memory["start_line"], memory["end_line"])


def _begun(record: dict[str, Any]) -> str:
    """Return that a later injection did not end, as far as the log shows."""
    return (
        f"an injection of {minute_text(record['begun_at'])} did not finish, so"
        f" {record['file']} may have another section; `hm inject` writes it again"
    )


def _gone(record: dict[str, Any]) -> str:
    """Return that a section was removed, as a clause."""
    return f"the section was removed from {record['file']}"


def _reason_line(memory: dict[str, Any]) -> str:
    """Return a memory with the reasons why it was injected, the strongest first."""
    return f"{_lines(memory)}: {reasons_text(memory)}{_writer(memory)}"


def _memory_line(memory: dict[str, Any]) -> str:
    """Return a memory with its score and its parts."""
    parts = " + ".join(
        f"{part['facet']} {part['value']:.3f}" for part in memory["parts"]
    )
    tokens = f", about {memory['tokens']} tokens" if "tokens" in memory else ""
    return f"{_lines(memory)}  {memory['score']:.3f} = {parts}{tokens}{_writer(memory)}"


def _writer(memory: dict[str, Any]) -> str:
    """Return which agent and session wrote a memory; a person's have none."""
    from hivemind_memory.context.origins import UNNAMED

    agent, session = memory.get("agent"), memory.get("session")
    if agent == UNNAMED:
        agent = "an unnamed agent"
    if not agent:  # of a person, or of a record of an older version
        return f", saved in the session {session}" if session else ""
    return f", saved by {agent}{f', session {session}' if session else ''}"
