"""The checks of ``hm doctor``: each finding says what is wrong and what to do.

A check of a room above this one, such as ``watch``, is a function in that room, called
by ``opening.diagnose``.
"""

from __future__ import annotations

import os
import stat
import sys
from contextlib import suppress
from pathlib import Path

from hivemind_memory.config import CONFIG_NAME
from hivemind_memory.errors import (
    EmbeddingError,
    EmbeddingNotReadyError,
    HivemindError,
    IndexUnusableError,
    NoteForbiddenError,
)
from hivemind_memory.files.folder import NotesFolder
from hivemind_memory.files.places import vault_file
from hivemind_memory.files.scan import BYTES_PER_MB
from hivemind_memory.index.choose_engine import index_engine
from hivemind_memory.memory.index_fallback import open_index
from hivemind_memory.memory.leftover_files import leftover_findings
from hivemind_memory.memory.note_findings import note_findings
from hivemind_memory.model.curation import UnfinishedPurge
from hivemind_memory.model.display import clause, count_text
from hivemind_memory.model.keys import operand
from hivemind_memory.model.results import (
    RECOVERY_WINDOW,
    Diagnosis,
    Finding,
)
from hivemind_memory.model.snapshot import IndexedFiles, compare_files
from hivemind_memory.projects.private_names import private_name_findings
from hivemind_memory.projects.twins import project_findings
from hivemind_memory.providers.provider import PROBE_TEXT, PROBE_TIMEOUT_S

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from hivemind_memory.config.settings import Settings
    from hivemind_memory.files.places import Places
    from hivemind_memory.providers.provider import Provider


_MAX_COMMANDS = 5

SYNC_TOOLS = ("Dropbox", "OneDrive", "Google Drive", "iCloud", "Syncthing", "Nextcloud")


def diagnose(
    places: Places,
    settings: Settings,
    provider: Provider,
    now: Callable[[], float],
    *,
    above: Diagnosis | None = None,
) -> Diagnosis:
    """Return all findings, in the order in which a person should read them.

    *above*: what the rooms above this one have found.
    """
    findings = [_config(settings), _folder(places)]
    if findings[-1].is_ok:
        findings += [
            _modes(places, settings),
            _place_of_index(places),
            *_index(places, now),
            _notes(places, settings, now),
            *note_findings(places, settings),
            *leftover_findings(places, now),
            *_recovered(places),
            *project_findings(places.notes),
            *private_name_findings(
                places.notes, settings.private_scopes(), settings.projects
            ),
            *(above.findings if above is not None else ()),
            _journal(places, now),
            _state(places),
            *_vault(places, settings),
        ]
    findings.append(_provider(provider))
    return Diagnosis(findings=tuple(findings))


def _config(settings: Settings) -> Finding:
    """Look for values that cannot be used, and for keys that no option knows."""
    if settings.unusable:
        return Finding(
            name="config",
            is_ok=False,
            detail=" ".join(settings.unusable.values()),
            hint="`hm config list` shows all options.",
        )
    if settings.unknown_keys:
        return Finding(
            name="config",
            is_ok=False,
            detail=f"no option is called {', '.join(settings.unknown_keys)}",
            hint="Unknown options have no effect. `hm config list` shows all.",
        )
    if not settings.enabled:
        return Finding(
            name="config",
            is_ok=False,
            detail="the memory is switched off",
            hint="`hm config set enabled true` switches it on.",
        )
    return Finding(name="config", is_ok=True, detail="every option is known")


def _vault(places: Places, settings: Settings) -> Iterator[Finding]:
    """Check whether the values of the vault can be read, if there is one."""
    if not os.path.lexists(vault_file(places.home)):
        return
    from hivemind_memory.vault.vault import Vault

    vault = Vault(places.home, settings.vault_key_command)
    try:
        count = len(vault.all())
        vault.secret_values()
    except HivemindError as error:
        detail = f"{error} Until then its values are not removed from what is written."
        yield Finding(name="vault", is_ok=False, detail=detail, hint=error.hint)
        return
    detail = f"{count_text(count, 'key')}, {vault.protection()}"
    yield Finding(name="vault", is_ok=True, detail=detail)


def _folder(places: Places) -> Finding:
    """Check whether there is a notes folder."""
    if os.path.isdir(places.notes):
        return Finding(name="notes folder", is_ok=True, detail=places.notes)
    return Finding(
        name="notes folder",
        is_ok=False,
        detail=f"there is no folder {places.notes}",
        hint="`hm init` creates it.",
    )


def _modes(places: Places, settings: Settings) -> Finding:
    """Check whether others on this machine can read what is private."""
    open_to_others = []
    for path in (
        places.home,
        places.index_file,
        os.path.join(places.home, CONFIG_NAME),
        vault_file(places.home),
    ):
        try:
            mode = stat.S_IMODE(os.stat(path).st_mode)
        except OSError:
            continue
        if mode & 0o077:
            open_to_others.append(path)
    if _is_reachable(places.notes):
        open_to_others.append(places.notes)
    if open_to_others and os.name == "posix":
        below = f"{places.home}{os.sep}"
        closed = [path for path in open_to_others if not path.startswith(below)]
        if places.home not in closed:
            closed = open_to_others
        return Finding(
            name="privacy",
            is_ok=False,
            detail=f"other users can read {', '.join(open_to_others)}",
            hint=f"Run `chmod -R go= {' '.join(map(operand, closed))}`.",
        )
    has_key = "; only you can read the key in config.json"
    detail = "only you can read the memory"
    return Finding(
        name="privacy",
        is_ok=True,
        detail=detail + (has_key if settings.has_key_in_config else ""),
    )


def _is_reachable(folder: str) -> bool:
    """Return whether other users can look into a folder: all above it let them in."""
    with suppress(OSError):
        is_listed = bool(os.stat(folder).st_mode & 0o044)
        above = Path(os.path.realpath(folder)).parents
        return is_listed and all(os.stat(path).st_mode & 0o011 for path in above)
    return False


def _place_of_index(places: Places) -> Finding:
    """Check whether the index is on a disk where SQLite's locks work."""
    from hivemind_memory.files.mounts import shared_type

    if link := places.linked_folder():
        return Finding(
            name="index location",
            is_ok=False,
            detail=f"{link} is a link and is not followed; the index is in"
            f" {places.index}",
            hint="Remove the link.",
        )
    shared = shared_type(places.index)
    tool = next((name for name in SYNC_TOOLS if f"/{name}" in places.index), "")
    if shared or tool:
        where = f"a shared file system ({shared})" if shared else f"a folder of {tool}"
        return Finding(
            name="index location",
            is_ok=False,
            detail=f"the index lies on {where}, which can damage it",
            hint="`hm config set index_dir ~/.cache/hivemind` puts it elsewhere.",
        )
    return Finding(name="index location", is_ok=True, detail=places.index)


def _index(places: Places, now: Callable[[], float]) -> Iterator[Finding]:
    """Check the index file itself, and the full-text index against its content."""
    if not os.path.exists(places.index_file):
        yield Finding(
            name="index",
            is_ok=True,
            detail="not created yet; the first search creates it",
        )
        return
    try:
        index = index_engine(places, now).open()
    except IndexUnusableError as error:
        yield Finding(name="index", is_ok=False, detail=str(error), hint=error.hint)
        return
    try:
        for name, problem in index.check():
            yield Finding(
                name=name,
                is_ok=not problem,
                detail=problem or "sound",
                hint="`hm rebuild` rebuilds the index; the notes are untouched."
                if problem
                else "",
            )
    finally:
        index.close()


def _notes(places: Places, settings: Settings, now: Callable[[], float]) -> Finding:
    """Compare the folder with the index, and name what was passed over."""
    limit_bytes = settings.max_note_mb * BYTES_PER_MB
    folder = NotesFolder(
        places.notes, max_note_bytes=limit_bytes, links=settings.followed_links
    )
    snapshot = folder.snapshot()
    try:
        opened = open_index(places, now)
        try:
            known = IndexedFiles(signatures=opened.index.files().signatures)
        finally:
            opened.index.close()
    except HivemindError as error:
        return Finding(name="notes", is_ok=False, detail=str(error), hint=error.hint)
    changes = compare_files(snapshot.signatures, known)
    behind = len(changes.gone)
    for path in changes.changed:
        with suppress(NoteForbiddenError):  # named among those that cannot be read
            behind += folder.signature(path) is not None
    if snapshot.skipped:
        first = snapshot.skipped[0]
        return Finding(
            name="notes",
            is_ok=False,
            detail=f"{count_text(len(snapshot.skipped), 'file')} skipped:"
            f" {first.path}: {first.reason}",
            hint="`hm status` lists all.",
        )
    detail = count_text(len(snapshot.signatures), "note")
    if behind:
        detail += f", {behind:,} not indexed yet; run `hm sync`"
    return Finding(name="notes", is_ok=True, detail=detail)


def _recovered(places: Places) -> Iterator[Finding]:
    """Name the notes that hold entries which something had removed."""
    from hivemind_memory.notes.recovered_entries import RECOVERED_NAME

    folder = NotesFolder(places.notes, max_note_bytes=sys.maxsize)
    paths = folder.snapshot().signatures
    found = [path for path in paths if path.rpartition("/")[2] == RECOVERED_NAME]
    if found:
        yield Finding(
            name="recovered entries",
            is_ok=True,
            detail=f"entries that were removed within {RECOVERY_WINDOW} are in"
            f" {', '.join(sorted(found))}; delete there what is not wanted",
        )


def _journal(places: Places, now: Callable[[], float]) -> Finding:
    """Check whether the journal can be written: without it nothing can be saved."""
    from hivemind_memory.notes.journal import Journal

    parent = places.journal
    while not os.path.isdir(parent) and os.path.dirname(parent) != parent:
        parent = os.path.dirname(parent)
    if not os.access(parent, os.W_OK):
        return Finding(
            name="journal",
            is_ok=False,
            detail=f"{parent} cannot be written: agents cannot save anything",
            hint=f"Run `chmod u+w {parent}`.",
        )
    fresh = Journal(places.journal).count_pending_entries(now())
    entries = count_text(fresh, "recent entry", "recent entries")
    detail = f"{entries} backed up" if fresh else "empty"
    return Finding(name="journal", is_ok=True, detail=detail)


def _state(places: Places) -> Finding:
    """Check whether purged texts are still known, and a purge is unfinished."""
    from hivemind_memory.state.damage import DAMAGE_HINT, damage_report
    from hivemind_memory.state.state_file import StateFile

    name = "state"
    state = StateFile.at(places)
    try:
        problem = damage_report(places.state_file)
        if not problem and state.has_lost_tombstones():
            problem = damage_report(places.state_file)
        if problem:
            return Finding(name=name, is_ok=False, detail=problem, hint=DAMAGE_HINT)
        unfinished = list(map(UnfinishedPurge.of_hash, state.unfinished()))
    except HivemindError as error:
        return Finding(name=name, is_ok=False, detail=str(error), hint=error.hint)
    finally:
        state.close()
    if unfinished:
        return Finding(
            name=name,
            is_ok=False,
            detail=f"{_purges(len(unfinished))} not finished: text may be left",
            hint="Run "
            + ", ".join(f"`{purge.command}`" for purge in unfinished[:_MAX_COMMANDS])
            + ".",
        )
    return Finding(name=name, is_ok=True, detail="readable")


def _purges(count: int) -> str:
    """Return how many purges, with the verb."""
    return "1 purge was" if count == 1 else f"{count} purges were"


def _provider(provider: Provider) -> Finding:
    """Ask the provider for a vector; to have no provider is no fault."""
    name = "embedding provider"
    choice = provider.choice()
    space = provider.space()
    detail = f"{choice.provider}: {clause(choice.reason)}"
    if space is None:
        # To have none is no fault; not to have the one that was chosen is.
        is_ok = provider.is_off or not provider.why_none_is_named()
        return Finding(name=name, is_ok=is_ok, detail=detail)
    try:
        provider.connect(space).embed_query(PROBE_TEXT, timeout_s=PROBE_TIMEOUT_S)
    except EmbeddingNotReadyError as error:
        return Finding(name=name, is_ok=True, detail=f"{detail}. {error}")
    except EmbeddingError as error:
        return Finding(name=name, is_ok=False, detail=str(error), hint=error.hint)
    return Finding(name=name, is_ok=True, detail=f"{detail}. It answers.")
