"""Keeps a section out of every diff and commit, by settings of the repository alone.

There are two ways. A file that we created is excluded (``info/exclude``). For any other
file a clean filter, which git runs on what it reads from the worktree, removes the
section; ``info/attributes`` names it for the file. The filter is a single ``sed``
command, so it starts in a millisecond and works when this program is gone. It changes
nothing in a file without a section.

The settings are in the folder that the worktrees of a repository share, and none is
ever committed or pushed. The caller holds the lock.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress

from hivemind_memory.errors import NotInjectedError
from hivemind_memory.files.atomic import write_file
from hivemind_memory.files.descriptors import open_regular
from hivemind_memory.files.marked_section import (
    SETTINGS_MARKS,
    body_of,
    put_section,
    remove_section,
)
from hivemind_memory.inject.section import CREATED
from hivemind_memory.inject.section_form import HEADLINE, line_pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from hivemind_memory.git.repository import Repository

FILTER = "hivemind"
SWITCH = "hivemind.inject"
"""The repository's own option that switches injection off."""

_OPTION = f"filter.{FILTER}.clean"

# Lines are gathered from the begin mark to the end mark and then dropped. Without our
# headline, or without an end mark, nothing is dropped: the user's text must not vanish
# from a commit. LC_ALL=C: any bytes are text. Only what every sed supports.
_BEGIN = r"^<!-- hivemind:begin v[0-9]* -->[[:cntrl:][:blank:]]*$"
_END = r"\n<!-- hivemind:end -->[[:cntrl:][:blank:]]*$"
_TAIL = "[[:cntrl:][:blank:]]*$"
_STEPS = (
    f"/{_BEGIN}/{{",
    *("$b", "N", f"/\\n{line_pattern(CREATED)}{_TAIL}/{{", "$b", "N", "}"),
    f"/\\n{line_pattern(HEADLINE)}{_TAIL}/!b",
    ":a",
    f"/{_END}/!{{",
    "$!{",
    "N",
    "ba",
    "}",
    "}",
    f"/{_END}/d",
    "}",
)
CLEAN = "LC_ALL=C sed " + " ".join(f"-e '{step}'" for step in _STEPS)
"""The command that git runs; it removes the section and keeps every other byte."""

_EXCLUDE = "info/exclude"
_ATTRIBUTES = "info/attributes"
_GLOB = frozenset("\\*?[")


class GitSettings:
    """Our settings in one repository."""

    def __init__(self, repository: Repository) -> None:
        self._repository = repository

    def is_on(self) -> bool:
        """Return whether the repository allows injection."""
        done = self._repository.run("config", "--type=bool", "--get", SWITCH)
        return done.stdout.strip() != b"false"

    def switch(self, *, is_on: bool) -> None:
        """Allow or forbid injection in the repository."""
        if is_on:
            self._repository.run("config", "--local", "--unset-all", SWITCH)
        else:
            self._repository.ask("config", "--local", SWITCH, "false")

    def exclude(self, file: str) -> None:
        """Have git ignore a file that is not tracked."""
        self._add(_EXCLUDE, exclude_pattern(file))

    def is_excluding(self, file: str) -> bool:
        """Return whether git ignores a file because of us."""
        return exclude_pattern(file) in self._lines(_EXCLUDE)

    def add_filter(self, file: str) -> bool:
        """Have git remove the section from what it reads from a file.

        Returns:
            Whether that is new.
        """
        run, ask = self._repository.run, self._repository.ask
        set_now = run("config", "--local", "--get", _OPTION).stdout
        if set_now != CLEAN.encode() + b"\n":
            ask("config", "--local", _OPTION, CLEAN)
        return self._add(_ATTRIBUTES, _attribute(file))

    def remove_filter(self, file: str) -> None:
        """Undo ``add_filter`` for a file."""
        lines = self._lines(_ATTRIBUTES)
        self._write(_ATTRIBUTES, [line for line in lines if line != _attribute(file)])

    def exist(self) -> bool:
        """Return whether the repository has any setting that we added."""
        run = self._repository.run
        return bool(self.files() or run("config", "--local", "--get", _OPTION).stdout)

    def files(self) -> list[str]:
        """Return the files that the settings name."""
        lines = [*self._lines(_EXCLUDE), *self._lines(_ATTRIBUTES)]
        names = [line.removesuffix(f" filter={FILTER}") for line in lines]
        return list(dict.fromkeys(map(_file_of, names)))

    def remove(self) -> None:
        """Remove every setting, ``SWITCH`` apart."""
        for name in (_EXCLUDE, _ATTRIBUTES):
            self._write(name, ())
        if self._repository.run("config", "--local", "--get", _OPTION).stdout:
            section = f"filter.{FILTER}"
            self._repository.ask("config", "--local", "--remove-section", section)

    def _add(self, name: str, line: str) -> bool:
        """Add a line to one of git's files, once; return whether it is new."""
        lines = self._lines(name)
        if line in lines:
            return False
        self._write(name, (*lines, line))
        return True

    def _lines(self, name: str) -> list[str]:
        """Return our lines in one of git's files."""
        body = body_of(self._read(name), SETTINGS_MARKS)
        return [line for line in body.split("\n") if line]

    def _read(self, name: str) -> bytes:
        """Return one of git's files; empty if it does not exist."""
        try:
            with open(self._path(name), "rb", opener=open_regular) as file:
                return file.read()
        except FileNotFoundError:
            return b""

    def _write(self, name: str, lines: Iterable[str]) -> None:
        """Replace our lines in one of git's files."""
        before = self._read(name)
        body = "\n".join(lines)
        if body:
            after = put_section(before, body, SETTINGS_MARKS)
        else:
            after = remove_section(before, SETTINGS_MARKS)
        path = self._path(name)
        if after == before:
            return
        if not after:
            os.unlink(path)
            with suppress(OSError):  # the folder may have been missing before
                os.rmdir(os.path.dirname(path))
            return
        os.makedirs(os.path.dirname(path), exist_ok=True)
        replace_small(path, after)

    def _path(self, name: str) -> str:
        """Return the path of one of git's files."""
        return os.path.join(self._repository.common_dir, *name.split("/"))


def exclude_pattern(file: str) -> str:
    r"""Return the pattern that matches exactly *file* in ``info/exclude``.

    >>> exclude_pattern("docs/a*b.md")
    '/docs/a\\*b.md'
    """
    return "/" + _escaped(file)


def attribute_pattern(file: str) -> str:
    r"""Return the pattern that matches exactly *file* in ``info/attributes``.

    >>> attribute_pattern("CLAUDE.md"), attribute_pattern("my notes.md")
    ('/CLAUDE.md', '"/my notes.md"')
    """
    pattern = "/" + _escaped(file)
    if not any(character.isspace() or character in '"\\' for character in pattern):
        return pattern
    quoted = pattern.replace("\\", "\\\\").replace('"', '\\"').replace("\t", "\\t")
    return f'"{quoted}"'


def replace_small(path: str, data: bytes) -> None:
    """Replace one of git's files, keeping its mode."""
    try:
        mode = stat.S_IMODE(os.stat(path).st_mode) if os.path.exists(path) else 0o644
        write_file(path, data, mode=mode)
    except OSError as error:
        message = f"git's settings cannot be changed: {error.strerror}: {path}"
        raise NotInjectedError(message) from error


def _attribute(file: str) -> str:
    """Return the line that names our filter for a file."""
    return f"{attribute_pattern(file)} filter={FILTER}"


def _escaped(file: str) -> str:
    """Return a path in which no character is special in a pattern."""
    if "\n" in file:
        raise NotInjectedError("git cannot be configured for a path with a newline")
    text = "".join(f"\\{letter}" if letter in _GLOB else letter for letter in file)
    return text[:-1] + "\\ " if text.endswith(" ") else text


def _file_of(pattern: str) -> str:
    """Return the file that one of our patterns names."""
    if pattern.startswith('"'):
        pattern = pattern[1:-1].replace("\\t", "\t").replace('\\"', '"')
        pattern = pattern.replace("\\\\", "\\")
    plain, is_escaped = [], False
    for character in pattern[1:]:
        is_escaped = character == "\\" and not is_escaped
        if not is_escaped:
            plain.append(character)
    return "".join(plain)
