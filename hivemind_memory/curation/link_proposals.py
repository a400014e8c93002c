"""Links that wait for a person in the inbox, beside the claims.

Only ``updates`` is proposed: once it is accepted, searches show the newer memory alone.
A proposal is listed while both of its ends are active and the caller sees them.
"""

from __future__ import annotations

from hivemind_memory.access.rules import check_person, check_writable
from hivemind_memory.curation.links import link
from hivemind_memory.curation.lookup import load_memory
from hivemind_memory.curation.lookup_errors import not_found
from hivemind_memory.curation.model_links import active_row
from hivemind_memory.curation.read_version import refuse_other_text
from hivemind_memory.curation.refused_links import refuse_link
from hivemind_memory.errors import StateUnusableError
from hivemind_memory.model.curation import (
    AffectedItem,
    ForgetResult,
    StoredMemory,
)
from hivemind_memory.model.display import shorten
from hivemind_memory.model.memories import PENDING, STATUSES
from hivemind_memory.model.note_path import NotePath
from hivemind_memory.model.trust import TOOL
from hivemind_memory.state.model_links import LinkProposal, ModelLinks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from hivemind_memory.curation.context import CurationContext
    from hivemind_memory.model.memories import MemoryRow
    from hivemind_memory.model.ports import MemoryIndex

    Found = tuple[LinkProposal, MemoryRow, MemoryRow]
    "A proposal with the memories at its two ends."

LINK_ITEM = "link"
"""Kind of an affected item that is a proposed link."""

_SHOWN_CHARS = 160


def proposals_as_claims(context: CurationContext) -> list[StoredMemory]:
    """Return the proposals that the caller may decide about, as the inbox lists them.

    A state that cannot be read has none: the claims are listed all the same.
    """
    try:
        proposals = ModelLinks(context.state()).proposals()
    except StateUnusableError:
        return []
    if not proposals:
        return []
    index = context.index.fresh(is_lookup=True)
    return [
        _as_claim(context, *found) for found in _with_ends(context, index, proposals)
    ]


def find_proposal(context: CurationContext, ref: str) -> Found | None:
    """Return the proposal with an id and its ends; None: the caller sees none."""
    try:
        proposals = ModelLinks(context.state()).proposals()
    except StateUnusableError:
        return None
    named = [proposal for proposal in proposals if proposal.id == ref.strip()]
    if not named:
        return None
    index = context.index.fresh(is_lookup=True)
    return next(_with_ends(context, index, named), None)


def accept_proposal(
    context: CurationContext, found: Found, version: str = ""
) -> tuple[StoredMemory, StoredMemory]:
    """Make a proposed link; return the memory that it starts at, and the other.

    Args:
        context: Of the caller.
        found: The proposal.
        version: Of the text that was read; empty: any.

    Raises:
        HivemindError: Nothing was changed; the message says why.
    """
    check_person(context.caller, "Accepting a link")
    proposal, start, end = found
    refuse_other_text(_as_claim(context, *found), version)
    linked = link(
        context,
        start.memory_id or start.path,
        end.memory_id or end.path,
        proposal.kind,
        weight=proposal.weight,
    )
    ModelLinks(context.state()).drop_proposal(proposal.id)
    context.update_index(linked.changed_paths)
    newer = load_memory(context, linked.from_path)
    older = load_memory(context, linked.to_path)
    if newer is None or older is None:
        raise not_found(proposal.id)
    return newer, older


def reject_proposal(context: CurationContext, found: Found) -> ForgetResult:
    """Drop a proposed link, which is not proposed again.

    Raises:
        HivemindError: Nothing was changed; the message says why.
    """
    proposal, start, end = found
    check_writable(context.caller, NotePath(start.path), "Nothing was changed")
    refuse_link(context, proposal.from_ref, proposal.to_ref, proposal.kind)
    ModelLinks(context.state()).drop_proposal(proposal.id)
    shown = _as_claim(context, proposal, start, end)
    item = AffectedItem(
        kind=LINK_ITEM,
        path=shown.path,
        id=shown.id,
        key=start.key,
        start_line=shown.start_line,
        end_line=shown.end_line,
    )
    return ForgetResult(memories=(item,), is_indexed=True)


def _with_ends(
    context: CurationContext, index: MemoryIndex, proposals: list[LinkProposal]
) -> Iterator[Found]:
    """Yield the proposals whose ends are active and seen by the caller."""
    scopes = context.caller.scopes
    for proposal in proposals:
        start = active_row(index, proposal.from_ref)
        end = active_row(index, proposal.to_ref)
        if start is None or end is None:
            continue
        if scopes is None or {start.scope, end.scope} <= scopes:
            yield proposal, start, end


def _as_claim(
    context: CurationContext, proposal: LinkProposal, start: MemoryRow, end: MemoryRow
) -> StoredMemory:
    """Return a proposal as the inbox lists it: both texts, and what would happen."""
    newer, older = load_memory(context, start.path), load_memory(context, end.path)
    names = start.key or start.path, end.key or end.path
    lines = [
        "{} updates {}: searches would show only the newer one.".format(*names),
        f"newer: {_begin(newer)}",
        f"older: {_begin(older)}",
    ]
    return StoredMemory(
        path=NotePath(start.path),
        id=proposal.id,
        key="",
        type="",
        scope=start.scope,
        status=STATUSES[PENDING],
        text="\n".join(lines),
        start_line=newer.start_line if newer else 1,
        end_line=newer.end_line if newer else 1,
        created=proposal.at,
        by=proposal.model,
        source=TOOL,
    )


def _begin(memory: StoredMemory | None) -> str:
    """Return how the text of a memory begins, on one line."""
    return shorten(" ".join(memory.text.split()), _SHOWN_CHARS) if memory else ""
