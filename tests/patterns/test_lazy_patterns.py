"""Patterns are compiled when they are used, and all of them can be."""

from __future__ import annotations

import subprocess
import sys

import pytest

from hivemind_memory.patterns.lazy_pattern import LazyPattern, lazy_re
from tests.redaction.test_linear import modules_of_room, patterns

_COUNT = """
import re._compiler as compiler
compiled = []
compile = compiler.compile
compiler.compile = lambda *given: (compiled.append(given[0]), compile(*given))[1]
from hivemind_memory.redaction import scrub
scrub("The staging database uses the key deploy-day.")
print(len(compiled))
"""


def test_every_pattern_of_the_room_compiles() -> None:
    """A mistake in one that is rarely used would wait for a secret."""
    lazy = [
        value
        for module in modules_of_room()
        for value in vars(module).values()
        if isinstance(value, LazyPattern)
    ]

    assert len(lazy) > 100
    assert len({one.compiled().pattern for one in lazy} | {*patterns()}) > 200


def test_one_suspicious_word_does_not_compile_all_patterns() -> None:
    """A cold save of such a note took 50 ms longer than that of another."""
    ran = subprocess.run(
        [sys.executable, "-c", _COUNT], capture_output=True, text=True, check=True
    )

    assert 0 < int(ran.stdout) < 60


def test_a_lazy_pattern_is_a_pattern() -> None:
    """Its methods are there from the first call on, and nothing else is."""
    one = lazy_re("(?P<digit>[0-9])+", 0)

    assert [found["digit"] for found in one.finditer("a12b3")] == ["2", "3"]
    assert one.sub("#", "a12b3") == "a#b#"
    assert (one.groups, dict(one.groupindex)) == (1, {"digit": 1})
    with pytest.raises(AttributeError):
        one.nothing  # type: ignore[attr-defined]  # noqa: B018 - it is looked up
