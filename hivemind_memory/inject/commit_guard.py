"""Keeps a section out of commits under any other file name: copied, renamed, linked.

It has two parts, both in the folder that the worktrees of a repository share. The clean
filter of ``section_form`` is assigned to all Markdown, in a file of attributes that git
consults last, so that a filter of the user's own (Git LFS, git-crypt) always wins. It
removes only what ``hm inject`` wrote, not other text between the marks. The hooks of
``commit_check`` refuse what contains the section, in a file of any name or a message.

A part that cannot be installed is left out: the filter for the file itself, which
``git_settings`` makes, does not depend on them.
"""

from __future__ import annotations

import os
from contextlib import suppress
from functools import cached_property

from hivemind_memory.errors import GitError, HookNotChangedError
from hivemind_memory.files.atomic import write_file
from hivemind_memory.files.descriptors import open_regular, signature_at
from hivemind_memory.files.marked_section import SECTION_MARKS, put_section
from hivemind_memory.git.hook_script import install_block, read_hook, remove_block
from hivemind_memory.git.repository import value_of
from hivemind_memory.git.worktree import ORIGIN
from hivemind_memory.inject.commit_check import FORMER_HOOKS, HOOKS
from hivemind_memory.inject.git_settings import FILTER_OPTION, SWITCH
from hivemind_memory.inject.section import render_body
from hivemind_memory.inject.section_form import CLEAN_COPY, without_sections
from hivemind_memory.inject.word_file import (
    forget_words,
    had_hooks,
    note_hooks,
    words_file,
)
from hivemind_memory.inject.worktree_file import sweep_folders

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Self

    from hivemind_memory.git.repository import GitOption, Repository
    from hivemind_memory.model.snapshot import FileSignature

COVERED = (
    "*.[mM][dD]",
    "*.[mM][dD][cCxX]",
    "*.[mM][aA][rR][kK][dD][oO][wW][nN]",
    "*.[tT][xX][tT]",
    "*CLAUDE*",
    "*AGENTS*",
    "*GEMINI*",
)
"""Files that are filtered. Not all, because git starts a process for each file."""

COPY_FILTER = "hivemind-copies"
"""Name of the filter for files that we did not inject into."""

_COPY_OPTION = f"filter.{COPY_FILTER}.clean"
_HEADER = "# Written by hm inject; hm eject removes it."
_ATTRIBUTES = "info/hivemind-attributes"
_OPTION = "core.attributesFile"
_HOOKS_OPTION = "core.hookspath"

_OPTIONS = (
    rf"core\.(attributesfile|hookspath)|filter\.{COPY_FILTER}\.clean"
    f"|{FILTER_OPTION}|{SWITCH}|{ORIGIN}"
)
"""What an injection asks of git's configuration, all at once."""

# Neither text nor ending in a newline: some seds change such a file.
_OWN_TEXT = b"\xff\0 a\n```\n" + put_section(b"", "mine") + b"```\n"
_SAMPLE = _OWN_TEXT + put_section(b"", render_body((), left_out=1)) + b"b"
_FILTERED_SAMPLE = _OWN_TEXT + b"b"
_SAMPLE_NAME = "hivemind-sample.md"

GIT_ADDITIONS = (
    "in its config, two clean filters (filter.hivemind*) and core.attributesFile",
    "the hooks pre-push and reference-transaction, ahead of what they run already",
    "in its info folder, which files are filtered or ignored, and hashes of memories",
)
"""What the first injection adds to the git folder of a repository, for a person."""


class CommitGuard:
    """The filter and the hooks of one repository."""

    def __init__(self, repository: Repository) -> None:
        self.repository = repository
        self._seen: object = None

    @cached_property
    def options(self) -> list[GitOption] | None:
        """The options that an injection asks for, read once when needed."""
        self._seen = self._signatures()
        return self.repository.options(_OPTIONS)

    def look_again(self) -> Self:
        """Forget the options if the files that we write them to are others by now.

        For who has the lock: before, another process may have removed our settings.
        """
        if self._seen != self._signatures():
            self.__dict__.pop("options", None)
        return self

    def _signatures(self) -> list[FileSignature | None]:
        """Return what changes with the files of options that we write."""
        shared, own = self.repository.common_dir, self.repository.git_dir
        paths = (shared, "config"), (own, "config.worktree")
        return [signature_at(os.path.join(*p), follows_link=True) for p in paths]

    def install(self) -> tuple[str, ...]:
        """Install or update filter and hooks; leave out what cannot be installed.

        Returns:
            What to tell the user.
        """
        if self.options is None:
            return ()
        with suppress(OSError, GitError):
            self._install_filter()
        return self.install_hooks()

    def install_hooks(self) -> tuple[str, ...]:
        """Install or update the hooks, in front of what they do already.

        Returns:
            What to tell the user: which could not be installed, and which another
            program had replaced since the last injection.
        """
        if self.options is None:
            return ()
        folder = self._hooks_in(self.repository.top)
        if not folder:
            named = self._value(_HOOKS_OPTION)
            return (
                f"core.hooksPath is {named}, so copies in other files can slip out",
            )
        sweep_folders([folder], self.repository)  # core.hooksPath may name any folder
        warnings, replaced = [], []
        for name, lines in HOOKS.items():
            try:
                hook = read_hook(os.path.join(folder, name))
                install_block(hook, lines)
            except HookNotChangedError as error:
                warnings.append(f"copies in other files can slip out: {error}")
            else:
                replaced += [] if hook.body else [name]
        self._remove_hooks(FORMER_HOOKS)
        if replaced and had_hooks(self.repository):
            names = " and ".join(replaced)
            warnings.append(f"another program had replaced {names}: the check is back")
        note_hooks(self.repository)
        return tuple(warnings)

    def exists(self) -> bool:
        """Return whether there is anything to remove."""
        words = words_file(self.repository.common_dir)
        if any(map(os.path.exists, (self._file, words))):
            return True
        return any(map(self._has_block, (*HOOKS, *FORMER_HOOKS)))

    def remove(self) -> None:
        """Remove the filter and the hooks."""
        if self._local_attributes() == self._file:
            self.repository.run("config", "--local", "--unset", _OPTION)
        with suppress(OSError):
            os.unlink(self._file)
        self._forget_filter()
        self._remove_hooks((*HOOKS, *FORMER_HOOKS))
        forget_words(self.repository)
        folders = self._hook_folders()
        sweep_folders(folders, self.repository)
        for folder in folders:
            with suppress(OSError):  # the folder may have been missing before
                os.rmdir(folder)

    @property
    def _file(self) -> str:
        """The file of attributes."""
        return os.path.join(self.repository.common_dir, *_ATTRIBUTES.split("/"))

    def _remove_hooks(self, names: Iterable[str]) -> None:
        """Remove our block from some hooks."""
        for folder in self._hook_folders():
            for name in names:
                with suppress(HookNotChangedError):
                    remove_block(read_hook(os.path.join(folder, name)))

    def _hook_folders(self) -> list[str]:
        """Return where our hooks can be: the usual place, and where git looks now."""
        usual = os.path.join(self.repository.common_dir, "hooks")
        named = map(self._hooks_in, (self.repository.top, *self._worktrees()))
        return list(dict.fromkeys((usual, *filter(None, named))))

    def _worktrees(self) -> list[str]:
        """Return the worktrees; a relative ``core.hooksPath`` is another in each."""
        with suppress(GitError):
            return self.repository.worktrees() if self._value(_HOOKS_OPTION) else []
        return []

    def _hooks_in(self, top: str) -> str:
        """Return where git looks for hooks; empty if that is not for us to change.

        A folder of one's own for all repositories is not, nor one that is committed.
        What a tool fills and git ignores, as husky does, is.
        """
        named = self._value(_HOOKS_OPTION)
        if not named:
            return os.path.join(self.repository.common_dir, "hooks")
        if self._scope(_HOOKS_OPTION) not in ("local", "worktree"):
            return ""
        folder = os.path.realpath(os.path.join(top, os.path.expanduser(named)))
        git_dirs = (self.repository.common_dir, self.repository.git_dir)
        if any(folder.startswith(os.path.join(above, "")) for above in git_dirs):
            return folder
        if not folder.startswith(os.path.join(top, "")):
            return ""
        files = [os.path.relpath(os.path.join(folder, name), top) for name in HOOKS]
        ignored = all(map(self.repository.is_ignored, files))
        return folder if ignored else ""

    def _has_block(self, name: str) -> bool:
        """Return whether a hook contains our block."""
        for folder in self._hook_folders():
            with suppress(HookNotChangedError):
                if read_hook(os.path.join(folder, name)).body:
                    return True
        return False

    def _install_filter(self) -> None:
        """Assign the filter to all Markdown, unless that could change other files."""
        current = self._local_attributes()
        if current not in ("", self._file):
            return  # the user's own choice for this repository
        lines = (
            _HEADER,
            *(f"{pattern} filter={COPY_FILTER}" for pattern in COVERED),
            "",
        )
        # What comes later wins: the user's own attributes, which this file replaces.
        data = "\n".join(lines).encode() + _read(self._user_attributes())
        if self._value(_COPY_OPTION) != CLEAN_COPY:
            self.repository.ask("config", "--local", _COPY_OPTION, CLEAN_COPY)
        if current and data == _read(self._file):
            return
        os.makedirs(os.path.dirname(self._file), exist_ok=True)
        write_file(self._file, data, mode=0o644)
        if current:
            return
        if self._is_harmless():
            self.repository.ask("config", "--local", _OPTION, self._file)
        else:
            os.unlink(self._file)
            self._forget_filter()

    def _forget_filter(self) -> None:
        """Remove the command of the filter from the repository's options."""
        named = f"filter.{COPY_FILTER}"
        self.repository.run("config", "--local", "--remove-section", named)

    def _is_harmless(self) -> bool:
        """Return whether the filter works and leaves every committed file as it is.

        A repository may hold a section on purpose, for example in its documentation,
        and a ``sed`` may add a last newline.
        """
        run, ask = self.repository.run, self.repository.ask
        mark = ("grep", "--cached", "-q", "-E", r"^<!-- hivemind:begin v[0-9]+ -->")
        if run(*mark, "--", *(f":(glob)**/{name}" for name in COVERED)).returncode == 0:
            return False
        named = ("-c", f"{_OPTION}={self._file}", "hash-object", "--stdin")
        filtered = ask(*named, f"--path={_SAMPLE_NAME}", stdin=_SAMPLE)
        wanted = ("hash-object", "--stdin", "--no-filters")
        return filtered == ask(*wanted, stdin=_FILTERED_SAMPLE)

    def _local_attributes(self) -> str:
        """Return the file of attributes that the repository's own settings name."""
        scopes = ("local", "worktree")
        named = [
            option.text
            for option in self.options or ()
            if option.name == _OPTION.lower() and option.scope in scopes
        ]
        return named[-1] if named else ""

    def _user_attributes(self) -> str:
        """Return the user's own file of attributes, which may not exist."""
        named = [
            option.text
            for option in self.options or ()
            if option.name == _OPTION.lower() and option.scope in ("system", "global")
        ]
        environ = self.repository.environ
        home = environ.get("HOME", "")
        if named:
            path = named[-1]
            return os.path.join(home, path[2:]) if path.startswith("~/") else path
        above = environ.get("XDG_CONFIG_HOME") or os.path.join(home, ".config")
        return os.path.join(above, "git", "attributes")

    def _value(self, key: str) -> str:
        """Return the effective value of an option."""
        return value_of(self.options or (), key)

    def _scope(self, key: str) -> str:
        """Return where the effective value of an option is set."""
        found = [option.scope for option in self.options or () if option.name == key]
        return found[-1] if found else ""


def section_copies(repository: Repository, *where: str) -> list[str]:
    """Return the files of a worktree with a section of `hm inject`, not committed.

    Args:
        repository: Of the worktree.
        where: ``--no-exclude-standard`` for ignored files, too.
    """
    words = ("grep", "-l", "-z", "-E", "--untracked", "--full-name", *where, "-e")
    done = repository.run(*words, r"^<!-- hivemind:begin v[0-9]+ -->[[:space:]]*$")
    return [
        file
        for file in os.fsdecode(done.stdout).split("\0")
        if file
        and not repository.holds(repository.entry(file), SECTION_MARKS.begin)
        and _has_section(os.path.join(repository.top, *file.split("/")))
    ]


def _has_section(path: str) -> bool:
    """Return whether a file contains a section that ``hm inject`` wrote."""
    data = _read(path)
    return without_sections(data) != data


def files_with(
    repository: Repository, texts: Iterable[str], *where: str
) -> frozenset[str]:
    """Return the files that hold one of some texts, in the worktree or the index.

    Args:
        repository: Of the worktree.
        texts: One line each.
        where: ``--untracked`` or ``--cached``, as ``git grep`` takes it.
    """
    words = ("grep", "-l", "-z", "-F", "--full-name", *where, "-f", "-")
    # On standard input: arguments can be read by everyone on the machine.
    wanted = "\n".join(texts).encode()
    found = repository.run(*words, stdin=wanted).stdout if wanted else b""
    return frozenset(file for file in os.fsdecode(found).split("\0") if file)


def _read(path: str) -> bytes:
    """Return a file; empty if it cannot be read."""
    try:
        with open(path, "rb", opener=open_regular) as file:
            return file.read()
    except OSError:
        return b""
