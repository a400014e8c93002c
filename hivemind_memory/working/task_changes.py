"""Makes blocks of what git says has changed lately: commits, and what is not committed.

Git reports paths and texts; it follows no link out of the worktree. What it fails to
report is left out.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from hivemind_memory.errors import GitError
from hivemind_memory.git.repository import find_repository, run_git
from hivemind_memory.markdown.text import split_lines
from hivemind_memory.model.display import escape_line
from hivemind_memory.working.blocks import (
    FileMemoryBlock,
    HistoryMemoryBlock,
    Priority,
)
from hivemind_memory.working.loading import ContentLoader
from hivemind_memory.working.masking import masked_lines
from hivemind_memory.working.shown_diff import LINES_AROUND, shown_diff
from hivemind_memory.working.task_words import MIN_COVERAGE, Coverage, TaskWords

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

UNCOMMITTED = "uncommitted change"
"""Kind of the action of a change that is not committed."""

MAX_COMMITS = 10
"""Commits that are shown at most."""

_SEEN_COMMITS = 100
"""Commits among which those about the task are looked for."""

MAX_DIFFS = 10
MAX_DIFF_CHARS = 6_000
MAX_COMMIT_FILES = 20
"""Files that the block of a commit names; an import may have touched thousands."""

UNCOMMITTED_CONFIDENCE = 0.3
"""Least confidence of what is being worked on, whatever words it has: a section with
half of the task's words comes first."""

ASKS_FOR_OWN_CHANGES = re.compile(
    r"\b(?:my\s+(?:\w+\s+)?changes?|uncommitted|not\s+(?:yet\s+)?committed"
    r"|(?:my|git|the|this)\s+diff(?!\s+(?:of|in|between)\b)"
    r"|what\s+(?:have\s+)?(?:i|we)(?:\s+have|'ve)?\s+(?:\w+\s+)?"
    r"(?:changed|started|began|begun)"
    r"|commit\s+message|wip|working\s+(?:tree|copy)|self-review|my\s+(?:work|patch)"
    r"|(?:this|my|the\s+current)\s+(?:branch|pr|pull\s+request))\b",
    re.IGNORECASE,
)
"""A task about what whoever asks is working on: that comes before all else."""

ASKS_FOR_CHANGES = re.compile(
    r"\b(?:(?:my|the|this|that)\s+(?:\w+\s+)?change|changes|changed|uncommitted|diff"
    r"|not\s+committed|review|wip|working\s+(?:tree|copy))\b",
    re.IGNORECASE,
)
"""A task that may be about what is being worked on."""

_UNASKED_CONFIDENCE = 0.1
_RECENT_CONFIDENCE = 0.02
"""A commit that is only recent comes after what the best pieces refer to."""

_NEWEST_COMMITS = 3
_TIMEOUT_S = 5.0
_UNIGNORED = "--exclude-standard"
_QUIET = ("--no-ext-diff", "--no-textconv", "--no-color")


@dataclass(slots=True, kw_only=True)
class GitView:
    """What git says of a folder; all empty: it is in no repository."""

    files: list[str] | None = None
    """Tracked files, and those that are neither tracked nor ignored; None: unknown."""

    changed: list[str] = field(default_factory=list)
    """Files that differ from the last commit."""

    new: list[str] = field(default_factory=list)
    """Those of them that git doesn't know yet."""

    problem: str = ""
    """Why git did not say which files there are; empty: it did."""

    is_ignored: bool = False
    """Git ignores the folder with all that is in it."""

    diffs: list[tuple[str, str]] = field(default_factory=list)
    """Path and how it differs."""

    commits: list[tuple[str, datetime, str, list[str]]] = field(default_factory=list)
    """Short id, time, subject, files; newest first."""


def view_of(folder: str, environ: Mapping[str, str]) -> GitView:
    """Return what git says of a folder; paths are relative to it."""
    view = GitView()
    try:
        if find_repository(folder, environ) is None:
            return view
        ask = _GitRunner(folder, environ)
        listed = ask.check("ls-files", "-z", "--cached", "--others", _UNIGNORED)
        view.files = sorted({path for path in listed.split("\0") if path})
        if not view.files and ask.succeeds("check-ignore", "-q", "."):
            return GitView(is_ignored=True)
        # Paths of a diff with --relative are below the folder.
        base = "HEAD"
        named = ask("diff", base, "--relative", "--name-only", "-z", *_QUIET)
        if not named and not ask.succeeds("rev-parse", "-q", "--verify", "HEAD"):
            # Before the first commit, all that is staged differs from an empty tree.
            base = ask("hash-object", "-t", "tree", "--stdin").strip()
            named = ask("diff", base, "--relative", "--name-only", "-z", *_QUIET)
        new = ask("ls-files", "-z", "--others", _UNIGNORED)
        view.new = [path for path in new.split("\0") if path]
        view.changed = [*(path for path in named.split("\0") if path), *view.new]
        for path in [path for path in named.split("\0") if path][:MAX_DIFFS]:
            around = f"-U{LINES_AROUND}"
            text = ask("diff", base, *_QUIET, around, "--", f":(literal){path}")
            if diff := shown_diff(text)[:MAX_DIFF_CHARS]:
                view.diffs.append((path, diff))
        view.commits = _commits(ask)
    except GitError as error:
        # The rest of the context does without; what git would ignore is not read.
        if view.files is None:
            view.files, view.problem = [], error.problem
    return view


def asks_for_changes(task: str) -> bool:
    """Return whether a task may be about what is being worked on."""
    return bool(ASKS_FOR_OWN_CHANGES.search(task) or ASKS_FOR_CHANGES.search(task))


def add_new_files(view: GitView, loader: ContentLoader) -> set[str]:
    """Add the files that git doesn't know yet to the changes, as a diff shows them.

    Returns:
        Those that are shown whole.
    """
    whole = set()
    with loader.batch() as load:
        for path in view.new[:MAX_DIFFS]:
            loaded = load(FileMemoryBlock(location=path))
            if loaded.is_error:
                continue
            given = split_lines(loaded.text[: 2 * MAX_DIFF_CHARS])
            text = "\n".join(("new file", *(f"+{it}" for it in masked_lines(given))))
            view.diffs.append((path, text[:MAX_DIFF_CHARS]))
            if len(text) <= MAX_DIFF_CHARS:
                whole.add(path)
    return whole


def change_blocks(
    view: GitView, words: TaskWords, task: str, now: datetime
) -> list[HistoryMemoryBlock]:
    """Return blocks of commits and of changes that are not committed.

    A change without words of the task fills what is left, unless the task asks for it.
    """
    first = _first_changes(view, task)
    is_asked = asks_for_changes(task)
    of_words = Priority.MEDIUM if is_asked else Priority.LOW
    texts = [f"{path}\n{diff}" for path, diff in view.diffs]
    texts += ["\n".join((subject, *files)) for _, _, subject, files in view.commits]
    counted = [words.count(text) for text in texts]
    # Old commits do not say which words are rare now.
    newest = counted[: len(view.diffs) + MAX_COMMITS]
    coverage, of_all = Coverage(words, newest), Coverage(words, counted)
    shares = [coverage.of(found) for found in newest]
    shares += [of_all.of(found) for found in counted[len(newest) :]]
    blocks = [
        HistoryMemoryBlock(
            id=f"history:uncommitted:{path}",
            action_type=UNCOMMITTED,
            action_detail=path,
            result=diff,
            confidence=round(
                max(UNCOMMITTED_CONFIDENCE if is_asked else _UNASKED_CONFIDENCE, share),
                4,
            ),
            priority=(
                Priority.HIGH
                if path in first
                else Priority.MEDIUM
                if share >= MIN_COVERAGE
                else of_words
            ),
            timestamp=now,
            metadata={
                "why": "a new file, not in git yet"
                if path in view.new
                else "changed since the last commit"
            },
        )
        for (path, diff), share in zip(view.diffs, shares, strict=False)
    ]
    of_commits = shares[len(view.diffs) :]
    numbers = range(len(of_commits))
    best = sorted(numbers, key=lambda number: (-of_commits[number], number))
    about = {n for n in best[:MAX_COMMITS] if of_commits[n] >= MIN_COVERAGE}
    for number, (short, at, subject, files) in enumerate(view.commits):
        is_about, share = number in about, of_commits[number]
        if is_about or number < _NEWEST_COMMITS:
            why = "its words are those of the task" if is_about else "a recent commit"
            block = HistoryMemoryBlock(
                id=f"history:commit:{short}",
                action_type="commit",
                action_detail=f"{short} {subject}",
                result=_files_text(files, words),
                confidence=round(share, 4) if is_about else _RECENT_CONFIDENCE,
                priority=(
                    Priority.MEDIUM
                    if is_about and number < MAX_COMMITS
                    else Priority.LOW
                ),
                timestamp=at,
                metadata={"why": why},
            )
            blocks.append(block)
    return blocks


def _first_changes(view: GitView, task: str) -> set[str]:
    """Return the paths of the changes that come before all else.

    If a task says what its changes are about, only those that are about it.
    """
    if not ASKS_FOR_OWN_CHANGES.search(task):
        return set()
    subject = ASKS_FOR_CHANGES.sub(" ", ASKS_FOR_OWN_CHANGES.sub(" ", task))
    words = TaskWords(subject)
    counted = {path: words.count(f"{path}\n{diff}") for path, diff in view.diffs}
    coverage = Coverage(words, counted.values())
    about = {
        path for path, found in counted.items() if coverage.of(found) >= MIN_COVERAGE
    }
    return about or set(counted)


def _files_text(files: Sequence[str], words: TaskWords) -> str:
    """Return the files of a commit, those with words of the task first, and a count."""
    has_words = {path: any(words.count("", path).counts) for path in files}
    ordered = sorted(files, key=lambda path: not has_words[path])
    more = len(files) - MAX_COMMIT_FILES
    shown = ordered[:MAX_COMMIT_FILES]
    return ", ".join([*shown, f"and {more:,} more"] if more > 0 else shown)


class _GitRunner:
    """Runs git in a folder; what fails is empty."""

    def __init__(self, folder: str, environ: Mapping[str, str]) -> None:
        self._folder, self._environ = folder, environ

    def succeeds(self, *words: str) -> bool:
        """Return whether git says yes."""
        done = run_git(self._folder, words, self._environ, timeout_s=_TIMEOUT_S)
        return not done.returncode

    def check(self, *words: str) -> str:
        """Return what git prints; what fails is a ``GitError``."""
        done = run_git(self._folder, words, self._environ, timeout_s=_TIMEOUT_S)
        if done.returncode:
            said = os.fsdecode(done.stderr).strip().partition("\n")[0]
            raise GitError(f"git {words[0]} failed: {escape_line(said)}")
        return os.fsdecode(done.stdout)

    def __call__(self, *words: str) -> str:
        """Return what git prints."""
        done = run_git(self._folder, words, self._environ, timeout_s=_TIMEOUT_S)
        return "" if done.returncode else os.fsdecode(done.stdout)


def _commits(ask: _GitRunner) -> list[tuple[str, datetime, str, list[str]]]:
    """Return the newest commits of a folder."""
    wanted = ("log", f"-n{_SEEN_COMMITS}", "--no-merges", "--relative", "--name-only")
    # No subject can hold a mark that is made now.
    mark = os.urandom(8).hex()
    fields = f"{mark}:".join(("", "%h", "%cI", "%s", ""))
    printed = ask(*wanted, "-z", f"--format={mark}{fields}", "--", ".")
    found = []
    for part in printed.split(mark * 2 + ":")[1:]:
        short, at, subject, names = (*part.split(f"{mark}:", 3), "", "", "")[:4]
        files = [path for path in names.strip("\n").split("\0") if path.strip()]
        try:
            moment = datetime.fromisoformat(at)
        except ValueError:
            continue
        found.append((short, moment, subject, [path.strip("\n") for path in files]))
    return found
