"""No command, tool or page tells of another scope, whatever name it is given."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import apsw
import pytest

from hivemind_memory.access import activity_rules
from hivemind_memory.cli.table import command_names
from tests.access.test_access_matrix import environ, seed
from tests.support.access_matrix import PAIRS, make_twins
from tests.support.every_call import NOT_PLAYED, command_calls, tool_calls
from tests.support.page_matrix import page_requests, visit
from tests.support.scope_state import COUNTS_OF_ALL
from tests.support.tiers import mostly_thorough, part

__all__ = ["environ", "seed"]

SHARES = 4 * len(PAIRS)
"""Each pair makes one of so many shares of the calls, another one in each run, and the
usual run an eighth of it; python -m benchmarks.access_matrix makes all."""


def share_of(calls: list[Any], seed: str, pair: tuple[str, str]) -> list[Any]:
    """Return a pair's share of the calls of a run."""
    drawn = random.Random(f"every {seed}").randrange(SHARES)
    share = calls[(PAIRS.index(pair) + drawn) % SHARES :: SHARES]
    return list(part(share, drawn, of=8))


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("caller", "hidden"), mostly_thorough(PAIRS, every=2, are_rows=True)
)
def test_every_call_answers_as_if_the_other_scope_were_not_there(
    tmp_path: Path, caller: str, hidden: str, seed: str
) -> None:
    """Every text of every command, of every tool and of every page and form.

    The tools are those that a server with all toolsets lists; who reads the pages has
    logged in with a token.
    """
    pair = caller, hidden
    twins = make_twins(tmp_path, caller, hidden)
    lines = share_of(list(command_calls(hidden)), seed, pair)
    offered = twins.without.offered_tools()
    calls = share_of(list(tool_calls(offered, hidden)), seed, pair)
    asked = share_of(list(page_requests(hidden)), seed, pair)

    assert twins.leaks(lambda side: side.commands(lines)) == []
    assert twins.leaks(lambda side: side.tools(calls)) == []
    assert twins.leaks(lambda side: visit(side, asked)) == []


def test_no_command_is_left_out_without_a_reason() -> None:
    """A command that is gone or renamed leaves no reason behind."""
    lines = list(command_calls("projects/b"))
    played = {
        name
        for name in command_names()
        if any(line[: len(name.split())] == tuple(name.split()) for line in lines)
    }

    assert played ^ set(NOT_PLAYED) == set(command_names())


def test_every_table_of_the_state_has_a_row_of_the_hidden_scope(tmp_path: Path) -> None:
    """A new table must join, or what it tells is tried by no call."""
    twins = make_twins(tmp_path, "global", "projects/b")

    connection = apsw.Connection(str(twins.whole.home / "state.db"))
    sql = "SELECT name FROM sqlite_master WHERE type = 'table'"
    tables = [str(name) for (name,) in connection.execute(sql)]
    empty = {
        table
        for table in tables
        if not connection.execute(f"SELECT 1 FROM {table}").fetchall()
    }
    connection.close()

    assert empty <= COUNTS_OF_ALL


def test_a_command_that_tells_of_all_sessions_is_found_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rig fails for a planted fault: activity that is not limited."""
    twins = make_twins(tmp_path, "project a", "projects/b")
    everything = activity_rules.VisibleActivity(is_all=True)
    monkeypatch.setattr(
        "hivemind_memory.transcripts.activity.visible_activity", lambda _: everything
    )

    lines = [line for line in command_calls("projects/b") if line[0] == "activity"]

    assert twins.leaks(lambda side: side.commands(lines[::20]))
