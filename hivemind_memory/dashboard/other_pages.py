"""The pages beside those of memories: inbox, log, health."""

from __future__ import annotations

from typing import Any

from hivemind_memory.dashboard.drafts import claim_draft
from hivemind_memory.dashboard.form_fields import begun_with
from hivemind_memory.dashboard.memory_pages import holds_secret, without_secrets
from hivemind_memory.dashboard.page import (
    ROOT,
    Page,
    PageCall,
    PageGroup,
    Redirect,
    unless_missing,
)
from hivemind_memory.dashboard.render import sentence
from hivemind_memory.dashboard.word_diff import word_diff
from hivemind_memory.errors import ProposalOutdatedError, VersionChangedError
from hivemind_memory.http_api.failures import Failure
from hivemind_memory.jobs.status import read_model_status
from hivemind_memory.markdown.entry import own_text
from hivemind_memory.model.curation import StoredMemory
from hivemind_memory.model.filters import SearchFilter
from hivemind_memory.model.query import Hit, Query
from hivemind_memory.model.text_version import text_version
from hivemind_memory.model.trust import is_trusted

MAX_LOG = 100

pages = PageGroup()

_CHANGED = (
    "It has changed since the page was loaded, so it was not accepted."
    " This is what it says now."
)


@pages.get("/inbox")
def inbox(call: PageCall) -> Page:
    """List what waits for a person."""
    return _inbox(call)


@pages.post("/inbox/accept")
def accept(call: PageCall) -> Page | Redirect:
    """Make a pending claim a memory, if it says what the page showed."""
    ref, version = call.form.get("ref", ""), begun_with(call.form)
    try:
        accepted = call.memory.curation.accept(ref, version)
    except ProposalOutdatedError as error:
        return _inbox(call, changed=ref, problem=f"{error} {error.hint}")
    except VersionChangedError:
        return _inbox(call, changed=ref, problem=_CHANGED)
    text = "Accepted."
    if not is_trusted(accepted.memory.source):
        text = "Accepted. It keeps its source, so agents see it marked as untrusted."
    if accepted.dropped:
        text = "The claim is dropped: another memory already says the same."
    if accepted.updated:
        text = "Linked. Searches show only the newer memory from now on."
        if not accepted.is_new:
            text = "They were linked already. Searches show only the newer memory."
    return Redirect(path=f"{ROOT}/inbox", notice=text, undo=accepted.change)


@pages.get("/inbox/edit")
def edit_claim(call: PageCall) -> Page:
    """Show the form that changes a pending claim."""
    claim = _claim(call, call.query.get("ref", ""))
    return _claim_form(claim, own_text(claim.text))


@pages.post("/inbox/edit")
def save_claim(call: PageCall) -> Page | Redirect:
    """Give a claim another text; it stays pending, and all else stays as it is."""
    claim = _claim(call, call.form.get("ref", ""))
    content, version = call.form.get("content", ""), begun_with(call.form)
    try:
        done = call.memory.curation.edit_claim(claim.id, content, version)
    except VersionChangedError:
        return _claim_form(_claim(call, claim.id), content, has_changed=True)
    text = "Saved; it still waits for you." if done.is_changed else "Nothing changed."
    notice = " ".join((text, *map(sentence, done.warnings)))
    draft = claim_draft(claim.id)
    return Redirect(path=f"{ROOT}/inbox", notice=notice, saved=draft)


@pages.post("/inbox/reject")
def reject(call: PageCall) -> Redirect:
    """Forget a pending claim."""
    done = call.memory.curation.reject(call.form.get("ref", ""))
    if not done.memories and done.failed:
        raise Failure(503, f"It was not rejected: {done.failed[0].why}")
    return Redirect(path=f"{ROOT}/inbox", notice="Rejected.", undo=done.id)


@pages.get("/log")
def log(call: PageCall) -> Page:
    """Show the newest entries and memories."""
    days: dict[str, list[Hit]] = {}
    query = Query(text="", max_results=MAX_LOG, search_filter=_any_day(call))
    answer = unless_missing(lambda: call.memory.search(query), None)
    for hit in answer.hits if answer else ():
        days.setdefault(hit.date or "undated", []).append(hit)
    return Page(template="log.html", values={"days": days, "most": MAX_LOG})


@pages.get("/health")
def health(call: PageCall) -> Page:
    """Show how the memory is, and on demand what `hm doctor` finds."""
    if call.memory.caller.scopes is not None:
        raise Failure(404, "")
    findings = call.memory.diagnose().findings if call.query.get("check") else None
    status = call.memory.status(is_updated=True)
    values: dict[str, Any] = {"status": status, "findings": findings}
    values["model"] = read_model_status(call.memory)
    return Page(template="health.html", values=values)


def _inbox(call: PageCall, changed: str = "", problem: str = "") -> Page:
    """Return the inbox; *changed* names a claim that has a *problem*."""
    waiting = unless_missing(call.memory.curation.pending, ())
    shown = map(without_secrets, waiting)
    values = {
        # The version of the text without its secrets: a short one could be guessed.
        "claims": [(claim, text_version(claim.text)) for claim in shown],
        "changed": changed,
        "problem": problem,
    }
    return Page(template="inbox.html", values=values, status=409 if changed else 200)


def _claim_form(
    claim: StoredMemory, content: str, *, has_changed: bool = False
) -> Page:
    """Return the form of a claim, beside what it says now if that has changed."""
    text = own_text(claim.text)
    values: dict[str, Any] = {
        "claim": without_secrets(claim),
        "content": content,
        "version": text_version(text),
        "draft": claim_draft(claim.id),
        "theirs": text if has_changed else "",
        "diff": word_diff(text, content) if has_changed else (),
    }
    status = 409 if has_changed else 200
    return Page(template="claim.html", values=values, status=status)


def _claim(call: PageCall, ref: str) -> StoredMemory:
    """Return a pending claim that can be edited here.

    Raises:
        Failure: There is none, or it holds a secret.
    """
    claims = unless_missing(call.memory.curation.pending, ())
    claim = next((claim for claim in claims if claim.id == ref and claim.key), None)
    if claim is None:
        raise Failure(404, "")
    if holds_secret(call, claim):
        raise Failure(
            409,
            "This claim holds what looks like a secret, so it cannot be edited here.",
            hint="`hm inbox edit` opens it in your editor.",
        )
    return claim


def _any_day(call: PageCall) -> SearchFilter:
    """Return the filter that everything fits: a search without words needs one."""
    return call.memory.parse_filter(since="1970-01-01")
