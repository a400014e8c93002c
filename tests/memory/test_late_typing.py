"""Named tuples that are cheap to define, and what a cold search imports."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
import typing

from hivemind_memory.model.late_typing import NamedTuple


class Cheap(NamedTuple):
    """Two fields."""

    name: str
    sizes: tuple[int, ...] = ()

    @property
    def total(self) -> int:
        """The sum of the sizes."""
        return sum(self.sizes)


class Usual(typing.NamedTuple):
    """Two fields."""

    name: str
    sizes: tuple[int, ...] = ()


def test_a_cheap_tuple_is_like_that_of_typing() -> None:
    """Whoever makes, reads, copies or shows it sees no difference."""
    made = Cheap("a", (1, 2))

    assert made == Usual("a", (1, 2)) == ("a", (1, 2))
    assert Cheap("a").sizes == ()
    assert made.total == 3
    assert repr(made) == repr(Usual("a", (1, 2))).replace("Usual", "Cheap")
    assert made._replace(name="b") == Usual("b", (1, 2))
    assert pickle.loads(pickle.dumps(made)) == made
    assert type(copy.copy(made)) is Cheap
    assert not hasattr(made, "__dict__")
    for name in ("_fields", "_field_defaults", "__doc__", "__module__", "__slots__"):
        assert getattr(Cheap, name) == getattr(Usual, name)
    assert typing.get_type_hints(Cheap) == typing.get_type_hints(Usual)


def test_a_search_does_not_import_typing() -> None:
    """It takes longer than most of what uses it."""
    program = (
        "import sys; sys.modules.pop('typing', None);"
        "import hivemind_memory.memory.search, hivemind_memory.index.port;"
        "import hivemind_memory.index.sqlite.words, hivemind_memory.files.reader;"
        "print('typing' in sys.modules)"
    )

    ran = subprocess.run(
        [sys.executable, "-I", "-c", program],
        capture_output=True,
        text=True,
        check=True,
    )

    assert ran.stdout == "False\n"
