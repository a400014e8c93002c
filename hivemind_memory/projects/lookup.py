"""Looks up the project of a folder, and again after anything relevant changed.

A server outlives the creation of the notes folder, a renamed project and a new origin.
So each call asks, and git is asked only if a file on which its answer depends is
another one than before.
"""

from __future__ import annotations

import os

from hivemind_memory.access.rules import ProjectHere
from hivemind_memory.errors import GitError, ProjectUnknownError, UsageError
from hivemind_memory.files.places import find_above
from hivemind_memory.git.git_folder import git_folder_mark
from hivemind_memory.git.repository import find_repository
from hivemind_memory.git.worktree import (
    WorktreeState,
    origin_identity,
    project_state,
)
from hivemind_memory.model.display import escape_line
from hivemind_memory.model.scope import FOLDERS
from hivemind_memory.projects.folders import (
    NAMED_IN_CONFIG,
    ProjectFolder,
    find_project,
)
from hivemind_memory.projects.identity import SeenRepository
from hivemind_memory.projects.known_project import known_scope, record_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from hivemind_memory.access.rules import Caller

NAME_THE_SCOPE = "Or name the scope: -g, or --scope project/NAME."

_Signature = tuple[int, ...]


def seen_repository(folder: str, environ: Mapping[str, str]) -> SeenRepository:
    """Return what identifies the repository of a folder, or the folder itself.

    Args:
        folder: Any folder.
        environ: For git, without the variables of a surrounding hook.

    Raises:
        GitError: There is a repository, and git does not tell which.
        UsageError: It contains a character that no path can contain.
    """
    try:
        real = os.path.realpath(folder)
    except ValueError as error:
        raise UsageError(
            f"{escape_line(folder)} is not a folder: no path can contain such a"
            " character.",
            hint="Give the absolute path of a folder.",
        ) from error
    try:
        return seen_in(project_state(real, find_repository(real, environ)))
    except GitError as error:
        hint = f"{error.hint} {NAME_THE_SCOPE}".lstrip()
        raise GitError(
            escape_line(f"The project of {real} is not known: {error}"), hint=hint
        ) from error


def settled_scope(
    folder: str,
    environ: Mapping[str, str],
    notes: str,
    projects: Mapping[str, object],
) -> str:
    """Return the scope of a folder's project, if no one else can get its name.

    That is so once the project is known, and for a plain folder. Records nothing.

    Args:
        folder: Where an agent worked; it may be gone by now.
        environ: See ``seen_repository``.
        notes: The notes folder.
        projects: The option ``projects``.

    Returns:
        Empty: it is not settled, or the folder is gone.

    Raises:
        GitError: There is a repository, and git does not tell which.
        ProjectUnknownError: What a project knows cannot be read.
    """
    if not os.path.isdir(folder):
        return ""
    if not projects and find_above(os.path.realpath(folder), ".git"):
        return known_scope(os.path.realpath(folder), notes)  # without starting git
    seen = seen_repository(folder, environ)
    found = find_project(seen, notes, projects, is_look=True)
    above = os.path.join(notes, FOLDERS["project"])
    is_settled = (
        not seen.git_folder
        or found.why == NAMED_IN_CONFIG
        or os.path.isfile(record_path(above, found.slug))
    )
    return found.scope if found.slug and is_settled else ""


def seen_in(state: WorktreeState) -> SeenRepository:
    """Return what of a worktree's state identifies its repository."""
    return SeenRepository(
        folder=state.folder,
        git_folder=state.common_dir,
        origin=origin_identity(state),
        mark=git_folder_mark(state.common_dir) if state.common_dir else "",
    )


class ProjectLookup:
    """The project of one folder."""

    def __init__(
        self,
        folder: str,
        environ: Mapping[str, str],
        notes: str,
        projects: Mapping[str, object],
        *,
        is_look: bool = False,
    ) -> None:
        """Look up nothing yet.

        Args:
            folder: Any folder.
            environ: See ``seen_repository``.
            notes: The notes folder.
            projects: The option ``projects``.
            is_look: Record nothing, whatever is asked.
        """
        self._is_look = is_look
        self._folder = os.path.abspath(folder)
        self._environ = environ
        self._notes = notes
        self._projects = projects
        self._found: ProjectFolder | None = None
        self._seen: SeenRepository | None = None
        self._signatures: tuple[object, ...] = ()

    def find(self, *, is_write: bool = False) -> ProjectFolder:
        """Return the folder of the project as it is now; see ``find_project``.

        Raises:
            GitError: There is a repository, and git does not tell which.
        """
        if (
            self._found is not None
            and self._seen is not None
            and self._signatures_of(self._seen, self._found) == self._signatures
        ):
            return self._found
        self._seen = seen_repository(self._folder, self._environ)
        try:
            found = find_project(
                self._seen,
                self._notes,
                self._projects,
                is_look=self._is_look,
                is_write=is_write,
            )
        except ProjectUnknownError as error:
            if not is_write:
                raise
            raise ProjectUnknownError(
                error.problem, hint=error.hint, effect="Nothing was saved"
            ) from error
        # Without the folder of the notes, the next call looks again.
        self._found = None
        if os.path.isdir(self._notes):
            self._keep(self._seen, found)
        return found

    def _keep(self, seen: SeenRepository, found: ProjectFolder) -> None:
        """Keep what was found until something changes that it depends on.

        The project may have got another name between being found and the signatures, so
        what is kept is looked up once more after them.
        """
        signatures = self._signatures_of(seen, found)
        again = find_project(seen, self._notes, self._projects, is_look=True)
        if again.slug == found.slug:
            self._found, self._signatures = found, signatures

    def here(self, caller: Callable[[], Caller]) -> ProjectHere:
        """Return the project that a process is in, for a memory."""
        return ProjectHere(
            lambda is_write: self.find(is_write=is_write).scope,
            caller,
            self._notice,
        )

    def _notice(self) -> str:
        """Return the notice about the project for an agent's first answer."""
        try:
            return self.find().notice
        except ProjectUnknownError as error:
            return str(error)

    def describe(self) -> str:
        """Return which project it is and why, as a clause; records nothing."""
        try:
            found = self.look()
        except GitError as error:
            return f"not known: {error}"
        if not found.slug:
            return f"none; {found.why}"
        notice = f"; {found.notice}" if found.notice else ""
        return f"{found.scope} ({found.why}){notice}"

    def find_known(self) -> ProjectFolder:
        """Return what ``find`` does, but register no new project; see ``look``.

        Raises:
            GitError: There is a repository, and git does not tell which.
        """
        found = self.look()
        above = os.path.join(self._notes, FOLDERS["project"])
        is_known = os.path.isfile(record_path(above, found.slug))
        return self.find() if found.slug and is_known else found

    def look(self) -> ProjectFolder:
        """Return what ``find`` would, and record nothing; outside a repository, none.

        Raises:
            GitError: There is a repository, and git does not tell which.
        """
        if not find_above(os.path.realpath(self._folder), ".git"):
            why = "this folder is in no repository"
            return ProjectFolder(slug="", identity="", why=why)
        seen = seen_repository(self._folder, self._environ)
        return find_project(seen, self._notes, self._projects, is_look=True)

    def _signatures_of(
        self, seen: SeenRepository, found: ProjectFolder
    ) -> tuple[object, ...]:
        """Return what changes when the answer may be another one."""
        # A link to the folder may lead elsewhere by now.
        real = os.path.realpath(self._folder)
        git_folder = seen.git_folder
        above = os.path.join(self._notes, FOLDERS["project"])
        own = record_path(above, found.slug)
        inside = find_above(real, ".git")
        return (
            # Git writes into its folders all the time; only another folder counts.
            real,
            _signature(os.path.join(inside, ".git") if inside else real)[:1],
            _signature(git_folder)[:1],
            _signature(os.path.join(git_folder, "config")),
            _signature(os.path.join(git_folder, "description")),
            _signature(above),
            _signature(own),
        )


def _signature(path: str) -> _Signature:
    """Return what changes when a file or folder does; empty: it is not there."""
    try:
        status = os.stat(path)
    except OSError:
        return ()
    return (status.st_ino, status.st_mtime_ns, status.st_ctime_ns, status.st_size)
