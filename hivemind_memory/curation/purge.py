"""Purges memories: removes their text from every store, and reports in a receipt.

Each store is cleaned on its own: a failure is reported in the receipt, the others are
cleaned all the same, and the plan is kept until the rest is removed, too. The stores
are listed in ``purge_stores.STORES``, in the order in which they are cleaned.
"""

from __future__ import annotations

from contextlib import ExitStack, suppress
from typing import NamedTuple

from hivemind_memory.access.read_only import check_not_read_only
from hivemind_memory.access.rules import OWNER, check_person
from hivemind_memory.curation.change_recording import record
from hivemind_memory.curation.forget import hide_targets
from hivemind_memory.curation.purge_activity import has_activity
from hivemind_memory.curation.purge_choice import choose_targets, refuse_whole_notes
from hivemind_memory.curation.purge_moved import report_moved
from hivemind_memory.curation.purge_plan import (
    PurgePlan,
    linked_copies,
    plan_purge,
    targets_left,
    texts_of,
)
from hivemind_memory.curation.purge_report import PurgeReport
from hivemind_memory.curation.purge_rows import has_capture
from hivemind_memory.curation.purge_stores import STORES
from hivemind_memory.errors import (
    HivemindError,
    MemoryNotFoundError,
    NotePathError,
    StateUnusableError,
    VersionChangedError,
)
from hivemind_memory.model.changes import PURGE
from hivemind_memory.model.curation import UnfinishedPurge
from hivemind_memory.model.value import as_dict, replaced
from hivemind_memory.state.captures import capture_lock
from hivemind_memory.state.erased_messages import ErasedMessages

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hivemind_memory.access.rules import Caller
    from hivemind_memory.curation.context import CurationContext
    from hivemind_memory.curation.lookup import CurationTarget
    from hivemind_memory.model.curation import (
        AffectedItem,
        FailedItem,
        MemorySelector,
        PurgeResult,
    )
    from hivemind_memory.model.note_path import NotePath
    from hivemind_memory.model.snapshot import FileSignature

_EFFECT = "Nothing was purged"


def purge(
    context: CurationContext,
    selector: MemorySelector | UnfinishedPurge,
    *,
    is_dry_run: bool = False,
    is_forced: bool = False,
    shown: Sequence[AffectedItem] | None = None,
) -> PurgeResult:
    """Remove memories from every store; report where they were and may still be.

    Args:
        context: Of the caller, a person.
        selector: Which memories. An active memory includes its older versions, and each
            one includes everything with the same text, word for word. An unfinished
            purge includes what it left, and no memory that is newer.
        is_dry_run: Only count.
        is_forced: Remove whole notes that a person wrote, too.
        shown: What a person was shown and has confirmed; None: no one was asked.

    Raises:
        MemoryNotFoundError: Nothing the caller sees matches, or no such purge is left.
        NotePathError: All that matches lies behind followed links.
        NotSavedError: The caller may not change it.
        StateUnusableError: The plan cannot be kept, as on a full disk.
        UsageError: The selector is empty, its key is in several scopes, or it includes
            notes that a person wrote.
        VersionChangedError: It includes a memory that was not shown.
    """
    if is_dry_run:
        with context.changing(_EFFECT):
            _, report = _choose(context, selector, is_dry_run=True, is_forced=is_forced)
            for store in STORES:
                store.measure(report)
            return report.result(is_dry_run=True)
    check_not_read_only(context.caller, _EFFECT)
    check_person(context.caller, "A purge")
    with ExitStack() as choosing:
        # First: a capture saves while it holds this lock.
        choosing.enter_context(capture_lock(context.places.locks, _EFFECT))
        with context.changing(_EFFECT):
            try:
                work, report = _choose(
                    context, selector, is_dry_run=False, is_forced=is_forced
                )
                if shown is not None:
                    _refuse_unseen(work.targets, shown)
                _begin(context, work, report)
                choosing.close()
                reactivated = _reactivate(context, selector, work.selected, report)
                for store in STORES:
                    store.clean(report)
                report_moved(report)
                finish = _finish(context, work, report)
                result = report.result(is_dry_run=False, reactivated=reactivated)
                return replaced(result, finish=finish)
            finally:
                context.index.close()


def purge_and_record(
    context: CurationContext,
    selector: MemorySelector | UnfinishedPurge,
    *,
    is_dry_run: bool,
    is_forced: bool,
    shown: Sequence[AffectedItem] | None,
) -> PurgeResult:
    """Purge, and record that ``undo`` cannot reverse it; see ``purge``."""
    purged = purge(
        context, selector, is_dry_run=is_dry_run, is_forced=is_forced, shown=shown
    )
    if not is_dry_run:
        record(context, PURGE)
    return purged


def _refuse_unseen(
    targets: Sequence[CurationTarget], shown: Sequence[AffectedItem]
) -> None:
    """Raise if a purge would remove more than a person has confirmed.

    A version that was moved since then is the same: it is known by its id.
    """
    known = {item.id or item.path for item in shown}
    new = [target.path for target in targets if (target.id or target.path) not in known]
    if new:
        raise VersionChangedError(
            f"{new[0]} was not there when you were asked.",
            hint="Run it again to see what it removes now.",
            effect=_EFFECT,
        )


class _Work(NamedTuple):
    """What a purge has to do."""

    targets: list[CurationTarget]
    linked: set[NotePath]
    plan: PurgePlan
    left: list[FailedItem]
    selected: list[CurationTarget]
    """Those that were selected themselves; none of an unfinished purge."""

    before: Mapping[NotePath, FileSignature]
    """All notes as they were right before the targets were chosen."""

    name: str | bytes
    """Under which its plan is kept, or the hash of that."""

    owner_name: str
    """Under which the owner's plan is kept."""

    is_new: bool = False
    """No plan was kept under the name before."""


def _choose(
    context: CurationContext,
    selector: MemorySelector | UnfinishedPurge,
    *,
    is_dry_run: bool,
    is_forced: bool,
) -> tuple[_Work, PurgeReport]:
    """Return what a purge has to do, and the report that it begins with."""
    if isinstance(selector, UnfinishedPurge):
        work = _find_unfinished(context, selector)
    else:
        work = _find_selected(
            context, selector, is_dry_run=is_dry_run, is_forced=is_forced
        )
    report = PurgeReport(context, work.targets, work.plan, linked=work.linked)
    report.before, report.plan_name = work.before, work.name
    report.left += work.left
    report.measure(is_shown=is_dry_run)
    return work, report


def _find_selected(
    context: CurationContext,
    selector: MemorySelector,
    *,
    is_dry_run: bool,
    is_forced: bool,
) -> _Work:
    """Return the work of a purge, with what the same one left earlier."""
    name = _name_of(selector, context.caller)
    unfinished: PurgePlan | None = None
    try:
        unfinished = _kept_plan(context, name)
    except StateUnusableError as error:
        if not is_dry_run:
            raise _refused(error) from error
    before: Mapping[NotePath, FileSignature] = (
        {} if unfinished is None else context.folder.signatures()
    )
    try:
        targets, linked, before = choose_targets(context, selector)
    except (MemoryNotFoundError, NotePathError):
        is_traced = has_activity(context, selector) or has_capture(context, selector)
        if unfinished is None and not is_traced:
            raise
        before = before or context.folder.signatures()
        targets, linked = [], set()
    if not is_forced:
        refuse_whole_notes(targets)
    selected = [target for target in targets if target.why == "named"]
    left: list[FailedItem] = []
    if unfinished is not None:
        again, left = targets_left(context, unfinished)
        known = {(target.path, target.start_line) for target in targets}
        targets += [
            target for target in again if (target.path, target.start_line) not in known
        ]
        linked |= linked_copies(context, unfinished)
    plan = plan_purge(context, targets)
    plan.sessions |= {selector.session} - {""}
    if unfinished is not None:
        plan.merge(unfinished)
    return _Work(
        targets=targets,
        linked=linked,
        plan=plan,
        left=left,
        selected=selected,
        before=before,
        name=name,
        owner_name=_name_of(selector, OWNER),
        is_new=unfinished is None,
    )


def _find_unfinished(context: CurationContext, purge: UnfinishedPurge) -> _Work:
    """Return the work that an earlier purge left, and no memory that is newer.

    Raises:
        MemoryNotFoundError: No such purge that the caller may see all of is unfinished.
    """
    scopes = context.caller.scopes
    for name, text in context.state().unfinished().items():
        if UnfinishedPurge.of_hash(name) != purge:
            continue
        plan = PurgePlan.from_json(text)
        if scopes is None or (plan.scopes is not None and plan.scopes <= scopes):
            before = context.folder.signatures()
            targets, left = targets_left(context, plan)
            linked = linked_copies(context, plan)
            plan.merge(plan_purge(context, targets))
            return _Work(
                targets=targets,
                linked=linked,
                plan=plan,
                left=left,
                selected=[],
                before=before,
                name=name,
                owner_name=f"finish={purge.id}",
            )
    raise MemoryNotFoundError(
        f"There is no unfinished purge {purge.id}.",
        hint="The receipt of a purge ends with the command that finishes it; add"
        " --memory-dir if you purged with it.",
        effect=_EFFECT,
    )


def _kept_plan(context: CurationContext, name: str) -> PurgePlan | None:
    """Return what the purge that is kept under a name left to do.

    Raises:
        StateUnusableError: That cannot be read now.
    """
    state = context.state()
    plans = state.unfinished()
    text = plans.get(state.hash_of(name)) if plans else None
    return PurgePlan.from_json(text) if text else None


def _name_of(selector: MemorySelector, caller: Caller) -> str:
    """Return the name under which the plan of a purge is kept.

    The same selector means other memories to a caller of other scopes.
    """
    values = [f"{name}={value}" for name, value in as_dict(selector).items()]
    values += [] if caller.scopes is None else [f"of={','.join(sorted(caller.scopes))}"]
    return "\0".join(values)


def _begin(context: CurationContext, work: _Work, report: PurgeReport) -> None:
    """Keep the plan before anything is changed, and make the tombstones.

    A purged session is remembered by a hash, so that it is not captured from now on.

    Raises:
        StateUnusableError: They cannot be kept; nothing was changed.
    """
    state = context.state()
    if not isinstance(work.name, bytes):
        scopes = context.caller.scopes
        report.plan.scopes = None if scopes is None else set(scopes)
    try:
        state.begin(work.name, report.plan.as_json())
        ErasedMessages(state).add((session, "") for session in report.plan.sessions)
        new = 0
        for scope in sorted({target.scope for target in report.targets}):
            here = [target for target in report.targets if target.scope == scope]
            new += state.add_tombstones(texts_of(context, here), scope)
    except StateUnusableError as error:
        if work.is_new:
            with suppress(StateUnusableError):
                state.finish([state.hash_of(str(work.name))])
        raise _refused(error) from error
    report.add_count("tombstones", new, "made: the same text is refused from now on")


def _refused(error: StateUnusableError) -> StateUnusableError:
    """Return why nothing is removed: no purge could be finished without its plan."""
    return StateUnusableError(error.problem, hint=error.hint, effect=_EFFECT)


def _reactivate(
    context: CurationContext,
    selector: MemorySelector | UnfinishedPurge,
    selected: Sequence[CurationTarget],
    report: PurgeReport,
) -> tuple[AffectedItem, ...]:
    """Make active what a purged session, source or day had replaced."""
    if isinstance(selector, UnfinishedPurge) or not selected:
        return ()
    if not selector.is_set or selector.is_whole_scope:
        return ()
    shown = [target for target in selected if not target.forgotten]
    try:
        # What is saved since then is not hidden: no receipt would name it.
        forgotten = hide_targets(context, shown, is_reactivating=True)
    except HivemindError as error:
        report.fail("earlier versions", str(error))
        return ()
    report.plan.notes |= set(forgotten.changed_paths)
    return forgotten.reactivated


def _finish(context: CurationContext, work: _Work, report: PurgeReport) -> str:
    """Delete the plan if everything is done, and what was deleted from the file.

    Returns:
        The command that does what is left; empty: nothing is, or the plan is lost.
    """
    state = context.state()
    try:
        name = work.name if isinstance(work.name, bytes) else state.hash_of(work.name)
        if report.is_hidden_left:
            # The caller must not learn of it; `hm doctor` reports it to the owner.
            _keep_for_owner(context, work.owner_name, report.plan)
        if report.left:
            state.begin(name, report.plan.as_json())
        else:
            state.finish([name])
        if not state.vacuum():
            report.fail("state.db", "another process is reading it")
            state.begin(name, report.plan.as_json())
    except StateUnusableError as error:
        report.fail("state.db", str(error))
        return ""
    return UnfinishedPurge.of_hash(name).command if report.left else ""


def _keep_for_owner(context: CurationContext, name: str, plan: PurgePlan) -> None:
    """Keep a plan for the owner, with what the owner's own purge left to do."""
    kept = PurgePlan()
    kept.merge(plan)
    earlier = _kept_plan(context, name)
    if earlier is not None:
        kept.merge(earlier)
    context.state().begin(name, kept.as_json())
