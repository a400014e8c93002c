"""Errors for unknown commands and options, with suggestions."""

from __future__ import annotations

from hivemind_memory.cli.table import ALIASES, GROUPS, command_names, find_command
from hivemind_memory.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


_ALL = "`hm help all` lists every command."


def unknown_command(name: str) -> UsageError:
    """Return the error that there is no such command."""
    group, _, second = name.partition(" ")
    if second:
        names = [full_name.partition(" ")[2] for full_name in command_names(group)]
        near = nearest(second, names)
        from hivemind_memory.cli.other_programs import second_pointer

        if not near and (hint := second_pointer(group, second)):
            return UsageError(f"There is no command `hm {name}`.", hint=hint)
        hint = f"`hm {group} --help` lists its commands."
        if group not in GROUPS:
            is_command = find_command(group) is not None
            hint = f"`hm help {group}` explains `hm {group}`." if is_command else _ALL
    else:
        from hivemind_memory.cli.other_programs import pointer

        if hint := pointer(name):
            return UsageError(f"There is no command `hm {name}`.", hint=hint)
        firsts = {full_name.partition(" ")[0]: None for full_name in command_names()}
        near = nearest(name, (*firsts, *ALIASES))
        hint = _ALL
    if near:
        hint = f"Did you mean `hm {f'{group} {near}' if second else near}`? {hint}"
    return UsageError(f"There is no command `hm {name}`.", hint=hint)


def unknown_option(
    name: str,
    owner: str,
    known: Iterable[str],
    hint: str = "",
    effect: str = "",
    *,
    may_name: bool = False,
) -> UsageError:
    """Return the error that *owner* has no option of that name.

    *may_name*: it may be meant as the name of a note or a memory.
    """
    near = near_options(name, known)
    if may_name and not near:
        hint = "A name that begins with a dash goes after `--`."
    parts = (
        f"Did you mean {near}?" if near else "",
        hint,
        f"`{owner} --help` lists its options.",
    )
    message = f"`{owner}` has no option {name}."
    hint = " ".join(part for part in parts if part)
    return UsageError(message, hint=hint, effect=effect)


def near_options(name: str, known: Iterable[str]) -> str:
    """Return the options that *name* was probably meant to be, or nothing.

    >>> near_options("-t", ("--type", "--tags", "--json"))
    '--type or --tags'
    """
    if len(name) == 2:
        return " or ".join(
            option for option in known if option.startswith(f"-{name.lower()}")
        )
    return nearest(name, known)


def nearest(word: str, known: Iterable[str]) -> str:
    """Return the one of *known* that *word* was probably meant to be, or nothing."""
    from hivemind_memory.model.keys import closest

    near = closest(word, known)
    return near[0] if near else ""
