"""Links that wait for a person in the inbox, beside the claims.

Only ``updates`` is proposed: once it is accepted, searches show the newer memory alone.
A proposal is listed while both of its ends are active and the caller sees them. It is
about the texts that the model read: once one of them is edited, it is not accepted.
"""

from __future__ import annotations

from hivemind_memory.access.rules import check_person, check_writable
from hivemind_memory.curation.links import link
from hivemind_memory.curation.lookup import load_memory
from hivemind_memory.curation.lookup_errors import not_found
from hivemind_memory.curation.model_links import active_row
from hivemind_memory.curation.read_version import refuse_other_text, version_of_text
from hivemind_memory.curation.refused_links import refuse_link
from hivemind_memory.errors import ProposalOutdatedError, StateUnusableError
from hivemind_memory.model.curation import (
    AffectedItem,
    ForgetResult,
    StoredMemory,
)
from hivemind_memory.model.display import shorten
from hivemind_memory.model.keys import pasted
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

_SHOWN_CHARS = 500
_EDITED = ", edited since this was proposed"


def proposals_as_claims(context: CurationContext) -> list[StoredMemory]:
    """Return the proposals that the caller may decide about, as the inbox lists them.

    A state that cannot be read has none: the claims are listed all the same.
    """
    try:
        proposals = ModelLinks(context.state()).proposals()
        if not proposals:
            return []
        index = context.index.fresh(is_lookup=True)
        found = list(_with_ends(context, index, proposals))
        return [_as_claim(context, *each) for each in found]
    except StateUnusableError:
        return []


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
) -> tuple[StoredMemory, StoredMemory, bool]:
    """Make a proposed link.

    Args:
        context: Of the caller.
        found: The proposal.
        version: Of the text that was read; empty: any.

    Returns:
        The memory at which it starts, the other, and whether the link is new: another
        process may have made it.

    Raises:
        HivemindError: Nothing was changed; the message says why.
        ProposalOutdatedError: One of the memories was edited since the model read it.
    """
    check_person(context.caller, "Accepting a link")
    proposal, start, end = found
    refuse_other_text(_as_claim(context, *found), version)
    texts = _texts_as_proposed(context, found)
    index = context.index.fresh(is_lookup=True)
    is_new = not _is_made(index, *found)
    if is_new:
        linked = link(
            context,
            start.memory_id or start.path,
            end.memory_id or end.path,
            proposal.kind,
            weight=proposal.weight,
            texts=texts,
        )
        is_new = linked.is_changed
        context.update_index(linked.changed_paths)
    ModelLinks(context.state()).drop_proposal(proposal.id)
    newer, older = load_memory(context, start.path), load_memory(context, end.path)
    if newer is None or older is None:
        raise not_found(proposal.id)
    return newer, older, is_new


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


def _is_made(
    index: MemoryIndex, proposal: LinkProposal, start: MemoryRow, end: MemoryRow
) -> bool:
    """Return whether a proposed link is there already."""
    wanted = (proposal.kind, start.path, end.path)
    return any(
        (edge.kind, edge.from_path, edge.to_path) == wanted
        for edge in index.edges_of(start.path, scopes=None)
    )


def _texts_as_proposed(context: CurationContext, found: Found) -> dict[str, str]:
    """Return the ids, or paths, of both ends and the versions of their texts.

    Raises:
        ProposalOutdatedError: One was edited since the model read it.
    """
    proposal, start, end = found
    texts: dict[str, str] = {}
    edited = []
    for row, digest in ((start, proposal.from_hash), (end, proposal.to_hash)):
        memory = load_memory(context, row.path)
        if memory is None:
            raise not_found(proposal.id)
        texts[row.memory_id or row.path] = version_of_text(memory)
        if _is_edited(context, memory, digest):
            edited.append(row.key or row.path)
    if edited:
        was = "was" if len(edited) == 1 else "were"
        named = [proposal.kind, start.path, end.path]
        if any(path.startswith("-") for path in named):
            named.insert(1, "--")
        raise ProposalOutdatedError(
            f"Since this link was proposed, {' and '.join(edited)} {was} edited.",
            hint=f"To link them all the same: `hm link --kind {pasted(named)}`.",
            effect="Nothing was linked",
        )
    return texts


def _is_edited(
    context: CurationContext, memory: StoredMemory | None, digest: bytes
) -> bool:
    """Return whether a memory does not say what a proposal is about.

    An older version of this program kept no hash: then any text will do.
    """
    if not digest or memory is None:
        return False
    return context.state().hash_of(version_of_text(memory)) != digest


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
    lines = ["{} updates {}: searches would show only the newer one.".format(*names)]
    for word, memory, digest in (
        ("newer", newer, proposal.from_hash),
        ("older", older, proposal.to_hash),
    ):
        edited = _EDITED if _is_edited(context, memory, digest) else ""
        lines.append(f"{word}{edited}: {_begin(memory)}")
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
