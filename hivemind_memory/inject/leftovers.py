"""Finds what keeps the filter and the hooks of a repository necessary after an eject.

Without them the next commit would take a section along: one that is staged, in another
form than ``hm eject`` removes, or in a worktree that is elsewhere now.
What the hooks refuse counts here, by the same patterns.
"""

from __future__ import annotations

import os
import shlex
from collections import Counter

from hivemind_memory.errors import GitError, NotInjectedError
from hivemind_memory.files.descriptors import IrregularFileError, open_regular
from hivemind_memory.files.marked_section import SETTINGS_MARKS, remove_section
from hivemind_memory.inject.commit_check import (
    CHECK_OPTION,
    HOOKS,
    MARKS,
    QUOTED_MARK,
)
from hivemind_memory.inject.commit_guard import CommitGuard
from hivemind_memory.inject.git_settings import GitSettings
from hivemind_memory.inject.section_file import may_hold_section
from hivemind_memory.model.value import replaced
from hivemind_memory.patterns.lazy_pattern import lazy_re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from hivemind_memory.git.repository import Repository

_MARKS = lazy_re(MARKS.encode())
_QUOTED_MARK = lazy_re(QUOTED_MARK.encode())

_NAME = "".join(f"[{letter}{letter.upper()}]" for letter in "hivemind")
"""Every line that matches ``MARKS`` has it, in any case."""

_MAX_IGNORED = 20_000
"""Ignored files that are read: a folder of dependencies can hold millions."""

_MAX_STASHES = 100
"""Stashes that are read, the newest."""

_MAX_IGNORED_BYTES = 1_000_000


def restore_git(
    repository: Repository | None,
    files_in: Callable[[str, Repository], Iterable[str]],
) -> tuple[bool, tuple[str, ...]]:
    """Restore git's settings, unless something still needs ours.

    Args:
        repository: None: the folder is in no repository.
        files_in: A worktree and its repository -> every file that may hold a section.

    Returns:
        Whether the settings were removed, and, if not, what still needs them;
        sections of other worktrees are not listed.
    """
    if repository is None:
        return True, ()
    settings, guard = GitSettings(repository), CommitGuard(repository)
    if not settings.exist() and not guard.exists():
        return True, ()

    def has_section(root: str) -> bool:
        files = files_in(root, repository)
        return any(may_hold_section(root, file, repository) for file in files)

    if any(
        has_section(root)
        for root in worktrees_here(repository)
        if root != repository.top
    ):
        return False, ()
    leftovers = find_leftovers(repository)
    if leftovers or has_section(repository.top):
        return False, leftovers
    guard.remove()
    settings.remove()
    return True, ()


def find_leftovers(repository: Repository) -> tuple[str, ...]:
    """Return what still needs the filter and the hooks, and what to do about it.

    Empty: nothing does, or the repository says that its commits are not to be checked.
    """
    wanted = repository.run("config", "--type=bool", "--get", CHECK_OPTION).stdout
    if wanted.strip() == b"false":
        return ()
    found = [_away(root) for root in worktrees_away(repository)]
    try:
        found += _stashed(repository)
    except GitError as error:
        found.append(f"the stash could not be searched: {error}")
    for root in worktrees_here(repository):
        here = repository if root == repository.top else _in_worktree(repository, root)
        is_elsewhere = root != repository.top
        try:
            found += _leftovers_in(here, is_elsewhere=is_elsewhere)
        except (GitError, OSError) as error:
            found.append(f"{root} could not be searched: {error}")
    return tuple(found)


def worktrees_here(repository: Repository) -> list[str]:
    """Return the worktrees of a repository whose folders are there."""
    listed = [os.path.realpath(worktree) for worktree in repository.worktrees()]
    listed = [path for path in listed if _is_worktree(path)]
    return list(dict.fromkeys((repository.top, *listed)))


def worktrees_away(repository: Repository) -> list[str]:
    """Return the linked worktrees that git lists and whose folders are not there."""
    linked = repository.worktrees()[1:]  # the first is the main one, or a bare one
    return [path for path in linked if not _is_worktree(path)]


def _is_worktree(root: str) -> bool:
    """Return whether a folder is a worktree, and not only in its place."""
    return os.path.lexists(os.path.join(root, ".git"))


def _in_worktree(repository: Repository, root: str) -> Repository:
    """Return the same repository, seen from another worktree."""
    hidden = ("GIT_DIR", "GIT_WORK_TREE")  # they would lead back to the first one
    environ = {
        name: value for name, value in repository.environ.items() if name not in hidden
    }
    return replaced(repository, top=root, environ=environ)


def _away(root: str) -> str:
    """Return what to do about a worktree that is not there."""
    return (
        f"git lists the worktree {root}, but it is not there. If you moved it, run"
        " `git worktree repair NEW-PATH`; if you deleted it,"
        f" `git worktree remove -f -f {shlex.quote(root)}`"
    )


def _leftovers_in(here: Repository, *, is_elsewhere: bool) -> Iterator[str]:
    """Yield what a worktree and its index still hold."""
    git = f"git -C {shlex.quote(here.top)}" if is_elsewhere else "git"
    has_commit = here.run("rev-parse", "-q", "--verify", "HEAD").returncode == 0
    unstage = "restore --staged" if has_commit else "rm --cached"
    staged = _staged(here)
    for file in staged:
        place = os.path.join(here.top, file) if is_elsewhere else file
        command = f"{git} {unstage} {shlex.quote(file)}"
        yield f"{place} is staged with the section: run `{command}`"
    for file in (*_in_files(here), *_in_ignored_files(here)):
        if file in staged:
            continue  # the next eject removes it, or says more
        place = os.path.join(here.top, file) if is_elsewhere else file
        yield f"{place} contains the section: delete it from there"


def _staged(here: Repository) -> list[str]:
    """Return the files whose staged content adds lines that the hooks refuse."""
    changed = _names(
        here,
        ("diff", "--cached", "--name-only", "-z", "--no-renames", "--no-ext-diff"),
        ("--no-textconv", "--text", f"-O{os.devnull}", "-G", _NAME, "--"),
    )
    return [
        file for file in changed if _adds_marks(here, file, _blob(here, f":{file}"))
    ]


def _stashed(repository: Repository) -> Iterator[str]:
    """Yield the stashes that add lines that the hooks refuse.

    A stash has its base as first parent, then the index, then what was untracked.
    """
    listed = repository.run("log", "-g", "--format=%H", "refs/stash", "--").stdout
    wanted = ("diff-tree", "-r", "--root", "--name-only", "-z", "--no-commit-id")
    options = ("--no-renames", "--text", f"-O{os.devnull}", "-G", _NAME)
    for at, stash in enumerate(listed.decode().split()[:_MAX_STASHES]):
        parents = repository.ask("rev-parse", f"{stash}^@").split()
        base, others = parents[0], parents[1:]
        trees: list[tuple[str, ...]] = [(base, tree) for tree in (stash, *others[:1])]
        trees += [(other,) for other in others[1:]]
        files = {
            file
            for tree in trees
            for file in _names(repository, wanted, options, tree)
            if _refused_lines(_blob(repository, f"{tree[-1]}:{file}"))
            - _refused_lines(_blob(repository, f"{base}:{file}"))
        }
        for file in sorted(files):
            yield (
                f"stash@{{{at}}} contains {file} with the section: apply it and delete"
                f" the section, then run `git stash drop stash@{{{at}}}`"
            )


def _in_files(here: Repository) -> list[str]:
    """Return the files, not ignored, with lines that the hooks would refuse."""
    named = _names(
        here,
        ("grep", "-l", "-z", "-a", "-i", "-E", "--untracked", "--full-name"),
        ("--no-recurse-submodules", "-e", MARKS),
    )
    return [file for file in named if _adds_marks(here, file, _read(here, file))]


def _in_ignored_files(here: Repository) -> list[str]:
    """Return the ignored files that contain a copy of the section.

    One line alone does not count here: this program's own files, in a virtual
    environment, and the logs of agents have such lines.
    """
    words = ("ls-files", "-z", "--others", "--ignored", "--exclude-standard")
    names = _names(here, words)[:_MAX_IGNORED]
    return [name for name in names if len(_refused_lines(_read_small(here, name))) > 1]


def _names(here: Repository, *words: Sequence[str]) -> list[str]:
    """Return the files that git prints."""
    line = [word for some in words for word in some]
    done = here.run(*line)
    if done.returncode not in (0, 1):  # 1: grep found nothing
        text = done.stderr.decode("utf-8", "replace").strip()
        raise GitError(f"git {line[0]}: {text}")
    return [name for name in os.fsdecode(done.stdout).split("\0") if name]


def _adds_marks(here: Repository, file: str, data: bytes) -> bool:
    """Return whether a file has lines with a mark that its last commit lacks."""
    lines = _refused_lines(data)
    return bool(lines and lines - _refused_lines(_blob(here, f"HEAD:{file}")))


def _refused_lines(data: bytes) -> Counter[bytes]:
    """Return the lines that the hooks refuse, as they read them."""
    text = _QUOTED_MARK.sub(b"", data.replace(b"\0", b" ").lower())
    return Counter(line for line in text.split(b"\n") if _MARKS.search(line))


def _blob(here: Repository, name: str) -> bytes:
    """Return the content that git stores under a name; empty if there is none."""
    return here.run("cat-file", "blob", name).stdout


def _read(here: Repository, file: str) -> bytes:
    """Return a file of the worktree; empty if it is gone."""
    try:
        with open(os.path.join(here.top, file), "rb", opener=open_regular) as opened:
            return opened.read()
    except (FileNotFoundError, IrregularFileError):
        return b""


def _read_small(here: Repository, file: str) -> bytes:
    """Return the start of an ignored file; empty if it cannot be read."""
    path = os.path.join(here.top, file)
    try:
        if os.path.islink(path) or not os.path.isfile(path):
            return b""
        with open(path, "rb", opener=open_regular) as opened:
            data = opened.read(_MAX_IGNORED_BYTES)
        # A tool such as husky keeps hooks, and ours with them, in an ignored folder.
        is_hook = os.path.basename(file) in HOOKS
        return remove_section(data, SETTINGS_MARKS) if is_hook else data
    except (OSError, NotInjectedError):
        return b""
