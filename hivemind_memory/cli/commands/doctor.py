"""hm doctor: prints what is wrong and what to do. Its checks: ``opening.diagnose``."""

from __future__ import annotations

import sys

from hivemind_memory.cli.command import CommandRequest, command
from hivemind_memory.cli.options import JSON
from hivemind_memory.cli.output import is_terminal, write_stdout
from hivemind_memory.model.display import count_text, escape_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from hivemind_memory.model.results import Diagnosis, Finding


@command("doctor", flags=(JSON,))
def doctor(request: CommandRequest) -> int:
    """Check for problems."""
    from hivemind_memory import opening
    from hivemind_memory.access.rules import check_owner

    with request.open_memory(is_reported=True) as memory:
        check_owner(memory.caller, "hm doctor")
        diagnosis = opening.diagnose(memory)
    _print_diagnosis(diagnosis, as_json=request.values["json"])
    return 0 if diagnosis.is_healthy else 1


def _print_diagnosis(diagnosis: Diagnosis, *, as_json: bool) -> None:
    """Print each check, and what to do about those that failed."""
    if as_json:
        from hivemind_memory.cli.output import diagnosis_value, print_json

        return print_json(diagnosis_value(diagnosis))
    if is_terminal(sys.stdout):
        return write_stdout(_terminal_findings(diagnosis.findings))
    for finding in diagnosis.findings:
        verdict = "ok" if finding.is_ok else "problem"
        write_stdout(f"{verdict}\t{finding.name}\t{escape_line(finding.detail)}\n")
        if finding.hint:
            write_stdout(f"\thint\t{escape_line(finding.hint)}\n")
    return None


def _terminal_findings(findings: Sequence[Finding]) -> str:
    """Return the checks as a table, and the verdict."""
    from hivemind_memory.cli.terminal import Text, columns_text, rendered

    rows = []
    for finding in findings:
        verdict = Text("ok", "green") if finding.is_ok else Text("problem", "bold red")
        detail = Text(escape_line(finding.detail))
        if finding.hint:
            detail.append(f"\n{escape_line(finding.hint)}", "yellow")
        rows.append((verdict, finding.name, detail))
    wrong = sum(not finding.is_ok for finding in findings)
    bad = Text(f"\n{count_text(wrong, 'problem')} found", "bold red")
    end = bad if wrong else Text("\nno problems found", "green")
    return columns_text(("", "", ""), rows, name=1) + rendered([end])
