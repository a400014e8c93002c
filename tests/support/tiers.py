"""The two runs of the suite: the usual one, and one of what that leaves out.

The usual run has to be short, on a busy machine too. So it leaves out tests that are
marked ``thorough``: they take long, and faster ones would notice most faults of their
rule. Of those that are marked ``sampled`` it tries a part of the cases, and of a
property a tenth of the examples. ``pytest --thorough`` runs all these, whole.
``scripts/check`` does both. ``.ci/run`` has 20 minutes, and runs a twelfth of
them, another one for each commit.
"""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, TypeVar
from zlib import crc32

import pytest
from hypothesis import is_hypothesis_test, settings

_OPTION = "--thorough"
_DRAW = "--draw"
_DRAWN = 12
"""Of so many tests, a run with a draw tries one."""

_SHARE = 10
_FEWEST = 5
_PART = 5

T = TypeVar("T")

_chosen = {"is_thorough": True}
"""Whether all is tried: by ``--thorough``, and by programs in ``benchmarks/``."""

# No test fails because the machine was busy.
settings.register_profile("thorough", deadline=None)
settings.register_profile("usual", deadline=None, max_examples=10)


def examples(number: int) -> int:
    """Return with how many examples this run tries a property.

    Args:
        number: How many a thorough run tries, above 0.

    Returns:
        All of them, or a tenth: at least five, unless *number* is smaller.
    """
    if _chosen["is_thorough"]:
        return number
    return max(number // _SHARE, min(number, _FEWEST))


def part(cases: Sequence[T], place: int, *, of: int = _PART) -> Sequence[T]:
    """Return the cases that this run of a ``sampled`` test tries.

    Where several things meet the same cases, each meets another part of them, so that
    every case is tried.

    Args:
        cases: What a thorough run tries.
        place: Which part, such as the place of a command among all commands.
        of: How many parts there are.

    Returns:
        All cases, or every *of*-th.
    """
    return cases if _chosen["is_thorough"] else cases[place % of :: of]


def one_in(thorough: int, *, usual: int) -> int:
    """Return of how many moments, in a ``sampled`` test, this run tries one."""
    return thorough if _chosen["is_thorough"] else usual


def mostly_thorough(
    cases: Iterable[T], *, every: int, are_rows: bool = False
) -> list[Any]:
    """Return parameters of a test that are all tried by a thorough run only, but some.

    Args:
        cases: What the test is called with.
        every: The usual run tries the first of so many, and then each *every*-th.
        are_rows: A case is a tuple of several parameters.
    """
    mark = pytest.mark.thorough
    return [
        one
        if place % every == 0
        else pytest.param(*(one if are_rows else (one,)), marks=mark)  # type: ignore[misc]
        for place, one in enumerate(cases)
    ]


def pairs(rows: Iterable[T], columns: Sequence[object], *, every: int) -> list[Any]:
    """Return two parameters of a test, most of which only a thorough run tries.

    Args:
        rows: Values of the first.
        columns: Values of the second.
        every: The usual run tries each row with one of so many columns, another row
            with other ones, so that each value is tried.
    """
    mark = pytest.mark.thorough
    return [
        pytest.param(row, column, marks=() if (down + right) % every == 0 else mark)
        for down, row in enumerate(rows)
        for right, column in enumerate(columns)
    ]


def add_option(parser: pytest.Parser) -> None:
    """Add ``--thorough`` to the options of pytest."""
    parser.addoption(
        _OPTION,
        action="store_true",
        help="run what is left out otherwise: tests marked thorough, and all cases of "
        "sampled tests and of properties",
    )
    parser.addoption(
        _DRAW,
        metavar="WORD",
        help=f"of those, run one in {_DRAWN}; another word draws others",
    )


def configure(config: pytest.Config) -> None:
    """Choose the run that was asked for, before any test is imported."""
    is_thorough = bool(config.getoption(_OPTION))
    settings.load_profile("thorough" if is_thorough else "usual")
    _chosen["is_thorough"] = is_thorough
    config.pluginmanager.register(_Tiers(is_thorough=is_thorough))


class _Tiers:
    """Leaves out the tests of the other run, and says how many those are."""

    def __init__(self, *, is_thorough: bool) -> None:
        self._is_thorough = is_thorough
        self._said = False

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(
        self, config: pytest.Config, items: list[pytest.Item]
    ) -> None:
        """Deselect what this run leaves out, of what was asked for otherwise."""
        if self._is_thorough:
            draw = config.getoption(_DRAW)
            left_out = [
                one
                for one in items
                if not (_has_more(one) and is_drawn(one.nodeid, draw))
            ]
        else:
            left_out = [one for one in items if one.get_closest_marker("thorough")]
        if left_out:
            config.hook.pytest_deselected(items=left_out)
            gone = set(left_out)
            items[:] = [one for one in items if one not in gone]
        if self._is_thorough:
            return
        counts = (len(left_out), sum(map(_has_more, items)))
        told = getattr(config, "workerinput", None)
        if told is None:
            self._say(config, *counts)
        elif told["workerid"] == "gw0":
            # Whole or not at all: another process may look for it at any moment.
            partial = _file_of(told).with_suffix(".partial")
            partial.write_text("{} {}".format(*counts), encoding="utf-8")
            partial.replace(_file_of(told))

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(
        self, node: Any, ids: Sequence[str]
    ) -> None:
        """Say what the first process of many has left out, as they all did."""
        file = _file_of(node.workerinput)
        with contextlib.suppress(FileNotFoundError):
            counts = map(int, file.read_text(encoding="utf-8").split())
            file.unlink()
            self._say(node.config, *counts)

    def _say(self, config: pytest.Config, left_out: int, partial: int) -> None:
        """Say it on the terminal, at the start."""
        reporter = config.pluginmanager.get_plugin("terminalreporter")
        if reporter is None or self._said or not left_out + partial:
            return
        self._said = True
        reporter.ensure_newline()
        reporter.write_line(
            f"Left out: {left_out} tests that take long, and some cases of {partial} "
            "others. scripts/check runs all of that, and so does: "
            f"pytest -n 3 {_OPTION}"
        )


def _has_more(item: pytest.Item) -> bool:
    """Whether the usual run does not run a test, or not all of it."""
    if item.get_closest_marker("thorough") or item.get_closest_marker("sampled"):
        return True
    return isinstance(item, pytest.Function) and is_hypothesis_test(item.obj)


def is_drawn(name: str, draw: str | None) -> bool:
    """Whether a draw has a test; None has all."""
    return draw is None or crc32(f"{draw} {name}".encode()) % _DRAWN == 0


def _file_of(told: dict[str, Any]) -> Path:
    """Where a process of many writes what the one that reports has to read."""
    return Path(tempfile.gettempdir()) / f"left-out-{told['testrunuid']}"
