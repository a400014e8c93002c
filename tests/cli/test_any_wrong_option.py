"""Any option with any value: reading goes on, and no command answers with a traceback.

Two sets of random configurations: each with one option, for the commands, and for the
tools that read.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from hivemind_memory import opening
from hivemind_memory.cli.table import all_commands
from hivemind_memory.config import options
from hivemind_memory.mcp_server.server import make_server
from hivemind_memory.mcp_server.server_state import ServerState
from tests.cli.conftest import Hm
from tests.cli.test_broken_config import ENDLESS, WORDS, kept
from tests.mcp_server.agents import call, text_of
from tests.support.tiers import examples

__all__ = ["kept"]

READING: dict[str, tuple[str, ...]] = {
    "search": ("deploy",),
    "get": ("deploy-day",),
    "list": (),
    "log": (),
    "show": ("deploy-day",),
    "history": ("deploy-day",),
    "status": (),
    "inbox list": (),
    "config list": (),
    "config path": (),
}
TOOLS: dict[str, dict[str, Any]] = {
    "memory_search": {"query": "deploy"},
    "memory_get": {"path": "deploy-day.md"},
    "memory_list": {"types": ["decision"]},
    "memory_history": {"key": "deploy-day"},
}
VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=40),
    st.sampled_from(["", " ", "many", "anthropic", "-1", "a\0b", "/", "~", "\ud800"]),
    st.lists(st.text(max_size=5), max_size=3),
    st.dictionaries(st.text(max_size=5), st.integers() | st.text(max_size=5)),
    st.dictionaries(
        st.text(max_size=5), st.dictionaries(st.text(max_size=9), st.none())
    ),
)
CONFIGS = st.builds(
    lambda name, value: {"memory": {name: value}},
    st.sampled_from(sorted(options())),
    VALUES,
)
OTHERS = sorted({one.name for one in all_commands()} - ENDLESS - READING.keys())
PROPERTY = settings(
    max_examples=examples(120),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


def _configure(home: Path, config: dict[str, Any]) -> None:
    """Write a config.json."""
    (home / "config.json").write_text(json.dumps(config), encoding="ascii")


@given(config=CONFIGS, command=st.sampled_from(sorted(READING)))
@PROPERTY
def test_reading_goes_on(hm: Hm, kept: Path, config: Any, command: str) -> None:
    """One bad option must not blind anybody."""
    _configure(kept.parent, config)

    ran = hm(*command.split(), *READING[command])

    assert ran.code == 0, (config, command, ran)
    assert ran.out or command == "log"
    assert "Traceback" not in ran.err + ran.out


@given(config=CONFIGS, command=st.sampled_from(OTHERS))
@example(config={"memory": {"index_dir": "\ud800"}}, command="doctor")
@PROPERTY
def test_any_other_command_does_it_or_says_why_not(
    hm: Hm, kept: Path, config: Any, command: str
) -> None:
    """In one sentence."""
    _configure(kept.parent, config)

    ran = hm(*command.split(), *WORDS.get(command, ()))

    assert ran.code in (0, 1, 2), (config, command, ran)
    assert "Traceback" not in ran.err, (config, command, ran)
    assert "Unexpected" not in ran.err, (config, command, ran)
    assert ran.err.count("error: ") <= 1, (config, command, ran)


@given(config=CONFIGS, tool=st.sampled_from(sorted(TOOLS)))
@PROPERTY
def test_a_tool_that_reads_answers(
    kept: Path, monkeypatch: pytest.MonkeyPatch, config: Any, tool: str
) -> None:
    """A model cannot mend the file, and must not lose its memory over it."""
    _configure(kept.parent, config)
    state = ServerState(opening.open_memory)

    result = call(make_server(state, "5e55"), tool, **TOOLS[tool])

    assert not result.is_error, (config, tool, text_of(result))
    assert state.close(5)
