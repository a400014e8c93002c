"""hm jobs: what the language model has to do, and what it could not do."""

from __future__ import annotations

from hivemind_memory.cli.command import Argument, CommandRequest, Flag, command
from hivemind_memory.cli.dates import minute_text
from hivemind_memory.cli.options import JSON
from hivemind_memory.cli.output import (
    print_json,
    print_line,
    print_notices,
    print_table,
)
from hivemind_memory.errors import UsageError
from hivemind_memory.model.display import count_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.memory.memory import Memory
    from hivemind_memory.state.jobs import Job
    from hivemind_memory.state.model_rest import Rest

_MAX_NUMBER = 2**62


@command(
    "jobs list",
    description=(
        "Jobs are run while hm watch or an agent's server runs, and only if"
        " llm_provider is set. Finished jobs are left out unless --all is given."
    ),
    flags=(
        Flag(("--all",), "flag", "Also list finished jobs, which are kept for 8 days."),
        JSON,
    ),
    examples=("hm jobs", "hm jobs --all --json"),
)
def list_(request: CommandRequest) -> int:
    """List the jobs."""
    from hivemind_memory.access.rules import check_owner
    from hivemind_memory.jobs.status import has_leader, read_model_status
    from hivemind_memory.state.jobs import DONE, WAITING, Jobs
    from hivemind_memory.state.model_rest import ModelRest

    with request.open_memory() as memory:
        check_owner(memory.caller, "hm jobs")
        jobs = Jobs(memory.state()).all()
        rest = ModelRest(memory.state()).read()
        keys = {row.memory_id: row.key for row in memory.memories()}
        status, is_led = read_model_status(memory), has_leader(memory)
        shown = [job for job in jobs if request.values["all"] or job.state != DONE]
        rows = [_row(memory, job, keys.get(job.ref, ""), rest) for job in shown]
    if request.values["json"]:
        print_json(rows)
        return 0
    print_table(
        ("job", "kind", "memory", "state", "tries", "next", "problem"),
        [
            (
                str(row["number"]),
                str(row["kind"]),
                str(row["key"] or row["id"]),
                str(row["state"]),
                str(row["tries"]),
                minute_text(str(row["due_at"])) if row["due_at"] else "",
                str(row["problem"]),
            )
            for row in rows
        ],
        is_cut=True,
    )
    if not rows:
        print_notices([f"no jobs are waiting; language model: {status.line}"])
    elif not is_led and any(row["state"] == WAITING for row in rows):
        print_notices(["nothing runs jobs now: start `hm watch`, or an agent"])
    return 0


@command(
    "jobs retry",
    description=(
        "hm gives up on a job after 5 tries, or after 2 replies that it cannot use. An"
        " interrupted job is not run again on its own, because the model may have been"
        " asked already. A job that waits for its time is run at once if you name it."
    ),
    arguments=(
        Argument(
            "number",
            "Number of a job; without it, all that failed or were interrupted.",
            is_required=False,
        ),
    ),
    examples=("hm jobs retry", "hm jobs retry 12"),
)
def retry(request: CommandRequest) -> int:
    """Run jobs again that failed or were interrupted."""
    from hivemind_memory.access.rules import check_owner
    from hivemind_memory.jobs.again import run_again

    text = request.values["number"]
    number = int(text) if text and text.isascii() and text.isdigit() else None
    if text and (number is None or number > _MAX_NUMBER):
        raise UsageError(
            "A job is named by its number, such as 12.", hint="`hm jobs` lists them."
        )
    with request.open_memory() as memory:
        check_owner(memory.caller, "hm jobs retry")
        count = run_again(memory, number)
        if number is not None and not count:
            raise _not_retried(memory, number)
    if count:
        print_line(f"{count_text(count, 'job')} will run again")
    else:
        print_notices(["no job failed or was interrupted"])
    return 0


def _not_retried(memory: Memory, number: int) -> UsageError:
    """Return why a job does not run again."""
    from hivemind_memory.state.jobs import Jobs

    states = {job.number: job.state for job in Jobs(memory.state()).all()}
    problem = f"There is no job {number}."
    if number in states:
        problem = f"Job {number} is {states[number]}."
    return UsageError(problem, hint="`hm jobs --all` lists all jobs.")


def _row(memory: Memory, job: Job, key: str, rest: Rest) -> dict[str, object]:
    """Return a job as JSON shows it."""
    from hivemind_memory.jobs.status import next_try

    local_iso = memory.clocks.local_iso
    due_s, problem = next_try(job, rest, memory.clocks.now())
    return {
        "number": job.number,
        "kind": job.kind,
        "id": job.ref,
        "key": key,
        "state": job.state,
        "tries": job.tries,
        "due_at": local_iso(due_s) if due_s else "",
        "added_at": local_iso(job.made_at),
        "problem": problem,
    }
