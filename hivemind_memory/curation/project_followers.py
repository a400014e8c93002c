"""Updates every store that names a project when the project is renamed or merged.

A store of the program that names notes or scopes joins ``FOLLOWERS``; a test compares
the list with what the program creates. Each step may be done again: a move that is
killed is finished by the next command.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from hivemind_memory.config import CONFIG_NAME
from hivemind_memory.curation.purge_plan import PurgePlan
from hivemind_memory.errors import (
    IndexUnusableError,
    NotSavedError,
    StateUnusableError,
)
from hivemind_memory.files.locks import LOCK_WAIT_S, exclusive
from hivemind_memory.model.scope import FOLDERS, make_scope
from hivemind_memory.model.value import replaced
from hivemind_memory.notes.edge import replace_references
from hivemind_memory.notes.journal import Journal
from hivemind_memory.notes.recovered_entries import rename_recovered
from hivemind_memory.projects.move_lock import records_lock
from hivemind_memory.projects.record_file import read_records, write_record
from hivemind_memory.state.activity_log import ActivityLog
from hivemind_memory.state.briefings import Briefings
from hivemind_memory.state.change_log import ChangeLog
from hivemind_memory.state.injection_log import InjectionLog
from hivemind_memory.state.jobs import Jobs
from hivemind_memory.state.key_values import KeyValueStore
from hivemind_memory.state.namespaces import Namespaces
from hivemind_memory.state.recall_log import RecallLog
from hivemind_memory.state.skills import SkillStore
from hivemind_memory.state.state_file import StateFile
from hivemind_memory.state.tokens import Tokens
from hivemind_memory.state.use_days import UseDays
from hivemind_memory.state.use_log import UseLog
from hivemind_memory.transcripts.erase import rename_scope
from hivemind_memory.transcripts.store import TranscriptStore
from hivemind_memory.transcripts.target import lock_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from contextlib import AbstractContextManager

    from hivemind_memory.files.places import Places
    from hivemind_memory.model.changes import Change, ChangedItem

_ABOVE = FOLDERS["project"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Renaming:
    """A project that has another name now."""

    places: Places
    source: str
    target: str
    moves: Mapping[str, str]
    """Path of each note that was moved -> its new path."""

    def new_path(self, path: str) -> str:
        """Return the new path of a note, or the name of a scope; else the same."""
        if path in self.moves:
            return self.moves[path]
        old = f"{_ABOVE}/{self.source}"
        is_own = path == old or path.startswith(f"{old}/")
        return f"{_ABOVE}/{self.target}{path[len(old) :]}" if is_own else path

    def new_reference(self, reference: str) -> list[str] | None:
        """Return what stands for a reference now; None: the same."""
        for suffix in ("", ".md"):
            new = self.moves.get(reference + suffix)
            if new is not None:
                return [new.removesuffix(suffix)]
        return None


def check_state(places: Places) -> None:
    """Raise if the state cannot be written: then no move is begun.

    Raises:
        NotSavedError: It cannot.
    """
    state = StateFile.at(places)
    try:
        state.run(lambda connection: connection.execute("BEGIN IMMEDIATE; ROLLBACK"))
    except StateUnusableError as error:
        raise NotSavedError(
            str(error), hint=error.hint, effect="Nothing was moved"
        ) from error
    finally:
        state.close()


def follow(renaming: Renaming) -> None:
    """Update every store for the new name of a project.

    Raises:
        NotSavedError: The disk refused, or another process is writing.
        StateUnusableError: The state cannot be written.
    """
    for follower in FOLLOWERS:
        follower.rename(renaming)


def _rename_projects(renaming: Renaming) -> None:
    """Rename it in what other projects know: which may be the same, and which not."""
    above = os.path.join(renaming.places.notes, _ABOVE)
    with records_lock(above):
        for record in read_records(above):
            maybe = _renamed_slugs(renaming, record.maybe, record.slug)
            distinct = _renamed_slugs(renaming, record.distinct, record.slug)
            new = replaced(record, maybe=maybe, distinct=distinct)
            if new != record and not write_record(above, new):
                raise NotSavedError(f"{record.slug}/.project cannot be written")


def _renamed_slugs(
    renaming: Renaming, slugs: tuple[str, ...], own: str
) -> tuple[str, ...]:
    """Return the projects that a record names, by their names now."""
    new = (renaming.target if slug == renaming.source else slug for slug in slugs)
    return tuple(dict.fromkeys(slug for slug in new if slug != own))


def _rename_journal(renaming: Renaming) -> None:
    """Rename the notes of entries: one that is lost comes back in its own scope."""
    journal = Journal(renaming.places.journal, renaming.places.notes)
    if not os.path.isdir(journal.folder):
        return
    with journal.session() as session:
        try:
            session.rename(renaming.new_path)
            rename_recovered(journal.folder, renaming.new_path)
        except OSError as error:
            raise journal.write_error(error) from error


def _rename_changes(state: StateFile, renaming: Renaming) -> None:
    """Rename what changes name, so that they can be undone, and who made them."""

    def items(some: tuple[ChangedItem, ...]) -> tuple[ChangedItem, ...]:
        return tuple(
            replaced(target, path=renaming.new_path(target.path)) for target in some
        )

    def links(some: tuple[object, ...]) -> tuple[object, ...]:
        return tuple(replace_references(list(some), renaming.new_reference)[0])

    def renamed(change: Change) -> Change:
        origin, _, scopes = change.actor.partition(":")
        new = sorted({renaming.new_path(part) for part in scopes.split(",")})
        return replaced(
            change,
            actor=f"{origin}:{','.join(new)}",
            items=items(change.items),
            others=items(change.others),
            before=links(change.before),
            after=links(change.after),
        )

    ChangeLog(state).rewrite(renamed)


def _rename_unfinished(state: StateFile, renaming: Renaming) -> None:
    """Rename the notes that a purge still has to look after."""

    def renamed(work: str) -> str:
        plan = PurgePlan.from_json(work)
        plan.paths = set(map(renaming.new_path, plan.paths))
        plan.notes = set(map(renaming.new_path, plan.notes))
        plan.refs = {(renaming.new_path(scope), ref) for scope, ref in plan.refs}
        if plan.scopes is not None:
            plan.scopes = set(map(renaming.new_path, plan.scopes))
        return plan.as_json()

    state.rewrite_unfinished(renamed)


def _rename_state(renaming: Renaming) -> None:
    """Rename it in ``state.db``."""
    if not os.path.exists(renaming.places.state_file):
        return
    scopes = [
        make_scope("project", slug) for slug in (renaming.source, renaming.target)
    ]
    state = StateFile.at(renaming.places)
    try:
        state.rename_scope(*scopes)
        _rename_unfinished(state, renaming)
        _rename_changes(state, renaming)
        InjectionLog(state).rename(renaming.new_path)
        RecallLog(state).rename_scope(renaming.new_path)
        UseDays(state).rename_scope(renaming.new_path)
        UseLog(state).rename_scope(renaming.new_path)
        SkillStore(state).rename_scope(renaming.new_path)
        Namespaces(state).rename_scopes(
            lambda scope: scopes[1] if scope == scopes[0] else scope
        )
        ActivityLog(state).rename_scope(renaming.new_path)
        KeyValueStore(state).rename_scope(*scopes, label=renaming.source)
        # Their memories have other paths now, and are told with others.
        for scope in scopes:
            Briefings(state).drop_scope(scope)
        Jobs(state).drop(scopes)
        Tokens(state).rename_projects(
            lambda name: renaming.target if name == renaming.source else name
        )
    finally:
        state.close()


def _rename_transcripts(renaming: Renaming) -> None:
    """Rename it in what is known of sessions."""
    store = TranscriptStore(renaming.places.transcripts_file)
    if not store.is_there():
        return
    scopes = [
        make_scope("project", slug) for slug in (renaming.source, renaming.target)
    ]
    try:
        # Who reads them has looked some projects up already, and writes these names.
        with _no_reading(renaming.places), store.opened() as connection:
            rename_scope(connection, *scopes)
    except IndexUnusableError as error:
        raise NotSavedError(str(error), hint=error.hint) from error
    finally:
        store.close()


def _no_reading(places: Places) -> AbstractContextManager[None]:
    """Return a context in which no process reads transcripts."""
    return exclusive(
        lock_of(places),
        wait_s=LOCK_WAIT_S,
        refused=lambda why, hint: NotSavedError(why, hint=hint),
    )


class Follower(NamedTuple):
    """A store that names notes or scopes, and how it is updated."""

    names: tuple[str, ...]
    """Patterns of files below the home; a table of ``state.db`` after a colon."""

    rename: Callable[[Renaming], None]


FOLLOWERS = (
    Follower(("memory/projects/*/.project",), _rename_projects),
    Follower(("journal/*",), _rename_journal),
    Follower(
        tuple(
            f"state.db:{table}"
            for table in (
                *("activity", "briefing_sources", "briefings", "changes", "erased"),
                *("injections", "jobs", "key_values", "meta"),
                *("namespaces", "recall_days", "recalls", "search_days"),
                *("skill_copies", "skills", "tokens", "tombstones"),
                *("unfinished", "uses"),
            )
        ),
        _rename_state,
    ),
    Follower(("transcripts*.db*",), _rename_transcripts),
)
"""All stores that are updated, in this order."""

UNNAMED = {
    "memory/*.md": "moved with the folder; references in all notes are rewritten",
    "memory/.index/*": "derived from the notes, and updated by the next scan",
    "state.db*": "its tables are listed one by one",
    "state.db:capture_drafts": "names sessions; its texts are as the model put them",
    "state.db:captures": "names sessions, and lines of their transcripts",
    "state.db:embedding_days": "names providers",
    "state.db:link_proposals": "names ids",
    "state.db:model_requests": "names nothing",
    "state.db:refused_links": "names ids",
    CONFIG_NAME: "a project that it names is not renamed",
    "connections.json": "names files of agents",
    "mcp-token": "names nothing",
    "vault/*": "names nothing: a home has one vault",
    "locks/*": "named by hashes of what they lock",
    "project-move.json": "the move itself",
    "injections.jsonl*": "taken into state.db before it is rewritten",
}
"""Stores that are not updated, and why."""
