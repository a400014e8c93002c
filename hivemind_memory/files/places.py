"""Where each file of a memory is: the only place that builds these paths."""

from __future__ import annotations

import os

from hivemind_memory.files.descriptors import (
    PRIVATE_FILE,
    make_private_folder,
    set_mode,
)
from hivemind_memory.files.digests import sha256_hex
from hivemind_memory.files.home import LOCKS_FOLDER
from hivemind_memory.files.own_files import open_own
from hivemind_memory.model.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

INDEX_FOLDER = ".index"
JOURNAL_FILE = "entries.jsonl"
"""The journal's one file, in its folder. It is empty when it holds no entry."""

JOURNAL_LOCK = "lock"
"""The file beside it whose lock its writers hold."""

RECOVERED_FILE = "returned.jsonl"
"""The file beside it that lists the recovered entries."""

_SECTIONS, _VECTORS = "sections-", ".vec"
_SHARED_LOCKS = "locks"
_INDEXES = "indexes"
"""The folder of a home for the indexes of notes folders whose own is a link."""


@value
class Places:
    """The folders and files of one memory."""

    home: str
    notes: str
    """The notes folder, absolute, links resolved."""

    index: str
    """The folder of all that is derived."""

    journal: str
    named_notes: str = ""
    """The notes folder as it was named: a link there may lead elsewhere by now. Empty:
    it leads nowhere else."""

    index_dir: str = ""
    """The option of that name."""

    def is_moved(self) -> bool:
        """Return whether the notes or the index are elsewhere: a link was changed."""
        named = self.named_notes
        if not named:
            return False
        notes = os.path.realpath(named)
        if notes != self.notes:
            return True
        return _index_of(self.home, notes, self.index_dir) != self.index

    def current(self) -> Places:
        """Return the places as they are now; these if the notes are where they were."""
        if not self.is_moved():
            return self
        return places_of(self.home, self.named_notes, self.index_dir)

    @property
    def index_file(self) -> str:
        """The index."""
        return os.path.join(self.index, "memory.db")

    @property
    def rebuild_file(self) -> str:
        """The index that a rebuild is making beside the one that answers."""
        return os.path.join(self.index, "rebuild.db")

    def section_vectors(self, name: str) -> str:
        """Return the file of the vectors of the sections of one folder's files."""
        return os.path.join(self.index, f"{_SECTIONS}{name}{_VECTORS}")

    def all_section_vectors(self) -> list[str]:
        """Return all files of vectors of sections."""
        try:
            names = sorted(os.listdir(self.index))
        except OSError:
            return []
        return [
            os.path.join(self.index, name)
            for name in names
            if name.startswith(_SECTIONS) and name.endswith(_VECTORS)
        ]

    @property
    def clean_texts(self) -> str:
        """Hashes of texts that have no secret."""
        return os.path.join(self.index, "clean-texts")

    @property
    def leader_lock(self) -> str:
        """Held by the process that leads."""
        return os.path.join(self.index, "leader.lock")

    @property
    def watch_state(self) -> str:
        """How the leader watches, as it says."""
        return os.path.join(self.index, "watch.json")

    @property
    def locks(self) -> str:
        """The folder of the locks of this home."""
        return locks_folder(self.home)

    @property
    def shared_locks(self) -> str:
        """The folder of the locks that all homes with these notes share.

        It is made if it is missing; where that is impossible, it is the home's own.
        """
        return notes_locks(self.notes) or self.locks

    @property
    def models(self) -> str:
        """The folder of the weights of local models."""
        return models_folder(self.home)

    @property
    def project_move(self) -> str:
        """Which notes are being moved from one project to another."""
        return os.path.join(self.home, "project-move.json")

    @property
    def state_file(self) -> str:
        """What no note can hold: recall counters, tombstones, changes, injections."""
        return os.path.join(self.home, "state.db")

    @property
    def transcripts_file(self) -> str:
        """The messages of transcripts, derived; each notes folder has its own."""
        name = f"transcripts-{_name_of(self.notes)}.db"
        return os.path.join(self.home, name if self.state_name else "transcripts.db")

    @property
    def state_name(self) -> str:
        """What ``state.db`` calls the notes folder: its path, or empty.

        Empty for the home's own, so that its rows go with a home that is moved.
        """
        is_own = self.notes == os.path.realpath(notes_folder(self.home))
        return "" if is_own else self.notes

    def linked_folder(self) -> str:
        """Return the folder of our own in the notes folder that is a link.

        It is not made use of. Empty: there is none.
        """
        return _linked_folder(self.notes)

    def make_index_folder(self) -> None:
        """Make the folder of the index, private and ignored by git."""
        _make_ignored_folder(self.index)


def journal_folders(home: str) -> tuple[str, ...]:
    """Return the folders of all journals of a home, of every notes folder."""
    own = os.path.join(home, "journal")
    try:
        with os.scandir(own) as entries:
            return (own, *(entry.path for entry in entries if entry.is_dir()))
    except OSError:
        return ()


def has_journal_entries(journal: str) -> bool:
    """Return whether a journal holds entries. One system call: every search asks.

    Also true once after their ten minutes are over: recovery then checks that they
    survived, and empties the file.
    """
    try:
        return os.stat(os.path.join(journal, JOURNAL_FILE)).st_size > 0
    except OSError:
        return False


def has_recovered(journals: Iterable[str]) -> bool:
    """Return whether any recovered entry may still need a person's attention.

    Args:
        journals: Folders of journals.
    """
    return any(
        os.path.exists(os.path.join(journal, RECOVERED_FILE)) for journal in journals
    )


def notes_folder(home: str) -> str:
    """Return the notes folder of a home that names no other."""
    return os.path.join(home, "memory")


def models_folder(home: str) -> str:
    """Return the folder of the weights of local models of a home."""
    return os.path.join(home, "models")


def locks_folder(home: str) -> str:
    """Return the folder of the locks of a home."""
    return os.path.join(home, LOCKS_FOLDER)


def worktree_lock(locks: str, subject: str) -> str:
    """Return the lock of what this program writes into a worktree, and its git folder.

    Args:
        locks: See ``locks_folder``.
        subject: The git folder that the worktrees of a repository share, else a folder.
    """
    digest = sha256_hex(os.fsencode(subject))[:16]
    return os.path.join(locks, f"inject-{digest}.lock")


def notes_locks(notes: str) -> str:
    """Return the folder of the locks of a notes folder, made if it is missing.

    It is next to the notes, so that all homes with these notes share it. Empty: the
    notes folder is not there or cannot be written, or a link is in its place.
    """
    if not os.path.isdir(notes) or _linked_folder(notes):
        return ""
    index = os.path.join(notes, INDEX_FOLDER)
    locks = os.path.join(index, _SHARED_LOCKS)
    try:
        if not os.path.isdir(locks):
            _make_ignored_folder(index)
            make_private_folder(locks)
    except OSError:
        return ""
    return locks


def _linked_folder(notes: str) -> str:
    """Return the folder of our own in a notes folder that is a link; empty: none.

    A folder of notes may come with one, as a clone of a repository does. It leads to
    another program's folder.
    """
    index = os.path.join(notes, INDEX_FOLDER)
    both = (index, os.path.join(index, _SHARED_LOCKS))
    return next(filter(os.path.islink, both), "")


def _make_ignored_folder(folder: str) -> None:
    """Make a private folder that git ignores."""
    ignore = os.path.join(folder, ".gitignore")
    if os.path.exists(ignore):
        return
    make_private_folder(folder)
    descriptor = open_own(ignore, os.O_CREAT | os.O_WRONLY | os.O_TRUNC)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        set_mode(descriptor, PRIVATE_FILE)
        file.write("*\n")


_vaults: dict[str, str] = {}
"""Vault of each home that this process has opened -> what prints its key."""

_MAX_VAULTS = 8
"""A process works with one home; tests open many, one after the other."""


def vault_file(home: str) -> str:
    """Return the file of the vault of a home, in a folder of its own."""
    return os.path.join(home, "vault", "vault.json")


def remember_vault(home: str, key_command: str) -> None:
    """Remember a home that is opened: what its vault holds is secret from now on.

    Args:
        home: The home folder.
        key_command: The option ``vault_key_command``.
    """
    global _vaults  # noqa: PLW0603 - replaced whole: other threads look at it meanwhile
    path = vault_file(home)
    others = [(known, key) for known, key in _vaults.items() if known != path]
    _vaults = dict([*others, (path, key_command)][-_MAX_VAULTS:])


def known_vaults() -> tuple[tuple[str, str], ...]:
    """Return the vaults of the homes that were opened, and what prints their keys."""
    return tuple(_vaults.items())


def vault_beside(journal: str) -> str:
    """Return the vault of the home that a journal is in; empty: there is none."""
    for path, _ in known_vaults():
        home = os.path.dirname(os.path.dirname(path))
        if journal.startswith(home + os.sep) and os.path.exists(path):
            return path
    return ""


def token_file(home: str) -> str:
    """Return the file with the token of the HTTP server."""
    return os.path.join(home, "mcp-token")


def find_above(folder: str, name: str) -> str:
    """Return the nearest folder, from *folder* upwards, that has a *name* in it.

    Empty: there is none.
    """
    while not os.path.lexists(os.path.join(folder, name)):
        above = os.path.dirname(folder)
        if above == folder:
            return ""
        folder = above
    return folder


def places_of(home: str, memory_dir: str | None, index_dir: str) -> Places:
    """Return the places of the memory in *memory_dir*.

    A notes folder outside the home has a journal of its own in the home, named after
    it. So has one whose index folder is a link, for its index.
    """
    standard = notes_folder(home)
    named = os.path.abspath(memory_dir or standard)
    notes = os.path.realpath(named)
    journal = os.path.join(home, "journal")
    if notes != os.path.realpath(standard):
        journal = os.path.join(journal, _name_of(notes))
    return Places(
        home=home,
        notes=notes,
        index=_index_of(home, notes, index_dir),
        journal=journal,
        named_notes=named,
        index_dir=os.path.abspath(index_dir) if index_dir else "",
    )


def _index_of(home: str, notes: str, index_dir: str) -> str:
    """Return the folder of all that is derived from the notes."""
    if index_dir:
        return os.path.join(os.path.abspath(index_dir), _name_of(notes))
    index = os.path.join(notes, INDEX_FOLDER)
    if os.path.islink(index):
        return os.path.join(home, _INDEXES, _name_of(notes))
    return index


def _name_of(folder: str) -> str:
    """Return a short name that only this folder has."""
    digest = sha256_hex(os.fsencode(folder))[:12]
    return f"{os.path.basename(folder)}-{digest}"
