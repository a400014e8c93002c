"""What an agent keeps for all projects opens their sessions, or it is told how."""

from __future__ import annotations

import pytest

from hivemind_memory.inject.section import guide_lines
from hivemind_memory.mcp_server.instructions import INSTRUCTIONS
from hivemind_memory.mcp_server.server import MemoryServer
from tests.mcp_server.agents import call, found, text_of

FEW = (
    "only matching sessions open with it; to open every session with it, use"
    " memory_save with"
)
TERMINAL = "The user's terminal is Ghostty."
TABS = "Tabs, everywhere."


@pytest.mark.parametrize(
    ("arguments", "is_told"),
    [
        ({"scope": "global"}, True),
        ({"scope": "global", "type": "fact"}, True),
        ({"scope": "global", "type": "preference"}, False),
        ({"scope": "global", "type": "identity"}, False),
        ({"scope": "global", "type": "goal"}, False),
        ({}, False),
    ],
)
def test_a_save_for_all_projects_says_if_few_sessions_open_with_it(
    server: MemoryServer, arguments: dict[str, str], is_told: bool
) -> None:
    """Three of five saves about the user were never seen again."""
    answer = call(server, "memory_save", key="indent", content=TABS, **arguments)

    hints = found(answer).get("hints", [])
    told = f'{FEW} type="preference" and a supersede_reason'
    assert hints == [told] * is_told
    assert (told in text_of(answer)) == is_told
    if is_told:
        again = {"type": "preference", "supersede_reason": "minor correction"}
        called = dict(arguments, **again)
        mended = found(
            call(server, "memory_save", key="indent", content=TABS, **called)
        )
        assert (mended["type"], mended.get("hints")) == ("preference", None)


@pytest.mark.parametrize(
    ("arguments", "is_told"),
    [
        ({"scope": "global"}, True),
        ({"scope": "global", "file": "machine.md"}, True),
        ({"scope": "global", "file": "global.md"}, False),
        ({}, False),
    ],
)
def test_an_entry_for_all_projects_says_if_few_sessions_open_with_it(
    server: MemoryServer, arguments: dict[str, str], is_told: bool
) -> None:
    """Every session opens with ``global.md``; other free text has to match."""
    answer = call(server, "memory_write", content=TERMINAL, **arguments)

    told = f'{FEW} type="preference"'
    assert found(answer).get("hints", []) == [told] * is_told
    assert (f"\nhint: {told}" in text_of(answer)) == is_told


def test_what_a_model_reads_names_the_type_that_opens_every_session() -> None:
    """It named the scope alone, which is not enough."""
    tools, commands = (
        " ".join(guide_lines(has_tools=has_tools)) for has_tools in (True, False)
    )

    assert "memory_save(key, content, type)" in tools
    assert 'with `scope="global", type="preference"`: every session opens' in tools
    assert "with `-g --type preference`: every session opens with it" in commands
    assert 'scope="global" and type="preference", and every session' in INSTRUCTIONS
