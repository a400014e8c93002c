"""Asks git: where a worktree's repository is, what it knows about a file.

Every call names its worktree and runs with the environment that wiring made: no
variable of a surrounding hook, no prompt, messages in English.
"""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass

from hivemind_memory.context.gather import WorktreeState
from hivemind_memory.errors import NotInjectedError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

SWITCH = "hivemind.inject"
"""The repository's own option that switches injection off."""

_TIMEOUT_S = 30.0
_STATE_TIMEOUT_S = 2.0
"""A launch does not wait longer for what would only make the choice better."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GitIndexEntry:
    """What git knows about one file."""

    object_id: str = ""
    """Of its content in the index; empty when it is not tracked or in conflict."""

    is_tracked: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Repository:
    """One worktree and the git folders behind it."""

    top: str
    """The worktree, links resolved."""

    git_dir: str
    common_dir: str
    """Shared by all worktrees; the same as ``git_dir`` in the main one."""

    environ: Mapping[str, str]

    def run(
        self,
        *words: str,
        stdin: bytes | None = None,
        timeout_s: float = _TIMEOUT_S,
    ) -> subprocess.CompletedProcess[bytes]:
        """Run git in the worktree, whatever its exit code will be.

        Raises:
            NotInjectedError: It did not start, or did not end in time.
        """
        return run_git(self.top, words, self.environ, stdin=stdin, timeout_s=timeout_s)

    def ask(self, *words: str, stdin: bytes | None = None) -> str:
        """Return what git prints, without the last line end.

        Raises:
            NotInjectedError: It failed; the message is its own.
        """
        done = self.run(*words, stdin=stdin)
        if done.returncode:
            raise NotInjectedError(f"git {words[0]}: {complaint_of(done)}")
        return os.fsdecode(done.stdout).removesuffix("\n")

    def entry(self, file: str) -> GitIndexEntry:
        """Return what the index holds of a file."""
        listed = self.ask("ls-files", "--stage", "-z", "--", f":(literal){file}")
        stages = [line.split(" ", 2) for line in listed.split("\0") if line]
        if len(stages) != 1:
            return GitIndexEntry(is_tracked=bool(stages))
        object_id, stage = stages[0][1], stages[0][2].partition("\t")[0]
        return GitIndexEntry(
            object_id=object_id if stage == "0" else "", is_tracked=True
        )

    def holds(self, entry: GitIndexEntry, text: bytes) -> bool:
        """Whether what the index holds of a file has *text* in it."""
        if not entry.object_id:
            return False
        return text in self.run("cat-file", "blob", entry.object_id).stdout

    def is_ignored(self, file: str) -> bool:
        """Whether ``git status`` passes over an untracked file."""
        return self.run("check-ignore", "-q", "--", file).returncode == 0

    def filter_of(self, file: str) -> str:
        """Return the filter that applies to a file; empty for none."""
        printed = self.ask("check-attr", "-z", "filter", "--", file)
        value = printed.split("\0")[2]
        return "" if value in ("unspecified", "unset", "set") else value

    def stored_id(self, file: str, data: bytes) -> str:
        """Return the id of what git would store of *data* in the place of a file."""
        return self.ask("hash-object", "--stdin", f"--path={file}", stdin=data)

    def switch(self) -> bool:
        """Whether the repository wants to be injected."""
        done = self.run("config", "--type=bool", "--get", SWITCH)
        return done.stdout.strip() != b"false"

    def worktrees(self) -> list[str]:
        """Return the folders of all worktrees, this one included."""
        prefix, end = "worktree ", "\0"
        try:
            listed = self.ask("worktree", "list", "--porcelain", "-z")
        except NotInjectedError:  # before git 2.36; only odd names need it
            listed, end = self.ask("worktree", "list", "--porcelain"), "\n"
        lines = listed.split(end)
        return [line[len(prefix) :] for line in lines if line.startswith(prefix)]


def find_repository(folder: str, environ: Mapping[str, str]) -> Repository | None:
    """Return the repository in whose worktree *folder* lies, or None.

    Raises:
        NotInjectedError: There is one, and it cannot or must not be used.
    """
    wanted = ("--absolute-git-dir", "--git-common-dir", "--show-toplevel")
    try:
        done = run_git(folder, ("rev-parse", *wanted), environ)
    except FileNotFoundError:
        if _has_git_above(folder):
            message = "git is not installed, so a change could not be kept out of it"
            raise NotInjectedError(message) from None
        return None
    if done.returncode:
        if b"not a git repository" in done.stderr and not _has_git_above(folder):
            return None
        hint = "Name the folder of a worktree."
        if b"work tree" not in done.stderr:
            hint = "`git status` there says more; hm does nothing where git does not."
        raise NotInjectedError(f"git says: {complaint_of(done)}", hint=hint)
    lines = os.fsdecode(done.stdout).removesuffix("\n").split("\n")
    if len(lines) != len(wanted):  # a folder's name holds a line break
        answers = (run_git(folder, ("rev-parse", one), environ) for one in wanted)
        lines = [os.fsdecode(one.stdout).removesuffix("\n") for one in answers]
    git_dir, common_dir, top = lines
    return Repository(
        top=os.path.realpath(top),
        git_dir=os.path.realpath(git_dir),
        common_dir=os.path.realpath(os.path.join(folder, common_dir)),
        environ=environ,
    )


def worktree_state(folder: str, repository: Repository | None) -> WorktreeState:
    """Return what a worktree tells about the work in it; what fails is left empty."""
    if repository is None:
        return WorktreeState(folder=folder)
    changed = _git_output(
        repository, "status", "--porcelain", "-z", "--no-renames", "--untracked-files"
    ).split("\0")
    subjects = _git_output(repository, "log", "-n", "8", "--no-merges", "--format=%s")
    return WorktreeState(
        folder=repository.top,
        common_dir=repository.common_dir,
        origin=_origin(repository),
        branch=_git_output(repository, "symbolic-ref", "-q", "--short", "HEAD").strip(),
        subjects=tuple(line for line in subjects.split("\n") if line),
        changed=tuple(line[3:] for line in changed if len(line) > 3),
    )


def project_state(folder: str, repository: Repository | None) -> WorktreeState:
    """Return what tells which project a worktree is of; asks nothing of its files."""
    if repository is None:
        return WorktreeState(folder=folder)
    return WorktreeState(
        folder=repository.top,
        common_dir=repository.common_dir,
        origin=_origin(repository),
    )


def _origin(repository: Repository) -> str:
    """Return the URL of the remote ``origin``, as configured; empty: there is none."""
    return _git_output(repository, "config", "--get", "remote.origin.url").strip()


def _git_output(repository: Repository, *words: str) -> str:
    """Return what git prints, or nothing."""
    try:
        done = repository.run(*words, timeout_s=_STATE_TIMEOUT_S)
    except NotInjectedError:
        return ""
    return "" if done.returncode else done.stdout.decode("utf-8", "replace")


def run_git(
    folder: str,
    words: tuple[str, ...],
    environ: Mapping[str, str],
    *,
    stdin: bytes | None = None,
    timeout_s: float = _TIMEOUT_S,
) -> subprocess.CompletedProcess[bytes]:
    """Run git in a folder, whatever its exit code will be.

    Raises:
        NotInjectedError: It did not end in time.
        FileNotFoundError: git is not installed.
    """
    try:
        return subprocess.run(
            ["git", "-C", folder, *words],
            env=dict(environ),
            input=b"" if stdin is None else stdin,
            capture_output=True,
            timeout=timeout_s,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        message = f"git {words[0]} did not answer within {timeout_s:g} s"
        raise NotInjectedError(message) from error


def complaint_of(done: subprocess.CompletedProcess[bytes]) -> str:
    """Return the first line that git complained with."""
    text = done.stderr.decode("utf-8", "replace").strip()
    return text.partition("\n")[0] or f"ended with status {done.returncode}"


def _has_git_above(folder: str) -> bool:
    """Whether a folder or one above it holds something named ``.git``."""
    while True:
        if os.path.lexists(os.path.join(folder, ".git")):
            return True
        above = os.path.dirname(folder)
        if above == folder:
            return False
        folder = above
