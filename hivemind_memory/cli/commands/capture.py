"""hm capture: proposes memories from a session of an agent."""

from __future__ import annotations

import os

from hivemind_memory.cli.command import Argument, CommandRequest, Flag, command
from hivemind_memory.cli.options import JSON
from hivemind_memory.cli.output import print_json, print_line, print_notices
from hivemind_memory.errors import UsageError
from hivemind_memory.model.display import count_text, escape_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.memory.memory import Memory
    from hivemind_memory.model.capture import CapturedMemory, CaptureResult


@command(
    "capture",
    description=(
        "Sends the new part of a session's transcript, without secrets, to the language"
        " model that llm_provider names, and checks its proposals: at most five"
        " memories, each with the lines it is based on. They wait in hm inbox, unless"
        " the option capture is save. Anything already known, rejected or purged is not"
        " proposed again. Reads transcripts of Claude Code, Codex, Gemini CLI, OpenCode"
        " and Qwen Code. hm undo and hm forget --session undo what was saved."
    ),
    arguments=(
        Argument(
            "session",
            "Id of the session, as its agent gives it, or a prefix of it.",
            is_required=False,
        ),
    ),
    flags=(
        Flag(
            ("--last",),
            "flag",
            "The latest session of this project; outside a project, the latest of all.",
        ),
        Flag(
            ("--dry-run",),
            "flag",
            "Ask the language model, show what it proposes, and write nothing.",
        ),
        JSON,
    ),
    examples=("hm capture --last", "hm capture --last --dry-run --json"),
)
def capture(request: CommandRequest) -> int:
    """Capture one session."""
    from hivemind_memory.access.rules import check_owner

    values = request.values
    if bool(values["session"]) == bool(values["last"]):
        raise UsageError(
            "Name a session, or give --last.",
            hint="The beginning of an id is enough.",
        )
    with request.open_memory() as memory:
        check_owner(memory.caller, "hm capture")
        result = _capture(memory, values["session"] or "", is_dry_run=values["dry_run"])
    if values["json"]:
        print_json(result)
        return 0
    for each in result.memories:
        print_line(_line(each))
        print_line(f"  {escape_line(each.proposal.content)}")
    print_notices([_summary(result, is_dry_run=values["dry_run"])])
    return 0


def _capture(memory: Memory, session: str, *, is_dry_run: bool) -> CaptureResult:
    """Capture a session; without an id, the last one of the project here, or of any."""
    from hivemind_memory import opening
    from hivemind_memory.access.rules import check_enabled
    from hivemind_memory.files.places import find_above
    from hivemind_memory.jobs.capture_now import capture_now

    settings = memory.settings
    check_enabled(is_enabled=settings.enabled, why_read_only=settings.why_read_only())
    sessions = opening.open_sessions(memory, is_look=is_dry_run)
    if session:
        found = sessions.find(session, is_typed=True)
    else:
        top = find_above(os.path.realpath(os.curdir), ".git")
        found = sessions.newest(memory.here.find(False), top)
    return capture_now(memory, sessions, found, is_dry_run=is_dry_run)


def _line(each: CapturedMemory) -> str:
    """Return one proposal and what became of it, as a line."""
    proposal = each.proposal
    start, end = proposal.start_line, proposal.end_line
    lines = f"lines {start} to {end}" if start < end else f"line {start}"
    sure = f"confidence {proposal.confidence:g}"
    why = f": {each.why}" if each.why and each.outcome != "saved" else ""
    head = f"{each.outcome} {proposal.type} {proposal.key} ({lines}, {sure})"
    return escape_line(f"{head}{why}")


def _summary(result: CaptureResult, *, is_dry_run: bool) -> str:
    """Return what was done, in one line."""
    named = f"{result.agent} session {escape_line(result.session)}"
    if result.why:
        return f"{named}: nothing was asked, because {result.why}"
    counts = ", ".join(
        f"{result.count(outcome)} {outcome}"
        for outcome in ("saved", "proposed", "dropped")
    )
    read = count_text(result.lines_read, "line")
    asked = count_text(result.requests, "request")
    note = "; nothing was written" if is_dry_run else ""
    return f"{named}: {read} read, {asked}, {counts}{note}"
