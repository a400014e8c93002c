"""The parts of a command of ``hm``: its arguments, its options and its function.

Each file of ``commands`` declares its commands with the decorator ``command``. Nothing
here is slow to import: help and usage errors need no more than this.
"""

from __future__ import annotations

TYPE_CHECKING = False  # typing costs milliseconds on the way to a cold answer
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from hivemind_memory.memory import Memory

# Plain classes and not dataclasses, for speed: they are read before every answer.

PLAIN, TEXT, QUERY, VERBATIM, VALUE, TASK = range(6)
"""How the last argument reads words that begin with a dash, see ``Argument.reads``."""


class Argument:
    """A positional argument."""

    __slots__ = (
        "completes",
        "description",
        "is_many",
        "is_raw",
        "is_required",
        "may_be_empty",
        "name",
        "reads",
    )

    def __init__(
        self,
        name: str,
        description: str,
        *,
        is_required: bool = True,
        reads: int | None = None,
        completes: str = "",
        is_raw: bool = False,
        may_be_empty: bool = False,
    ) -> None:
        self.name = name
        self.description = description
        self.may_be_empty = may_be_empty
        """Whether an empty word says something; else it is an error."""
        self.is_required = is_required
        self.is_many = reads is not None
        """Whether it takes all the words that are left."""
        self.reads = PLAIN if reads is None else reads
        """``PLAIN``: options may be between its words, an unknown one is an error.
        ``TEXT``: its first word ends the options, all that follows is text.
        ``QUERY``: known options may be anywhere, other words are its own.
        ``TASK``: as ``QUERY``, but a word with two dashes is an option or an error.
        ``VERBATIM``: as ``TEXT``, but its words are expected to look like options.
        ``VALUE``: as ``PLAIN``, and what may be part of the value is refused."""
        self.completes = completes
        """What the shell offers; one of the kinds in ``completion``, or nothing."""
        self.is_raw = is_raw or self.reads == VERBATIM
        """Whether its bytes need not be UTF-8: a path, or words of another program."""


class Flag:
    """An option: a word that begins with a dash."""

    __slots__ = (
        "choices",
        "completes",
        "description",
        "high",
        "is_list",
        "is_many",
        "kind",
        "low",
        "metavar",
        "name",
        "names",
    )

    def __init__(  # noqa: PLR0913 - a row of a table
        self,
        names: tuple[str, ...],
        kind: str,
        description: str,
        *,
        metavar: str = "",
        low: float | None = None,
        high: float | None = None,
        choices: tuple[str, ...] = (),
        completes: str = "",
        is_list: bool = False,
        is_many: bool = False,
    ) -> None:
        self.names = names
        """As typed, the long one last."""
        self.kind = kind
        """``flag`` takes no value; ``int``, ``float`` and ``text`` take one. ``day`` is
        text that names a day, ``due`` one to come, ``moment`` a day or so many minutes
        or hours ago; their value is in ISO form. ``duration`` is a number with a unit;
        its value is in seconds.
        ``path`` is text whose bytes need not be UTF-8."""
        self.description = description
        self.metavar = metavar or kind.upper()
        self.low = low
        self.high = high
        self.choices = choices
        self.completes = completes
        """What the shell offers as its value."""
        self.is_list = is_list
        """Whether its value is a list separated by commas, to which each use adds."""
        self.is_many = is_many
        """Whether it may be given more than once; its value is a tuple then."""
        self.name = names[-1].lstrip("-").replace("-", "_")
        """Key of its value; None when it was not given, False for a ``flag``."""

    def value_with(self, before: Any, value: object) -> object:
        """Return its value once it is given again: a list grows, else the last counts.

        Args:
            before: Its value so far; None if it was not given yet.
            value: What it is given now.
        """
        if self.is_many:
            return (*(before or ()), value)
        return f"{before},{value}" if self.is_list and before else value


class Command:
    """One command of ``hm``."""

    __slots__ = (
        "arguments",
        "call",
        "description",
        "examples",
        "flags",
        "is_hook",
        "name",
    )

    def __init__(
        self,
        name: str,
        call: Callable[[CommandRequest], int],
        *,
        description: str,
        arguments: tuple[Argument, ...],
        flags: tuple[Flag, ...],
        examples: tuple[str, ...],
        is_hook: bool,
    ) -> None:
        self.name = name
        """As typed; two words for a command in a group."""
        self.call = call
        """Does it; returns the exit code."""
        self.description = description
        """What its help says below the summary of the table."""
        self.arguments = arguments
        self.flags = flags
        self.examples = examples
        self.is_hook = is_hook
        """Whether other programs have its command line stored: another version of hm
        may have written it, so words that it does not know are passed over."""


class CommandRequest:
    """A command with the values of its arguments and options, all of them present."""

    __slots__ = ("command", "memory_dir", "notes", "values")

    def __init__(
        self,
        command: Command,
        values: dict[str, Any],
        memory_dir: str | None = None,
        notes: tuple[str, ...] = (),
    ) -> None:
        self.command = command
        self.values = values
        """Name -> value; None, False or an empty tuple when it was not given."""
        self.memory_dir = memory_dir
        self.notes = notes
        """Notices about how the words were understood."""

    def open_memory(self, *, is_reported: bool = False) -> Memory:
        """Open the memory that the request is for; use it in a ``with`` statement.

        Args:
            is_reported: The command itself reports the unusable options that matter.
        """
        from hivemind_memory import environment, opening
        from hivemind_memory.cli.output import is_person

        memory = opening.open_memory(
            memory_dir=self.memory_dir, is_look=bool(self.values.get("dry_run"))
        )
        unusable = memory.settings.unusable
        if unusable and not is_reported:
            from hivemind_memory.cli.output import print_once

            print_once(unusable.values())
        if not memory.caller.is_agent:
            memory.origin = "person" if is_person() else "program"
            memory.find_terminal = environment.terminal_session
        return memory


def command(
    name: str,
    *,
    description: str = "",
    arguments: tuple[Argument, ...] = (),
    flags: tuple[Flag, ...] = (),
    examples: tuple[str, ...] = (),
    is_hook: bool = False,
) -> Callable[[Callable[[CommandRequest], int]], Command]:
    """Return a decorator that makes the command *name* of a function."""

    def make(call: Callable[[CommandRequest], int]) -> Command:
        return Command(
            name,
            call,
            description=description,
            arguments=arguments,
            flags=flags,
            examples=examples,
            is_hook=is_hook,
        )

    return make
