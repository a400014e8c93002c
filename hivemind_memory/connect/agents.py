"""The agents that ``hm connect`` knows: their files of servers, the form of an entry.

Everything that differs between agents is a field here: a new agent is one item of
``AGENTS``, and its name in ``model/agents.py``, from which help and completion have it.

An entry is what the agent's own command for adding a server writes. Each was verified
with the versions that docs/agents.md names; those of Cursor and VS Code are from
their documentation.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping

from hivemind_memory.config.resolve import WORKSPACE_VARIABLE
from hivemind_memory.connect.jsonc import Dialect
from hivemind_memory.model.agents import PROJECT_HEADER
from hivemind_memory.model.value import NO_ITEMS, value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SERVER = "hivemind"
"""The server's name in every agent's settings."""

READING_TOOLS = ("memory_search", "memory_get", "memory_list", "memory_history")
"""Tools that an agent may call without asking, if its user allows it: they only read.
``memory_write`` is not among them: every later session reads what one session writes,
so the user should confirm it."""

PERMISSION_RULES = tuple(f"mcp__hivemind__{tool}" for tool in READING_TOOLS)

_SHELL_FOLDER = "${PWD}"

_APP_DATA = {
    "darwin": ("", "Library/Application Support"),
    "win32": ("APPDATA", "AppData/Roaming"),
}.get(sys.platform, ("XDG_CONFIG_HOME", ".config"))
"""Where an Electron program keeps its files: a variable, and a folder without it."""

STRICT_JSON = Dialect()
COMMENTED = Dialect(has_comments=True)
LENIENT = Dialect(has_comments=True, has_last_commas=True)


@value
class SettingsFile:
    """Where an agent keeps a file of settings."""

    names: tuple[str, ...]
    """Below its folder, in the order in which it looks; it creates the first."""

    variable: str = ""
    """The environment variable that names the folder; empty: none does."""

    folder: str = ""
    """The folder if the variable is not set, below the user's home."""

    has_tilde: bool = False
    """Whether the agent expands ``~`` in the variable."""

    def find(self, user_home: str, environ: Mapping[str, str]) -> str:
        """Return its path: of the first file that exists, or else of the first."""
        folder = environ.get(self.variable) or os.path.join(user_home, self.folder)
        if self.has_tilde:
            folder = os.path.expanduser(folder)
        files = [os.path.join(folder, *name.split("/")) for name in self.names]
        return next((file for file in files if os.path.lexists(file)), files[0])


@value
class EntryForm:
    """How an agent spells the entry of one server."""

    local_type: str = ""
    """Value of ``type`` for a program; empty: it has no such key."""

    remote_type: str = "http"
    """Value of ``type`` for an address; empty: it has no such key."""

    env: str = "env"
    url: str = "url"
    headers: str = "headers"
    has_one_list: bool = False
    """Whether ``command`` holds the arguments too."""

    local_extra: Mapping[str, Any] = NO_ITEMS
    """What else an entry for a program holds."""

    remote_extra: Mapping[str, Any] = NO_ITEMS
    """What else an entry for an address holds."""

    extra: Mapping[str, Any] = NO_ITEMS
    """What every entry holds unless the user has set it to something else."""

    project: str = ""
    """What the agent replaces by the folder in which it runs, in a header; empty: it
    has another way, in ``remote_extra``."""


@value
class HookForm:
    """How an agent spells its hooks; only verified ones are listed."""

    file: SettingsFile | None = None
    """Where hooks and permissions are, in JSON; None: in the file of the servers."""

    events: tuple[str, ...] = ("SessionStart", "SubagentStart")
    """When it runs them, in its own words. The same command serves all of them."""

    capture_events: tuple[str, ...] = ()
    """When it runs what captures a session; empty: no such event was verified."""

    timeout: int = 10
    """Ten seconds in the agent's unit."""

    timeouts: Mapping[str, int] = NO_ITEMS
    """Event -> its own timeout, where the agent allows less."""

    name: str = ""
    """Its name; empty: hooks have none."""


@value
class ConnectableAgent:
    """An agent that uses the Model Context Protocol."""

    name: str
    """As typed."""

    title: str
    program: str
    also: str = ""
    """Another sign of it, below the user's home: a program, or a folder it creates."""

    servers: SettingsFile
    """Where it keeps the servers of its user."""

    project_servers: SettingsFile
    """Where it looks for the servers of a project, below the repository."""

    switches: SettingsFile | None = None
    """Where it keeps which servers are switched off, if not with the servers."""

    table: str = "mcpServers"
    """The key that holds its servers."""

    form: EntryForm = EntryForm()
    """What the entry of a server looks like."""

    hook: HookForm | None = None
    """Its hooks; None: it has none, or none was verified."""

    has_permissions: bool = False
    """Whether its settings can allow single tools."""

    merges_entries: bool = False
    """Whether it merges a project's entry with its user's of that name, key by key."""

    dialect: Dialect | None = STRICT_JSON
    """How it reads its file; None: TOML."""

    beginning: str = "{}\n"
    """Content of a new file."""


AGENTS = (
    ConnectableAgent(
        name="claude",
        title="Claude Code",
        program="claude",
        # Where its former installer put the program.
        also=".claude/local/claude",
        servers=SettingsFile(variable="CLAUDE_CONFIG_DIR", names=(".claude.json",)),
        project_servers=SettingsFile(names=(".mcp.json",)),
        form=EntryForm(local_type="stdio", project=_SHELL_FOLDER),
        hook=HookForm(
            file=SettingsFile(
                variable="CLAUDE_CONFIG_DIR",
                folder=".claude",
                names=("settings.json",),
            ),
            capture_events=("SessionEnd", "Stop"),
        ),
        has_permissions=True,
    ),
    ConnectableAgent(
        name="codex",
        title="Codex",
        program="codex",
        servers=SettingsFile(
            variable="CODEX_HOME", folder=".codex", names=("config.toml",)
        ),
        project_servers=SettingsFile(names=(".codex/config.toml",)),
        table="mcp_servers",
        form=EntryForm(
            remote_type="",
            headers="http_headers",
            # It passes on no other variable, and hm launch may set this one.
            local_extra={"env_vars": [WORKSPACE_VARIABLE]},
            # The variables, not their values; a header itself holds no variable.
            remote_extra={"env_http_headers": {PROJECT_HEADER: "PWD"}},
        ),
        hook=HookForm(
            file=SettingsFile(
                variable="CODEX_HOME", folder=".codex", names=("hooks.json",)
            ),
            capture_events=("SessionEnd", "Stop"),
            # It warns at each start of one that is longer.
            timeouts={"SessionEnd": 3},
        ),
        merges_entries=True,
        dialect=None,
        beginning="",
    ),
    ConnectableAgent(
        name="gemini",
        title="Gemini CLI",
        program="gemini",
        servers=SettingsFile(
            variable="GEMINI_CLI_HOME", names=(".gemini/settings.json",)
        ),
        project_servers=SettingsFile(names=(".gemini/settings.json",)),
        switches=SettingsFile(
            variable="GEMINI_CLI_HOME",
            names=(".gemini/mcp-server-enablement.json",),
        ),
        form=EntryForm(project=_SHELL_FOLDER),
        hook=HookForm(
            # It starts no session after it has compressed one.
            events=("SessionStart", "BeforeAgent"),
            capture_events=("SessionEnd", "BeforeAgent"),
            timeout=10_000,
            name="hivemind",
        ),
        dialect=COMMENTED,
    ),
    ConnectableAgent(
        name="cursor",
        title="Cursor",
        program="cursor",
        also=".cursor",
        servers=SettingsFile(folder=".cursor", names=("mcp.json",)),
        project_servers=SettingsFile(names=(".cursor/mcp.json",)),
        form=EntryForm(remote_type="", project="${workspaceFolder}"),
        dialect=LENIENT,
    ),
    ConnectableAgent(
        name="opencode",
        title="OpenCode",
        program="opencode",
        servers=SettingsFile(
            variable="XDG_CONFIG_HOME",
            folder=".config",
            names=(
                "opencode/opencode.jsonc",
                "opencode/opencode.json",
                "opencode/config.json",
            ),
        ),
        project_servers=SettingsFile(names=("opencode.json", "opencode.jsonc")),
        table="mcp",
        form=EntryForm(
            local_type="local",
            remote_type="remote",
            env="environment",
            has_one_list=True,
            project="{env:PWD}",
        ),
        dialect=LENIENT,
        # It adds this itself at its next start.
        beginning='{\n  "$schema": "https://opencode.ai/config.json"\n}\n',
    ),
    ConnectableAgent(
        name="qwen",
        title="Qwen Code",
        program="qwen",
        servers=SettingsFile(
            variable="QWEN_HOME",
            folder=".qwen",
            names=("settings.json",),
            has_tilde=True,
        ),
        project_servers=SettingsFile(names=(".qwen/settings.json",)),
        form=EntryForm(
            remote_type="",
            url="httpUrl",
            project=_SHELL_FOLDER,
            # Else its model has to look for a tool before it is offered any.
            extra={"alwaysLoadTools": True},
        ),
        hook=HookForm(
            # Its subagents are given its files, and not what SubagentStart answers.
            events=("SessionStart",),
            capture_events=("SessionEnd", "Stop"),
            # It reads 1000 and more as milliseconds, as earlier versions read all.
            timeout=10_000,
        ),
        dialect=COMMENTED,
    ),
    ConnectableAgent(
        name="vscode",
        title="VS Code",
        program="code",
        also=".vscode",
        # Of the default profile.
        servers=SettingsFile(
            variable=_APP_DATA[0],
            folder=_APP_DATA[1],
            names=("Code/User/mcp.json",),
        ),
        project_servers=SettingsFile(names=(".vscode/mcp.json",)),
        table="servers",
        form=EntryForm(local_type="stdio", project="${workspaceFolder}"),
        dialect=LENIENT,
    ),
)


def hooks_file(
    agent: ConnectableAgent, user_home: str, environ: Mapping[str, str]
) -> str:
    """Return the file in which an agent keeps hooks and permissions."""
    own = agent.hook.file if agent.hook is not None else None
    return (own or agent.servers).find(user_home, environ)
