"""Keeps hashes of the memories that a repository's worktrees were shown.

The hooks compare them with what is committed, see ``find_copies``. They are made with a
random key for each repository; whoever reads the file can check a guess, but cannot
read a memory. The file is private, in the folder of git that the worktrees share. It
names the note of each memory, so that what is no longer in a note leaves the file: with
the next injection, and with a purge at once. `hm eject` deletes it with the hooks.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress

from hivemind_memory.errors import GitError, NotInjectedError
from hivemind_memory.files.atomic import write_file
from hivemind_memory.files.descriptors import open_regular
from hivemind_memory.files.marked_section import remove_section
from hivemind_memory.inject.find_copies import VERSION, Known, KnownMemory
from hivemind_memory.inject.letters import (
    COPY,
    HASH_BYTES,
    MIN_RUNS,
    letters,
    readable,
    runs_of,
)
from hivemind_memory.inject.old_text import had_in
from hivemind_memory.inject.section import excerpt_texts
from hivemind_memory.model.value import replaced

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from hivemind_memory.git.repository import Repository
    from hivemind_memory.inject.active_notes import ActiveTexts
    from hivemind_memory.model.injection import Excerpt

WORDS_FILE = "info/hivemind-words"
"""In the git folder: the hashes, and what reads them."""

FETCHED_FILE = "info/hivemind-fetched"
"""In the git folder: the commits that the hooks saw arrive from other repositories."""

MAX_RUNS = 60_000
"""The newest are kept: a hook reads all of them in about 30 ms."""

_MAX_BRANCHES = 20
_MAX_WORKTREES = 20
_MAX_NEW_FILES = 1_000
_MAX_FILE_BYTES = 1 << 20
_KEY_BYTES = 16

_SLACK_NS = 2_000_000_000
"""A note that changed at most so long before the file was written is read again."""

_HOOKS_LINE = b"\nhooks installed\n"


def words_file(common_dir: str) -> str:
    """Return the path of the file, from the folder of git that worktrees share."""
    return os.path.join(common_dir, *WORDS_FILE.split("/"))


def remember_words(
    repository: Repository,
    notes: str,
    excerpts: Sequence[Excerpt],
    texts: ActiveTexts,
) -> bool:
    """Add what is about to be written into a worktree; return whether that worked.

    A text that is known already stays as it was when it first came: what the repository
    had then is not refused. That is what was committed, which the hook asks git for,
    and what stood in a file and was not committed yet, which is left out here. What its
    note no longer says is removed.

    Args:
        repository: Of the worktree.
        notes: The notes folder.
        excerpts: The memories.
        texts: What notes say now.
    """
    path = words_file(repository.common_dir)
    try:
        known = _read(path)
        by_name = {memory.name: memory for memory in known.memories}
        new = {}
        shown = set()
        is_changed = False
        memories = zip(excerpts, excerpt_texts(excerpts), strict=True)
        for note, text in ((excerpt.path, text) for excerpt, text in memories):
            name = known.hash_of(letters(readable(text))).hex()
            shown.add(name)
            if name not in by_name:
                new[name] = note, _runs(text)
            elif (by_name[name].notes, by_name[name].path) != (notes, note):
                by_name[name].notes, by_name[name].path = notes, note
                is_changed = True
        new = {name: (note, runs) for name, (note, runs) in new.items() if runs}
        since_ns = os.stat(path).st_mtime_ns - _SLACK_NS if by_name else 0
        is_changed |= _drop_inactive(known, texts, kept=shown, since_ns=since_ns)
        if not new and not is_changed and os.path.exists(path):
            if by_name:
                os.utime(path)
            return True
        wanted = set[bytes]().union(*(runs for _, runs in new.values()))
        had = had_in(wanted, _uncommitted(repository)) if new else set()
        place = _place_of(_commits(repository), known) if new else 0
        for name, (note, runs) in new.items():
            hashes = b"".join(sorted(map(known.hash_of, runs - had)))
            known.memories.append(KnownMemory(place, name, hashes, notes, note))
        os.makedirs(os.path.dirname(path), exist_ok=True)
        _write(path, known)
    except (OSError, GitError):
        return False
    return True


def count_words(
    common_dir: str, notes: str, paths: Collection[str], texts: Collection[str]
) -> int:
    """Return how many memories of some notes the file knows some texts of."""
    known = _read(words_file(common_dir))
    listed = [
        memory
        for memory in known.memories
        if memory.notes == notes and memory.path in paths
    ]
    if not listed:
        return 0
    hashes = {known.hash_of(run) for text in texts for run in _runs(text)}
    return sum(
        not memory.runs or not hashes.isdisjoint(_hashes_in(memory))
        for memory in listed
    )


def prune_words(common_dir: str, texts: ActiveTexts) -> None:
    """Remove the hashes of what no note says any more.

    A memory of which no run is known, since the repository had them all, goes as a
    whole. The next injection adds it again.

    Raises:
        OSError: They are still there.
    """
    path = words_file(common_dir)
    if not os.path.exists(path):
        return
    known = _read(path)
    count = len(known.memories)
    known.memories = [memory for memory in known.memories if memory.runs]
    is_changed = _drop_inactive(known, texts) or len(known.memories) < count
    if is_changed:
        _write(path, known)


def _drop_inactive(
    known: Known,
    texts: ActiveTexts,
    *,
    kept: Collection[str] = (),
    since_ns: int = 0,
) -> bool:
    """Drop the hashes of what notes no longer say; return whether there were any.

    Args:
        known: The memories.
        texts: What notes say now.
        kept: Names of memories that are injected now, so they are active.
        since_ns: What a note said then has been looked at, unless it is over.
    """
    found: dict[tuple[str, str], set[bytes]] = {}
    left: list[KnownMemory] = []
    is_changed = False
    for memory in known.memories:
        place = memory.notes, memory.path
        is_shown = memory.name in kept
        # An earlier version named no notes; such a memory can't be looked up.
        is_active = is_shown or (texts.is_active(*place) if memory.notes else False)
        if is_active is False:
            is_changed = True
            continue
        left.append(memory)
        if is_shown or not is_active:
            continue
        if not _has_changed(*place, since_ns):
            continue
        if place not in found:
            forms = texts.of_note(*place) or ()
            found[place] = {
                known.hash_of(run) for form in forms for run in runs_of(form)
            }
        runs = b"".join(run for run in _hashes_in(memory) if run in found[place])
        if runs == memory.runs:
            continue
        is_changed = True
        if len(runs) < MIN_RUNS * HASH_BYTES:
            left.pop()
        memory.name, memory.runs = known.hash_of(runs).hex(), runs
    known.memories = left
    return is_changed


def _has_changed(notes: str, path: str, since_ns: int) -> bool:
    """Return whether a note may have changed since some time."""
    try:
        status = os.stat(os.path.join(notes, *path.split("/")))
    except OSError:
        return True
    return max(status.st_mtime_ns, status.st_ctime_ns) >= since_ns


def _hashes_in(memory: KnownMemory) -> list[bytes]:
    """Return the hashes of a memory."""
    runs = memory.runs
    return [runs[at : at + HASH_BYTES] for at in range(0, len(runs), HASH_BYTES)]


def had_hooks(repository: Repository) -> bool:
    """Return whether ``note_hooks`` was called since the file was made."""
    try:
        with open(words_file(repository.common_dir), "rb", opener=open_regular) as file:
            return _HOOKS_LINE in file.read()
    except OSError:
        return False


def note_hooks(repository: Repository) -> None:
    """Remember in the file, if there is one, that the hooks are installed."""
    path = words_file(repository.common_dir)
    if not os.path.exists(path) or had_hooks(repository):
        return
    with suppress(OSError):
        with open(path, "rb", opener=open_regular) as file:
            data = file.read()
        write_file(path, data + _HOOKS_LINE[1:], mode=0o600)


def forget_words(repository: Repository) -> None:
    """Delete the file, and what the hooks noted of fetched commits."""
    fetched = os.path.join(repository.common_dir, *FETCHED_FILE.split("/"))
    for path in (words_file(repository.common_dir), fetched):
        with suppress(OSError):
            os.unlink(path)


def _place_of(commits: list[str], known: Known) -> int:
    """Return where commits are listed; they are added."""
    if commits not in known.commits:
        known.commits.append(commits)
    return known.commits.index(commits)


def _runs(text: str) -> set[bytes]:
    """Return the runs of a memory; none of one that is too short to be a copy."""
    forms = [letters(readable(text)), letters(readable(text, has_tags=True))]
    if len(forms[0]) < COPY:
        return set()
    return {run for form in forms for run in runs_of(form)}


def _read(path: str) -> Known:
    """Return what is known; nothing if there is no file, or none that can be read."""
    with (
        suppress(FileNotFoundError, ValueError, LookupError),
        open(
            path, encoding="utf-8", errors="surrogateescape", opener=open_regular
        ) as file,
    ):
        return Known(file.read())
    return Known(f"{VERSION}\nkey {os.urandom(_KEY_BYTES).hex()}\n")


def _write(path: str, known: Known) -> None:
    """Write the file, and in it that the hooks are installed, if it said so."""
    with suppress(FileNotFoundError), open(path, "rb", opener=open_regular) as file:
        known.has_hooks = _HOOKS_LINE in file.read()
    write_file(path, os.fsencode(_text_of(known)), mode=0o600)


def _text_of(known: Known) -> str:
    """Return the file, with the newest memories within the limit."""
    kept, left = [], MAX_RUNS * HASH_BYTES
    for memory in reversed(known.memories):
        left -= len(memory.runs)
        if left < 0:
            break
        kept.append(memory)
    kept.reverse()
    folder = os.path.dirname(os.path.dirname(os.path.dirname(__file__)))
    lines = [VERSION, f"python {sys.executable}", f"folder {folder}"]
    lines.append(f"key {known.key.hex()}")
    places = list(dict.fromkeys(memory.place for memory in kept))
    lines += [" ".join(("commits", *known.commits[place])) for place in places]
    folders = list(dict.fromkeys(memory.notes for memory in kept if memory.notes))
    lines += [f"notes {os.fsencode(notes).hex()}" for notes in folders]
    folders.insert(0, "")
    for memory in kept:
        words = [str(places.index(memory.place)), memory.name, memory.runs.hex()]
        path = os.fsencode(memory.path).hex()
        words += [str(folders.index(memory.notes)), path]
        lines.append(" ".join(("memory", *words)))
    lines += [_HOOKS_LINE.decode().strip("\n")] if known.has_hooks else []
    return "".join(f"{line}\n" for line in lines)


def _commits(repository: Repository) -> list[str]:
    """Return HEAD and the newest branches: what they hold is the repository's own."""
    head = repository.run("rev-parse", "-q", "--verify", "HEAD^{commit}").stdout
    newest = (f"--count={_MAX_BRANCHES}", "--sort=-committerdate")
    named = ("--format=%(objectname)", "refs/heads")
    branches = repository.run("for-each-ref", *newest, *named).stdout
    return list(dict.fromkeys((head + branches).decode().split()))


def _uncommitted(repository: Repository) -> Iterator[str]:
    """Yield what the worktrees hold that is not committed, without our sections."""
    tops = [repository.top, *map(os.path.realpath, repository.worktrees())]
    for top in list(dict.fromkeys(tops))[:_MAX_WORKTREES]:
        if not os.path.isdir(top):
            continue
        here = replaced(repository, top=top)
        options = ("-U0", "--no-renames", "--no-ext-diff", "--no-textconv")
        done = here.run("diff", "HEAD", *options)
        changed = done.stdout if done.returncode == 0 else here.run("diff").stdout
        lines = [line[1:] for line in changed.split(b"\n") if line.startswith(b"+")]
        yield _without_sections(b"\n".join(lines))
        listed = here.run("ls-files", "-z", "--others", "--exclude-standard").stdout
        for name in os.fsdecode(listed).split("\0")[:_MAX_NEW_FILES]:
            path = os.path.join(top, name)
            if name and os.path.isfile(path) and not os.path.islink(path):
                with open(path, "rb", opener=open_regular) as file:
                    yield _without_sections(file.read(_MAX_FILE_BYTES))


def _without_sections(data: bytes) -> str:
    """Return a text without the section that an injection wrote."""
    with suppress(NotInjectedError):
        return remove_section(data).decode("utf-8", "replace")
    return ""
