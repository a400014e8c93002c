"""``NamedTuple`` and ``Protocol`` that cost little: to a type checker, the usual ones.

``typing`` compiles the text of each annotation of a named tuple, in every process, and
takes longer to import than most of what uses it. See docs/decisions, 020.
"""

from __future__ import annotations

__all__ = ["NamedTuple", "Protocol"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NamedTuple, Protocol
else:
    from collections import namedtuple

    _OWN = frozenset(("__module__", "__annotations__"))

    class _Made(type):
        """Makes a tuple with names of a class with annotated fields."""

        def __new__(cls, name, bases, members):
            """Return the tuple; its annotations stay texts."""
            if not bases:
                return super().__new__(cls, name, bases, members)
            fields = members["__annotations__"]
            made = namedtuple(  # noqa: PYI024 - the base of each
                name,
                fields,
                defaults=[members[field] for field in fields if field in members],
                module=members["__module__"],
            )
            made.__annotations__ = fields
            for key, member in members.items():
                if key not in _OWN and key not in fields:
                    setattr(made, key, member)
            return made

    class NamedTuple(metaclass=_Made):
        """The base of a class whose annotated names are the fields of a tuple."""

    class Protocol:
        """The base of a port: at run time, no instance is tested for it."""
