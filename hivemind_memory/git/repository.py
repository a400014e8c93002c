"""Finds the repository around a folder and runs git in it.

Every call names its folder and runs with the environment it is given: no variables of
a surrounding hook, no prompt, messages in English. Failures are ``GitError``.
"""

from __future__ import annotations

import os
import subprocess
import time
from contextlib import suppress
from functools import partial

from hivemind_memory.errors import GitError
from hivemind_memory.git.index_copy import INDEX_LOCK, NoCopyError, change_index
from hivemind_memory.model.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_TIMEOUT_S = 30.0

_FIND_TIMEOUT_S = 10.0
"""To find the repository takes git some milliseconds; what asks for it waits."""

_END_S = 5.0
"""How long a git that was asked to end may take for that."""

_KILLED_S = 1.0

_STAGES = 4
"""Of a file in the index: 0, or up to three where it is in conflict."""

_TRIES, _PAUSE_S = 20, 0.1
"""Git does not wait for a lock; two seconds are more than a commit takes."""


@value
class GitIndexEntry:
    """What the index holds for one file."""

    object_id: str = ""
    """Of the content; empty when the file is untracked or in conflict."""

    is_tracked: bool = False
    mode: str = ""
    """As git writes it, ``100644``."""

    is_compared: bool = False
    """Git looks for changes of it: it was not told to assume that there are none."""

    is_new: bool = False
    """The file is there, and neither tracked nor ignored."""


@value
class GitOption:
    """One line of git's configuration."""

    scope: str
    """Where it stands: ``local``, ``worktree``, ``global``, ``system``, ``command``."""

    name: str
    """Section and key in lower case."""

    text: str


@value
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
        """Run git in the worktree, whatever its exit code.

        Raises:
            GitError: It did not start, or did not finish in time.
        """
        return run_git(self.top, words, self.environ, stdin=stdin, timeout_s=timeout_s)

    def update_index(self, *words: str) -> bool:
        """Run ``git update-index``, waiting for other gits; return whether that worked.

        Git changes a copy of the index, so a lock that it leaves stops no other git.
        """
        for _ in range(_TRIES):
            try:
                done = change_index(self.git_dir, partial(self._update, words))
            except NoCopyError:
                done = self._update_in_place(words)
            if done is not None:
                return done
            time.sleep(_PAUSE_S)  # another git process is running, usually an agent's
        return False

    def _update(self, words: tuple[str, ...], index: str) -> bool:
        """Run ``git update-index`` on an index that is not the worktree's own."""
        environ = {**self.environ, "GIT_INDEX_FILE": index}
        return run_git(self.top, ("update-index", *words), environ).returncode == 0

    def _update_in_place(self, words: tuple[str, ...]) -> bool | None:
        """Run ``git update-index``; None: another git is at work.

        What kills all processes of this group, as an agent does with a command that
        takes too long, does not reach that git: killed, it would leave its lock.
        """
        given = ("update-index", *words)
        done = run_git(self.top, given, self.environ, is_apart=True)
        if done.returncode and INDEX_LOCK.encode() in done.stderr:
            return None
        return done.returncode == 0

    def ask(self, *words: str, stdin: bytes | None = None) -> str:
        """Return what git prints, without the last newline.

        Raises:
            GitError: It failed; the message is git's own.
        """
        done = self.run(*words, stdin=stdin)
        if done.returncode:
            raise GitError(f"git {words[0]}: {complaint_of(done)}")
        return os.fsdecode(done.stdout).removesuffix("\n")

    def entry(self, file: str) -> GitIndexEntry:
        """Return what the index holds for a file, and whether git calls it new."""
        kinds = ("--stage", "--others", "--exclude-standard")
        words = ("ls-files", *kinds, "-v", "-z", "--", f":(literal){file}")
        found = [line for line in self.ask(*words).split("\0") if line]
        stages = [line.split(" ", 3) for line in found if line[0] != "?"]
        if len(stages) != 1:
            is_new = len(stages) < len(found)
            return GitIndexEntry(is_tracked=bool(stages), is_new=is_new)
        tag, mode, object_id, rest = stages[0]
        stage = rest.partition("\t")[0]
        return GitIndexEntry(
            object_id=object_id if stage == "0" else "",
            is_tracked=True,
            mode=mode,
            is_compared=tag == "H",
        )

    def holds(self, entry: GitIndexEntry, text: bytes) -> bool:
        """Return whether the indexed content of a file contains *text*."""
        if not entry.object_id:
            return False
        return text in self.run("cat-file", "blob", entry.object_id).stdout

    def indexed(self, file: str) -> tuple[GitIndexEntry, bytes]:
        """Return what the index holds for a file, without its mode, and the content.

        Both are empty for one that is not tracked; the content, for one in conflict.
        """
        if "\n" in file:  # git takes a name from each line
            entry = self.entry(file)
            words = ("cat-file", "blob", entry.object_id)
            return entry, self.run(*words).stdout if entry.object_id else b""
        names = [f":{stage}:{file}" for stage in range(_STAGES)]
        asked = os.fsencode("".join(f"{name}\n" for name in names))
        done = self.run("cat-file", "--batch", stdin=asked)
        if done.returncode:
            raise GitError(f"git cat-file: {complaint_of(done)}")
        head, _, rest = done.stdout.partition(b"\n")
        if not head.endswith(b" missing"):
            object_id, _, size = os.fsdecode(head).split(" ")
            entry = GitIndexEntry(object_id=object_id, is_tracked=True)
            return entry, rest[: int(size)]
        missing = os.fsencode("".join(f"{name} missing\n" for name in names))
        return GitIndexEntry(is_tracked=done.stdout != missing), b""

    def options(self, pattern: str) -> list[GitOption] | None:
        """Return the options whose names match, the weightiest last.

        Args:
            pattern: A POSIX regular expression for the whole name, in lower case.

        Returns:
            None: git failed, or is older than 2.26 and cannot report the scope.

        Raises:
            GitError: It did not start, or did not finish in time.
        """
        words = ("config", "-z", "--show-scope", "--get-regexp")
        done = self.run(*words, f"^({pattern})$")
        if done.returncode not in (0, 1):
            return None
        fields = os.fsdecode(done.stdout).split("\0")
        options = []
        for scope, option in zip(fields[::2], fields[1::2], strict=False):
            name, _, text = option.partition("\n")
            options.append(GitOption(scope=scope, name=name, text=text))
        return options

    def is_ignored(self, file: str) -> bool:
        """Return whether git ignores an untracked file."""
        return self.run("check-ignore", "-q", "--", file).returncode == 0

    def is_changed(self, file: str) -> bool:
        """Return whether ``git status`` shows a change of a file that is not staged.

        As whenever it is asked, git updates what its index knows of the file.
        """
        words = ("status", "--porcelain", "-z", "--untracked-files=no", "--")
        return bool(self.ask(*words, f":(literal){file}")[1:2].strip())

    def filter_of(self, file: str) -> str:
        """Return the filter that applies to a file; empty for none."""
        printed = self.ask("check-attr", "-z", "filter", "--", file)
        value = printed.split("\0")[2]
        return "" if value in ("unspecified", "unset", "set") else value

    def stored_id(self, file: str, data: bytes) -> str:
        """Return the id of the object git would store for *data* at a file's path."""
        return self.ask("hash-object", "--stdin", f"--path={file}", stdin=data)

    def worktrees(self) -> list[str]:
        """Return the folders of all worktrees, this one included."""
        prefix, end = "worktree ", "\0"
        try:
            listed = self.ask("worktree", "list", "--porcelain", "-z")
        except GitError:  # before git 2.36; only unusual names need -z
            listed, end = self.ask("worktree", "list", "--porcelain"), "\n"
        lines = listed.split(end)
        return [line[len(prefix) :] for line in lines if line.startswith(prefix)]


def value_of(options: Sequence[GitOption], name: str) -> str:
    """Return the effective value of one of some options; empty: it is not set."""
    found = [option.text for option in options if option.name == name]
    return found[-1] if found else ""


def find_repository(
    folder: str,
    environ: Mapping[str, str],
    *,
    explicit: Mapping[str, str] | None = None,
) -> Repository | None:
    """Return the repository whose worktree contains *folder*, or None.

    Args:
        folder: Any folder.
        environ: For git, without the variables of a surrounding hook.
        explicit: ``GIT_DIR`` and ``GIT_WORK_TREE`` of the user, absolute; they count
            if no repository is found otherwise.

    Raises:
        GitError: There is one, but it cannot or must not be used.
    """
    wanted = ("--absolute-git-dir", "--git-common-dir", "--show-toplevel")
    try:
        done = _rev_parse(folder, wanted, environ)
    except FileNotFoundError:
        if _has_git_above(folder):
            message = "git is not installed, so the repository here cannot be read."
            raise GitError(message, hint="Install git.") from None
        return None
    if done.returncode:
        if b"not a git repository" in done.stderr and not _has_git_above(folder):
            return _explicit_repository(folder, {**environ, **(explicit or {})})
        hint = "Give the folder of a worktree."
        if b"work tree" not in done.stderr:
            hint = "Run `git status` there for details."
        raise GitError(f"git says: {complaint_of(done)}", hint=hint)
    lines = os.fsdecode(done.stdout).removesuffix("\n").split("\n")
    if len(lines) != len(wanted):  # the folder's name contains a newline
        answers = (_rev_parse(folder, (name,), environ) for name in wanted)
        lines = [os.fsdecode(answer.stdout).removesuffix("\n") for answer in answers]
    git_dir, common_dir, top = lines
    return Repository(
        top=os.path.realpath(top),
        git_dir=os.path.realpath(git_dir),
        common_dir=os.path.realpath(os.path.join(folder, common_dir)),
        environ=environ,
    )


def _explicit_repository(folder: str, environ: Mapping[str, str]) -> Repository | None:
    """Return the repository that the environment names, if *folder* is in its tree."""
    top = os.path.realpath(environ.get("GIT_WORK_TREE", ""))
    if not environ.get("GIT_WORK_TREE") or os.path.commonpath([top, folder]) != top:
        return None
    done = _rev_parse(top, ("--absolute-git-dir", "--git-common-dir"), environ)
    if done.returncode:
        return None
    git_dir, common_dir = os.fsdecode(done.stdout).removesuffix("\n").split("\n")
    return Repository(
        top=top,
        git_dir=os.path.realpath(git_dir),
        common_dir=os.path.realpath(os.path.join(top, common_dir)),
        environ=environ,
    )


def _rev_parse(
    folder: str, wanted: tuple[str, ...], environ: Mapping[str, str]
) -> subprocess.CompletedProcess[bytes]:
    """Ask git about a repository; see ``run_git``."""
    words = ("rev-parse", *wanted)
    return run_git(folder, words, environ, timeout_s=_FIND_TIMEOUT_S)


def run_git(
    folder: str,
    words: tuple[str, ...],
    environ: Mapping[str, str],
    *,
    stdin: bytes | None = None,
    timeout_s: float = _TIMEOUT_S,
    is_apart: bool = False,
) -> subprocess.CompletedProcess[bytes]:
    """Run git in a folder, whatever its exit code.

    Args:
        folder: Where.
        words: What follows ``git``.
        environ: Its environment.
        stdin: What it reads.
        timeout_s: How long it may take.
        is_apart: In a session of its own, which no signal to this one reaches.

    Raises:
        GitError: It did not finish in time.
        FileNotFoundError: git is not installed.
    """
    command = ["git", "-C", folder, *words]
    pipe = subprocess.PIPE
    process = subprocess.Popen(
        command,
        env=dict(environ),
        stdin=pipe,
        stdout=pipe,
        stderr=pipe,
        start_new_session=is_apart,
    )
    try:
        out, err = process.communicate(stdin or b"", timeout=timeout_s)
    except subprocess.TimeoutExpired as error:
        _end(process)
        message = f"git {words[0]} did not finish within {timeout_s:g} s"
        raise GitError(message) from error
    except BaseException:
        _end(process)
        raise
    return subprocess.CompletedProcess(command, process.returncode, out, err)


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a git that takes too long; asked first, it takes its locks away.

    One that waits for a drive cannot even be killed: it is left behind.
    """
    process.terminate()
    try:
        process.wait(_END_S)
    except subprocess.TimeoutExpired:
        process.kill()
        with suppress(subprocess.TimeoutExpired):
            process.wait(_KILLED_S)
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream is not None:
            with suppress(OSError):  # what was not sent yet
                stream.close()


def complaint_of(done: subprocess.CompletedProcess[bytes]) -> str:
    """Return the first line of git's error message."""
    text = done.stderr.decode("utf-8", "replace").strip()
    return text.partition("\n")[0] or f"exited with status {done.returncode}"


def _has_git_above(folder: str) -> bool:
    """Return whether a folder or one above it contains something named ``.git``."""
    while True:
        if os.path.lexists(os.path.join(folder, ".git")):
            return True
        above = os.path.dirname(folder)
        if above == folder:
            return False
        folder = above
