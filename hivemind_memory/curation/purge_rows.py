"""Rows of ``state.db`` that a purge cleans: namespaces, and those of the model."""

from __future__ import annotations

import json

from hivemind_memory.errors import StateUnusableError
from hivemind_memory.state.briefings import Briefings
from hivemind_memory.state.captures import Captures
from hivemind_memory.state.jobs import Jobs
from hivemind_memory.state.model_links import ModelLinks
from hivemind_memory.state.namespaces import Namespaces

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.curation.context import CurationContext
    from hivemind_memory.curation.purge_report import PurgeReport
    from hivemind_memory.model.curation import MemorySelector


def count_namespaces(report: PurgeReport) -> list[str]:
    """Report and return the namespaces whose metadata quotes one of the memories."""
    texts = [target.text for target in report.targets]
    try:
        namespaces = Namespaces(report.context.state())
        found = namespaces.quoting(report.context.caller.scopes, texts)
    except StateUnusableError as error:
        report.fail("namespaces", str(error))
        return []
    if found:
        report.add_count("namespaces", len(found), "with a copy in their metadata")
    return found


def clean_namespaces(report: PurgeReport) -> None:
    """Take the metadata away that quotes one of the memories."""
    try:
        Namespaces(report.context.state()).blank(count_namespaces(report))
    except StateUnusableError as error:
        report.fail("namespaces", str(error))


def has_capture(context: CurationContext, selector: MemorySelector) -> bool:
    """Return whether a selected session was captured, or is about to be.

    In whose project it was is not kept, so only the owner learns of it.
    """
    if not selector.session or not context.caller.is_owner or selector.scope:
        return False
    state = context.state()
    return Captures(state).count({selector.session}) > 0 or any(
        job.session == selector.session for job in Jobs(state).all()
    )


def count_model_rows(report: PurgeReport) -> None:
    """Report what the language model's rows name: a memory, or a purged session."""
    state, refs = report.context.state(), report.plan.ids | report.plan.paths
    sessions = report.plan.sessions
    try:
        jobs = sum(
            job.ref in refs or job.session in sessions for job in Jobs(state).all()
        )
        count = jobs + ModelLinks(state).count(refs) + Briefings(state).count(refs)
        count += Captures(state).count(sessions, _as_json(report))
        report.briefings |= Briefings(state).bodies(refs)
    except StateUnusableError as error:
        report.fail("language model", str(error))
        return
    if count:
        report.add_count("language model", count, "records")


def clean_model_rows(report: PurgeReport) -> None:
    """Delete the language model's jobs, links and briefings that name a memory."""
    state, refs = report.context.state(), report.plan.ids | report.plan.paths
    sessions = report.plan.sessions
    try:
        report.briefings |= Briefings(state).bodies(refs)
        count = Jobs(state).drop(refs, sessions=sessions)
        count += ModelLinks(state).drop(refs) + Briefings(state).drop(refs)
        count += Captures(state).drop(sessions, _as_json(report))
    except StateUnusableError as error:
        report.fail("language model", str(error))
        return
    if count:
        report.add_count("language model", count, "records")


def _as_json(report: PurgeReport) -> list[str]:
    """Return the texts that are looked for as JSON has them."""
    return [json.dumps(text, ensure_ascii=False)[1:-1] for text in report.probes()]
