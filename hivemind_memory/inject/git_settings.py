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

from hivemind_memory.files.marked_section import SECTION_MARKS, SETTINGS_MARKS
from hivemind_memory.git.own_lines import EXCLUDE, OwnLines, exclude_pattern
from hivemind_memory.git.repository import value_of
from hivemind_memory.inject.section import CREATED
from hivemind_memory.inject.section_form import (
    BEGIN_MARK,
    HEADLINE,
    MARK_TAIL,
    line_pattern,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from hivemind_memory.git.repository import GitOption, Repository

FILTER = "hivemind"
SWITCH = "hivemind.inject"
"""The repository's own option that switches injection off."""

FILTER_OPTION = f"filter.{FILTER}.clean"
"""The option of git that names what removes a section."""

# Lines are gathered from the begin mark to the end mark and then dropped. Without our
# headline, or without an end mark, nothing is dropped: the user's text must not vanish
# from a commit. LC_ALL=C: any bytes are text. Only what every sed supports.
_BEGIN = f"^{BEGIN_MARK}{MARK_TAIL}"
_END = rf"\n{SECTION_MARKS.end.decode()}{MARK_TAIL}"
_STEPS = (
    f"/{_BEGIN}/{{",
    *("$b", "N", f"/\\n{line_pattern(CREATED)}{MARK_TAIL}/{{", "$b", "N", "}"),
    f"/\\n{line_pattern(HEADLINE)}{MARK_TAIL}/!b",
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

_ATTRIBUTES = "info/attributes"


class GitSettings:
    """Our settings in one repository."""

    def __init__(self, repository: Repository) -> None:
        self._repository = repository

    def is_on(self, options: Sequence[GitOption] | None = None) -> bool:
        """Return whether the repository allows injection.

        Args:
            options: Options of git, ``SWITCH`` among them if it is set; None: git is
                asked.
        """
        if options is not None and all(option.name != SWITCH for option in options):
            return True
        # Git knows what it takes for true: yes, on, 1.
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
        self._own(EXCLUDE).add(exclude_pattern(file))

    def is_excluding(self, file: str) -> bool:
        """Return whether git ignores a file because of us."""
        return exclude_pattern(file) in self._own(EXCLUDE).all()

    def add_filter(self, file: str, options: Sequence[GitOption] | None) -> bool:
        """Have git remove the section from what it reads from a file.

        Args:
            file: Relative to the worktree.
            options: Options of git, ``FILTER_OPTION`` among them if it is set; None:
                git cannot list them.

        Returns:
            Whether that is new.
        """
        if options is None:
            run = self._repository.run
            set_now = os.fsdecode(
                run("config", "--local", "--get", FILTER_OPTION).stdout
            )
            set_now = set_now.removesuffix("\n")
        else:
            local = [option for option in options if option.scope == "local"]
            set_now = value_of(local, FILTER_OPTION)
        if set_now != CLEAN:
            self._repository.ask("config", "--local", FILTER_OPTION, CLEAN)
        return self._own(_ATTRIBUTES).add(_attribute(file))

    def remove_filter(self, file: str) -> None:
        """Undo ``add_filter`` for a file."""
        self._own(_ATTRIBUTES).remove(_attribute(file))

    def exist(self) -> bool:
        """Return whether the repository has any setting that we added."""
        run = self._repository.run
        return bool(
            self.files() or run("config", "--local", "--get", FILTER_OPTION).stdout
        )

    def files(self) -> list[str]:
        """Return the files that the settings name."""
        lines = [*self._own(EXCLUDE).all(), *self._own(_ATTRIBUTES).all()]
        names = [line.removesuffix(f" filter={FILTER}") for line in lines]
        return list(dict.fromkeys(map(_file_of, names)))

    def remove(self) -> None:
        """Remove every setting, ``SWITCH`` apart."""
        for name in (EXCLUDE, _ATTRIBUTES):
            self._own(name).write(())
        if self._repository.run("config", "--local", "--get", FILTER_OPTION).stdout:
            section = f"filter.{FILTER}"
            self._repository.ask("config", "--local", "--remove-section", section)

    def _own(self, name: str) -> OwnLines:
        """Return our lines in one of git's files."""
        return OwnLines(self._repository.common_dir, name, SETTINGS_MARKS)


def attribute_pattern(file: str) -> str:
    r"""Return the pattern that matches exactly *file* in ``info/attributes``.

    >>> attribute_pattern("CLAUDE.md"), attribute_pattern("my notes.md")
    ('/CLAUDE.md', '"/my notes.md"')
    """
    pattern = exclude_pattern(file)
    if not any(character.isspace() or character in '"\\' for character in pattern):
        return pattern
    quoted = pattern.replace("\\", "\\\\").replace('"', '\\"').replace("\t", "\\t")
    return f'"{quoted}"'


def _attribute(file: str) -> str:
    """Return the line that names our filter for a file."""
    return f"{attribute_pattern(file)} filter={FILTER}"


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
