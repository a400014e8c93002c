"""The decorator ``value``: a frozen class of fields that is cheap to define.

The values of this package are data classes. On the way to a cold answer each costs a
millisecond to define, and ``dataclasses`` eight more to import, most of what an answer
may take. Values on that way are marked ``@value`` instead: to a type checker the same,
at run time three functions that they all share. See docs/decisions.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any, TypeVar, dataclass_transform

    T = TypeVar("T")

    @dataclass_transform(frozen_default=True, kw_only_default=True)
    def value(cls: type[T], /) -> type[T]:
        """Make a value of a class with annotated fields."""

else:

    def value(cls):
        """Make a value of a class with annotated fields; defaults must not change."""
        fields = tuple(cls.__annotations__)
        cls.__value_fields__ = fields
        cls.__all_fields__ = frozenset(fields)
        cls.__required_fields__ = frozenset(
            name for name in fields if name not in cls.__dict__
        )
        cls.__init__ = _make
        cls.__setattr__ = _refuse
        cls.__delattr__ = _refuse
        cls.__eq__ = _equals
        cls.__hash__ = _hash
        if "__repr__" not in cls.__dict__:
            cls.__repr__ = _show
        return cls


NO_ITEMS: Mapping[str, Any] = {}
"""The default of a field that is a mapping."""


def fields_of(instance: object) -> tuple[str, ...]:
    """Return the names of the fields of a value or its class; empty for all else."""
    fields: tuple[str, ...] = getattr(instance, "__value_fields__", ())
    return fields


def replaced(instance: T, /, **changes: object) -> T:
    """Return a copy of a value, or of a data class, with some fields changed.

    Raises:
        TypeError: It has no such field.
    """
    kept = {name: getattr(instance, name) for name in _names(instance)}
    return type(instance)(**{**kept, **changes})


def as_dict(instance: object) -> dict[str, Any]:
    """Return the fields of a value, or of a data class, and of those in it, by name."""
    return {name: _plain(getattr(instance, name)) for name in _names(instance)}


def _plain(item: Any) -> Any:
    """Return the same without values."""
    if _names(item):
        return as_dict(item)
    if type(item) in {list, tuple}:
        return type(item)(map(_plain, item))
    if isinstance(item, dict):
        return {key: _plain(entry) for key, entry in item.items()}
    return item


def _names(instance: object) -> Iterable[str]:
    """Return the names of the fields of a value or a data class; empty for all else."""
    if isinstance(instance, type):
        return ()
    return fields_of(instance) or getattr(instance, "__dataclass_fields__", ())


def _make(self: object, **given: object) -> None:
    """Take the fields by keyword; those that have a default may be left out."""
    cls = type(self)
    if given.keys() == cls.__all_fields__:  # type: ignore[attr-defined]
        self.__dict__.update(given)
        return
    missing = cls.__required_fields__ - given.keys()  # type: ignore[attr-defined]
    unknown = given.keys() - set(fields_of(self))
    if missing or unknown:
        what = "misses" if missing else "has no field"
        message = f"{cls.__name__} {what} {', '.join(sorted(missing or unknown))}"
        raise TypeError(message)
    # The dictionary and not setattr, which refuses.
    self.__dict__.update(given)


def _refuse(self: object, name: str, *_: object) -> None:
    """Keep a value as it is."""
    message = f"{type(self).__name__} is a value: {name} cannot be changed"
    raise AttributeError(message)


def _values(instance: object) -> tuple[object, ...]:
    """Return a value's fields, in order."""
    return tuple(getattr(instance, name) for name in fields_of(instance))


def _equals(self: object, other: object) -> bool:
    """Compare by kind and fields."""
    return type(self) is type(other) and _values(self) == _values(other)


def _hash(self: object) -> int:
    """Hash by fields."""
    return hash(_values(self))


def _show(self: object) -> str:
    """Show the fields, as a data class does."""
    shown = (f"{name}={getattr(self, name)!r}" for name in fields_of(self))
    return f"{type(self).__name__}({', '.join(shown)})"
