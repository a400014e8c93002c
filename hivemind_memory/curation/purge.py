"""Purges memories: removes their text from every store, and reports in a receipt.

Each store is cleaned on its own: a failure is reported in the receipt, the others are
cleaned all the same, and the same purge again finds and removes the rest. The stores
are listed in ``purge_stores.STORES``, in the order in which they are cleaned.
"""

from __future__ import annotations

from dataclasses import asdict

from hivemind_memory.access.rules import OWNER, check_person
from hivemind_memory.curation.forget import forget
from hivemind_memory.curation.purge_plan import (
    PurgePlan,
    linked_copies,
    plan_purge,
    refuse_whole_notes,
    targets_left,
    targets_of_purge,
    texts_of,
)
from hivemind_memory.curation.purge_report import PurgeReport
from hivemind_memory.curation.purge_stores import STORES
from hivemind_memory.errors import (
    HivemindError,
    MemoryNotFoundError,
    NotePathError,
    StateUnusableError,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.access.rules import Caller
    from hivemind_memory.curation.context import CurationContext
    from hivemind_memory.model.curation import (
        AffectedItem,
        FailedItem,
        MemorySelector,
        PurgeResult,
    )
    from hivemind_memory.model.ports import InjectionRecords


def purge(
    context: CurationContext,
    selector: MemorySelector,
    injected: InjectionRecords | None = None,
    *,
    is_dry_run: bool = False,
    is_forced: bool = False,
) -> PurgeResult:
    """Remove memories from every store; report where they were and may still be.

    Args:
        context: Of the caller, a person.
        selector: Which memories. An active memory includes its older versions, and each
            one includes everything with the same text, word for word.
        injected: What was injected into worktrees; None: unknown.
        is_dry_run: Only count.
        is_forced: Remove whole notes that a person wrote, too.

    Raises:
        MemoryNotFoundError: Nothing the caller sees matches.
        NotePathError: All that matches lies behind followed links.
        NotSavedError: The caller may not change it.
        UsageError: The selector is empty, its key is in several scopes, or it includes
            notes that a person wrote.
    """
    if not is_dry_run:
        check_person(context.caller, "A purge")
    unfinished = _unfinished(context, selector)
    try:
        targets, linked = targets_of_purge(context, context.index.fresh(), selector)
    except (MemoryNotFoundError, NotePathError):
        if unfinished is None:
            raise
        targets, linked = [], set()
    if not is_forced:
        refuse_whole_notes(targets)
    is_found = bool(targets)
    left: list[FailedItem] = []
    if unfinished is not None:
        again, left = targets_left(context, unfinished)
        known = {(one.path, one.start_line) for one in targets}
        targets += [one for one in again if (one.path, one.start_line) not in known]
        linked |= linked_copies(context, unfinished)
    plan = plan_purge(context, targets)
    if unfinished is not None:
        plan.merge(unfinished)
    report = PurgeReport(context, targets, plan, injected, linked=linked)
    report.left += left
    report.measure(is_shown=is_dry_run)
    if is_dry_run:
        for store in STORES:
            store.measure(report)
        return report.result(is_dry_run=True)
    try:
        _begin(context, selector, report)
        reinstated = _reinstate(context, selector, report) if is_found else ()
        for store in STORES:
            store.clean(report)
        _finish(context, selector, report)
        return report.result(is_dry_run=False, reinstated=reinstated)
    finally:
        context.index.close()


def _unfinished(context: CurationContext, selector: MemorySelector) -> PurgePlan | None:
    """Return what an earlier purge with the same selector left to do."""
    state = context.state()
    try:
        plans = state.unfinished()
        name = _name_of(selector, context.caller)
        text = plans.get(state.hash_of(name)) if plans else None
    except StateUnusableError:
        return None
    return PurgePlan.from_json(text) if text else None


def _name_of(selector: MemorySelector, caller: Caller) -> str:
    """Return the name under which the plan of a purge is kept.

    The same selector means other memories to a caller of other scopes.
    """
    values = [f"{name}={value}" for name, value in asdict(selector).items()]
    values += [] if caller.scopes is None else [f"of={','.join(sorted(caller.scopes))}"]
    return "\0".join(values)


def _begin(
    context: CurationContext, selector: MemorySelector, report: PurgeReport
) -> None:
    """Keep the plan before anything is changed, and make the tombstones."""
    state = context.state()
    try:
        state.begin(_name_of(selector, context.caller), report.plan.as_json())
        new = 0
        for scope in sorted({target.scope for target in report.targets}):
            here = [target for target in report.targets if target.scope == scope]
            new += state.add_tombstones(texts_of(context, here), scope)
    except StateUnusableError as error:
        report.fail("tombstones", f"{error}; the same text can be saved again")
    else:
        report.add_count(
            "tombstones", new, "made: the same text is refused from now on"
        )


def _reinstate(
    context: CurationContext, selector: MemorySelector, report: PurgeReport
) -> tuple[AffectedItem, ...]:
    """Make active what a purged session, source or day had replaced."""
    if not selector.is_set or selector.is_whole_scope:
        return ()
    try:
        forgotten = forget(context, selector)
    except HivemindError as error:
        report.fail("earlier versions", str(error))
        return ()
    report.plan.notes |= set(forgotten.changed_paths)
    return forgotten.reinstated


def _finish(
    context: CurationContext, selector: MemorySelector, report: PurgeReport
) -> None:
    """Delete the plan if everything is done, and what was deleted from the file."""
    state = context.state()
    try:
        if report.is_hidden_left:
            # The caller must not be told; `hm doctor` tells the owner.
            state.begin(_name_of(selector, OWNER), report.plan.as_json())
        if not report.left:
            state.finish([state.hash_of(_name_of(selector, context.caller))])
        if not state.vacuum():
            report.fail("state.db", "another process is reading it; purge again")
    except StateUnusableError as error:
        report.fail("state.db", str(error))
