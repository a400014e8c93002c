"""The short form of a group of commands: its default without its name.

``hm context round the sum`` is ``hm context build round the sum``.
"""

from __future__ import annotations

import os

from hivemind_memory.cli.command import QUERY, TASK
from hivemind_memory.cli.options import WORKTREE
from hivemind_memory.cli.table import command_names, full_second, load_command

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def is_argument_of(default: str, group: str, words: Sequence[str]) -> bool:
    """Return whether words name no command of a group but begin what its default takes.

    That is a folder, a file that exists or has a name like a note, or any text but a
    command that was misspelled. A task may begin as a command does: ``add a locale``.
    """
    word = words[0]
    seconds = [name.partition(" ")[2] for name in command_names(group)]
    argument = next(iter(load_command(default).arguments), None)
    second = full_second(group, word)
    if second in seconds:
        is_task = argument is not None and argument.reads == TASK
        return is_task and _has_too_many(f"{group} {second}", words[1:])
    if argument and argument.reads in (QUERY, TASK):
        from hivemind_memory.cli.unknown_names import nearest

        near = nearest(word, seconds)
        if not near or argument.reads == QUERY:
            return not near
        name = f"{group} {near}"
        return len(words) > 1 if name == default else _has_too_many(name, words[1:])
    path = os.path.expanduser(word)
    if argument is WORKTREE:
        return os.path.isdir(path)
    is_file = argument and argument.name == "file"
    return bool(is_file) and (path.endswith(".md") or os.path.isfile(path))


def _has_too_many(name: str, words: Sequence[str]) -> bool:
    """Return whether a command is followed by more words than it takes."""
    arguments = load_command(name).arguments
    if any(argument.is_many for argument in arguments):
        return False
    first = next(
        (place for place, word in enumerate(words) if word[:1] == "-"), len(words)
    )
    has_blocks = any(word.partition("=")[0] == "--blocks" for word in words)
    return first > len(arguments) and not has_blocks
