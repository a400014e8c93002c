"""memory_record_use, hm used and hm status: what agents and people are told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client

from hivemind_memory import opening
from hivemind_memory.mcp_server.handshake import TOOLS_FILE
from hivemind_memory.mcp_server.server import make_server
from hivemind_memory.mcp_server.server_state import ServerState
from hivemind_memory.model.uses import Use
from hivemind_memory.state.use_log import UseLog
from tests.cli.conftest import Hm, hm, home  # noqa: F401 - fixtures
from tests.skills.bench import STEPS, Bench

USUAL = {tool["name"] for tool in json.loads(Path(TOOLS_FILE).read_text())["tools"]}
DAY_S = 86_400


def call(bench: Bench, *calls: dict[str, Any]) -> tuple[list[Any], set[str]]:
    """Return what the tool answers, and the names of all tools."""

    async def use() -> tuple[list[Any], set[str]]:
        place = str(bench.sandbox.home)
        state = ServerState(
            lambda: opening.open_memory(home=place),
            open_project=lambda _: opening.open_memory(home=place),
            toolsets=("skills",),
        )
        async with Client(make_server(state, "5e551017")) as client:
            names = {tool.name for tool in (await client.list_tools()).tools}
            told = [await client.call_tool("memory_record_use", one) for one in calls]
            return told, names

    return anyio.run(use)


def put_uses(bench: Bench, memory_id: str, count: int) -> None:
    """Let it have been applied in some sessions, a day ago."""
    log = UseLog(bench.memory.state())
    for number in range(count):
        at_s = int(bench.sandbox.now()) - DAY_S
        more = {"session": str(number), "outcome": "applied", "at_s": at_s}
        log.record(Use(ref=memory_id, scope="", **more))  # type: ignore[arg-type]


def test_the_tool_is_one_that_is_asked_for_and_makes_the_offer(bench: Bench) -> None:
    """The agent passes the command on; it cannot run it."""
    put_uses(bench, bench.save().id, 2)

    told, names = call(
        bench,
        {"ref": "deploy-shop", "outcome": "applied"},
        {"ref": "deploy-shop", "outcome": "applied"},
        {"ref": "nothing", "outcome": "applied"},
        {"ref": "deploy-shop", "outcome": "worked"},
    )

    assert names == USUAL | {"memory_record_use"}
    first, again, missing, wrong = told
    assert first.structured_content == {
        "key": "deploy-shop",
        "id": first.structured_content["id"],
        "outcome": "applied",
        "is_new": True,
        "applied": 3,
        "days": 2,
        "offer": "hm skill promote deploy-shop",
    }
    assert "`hm skill promote deploy-shop`" in first.content[0].text
    assert (
        again.structured_content["is_new"],
        again.structured_content["applied"],
    ) == (
        False,
        3,
    )
    assert missing.is_error
    assert wrong.is_error
    assert "applied, ignored, contradicted, corrected" in wrong.content[0].text


def test_status_tells_of_offers_and_of_skills_out_of_date(
    hm: Hm,  # noqa: F811
    home: Path,  # noqa: F811
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Nothing is said without any."""
    monkeypatch.setenv("HOME", str(tmp_path / "user"))
    (tmp_path / "user").mkdir()
    saved = hm("save", "deploy-shop", STEPS).out
    assert "skills" not in hm("status").out
    with opening.open_memory(home=str(home)) as memory:
        log = UseLog(memory.state())
        for day in range(3):
            log.record(
                Use(
                    ref=saved.rpartition("(")[2].rstrip(")\n"),
                    scope="",
                    session=str(day),
                    outcome="applied",
                    at_s=1_700_000_000 + day * DAY_S,
                )
            )
    offer = "`hm skill promote deploy-shop`"
    # The uses are older than the text: what counts is the version.
    assert offer in hm("status").out
    assert offer in hm("skill", "list").out

    assert hm("skill", "promote", "deploy-shop", "--user").code == 0
    assert "skills: 1, up to date" in hm("status").out
    replaced = STEPS.replace("ten", "two")
    assert "hm skill sync" in hm("save", "deploy-shop", "--reason", "ok", replaced).err
    assert "skills: 1, 1 out of date: `hm skill sync`" in hm("status").out
    assert hm("status", "--json").json["skills"] == [
        "1, 1 out of date: `hm skill sync`"
    ]
    assert hm("skill", "sync").code == 0
    shown = hm("skill", "show", "deploy-shop", "--json").json
    assert [one["state"] for one in shown["places"]] == ["up to date"] * 2
    assert hm("skill", "demote", "deploy-shop").code == 0
    assert list((tmp_path / "user").iterdir()) == []
