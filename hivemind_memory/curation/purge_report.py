"""The report of a purge: what was found, what failed, and what is out of reach.

Copies that other programs keep are looked for and named; they are not deleted.
"""

from __future__ import annotations

from math import isfinite

from hivemind_memory.access.rules import may_read
from hivemind_memory.curation.lookup import notes_in
from hivemind_memory.curation.purge_copies import editor_copies, passed_over
from hivemind_memory.curation.purge_injections import (
    QuotingInjections,
    count_hashed,
    find_copies,
    find_injections,
    find_repositories,
)
from hivemind_memory.curation.purge_plan import plan_purge
from hivemind_memory.errors import (
    HivemindError,
    IndexUnusableError,
)
from hivemind_memory.files.places import find_above
from hivemind_memory.index.choose_engine import index_engine
from hivemind_memory.index.port import IndexCounts
from hivemind_memory.markdown.text import decode
from hivemind_memory.model.clocks import SECONDS_PER_DAY
from hivemind_memory.model.curation import (
    ENTRY,
    MEMORY,
    NOTE,
    AffectedItem,
    FailedItem,
    PurgeCount,
    PurgeResult,
)
from hivemind_memory.model.display import count_text
from hivemind_memory.model.memories import SUPERSEDED
from hivemind_memory.model.scope import INBOX, place_in_scope, scope_of
from hivemind_memory.model.value import replaced
from hivemind_memory.notes.entry_edits import entries_in
from hivemind_memory.state.recall_log import UNKNOWN_SCOPE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from hivemind_memory.curation.context import CurationContext
    from hivemind_memory.curation.lookup import CurationTarget
    from hivemind_memory.curation.purge_plan import PurgePlan
    from hivemind_memory.model.note_path import NotePath
    from hivemind_memory.model.snapshot import FileSignature


OWNER_ONLY = frozenset(
    {
        *("vectors", "free pages", "set-aside indexes", "half-written notes"),
        *("recall counters", "recalls by day"),
    }
)
"""Counts of what all scopes share: not kept by scope, so only the owner reads them."""

_KINDS = {ENTRY: "entries in notes", MEMORY: "typed memories", NOTE: "notes"}
_MAX_QUOTED = 20
_MIN_PROBE_CHARS = 8


class PurgeReport:
    """The state of one purge, and what it reports in the end."""

    def __init__(
        self,
        context: CurationContext,
        targets: list[CurationTarget],
        plan: PurgePlan,
        *,
        linked: set[NotePath],
    ) -> None:
        self.context = context
        self.targets = targets
        self.plan = plan
        self.injected = context.injected()
        self.linked = linked
        """Notes behind followed links that were selected, or hold the text."""

        self.engine = index_engine(context.places, context.clocks.now)
        self.index_counts = IndexCounts()
        """What the index held before anything was removed."""

        self.injections = QuotingInjections()
        """Records of the injection log that name one of the notes, and sections."""

        self.before: Mapping[NotePath, FileSignature] = {}
        """All notes as they were right before the targets were chosen."""

        self.missed: list[CurationTarget] = []
        """Targets that were not at their path any more."""

        self.briefings: set[str] = set()
        """What a language model wrote from one of the memories."""

        self.plan_name: str | bytes = ""
        """Under which the plan is kept; see ``StateFile.begin``."""

        self.hashed = 0
        """Memories of which folders of git hold hashes, for the check of commits."""

        self.left: list[FailedItem] = []
        self.is_hidden_left = False
        """Something is left in a place of which the caller must not know."""

        self.transcripts: set[str] = set()
        """Files of agents that hold what was removed from ``transcripts.db``."""

        self.skills: list[FailedItem] = []
        """Skills that may still hold the text, and files beside those removed."""

        self.links: list[FailedItem] = []
        """Links to the targets in the text of other notes."""

        self._elsewhere: dict[str, set[str]] | None = None
        """Id of a target -> other scopes in which a note has it; None: unknown."""

        self._places: list[PurgeCount] = []
        self._targets_at = 0

    def target_ids(self) -> set[str]:
        """Return the ids of the targets."""
        return {target.id for target in self.targets if target.id}

    def measure(self, *, is_shown: bool) -> None:
        """Count what the index and the injection log hold.

        Args:
            is_shown: Report an index that cannot be read; else cleaning it does.
        """
        try:
            self.index_counts = self.engine.count(
                paths=self.plan.paths,
                entry_ids=self.plan.ids,
                text_hashes=self.plan.hashes,
                is_seen=self.may_read,
            )
        except IndexUnusableError as error:
            if is_shown:
                self.fail("index", str(error))
        self._find_same_ids()
        if self.injected is None or not self.plan.notes:
            return
        self.injections = find_injections(
            self.context, self.injected, self.plan.notes, ids=self.target_ids()
        )
        self.left += self.injections.unread
        self.hashed = count_hashed(
            self.context,
            self.injected,
            self.plan.notes,
            [target.text for target in self.targets],
        )

    def _find_same_ids(self) -> None:
        """Find the notes of other scopes that have the id of a target."""
        wanted = {own_id for _, own_id in self.plan.refs}
        try:
            index = self.context.index.fresh()
            found = {own_id: index.scopes_with(own_id) for own_id in wanted}
        except HivemindError:  # cleaning the index reports it
            return
        for scope, own_id in self.plan.refs:
            found[own_id].discard(scope)
        self._elsewhere = found

    def is_purged(self, path: str, own_id: str) -> bool:
        """Return whether an id, with the path that its note has or had, is a target's.

        The note may have been moved since that path was kept, out of its scope even:
        so any scope will do in which no other note has the id.
        """
        return path in self.plan.paths or self.is_purged_in(scope_of(path), own_id)

    def is_purged_in(self, scope: str, own_id: str) -> bool:
        """Return whether an id with the scope of its note is a target's."""
        if self._elsewhere is None or own_id not in self.plan.ids:
            return (scope, own_id) in self.plan.refs
        others = self._elsewhere.get(own_id, set())
        return scope not in others and not (scope == UNKNOWN_SCOPE and others)

    def recall_days(self) -> tuple[list[str], int]:
        """Return the scopes whose recalls by day are deleted, and since which day.

        They do not say of which memory they are, so all of a scope go since the oldest
        part of what is purged was written.
        """
        refs = self.plan.refs
        scopes = {scope for scope, own_id in refs if self.is_purged_in(scope, own_id)}
        since_s = self.plan.since_s
        first = int(since_s // SECONDS_PER_DAY) - 1 if isfinite(since_s) else 0
        return sorted(scopes), first

    def may_read(self, path: str) -> bool:
        """Return whether the caller may read a note, and so may know its counts."""
        return may_read(self.context.caller, path)

    def add_count(self, name: str, count: int, unit: str) -> None:
        """Report what was found in a place."""
        self._places.append(PurgeCount(name=name, count=count, unit=unit))

    def add_to_count(self, name: str, more: int) -> None:
        """Add to what was found in a place."""
        self._places = [
            replaced(place, count=place.count + more) if place.name == name else place
            for place in self._places
        ]

    def release(self, target: CurationTarget) -> None:
        """Leave alone what is now at the path of a target: it is another memory."""
        self.targets.remove(target)
        self.missed.append(target)
        self.plan.paths.discard(target.path)

    def add_moved(self, found: Sequence[CurationTarget]) -> None:
        """Purge what was found meanwhile, too.

        Raises:
            StateUnusableError: The plan could not be kept; nothing may be removed.
        """
        self.plan.merge(plan_purge(self.context, list(found)))
        self.context.state().begin(self.plan_name, self.plan.as_json())
        ids = {target.id for target in found if target.id}
        gone = [target for target in self.missed if target.id in ids]
        self.targets = [target for target in self.targets if target not in gone]
        self.targets += found

    def add_targets(self) -> None:
        """Report here how many targets were removed; that is known at the end."""
        self._targets_at = len(self._places)

    def fail(self, what: str, why: str) -> None:
        """Report what could not be removed now."""
        self.left.append(FailedItem(what=what, why=why))

    def result(
        self, *, is_dry_run: bool, reactivated: tuple[AffectedItem, ...] = ()
    ) -> PurgeResult:
        """Return the report, with what is out of reach."""
        is_owner = self.context.caller.is_owner
        stayed = set() if is_dry_run else {item.what for item in self.left}
        removed = [target for target in self.targets if target.path not in stayed]
        places = list(self._places)
        places[self._targets_at : self._targets_at] = _count_by_kind(removed)
        return PurgeResult(
            is_dry_run=is_dry_run,
            memories=tuple(target.as_affected() for target in removed),
            places=tuple(
                place for place in places if is_owner or place.name not in OWNER_ONLY
            ),
            left=tuple(self.left),
            out_of_reach=tuple(self._out_of_reach()),
            reactivated=reactivated,
            worktrees=self.injections.worktrees,
        )

    def probes(self) -> list[str]:
        """Return the longest line of each text; a copy is recognised by it."""
        return _probes_of(target.text for target in (*self.targets, *self.missed))

    def _out_of_reach(self) -> Iterator[FailedItem]:
        """Yield where the text may still be."""
        notes = self.context.places.notes
        probes = self.probes()
        yield from self.links
        yield from editor_copies(notes, self.plan.notes, probes)
        yield from self._behind_links()
        yield from _notes_quoting(self.context, self.targets, probes, self.linked)
        yield from passed_over(self.context, [*probes, *sorted(self.plan.ids)])
        repository = find_above(notes, ".git")
        if repository:
            why = (
                "the notes are in a git repository: its history, stashes and remotes "
                "keep what was committed; `git filter-repo` rewrites it"
            )
            yield FailedItem(what=repository, why=why)
        if self.injected is not None:
            quoted = [*probes, *_probes_of(self.briefings)]
            yield from find_copies(self.injections, self.injected, quoted)
            yield from find_repositories(
                self.context, self.injected, self.injections, named=repository or ""
            )
        yield from self.skills[:_MAX_QUOTED]
        for path in sorted(self.transcripts)[:_MAX_QUOTED]:
            why = "the agent's own transcript keeps it; delete it there if it must go"
            yield FailedItem(what=path, why=why)
        if self.injections.worktrees:
            why = "agents that read the section may keep it in their own logs"
            yield FailedItem(what="transcripts", why=why)
        why = "copies that other programs made of the home folder"
        yield FailedItem(what="backups", why=why)

    def _behind_links(self) -> Iterator[FailedItem]:
        """Yield the notes behind followed links, which a person may edit."""
        folder = self.context.folder
        for path in sorted(self.linked)[:_MAX_QUOTED]:
            error = folder.behind_link_error(path, "")
            why = f"it {error.problem.removeprefix(f'{path} ')} {error.hint}"
            yield FailedItem(what=path, why=why)
        if len(self.linked) > _MAX_QUOTED:
            more = count_text(len(self.linked) - _MAX_QUOTED, "more note")
            yield FailedItem(what=more, why="behind followed links, too")


def _probes_of(texts: Iterable[str]) -> list[str]:
    """Return the longest line of each text, if it is long enough to tell a copy."""
    lines = (max((line.strip() for line in t.split("\n")), key=len) for t in texts)
    return sorted({line for line in lines if len(line) >= _MIN_PROBE_CHARS})


def _count_by_kind(targets: Sequence[CurationTarget]) -> Iterator[PurgeCount]:
    """Yield how many of what is purged are entries, memories, or earlier versions."""
    for kind, name in _KINDS.items():
        count = sum(target.kind == kind for target in targets)
        unit = "entries" if kind == ENTRY else "files"
        yield PurgeCount(name=name, count=count, unit=unit)
    older = sum(target.status == SUPERSEDED for target in targets)
    claims = sum(map(_count_claims, targets))
    yield PurgeCount(name="earlier versions", count=older, unit="of the files")
    yield PurgeCount(name="pending claims", count=claims, unit="in the inbox")


def _count_claims(target: CurationTarget) -> int:
    """Return how many claims that wait in an inbox a target is."""
    if target.forgotten or place_in_scope(target.path) != INBOX:
        return 0
    if target.kind != NOTE:
        return 1
    entries = entries_in(target.text.encode())
    return sum(not entry.provenance.is_forgotten for entry in entries) if entries else 1


def _notes_quoting(
    context: CurationContext,
    targets: Sequence[CurationTarget],
    probes: Sequence[str],
    named: Collection[str],
) -> Iterator[FailedItem]:
    """Yield lines of other notes that hold the text; a person decides about them."""
    removed = {
        (target.path, line)
        for target in targets
        for line in range(target.start_line, target.end_line + 1)
    }
    whole = {*named, *(target.path for target in targets if target.kind != ENTRY)}
    found = 0
    for path, data in notes_in(context, context.caller.scopes) if probes else ():
        text = decode(data)
        if path in whole or not any(probe in text for probe in probes):
            continue
        for number, line in enumerate(text.split("\n"), start=1):
            if (path, number) in removed or not any(probe in line for probe in probes):
                continue
            found += 1
            if found <= _MAX_QUOTED:
                why = "this line has the same words: edit it if they must go"
                yield FailedItem(what=f"{path}:{number}", why=why)
