"""What injections hold of the notes that a purge removes, and where copies remain."""

from __future__ import annotations

import os
from shlex import quote

from hivemind_memory.errors import HivemindError
from hivemind_memory.model.curation import FailedItem
from hivemind_memory.model.display import count_text
from hivemind_memory.model.ports import INDEX, WORKTREE
from hivemind_memory.model.value import value
from hivemind_memory.notes.slug import own_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from hivemind_memory.curation.context import CurationContext
    from hivemind_memory.model.ports import InjectionRecords

MAX_QUOTED = 20
_MAX_REPOSITORIES = 5


@value
class QuotingInjections:
    """Which parts of some notes were injected, according to the injection log."""

    records: int = 0
    """Records that name one of them, of worktrees that the caller may know of."""

    worktrees: tuple[str, ...] = ()
    """Those worktrees, as far as they still exist."""

    gone: tuple[str, ...] = ()
    """Those that are not there any more; they may have been moved."""

    hidden: tuple[str, ...] = ()
    """Worktrees of which the caller must not know."""

    unread: tuple[FailedItem, ...] = ()
    """Why the log could not be read."""

    def seen_of(self, failed: Mapping[str, str]) -> tuple[FailedItem, ...]:
        """Return what failed in worktrees that the caller may know of."""
        return tuple(
            FailedItem(what=worktree, why=why)
            for worktree, why in failed.items()
            if worktree in self.worktrees
        )


def find_injections(
    context: CurationContext,
    injected: InjectionRecords,
    paths: Collection[str],
    *,
    ids: Collection[str] = (),
    kept: Collection[str] = (),
) -> QuotingInjections:
    """Return what the injection log says about some notes and the ids of memories.

    A worktree whose agents see other scopes than the caller is kept apart: neither its
    name nor its records may be told. Called once notes were changed, so a log that
    cannot be read is no error. Nothing is counted of the *kept* worktrees.
    """
    try:
        # It was injected under the name that it had.
        found = injected.count_quoting({*paths, *map(own_path, paths)}, ids)
    except (HivemindError, OSError) as error:
        unread = FailedItem(what="injection log", why=str(error))
        return QuotingInjections(unread=(unread,))
    quoting = {name: count for name, count in found.items() if name not in kept}
    scopes = context.caller.scopes
    seen = {
        worktree: scopes is None or injected.is_within(worktree, scopes)
        for worktree in quoting
    }
    there = [worktree for worktree in quoting if os.path.isdir(worktree)]
    return QuotingInjections(
        records=sum(count for worktree, count in quoting.items() if seen[worktree]),
        worktrees=tuple(worktree for worktree in there if seen[worktree]),
        gone=tuple(
            worktree for worktree in quoting if seen[worktree] and worktree not in there
        ),
        hidden=tuple(worktree for worktree in there if not seen[worktree]),
    )


def count_hashed(
    context: CurationContext,
    injected: InjectionRecords,
    paths: Collection[str],
    texts: Collection[str],
) -> int:
    """Return of how many memories folders of git keep hashes, of those seen."""
    try:
        folders = injected.git_folders()
    except (HivemindError, OSError):
        return 0  # ``find_injections`` says so
    return sum(
        injected.count_hashed(folder, paths, texts)
        for folder, worktrees in folders.items()
        if _is_seen(context, injected, worktrees)
    )


def prune_hashed(
    context: CurationContext, injected: InjectionRecords
) -> tuple[list[FailedItem], bool]:
    """Remove the hashes of what no note says now from all folders of git.

    Returns:
        What failed, as far as the caller may know of it, and whether more did.
    """
    failed = []
    is_hidden_left = False
    try:
        folders = injected.git_folders()
    except (HivemindError, OSError):
        return [], False
    for folder, worktrees in folders.items():
        why = injected.prune_hashed(folder)
        if why and _is_seen(context, injected, worktrees):
            failed.append(FailedItem(what=folder, why=why))
        elif why:
            is_hidden_left = True
    return failed, is_hidden_left


def _is_seen(
    context: CurationContext, injected: InjectionRecords, worktrees: Collection[str]
) -> bool:
    """Return whether the caller may know of one of some worktrees."""
    scopes = context.caller.scopes
    return scopes is None or any(
        injected.is_within(worktree, scopes) for worktree in worktrees
    )


def refresh_sections(
    injected: InjectionRecords, quoting: QuotingInjections
) -> dict[str, str]:
    """Write sections again; return the worktrees where that failed, and why."""
    failed: dict[str, str] = {}
    for worktree in (*quoting.worktrees, *quoting.hidden):
        try:
            why = injected.refresh_section(worktree)
        except HivemindError as error:
            why = str(error)
        if why:
            failed[worktree] = why
    return failed


def erase_copies(
    injected: InjectionRecords, quoting: QuotingInjections
) -> tuple[int, list[FailedItem]]:
    """Remove copies of sections; return how many, and what failed, of those seen."""
    count, failed = 0, []
    for worktree in (*quoting.worktrees, *quoting.hidden):
        erased, problems = injected.erase_copies(worktree)
        if worktree in quoting.worktrees:
            count += erased
            failed += [FailedItem(what=copy, why=why) for copy, why in problems.items()]
    return count, failed


def find_copies(
    quoting: QuotingInjections, injected: InjectionRecords, probes: Sequence[str]
) -> Iterator[FailedItem]:
    """Yield what worktrees keep of some texts and a purge does not remove."""
    for worktree in quoting.gone:
        why = "it is gone; if it was moved, run `hm eject` where it is now"
        yield FailedItem(what=worktree, why=why)
    for worktree in quoting.worktrees:
        found = injected.find_copies(worktree, probes)
        files = sorted(found.get(WORKTREE, ()))
        for file in files[:MAX_QUOTED]:
            path = os.path.join(worktree, *file.split("/"))
            why = (
                "it holds the text or a copy of a section: edit it, or delete it;"
                f" `git -C {quote(worktree)} grep -il --untracked --no-exclude-standard"
                " hivemind` lists copies of a section"
            )
            yield FailedItem(what=path, why=why)
        if len(files) > MAX_QUOTED:
            more = f"{count_text(len(files) - MAX_QUOTED, 'more file')} of {worktree}"
            yield FailedItem(what=more, why="with the text or a section, too")
        if staged := sorted(found.get(INDEX, ())):
            more = ", ..." if len(staged) > MAX_QUOTED else ""
            why = (
                f"its index holds the text or a section in"
                f" {', '.join(staged[:MAX_QUOTED])}{more}: edit and `git add` it, then"
                " run `git gc --prune=now`"
            )
            yield FailedItem(what=f"git in {worktree}", why=why)


def find_repositories(
    context: CurationContext,
    injected: InjectionRecords,
    quoting: QuotingInjections,
    *,
    named: str,
) -> Iterator[FailedItem]:
    """Yield the repositories that were injected into; git may keep the text there.

    Those come first whose sections quoted it. A caller of some scopes learns of no
    worktree whose agents see others.

    Args:
        context: Of the caller.
        injected: The injection log.
        quoting: What it says about the notes.
        named: The repository that holds the notes; the report names it already.
    """
    try:
        folders = injected.git_folders()
    except (HivemindError, OSError):
        return  # ``find_injections`` says so
    scopes = context.caller.scopes
    found = []
    for folder, worktrees in folders.items():
        seen = sorted(
            worktree
            for worktree in worktrees
            if scopes is None or injected.is_within(worktree, scopes)
        )
        if not seen or (named and folder == os.path.join(named, ".git")):
            continue
        there = [worktree for worktree in seen if os.path.isdir(worktree)]
        is_quoting = not {*quoting.worktrees, *quoting.gone}.isdisjoint(seen)
        found.append((not is_quoting, there[0] if there else folder))
    found.sort()
    for _, path in found[:_MAX_REPOSITORIES]:
        git = f"git -C {quote(path)}"
        why = (
            "agents that saw the section may have put the text into its history, commit"
            f" messages, stashes or reflog: `{git} log --all --reflog -p` shows them;"
            f" `{git} gc --prune=now` removes unreferenced objects, such as those of a"
            " refused commit"
        )
        yield FailedItem(what=path, why=why)
    if len(found) > _MAX_REPOSITORIES:
        more = len(found) - _MAX_REPOSITORIES
        yield FailedItem(
            what=count_text(more, "more repository", "more repositories"),
            why="agents saw a section there, too",
        )
