"""Of what the table of commands is made: a command, its arguments, its options."""

from __future__ import annotations

# Plain classes and not dataclasses, for speed: the table is read before every answer.


class Argument:
    """A word that is known by its place."""

    __slots__ = ("completes", "description", "is_many", "is_required", "name")

    def __init__(
        self,
        name: str,
        description: str,
        *,
        is_required: bool = True,
        is_many: bool = False,
        completes: str = "",
    ) -> None:
        self.name = name
        self.description = description
        self.is_required = is_required
        self.is_many = is_many
        self.completes = completes
        """What the shell offers: ``notes``, ``options``, ``connectable`` or nothing."""


class Flag:
    """A word that begins with a dash."""

    __slots__ = (
        "choices",
        "description",
        "high",
        "kind",
        "low",
        "metavar",
        "name",
        "names",
    )

    def __init__(
        self,
        names: tuple[str, ...],
        kind: str,
        description: str,
        *,
        metavar: str = "",
        low: float | None = None,
        high: float | None = None,
        choices: tuple[str, ...] = (),
    ) -> None:
        self.names = names
        """As typed, the long one last."""
        self.kind = kind
        """``flag`` takes no value; ``int``, ``float`` and ``text`` take one."""
        self.description = description
        self.metavar = metavar
        self.low = low
        self.high = high
        self.choices = choices
        self.name = names[-1].lstrip("-").replace("-", "_")
        """Key of its value; None when it was not given, False for a ``flag``."""


class Command:
    """One thing that ``hm`` does."""

    __slots__ = (
        "arguments",
        "description",
        "examples",
        "flags",
        "name",
        "panel",
        "summary",
        "verb",
    )

    def __init__(
        self,
        name: str,
        verb: str,
        summary: str,
        *,
        panel: str,
        description: str = "",
        arguments: tuple[Argument, ...] = (),
        flags: tuple[Flag, ...] = (),
        examples: tuple[str, ...] = (),
    ) -> None:
        self.name = name
        """As typed; two words for a command in a group."""
        self.verb = verb
        """``module:function`` that does it, below this package."""
        self.summary = summary
        """One sentence, for the list of commands."""
        self.panel = panel
        """Heading under which the list shows it."""
        self.description = description
        """What else a reader of its help must know."""
        self.arguments = arguments
        self.flags = flags
        self.examples = examples
