"""The page of the language model: what it has to do, and what it could not do."""

from __future__ import annotations

from collections.abc import Collection

from hivemind_memory.dashboard.page import (
    ROOT,
    Page,
    PageCall,
    PageGroup,
    Redirect,
    unless_missing,
)
from hivemind_memory.dashboard.shown_text import masked_text
from hivemind_memory.http_api.failures import Failure
from hivemind_memory.jobs.again import run_again
from hivemind_memory.jobs.status import next_try, read_model_status
from hivemind_memory.model.display import count_text
from hivemind_memory.state.jobs import DONE, FAILED, INTERRUPTED, Job, Jobs
from hivemind_memory.state.model_rest import ModelRest, Rest

JOBS = f"{ROOT}/jobs"
MAX_JOBS = 200
_MAX_DIGITS = 18

pages = PageGroup()


@pages.get("/jobs")
def jobs(call: PageCall) -> Page:
    """List the jobs that are not done."""
    _check_owner(call)
    left = [job for job in Jobs(call.memory.state()).all() if job.state != DONE]
    shown = left[:MAX_JOBS]
    keys = _keys_of(call, {job.ref for job in shown})
    rest = ModelRest(call.memory.state()).read()
    rows = [_row(call, job, keys.get(job.ref, ""), rest) for job in shown]
    values = {"rows": rows, "model": read_model_status(call.memory)}
    values["more"] = len(left) - len(rows)
    return Page(template="jobs.html", values=values)


@pages.post("/jobs/retry")
def retry(call: PageCall) -> Redirect:
    """Run one job again, or all that failed or were interrupted."""
    _check_owner(call)
    text = call.form.get("number", "")
    if text and not (text.isascii() and text.isdigit() and len(text) <= _MAX_DIGITS):
        raise Failure(400, "The form names no job. Nothing was changed.")
    number = int(text) if text else None
    count = run_again(call.memory, number)
    notice = f"{count_text(count, 'job')} will run again."
    return Redirect(path=JOBS, notice=notice if count else "No job had to run again.")


def _row(call: PageCall, job: Job, key: str, rest: Rest) -> dict[str, object]:
    """Return what the page shows of a job."""
    clocks = call.memory.clocks
    due_s, problem = next_try(job, rest, clocks.now())
    is_over = job.state in {FAILED, INTERRUPTED}
    return {
        "job": job,
        "key": key,
        "due_at": clocks.local_iso(due_s) if due_s else "",
        "problem": problem,
        "may_retry": is_over,
        "button": "Run again" if is_over else "Run now" if due_s else "",
    }


def _keys_of(call: PageCall, refs: Collection[str]) -> dict[str, str]:
    """Return id -> key of the memories that some jobs are about."""
    if not refs:
        return {}
    rows = unless_missing(call.memory.memories, ())
    return {
        row.memory_id: masked_text(row.key) for row in rows if row.memory_id in refs
    }


def _check_owner(call: PageCall) -> None:
    """Raise the failure of a page that is not there for a caller of some scopes."""
    if call.memory.caller.scopes is not None:
        raise Failure(404, "")
