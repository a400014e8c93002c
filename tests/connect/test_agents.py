"""What is known about an agent is one item of a list; everything else follows it."""

from __future__ import annotations

from pathlib import Path

import pytest

from hivemind_memory.cli.completion import candidates
from hivemind_memory.cli.help import help_text
from hivemind_memory.connect import connector
from hivemind_memory.connect.agents import (
    AGENTS,
    ConnectableAgent,
    EntryForm,
    SettingsFile,
)
from hivemind_memory.connect.entries import (
    LocalServer,
    RemoteServer,
    is_same,
    merged,
    server_entry,
    switched_off_by,
)
from hivemind_memory.model.agents import (
    CONNECTABLE,
    PROGRAMS,
    WITH_CAPTURE,
    WITH_HOOKS,
    WITH_PERMISSIONS,
)
from tests.connect.conftest import FILES, Machine


def test_a_new_agent_is_one_item_and_gets_its_own_file(
    monkeypatch: pytest.MonkeyPatch, machine: Machine
) -> None:
    """An agent that no rule named used to edit the file of another agent."""
    new = ConnectableAgent(
        name="owl",
        title="Owl",
        program="owl",
        servers=SettingsFile(variable="OWL_HOME", folder=".owl", names=("o/mcp.json",)),
        project_servers=SettingsFile(names=(".owl/mcp.json",)),
    )
    monkeypatch.setattr(connector, "AGENTS", (*AGENTS, new))
    home = str(machine.home)

    [found] = connector.chosen_agents(("owl",))

    assert found.servers.find(home, {}) == f"{home}/.owl/o/mcp.json"
    assert found.servers.find(home, {"OWL_HOME": "/x"}) == "/x/o/mcp.json"
    with pytest.raises(KeyError, match="lark"):
        connector.chosen_agents(("lark",))


def test_a_new_agent_may_spell_every_key_in_its_own_way() -> None:
    """The old address won where a second list did not know the key."""
    form = EntryForm(
        url="serverUrl",
        headers="serverHeaders",
        env="serverEnv",
        remote_extra={"serverVariables": ["PWD"]},
    )
    files = SettingsFile(names=("owl.json",))
    owl = ConnectableAgent(
        name="owl",
        title="Owl",
        program="owl",
        servers=files,
        project_servers=files,
        form=form,
    )
    local = LocalServer(command=("hm", "mcp"), home="/new")
    old, new = (
        server_entry(owl, RemoteServer(url=f"http://{name}", token=name))
        for name in ("old", "new")
    )
    by_program = server_entry(owl, local)
    own = {"timeout": 5}

    assert merged(old | own | {"serverVariables": []}, new, form) == new | own
    assert merged(old | own, by_program, form) == by_program | own
    assert merged(by_program | own, new, form) == new | own
    assert merged(
        {"serverEnv": {"MINE": "1", "HIVEMIND_HOME": "/old"}}, by_program, form
    )["serverEnv"] == {"MINE": "1", "HIVEMIND_HOME": "/new"}
    bare = server_entry(owl, LocalServer(command=("hm", "mcp")))
    assert is_same(bare | {"serverEnv": {}, "serverHeaders": {}}, bare, form)


_SERVERS = (
    LocalServer(command=("hm", "mcp"), home="/h"),
    RemoteServer(url="http://127.0.0.1:1/mcp", token="t"),
)


@pytest.mark.parametrize("agent", AGENTS, ids=lambda agent: agent.name)
def test_no_key_of_ours_stays_when_an_agent_changes_to_http_and_back(
    agent: ConnectableAgent,
) -> None:
    """``env_vars`` stayed beside an address, and Codex did not start."""
    for old in _SERVERS:
        for new in _SERVERS:
            before, wanted = server_entry(agent, old), server_entry(agent, new)

            assert merged(before, wanted, agent.form) == wanted


def test_a_key_of_the_user_stays_only_where_the_agent_takes_it() -> None:
    """Codex refuses ``oauth`` for a program, and ``env_vars`` for an address."""
    codex = next(agent for agent in AGENTS if agent.name == "codex")
    local, remote = (server_entry(codex, server) for server in _SERVERS)
    env_vars = {"env_vars": ["MINE"]}

    assert merged(local | env_vars, local, codex.form)["env_vars"] == [
        "MINE",
        "HIVEMIND_WORKSPACE",
    ]
    assert "env_vars" not in merged(local | env_vars, remote, codex.form)
    oauth = {"oauth_resource": "x", "tool_timeout_sec": 9}
    assert merged(remote | oauth, remote, codex.form) == remote | oauth
    assert merged(remote | oauth, local, codex.form) == local | {"tool_timeout_sec": 9}


def test_every_way_to_switch_a_server_off_is_known() -> None:
    """An agent that has switched the server off was "already connected"."""
    entry = {"command": "hm"}
    on: dict[str, object] = {"t": {"hm": entry}, "mcp": {"allowed": [], "excluded": 1}}

    assert switched_off_by(on, "t", "hm") == ""
    assert switched_off_by({"t": {"hm": {"enabled": False}}}, "t", "hm") == (
        "t.hm.enabled"
    )
    assert switched_off_by({"t": {"hm": {"disabled": True}}}, "t", "hm") == (
        "t.hm.disabled"
    )
    for rule, names in (("excluded", ["hm"]), ("allowed", ["other"])):
        assert switched_off_by(on | {"mcp": {rule: names}}, "t", "hm") == f"mcp.{rule}"


def test_the_names_that_help_knows_are_those_of_the_agents() -> None:
    """Help names them without importing what is known about them."""
    assert tuple(agent.name for agent in AGENTS) == CONNECTABLE
    assert tuple(one.name for one in AGENTS if one.hook) == WITH_HOOKS
    capturing = (one for one in AGENTS if one.hook and one.hook.capture_events)
    assert tuple(one.name for one in capturing) == WITH_CAPTURE
    assert tuple(one.name for one in AGENTS if one.has_permissions) == WITH_PERMISSIONS


def test_every_agent_has_a_file_of_its_own(tmp_path: Path) -> None:
    """Two agents with one file would undo each other."""
    found = {agent.name: agent.servers.find(str(tmp_path), {}) for agent in AGENTS}

    assert found == {name: str(tmp_path / file) for name, file in FILES.items()}


@pytest.mark.parametrize(
    ("command", "names"),
    [
        ("connect", tuple(agent.name for agent in AGENTS)),
        ("launch", tuple(PROGRAMS)),
        ("inject", tuple(PROGRAMS)),
        ("hook session-start", WITH_HOOKS),
        ("hook session-end", WITH_CAPTURE),
    ],
)
def test_help_names_every_agent(command: str, names: tuple[str, ...]) -> None:
    """``inject`` and ``hook`` name them by hand: they start with every agent."""
    text = help_text(command, 400)

    assert text is not None
    assert [name for name in names if name not in text] == []


def test_tab_offers_every_agent_that_can_be_launched() -> None:
    """It offered those that can be connected: aider was missing."""
    assert set(PROGRAMS) <= set(candidates(["launch", ""]))
