"""hm status: prints what the memory holds. The figures: memory.status."""

from __future__ import annotations

import os
import sys
from shlex import quote

from hivemind_memory.cli.command import CommandRequest, command
from hivemind_memory.cli.dates import minute_text
from hivemind_memory.cli.options import JSON
from hivemind_memory.cli.output import (
    is_terminal,
    plain_value,
    print_json,
    print_line,
    size_text,
    write_stdout,
)
from hivemind_memory.model.display import clause, count_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.jobs.status import CaptureStatus
    from hivemind_memory.model.results import MemoryStatus

_MAX_NAMED = 5
"""Notes in another encoding that are named."""


@command(
    "status",
    description=(
        "If you chose an embedding provider, checks for up to 3 seconds whether it"
        " responds, and says what to do if it doesn't."
    ),
    flags=(JSON,),
)
def status(request: CommandRequest) -> int:
    """Show the figures of the memory."""
    from hivemind_memory import opening
    from hivemind_memory.access.rules import check_owner
    from hivemind_memory.cli.commands.activity import status_lines
    from hivemind_memory.cli.commands.search import print_pending, print_too_new_state
    from hivemind_memory.cli.commands.skill import status_of_skills
    from hivemind_memory.cli.injection_here import agents_text, injection_text
    from hivemind_memory.connect.connection import connected_titles
    from hivemind_memory.jobs.status import read_capture_status, read_model_status
    from hivemind_memory.memory.visible_recovered_entries import recovered_entries

    with request.open_memory() as memory:
        check_owner(memory.caller, "hm status")
        found = memory.status(should_ask=True)
        here = opening.describe_project(memory)
        model, capture = read_model_status(memory), read_capture_status(memory)
        print_too_new_state(memory)
        recovered = recovered_entries(memory)
        with opening.open_activity(memory) as opened:
            activity = opened.status()
        skills = status_of_skills(memory)
        user_home = os.path.expanduser("~")
        connected = connected_titles(os.path.abspath(os.curdir), user_home, os.environ)
        injected = injection_text(memory)
        if request.values["json"]:
            names = [entry.notice for entry in recovered]
            more = {"project": here, "recovered": names, "activity": activity}
            more["language_model"] = plain_value(model)
            more["capture"] = plain_value(capture) if capture else None
            more["skills"] = skills
            more["agents"] = connected
            more["injected_here"] = injected
            print_json({**plain_value(found), **more})
            return 0
        rows = [
            ("agents", agents_text(memory, connected)),
            ("injected here", injected),
            ("project here", here),
            *_status_rows(found),
        ]
        rows.append(("language model", model.line))
        rows += [("capture", _capture_line(capture))] if capture else []
        rows += [("recovered", entry.notice) for entry in recovered]
        rows += [("activity", line) for line in status_lines(activity)]
        rows += [("skills", line) for line in skills]
        if is_terminal(sys.stdout):
            from hivemind_memory.cli.terminal import facts, rendered

            write_stdout(rendered(facts(rows)))
        else:
            for name, value in rows:
                print_line(f"{name}: {value}")
        print_pending(memory, is_fresh=True)
    return 0


def _capture_line(capture: CaptureStatus) -> str:
    """Return what was captured, in one line."""
    read = count_text(capture.sessions, "session")
    last = f", last {minute_text(capture.last_at)}" if capture.last_at else ""
    return f"{capture.option}, {read} read{last}"


def _forgotten_text(status: MemoryStatus) -> str:
    """Return why ``hm list`` shows fewer notes; empty: it shows them all."""
    count = status.forgotten_notes
    return f" ({count:,} forgotten: `hm list` leaves them out)" if count else ""


def _status_rows(status: MemoryStatus) -> list[tuple[str, str]]:
    """Return the lines of ``hm status``: what, and how much."""
    from hivemind_memory.files.paths import NOT_UNICODE
    from hivemind_memory.model.results import LARGE_UNINDEXED, RECOVERY_WINDOW

    rows = [
        ("notes folder", status.memory_dir),
        ("index", f"{status.index_file} ({size_text(status.index_bytes)})"),
        ("notes", f"{status.notes:,}{_forgotten_text(status)}"),
        ("chunks", f"{status.chunks:,}"),
        ("vectors", f"{status.vectors:,}, {status.pending_vectors:,} pending"),
        ("retrievers", ", ".join(status.retrievers) or "none"),
        ("provider", f"{status.provider}: {clause(status.provider_reason)}"),
        ("leader", status.leader or "none; `hm watch` is not running"),
        ("not indexed yet", count_text(status.stale_notes, "changed note")),
    ]
    if status.vectors_problem:
        what = "vectors pending" if status.pending_vectors else "provider problem"
        rows.insert(5, (what, status.vectors_problem))
    if status.unsettled_entries:
        entries = count_text(status.unsettled_entries, "recent entry", "recent entries")
        rows.append(("journal", f"{entries}, backed up for {RECOVERY_WINDOW}"))
    for note in status.skipped:
        if note.reason == LARGE_UNINDEXED:
            rows.append(
                ("not indexed yet", f"{note.path} (large); the next search indexes it")
            )
        else:
            remedy = "; rename the file in UTF-8" if note.reason == NOT_UNICODE else ""
            rows.append(("skipped", f"{note.path}: {note.reason}{remedy}"))
    for path in status.not_utf8[:_MAX_NAMED]:
        command = f"iconv -f latin1 -t utf-8 {quote(path)}"
        rows.append(("not UTF-8", f"{path}: save it as UTF-8, as with `{command}`"))
    if (rest := len(status.not_utf8) - _MAX_NAMED) > 0:
        rows.append(("not UTF-8", count_text(rest, "more note")))
    return rows
