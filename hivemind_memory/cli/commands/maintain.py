"""hm sync, rebuild, status and doctor: the index, and whether all is well."""

from __future__ import annotations

import sys

from hivemind_memory.cli.command import CommandRequest, command
from hivemind_memory.cli.options import JSON
from hivemind_memory.cli.output import (
    count_text,
    is_terminal,
    plain_value,
    print_indexed,
    print_json,
    print_line,
    print_notices,
    print_sync,
    size_text,
    write_stdout,
)
from hivemind_memory.model.escape import escape_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from hivemind_memory.model.results import (
        Diagnosis,
        EmbedResult,
        Finding,
        MemoryStatus,
        SyncResult,
    )


@command(
    "sync",
    description=(
        "Searches update the index too. This shows progress after a large change, and"
        " also makes the vectors that are missing."
    ),
    flags=(JSON,),
)
def sync(request: CommandRequest) -> int:
    """Update the index."""
    result, embedding = _index(request, "hm sync", should_rebuild=False)
    print_sync(result, embedding, as_json=request.values["json"])
    return 0


@command(
    "rebuild",
    description=(
        "The old index answers until the new one is complete, and no text is sent to"
        " the embedding provider a second time."
    ),
    flags=(JSON,),
)
def rebuild(request: CommandRequest) -> int:
    """Build the index anew."""
    result, embedding = _index(request, "hm rebuild", should_rebuild=True)
    if request.values["json"]:
        print_sync(result, embedding, as_json=True)
        return 0
    notes = count_text(result.added + result.updated + result.unchanged, "note")
    chunks = count_text(result.chunks, "chunk")
    print_line(f"rebuilt the index: {notes}, {chunks} ({result.took_s:.2f} s)")
    print_indexed(result, embedding)
    return 0


@command("status", flags=(JSON,))
def status(request: CommandRequest) -> int:
    """Show what there is."""
    from hivemind_memory import opening
    from hivemind_memory.access.rules import check_owner
    from hivemind_memory.cli.commands.search import print_pending
    from hivemind_memory.memory.returned_entries import returned_entries

    with request.open_memory() as memory:
        check_owner(memory.caller, "hm status")
        found = memory.status()
        here = opening.describe_project(memory)
        returned = returned_entries(memory)
        if request.values["json"]:
            names = [one.notice for one in returned]
            print_json({**plain_value(found), "project": here, "recovered": names})
            return 0
        rows = [*_status_rows(found), ("project here", here)]
        rows += [("recovered", one.notice) for one in returned]
        if is_terminal(sys.stdout):
            from hivemind_memory.cli.terminal import facts, rendered

            write_stdout(rendered(facts(rows)))
        else:
            for name, value in rows:
                print_line(f"{name}: {value}")
        print_pending(memory, is_fresh=True)
    return 0


@command("doctor", flags=(JSON,))
def doctor(request: CommandRequest) -> int:
    """Check for problems."""
    from hivemind_memory.access.rules import check_owner

    with request.open_memory() as memory:
        check_owner(memory.caller, "hm doctor")
        diagnosis = memory.diagnose()
    _print_diagnosis(diagnosis, as_json=request.values["json"])
    return 0 if diagnosis.is_healthy else 1


def _index(
    request: CommandRequest, name: str, *, should_rebuild: bool
) -> tuple[SyncResult, EmbedResult]:
    """Update the index or build it anew, and make the missing vectors."""
    from hivemind_memory.access.rules import check_owner
    from hivemind_memory.cli.progress import ProgressDisplay

    kept = "what was indexed so far is kept; `hm sync` goes on"
    if should_rebuild:
        kept = "the index from before is in use as it was; `hm rebuild` starts again"
    try:
        with request.open_memory() as memory, ProgressDisplay() as progress:
            check_owner(memory.caller, name)
            make = memory.rebuild if should_rebuild else memory.sync
            result = make(progress)
            kept = "the index is complete and its vectors are kept; `hm sync` goes on"
            return result, memory.embed_pending(progress)
    except KeyboardInterrupt:
        print_notices([f"stopped: no note was changed, and {kept}"])
        raise


def _status_rows(status: MemoryStatus) -> list[tuple[str, str]]:
    """Return the lines of ``hm status``: what, and how much."""
    rows = [
        ("notes folder", status.memory_dir),
        ("index", f"{status.index_file} ({size_text(status.index_bytes)})"),
        ("notes", f"{status.notes:,}"),
        ("chunks", f"{status.chunks:,}"),
        ("vectors", f"{status.vectors:,}, {status.pending_vectors:,} pending"),
        ("retrievers", ", ".join(status.retrievers) or "none"),
        ("provider", f"{status.provider}: {status.provider_reason}"),
        ("leader", status.leader or "none; `hm watch` is not running"),
        ("not indexed yet", count_text(status.stale_notes, "changed note")),
    ]
    if status.vectors_problem:
        rows.insert(5, ("vectors pending", status.vectors_problem))
    if status.unsettled_entries:
        entries = count_text(status.unsettled_entries, "new entry", "new entries")
        rows.append(("journal", f"{entries}, stored twice for ten minutes"))
    return [*rows, *(("skipped", f"{x.path}: {x.reason}") for x in status.skipped)]


def _print_diagnosis(diagnosis: Diagnosis, *, as_json: bool) -> None:
    """Print each check, and what to do about those that failed."""
    if as_json:
        from hivemind_memory.cli.output import diagnosis_value

        return print_json(diagnosis_value(diagnosis))
    if is_terminal(sys.stdout):
        return write_stdout(_terminal_findings(diagnosis.findings))
    for finding in diagnosis.findings:
        verdict = "ok" if finding.is_ok else "WRONG"
        write_stdout(f"{verdict}\t{finding.name}\t{escape_line(finding.detail)}\n")
        if finding.hint:
            write_stdout(f"\thint\t{escape_line(finding.hint)}\n")
    return None


def _terminal_findings(findings: Sequence[Finding]) -> str:
    """Return the checks as a table, and the verdict."""
    from hivemind_memory.cli.terminal import Text, columns_text, rendered

    rows = []
    for finding in findings:
        verdict = Text("ok", "green") if finding.is_ok else Text("wrong", "bold red")
        detail = Text(escape_line(finding.detail))
        if finding.hint:
            detail.append(f"\n{escape_line(finding.hint)}", "yellow")
        rows.append((verdict, finding.name, detail))
    wrong = sum(not finding.is_ok for finding in findings)
    bad = Text(f"\n{count_text(wrong, 'problem')} found", "bold red")
    end = bad if wrong else Text("\nno problems found", "green")
    return columns_text(("", "", ""), rows, name=1) + rendered([end])
