"""Reads the environment, the clock and the home folder; lower modules never do.

Imports only what every command needs.
"""

from __future__ import annotations

import os
import sys
import time

from hivemind_memory.access.rules import agent_in
from hivemind_memory.config.resolve import WORKSPACE_VARIABLE
from hivemind_memory.config.resolve import load_settings as resolve_settings
from hivemind_memory.files.home import home_of
from hivemind_memory.files.places import remember_vault
from hivemind_memory.model.clocks import Clocks
from hivemind_memory.model.value import replaced

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from hivemind_memory.access.callers import ScopeRequest
    from hivemind_memory.config.settings import Settings
    from hivemind_memory.memory import Memory
    from hivemind_memory.transcripts.open import Surroundings

asked_by = 0
"""The process whose command this one runs, see ``cli.asking``; 0: its own."""

SCOPE_VARIABLES = (WORKSPACE_VARIABLE, "HIVEMIND_TEAM", "HIVEMIND_PROJECT")
"""What limits a process to some scopes; see ``access.callers``."""

# What a hook of git inherits (git rev-parse --local-env-vars); it names a repository
# that need not be the one of the worktree.
_GIT_OF_A_HOOK = frozenset(
    {
        "GIT_ALTERNATE_OBJECT_DIRECTORIES",
        "GIT_COMMON_DIR",
        "GIT_CONFIG",
        "GIT_CONFIG_COUNT",
        "GIT_CONFIG_PARAMETERS",
        "GIT_DIR",
        "GIT_GRAFT_FILE",
        "GIT_IMPLICIT_WORK_TREE",
        "GIT_INDEX_FILE",
        "GIT_INTERNAL_SUPER_PREFIX",
        "GIT_NO_REPLACE_OBJECTS",
        "GIT_OBJECT_DIRECTORY",
        "GIT_PREFIX",
        "GIT_REPLACE_REF_BASE",
        "GIT_SHALLOW_FILE",
        "GIT_WORK_TREE",
    }
)


def resolve_home(flag: str | None = None) -> str:
    """Return the home folder: the flag, ``HIVEMIND_HOME``, or ``~/.hivemind``."""
    return home_of(os.environ, flag)


def load_settings(
    home: str | None = None, flags: Mapping[str, object] | None = None
) -> Settings:
    """Return the settings in effect: flag, environment, config.json, default.

    What the vault of that home keeps is secret to this process from now on.

    Raises:
        ConfigError: A value cannot be used.
    """
    folder = resolve_home(home)
    settings = resolve_settings(folder, os.environ, flags or {})
    remember_vault(folder, settings.vault_key_command)
    return settings


def agent_scope_request(
    *,
    workspace: str = "",
    teams: str = "",
    project: str = "",
    is_read_only: bool = False,
) -> ScopeRequest:
    """Return the scopes of an agent's server; the environment gives what is left out.

    Args:
        workspace: Name of a workspace.
        teams: Names of teams, separated by commas.
        project: Name of a project, ``none``, or ``auto``, which is the default: the
            project of the folder in which it opens.
        is_read_only: Whether it may change nothing.
    """
    from hivemind_memory.access.callers import AUTO, ScopeRequest

    names = [os.environ.get(name, "").strip() for name in SCOPE_VARIABLES]
    teams = teams or names[1]
    return ScopeRequest(
        workspace=workspace or names[0],
        teams=tuple(team.strip() for team in teams.split(",") if team.strip()),
        project=project or names[2] or AUTO,
        is_agent=True,
        is_read_only=is_read_only,
    )


def names_scopes() -> bool:
    """Return whether the environment names scopes, which limit what starts here."""
    return any(os.environ.get(name, "").strip() for name in SCOPE_VARIABLES)


def given_project(flag: str) -> str:
    """Return the project that the flag or the environment names; empty: neither."""
    return flag or os.environ.get(SCOPE_VARIABLES[2], "").strip()


def is_agents_shell() -> bool:
    """Return whether an agent opened the shell that this process runs in."""
    return bool(agent_of_shell())


def agent_of_shell() -> str:
    """Return the agent whose shell this process runs in; empty: it is a person's."""
    return agent_in(os.environ)


def shell_scope_request() -> ScopeRequest | None:
    """Return the scopes that the environment of a shell names; None: none."""
    if is_agents_shell():
        return agent_scope_request()
    if not names_scopes():
        return None
    # Without one, a person's shell has no project.
    project = given_project("")
    return replaced(agent_scope_request(), project=project, is_agent=False)


def section_scope_request() -> ScopeRequest:
    """Return the scopes of what this process injects: never more than its shell sees.

    An owner's shell sees everything; what it injects is what an agent's server finds.
    """
    # Whoever injects, the reader is an agent.
    return replaced(shell_scope_request() or agent_scope_request(), is_agent=True)


def context_scopes(memory: Memory, folder: str) -> frozenset[str] | None:
    """Return the scopes of which a context of a folder tells the owner.

    They are those of an agent in its repository: what goes to a model about a project
    says nothing of another. None: all that the caller sees.
    """
    from hivemind_memory.files.places import find_above

    is_limited = memory.caller.scopes is not None
    if is_limited or not find_above(os.path.realpath(folder), ".git"):
        return None
    from hivemind_memory.access.callers import caller_of
    from hivemind_memory.projects.lookup import ProjectLookup

    settings, notes = memory.settings, memory.places.notes
    lookup = ProjectLookup(
        folder, git_environ(), notes, settings.projects, is_look=True
    )
    return caller_of(
        section_scope_request(),
        workspaces=settings.workspaces,
        find_project=lambda: lookup.find_known().slug,
    ).scopes


def git_environ() -> dict[str, str]:
    """Return the environment for git: its own repository, no question, in English."""
    return {
        **environ_without_hook(),
        "GIT_OPTIONAL_LOCKS": "0",  # asking must not disturb a git that is at work
        "GIT_TERMINAL_PROMPT": "0",
        "LC_ALL": "C",
    }


def explicit_git() -> dict[str, str]:
    """Return the repository that the user named with ``GIT_DIR``, or nothing.

    A hook of git sets it too, but then discovery finds the same repository.
    """
    names = ("GIT_DIR", "GIT_WORK_TREE")
    named = {name: os.environ.get(name, "") for name in names}
    if not all(named.values()):
        return {}
    return {name: os.path.abspath(path) for name, path in named.items()}


def environ_without_hook() -> dict[str, str]:
    """Return the environment without what a hook of git says about its repository."""
    environ = os.environ.items()
    return {name: text for name, text in environ if name not in _GIT_OF_A_HOOK}


def session_surroundings() -> Surroundings:
    """Return where agents keep transcripts, and what git is run with there."""
    from hivemind_memory.transcripts.open import Surroundings

    return Surroundings(
        user_home=os.path.expanduser("~"),
        environ=os.environ,
        git_environ=git_environ(),
    )


def model_server() -> str:
    """Return where models are fetched from: huggingface.co, or a mirror of it."""
    return os.environ.get("HF_ENDPOINT", "").rstrip("/") or "https://huggingface.co"


def new_session() -> str:
    """Return a name for this process, by which the entries it writes can be found."""
    return os.urandom(4).hex()


def terminal_session() -> str:
    """Return a name for the terminal session in whose foreground this process runs.

    Empty: it has none, as under cron, or runs in the background. Pipes and redirections
    make no difference, and each pane of tmux has a session of its own.
    """
    if sys.platform == "win32" or is_agents_shell():
        return ""
    if asked_by:
        return _terminal_session_of(asked_by)
    try:
        terminal = os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY)
    except OSError:
        return ""
    try:
        is_in_front = os.tcgetpgrp(terminal) == os.getpgrp()
    except OSError:
        is_in_front = False
    finally:
        os.close(terminal)
    leader = os.getsid(0)
    return f"{leader}-{_start_of(leader)}" if is_in_front else ""


def processes_above() -> list[int]:
    """Return the process that started this command, and the one above it.

    Between an agent and its hook there may be a shell. Where there is no ``/proc``,
    only the first.
    """
    above: list[int] = []
    try:
        above.append(int(_status_of(asked_by)[1]) if asked_by else os.getppid())
        above.append(int(_status_of(above[0])[1]))
    except (OSError, ValueError, IndexError):
        return above
    return above


def _terminal_session_of(process: int) -> str:
    """Return what ``terminal_session`` does in another process."""
    try:
        group, leader, terminal, front = _status_of(process)[2:6]
    except (OSError, ValueError):
        return ""
    is_in_front = terminal != "0" and front == group
    return f"{leader}-{_start_of(int(leader))}" if is_in_front else ""


def _start_of(process: int) -> str:
    """Return when a process started, in clock ticks since the start of the system.

    Numbers of processes are used again. Empty where there is no ``/proc``.
    """
    try:
        return _status_of(process)[19]
    except (OSError, IndexError):
        return ""


def _status_of(process: int) -> list[str]:
    """Return what ``/proc`` tells of a process, from its state on."""
    with open(f"/proc/{process}/stat", encoding="utf-8", errors="replace") as stat:
        # The name of the program, in brackets, may hold anything.
        return stat.read().rpartition(")")[2].split()


def system_clocks() -> Clocks:
    """Return the clocks of this machine."""
    return Clocks(
        now=time.time,
        stopwatch=time.perf_counter,
        local_iso=local_iso,
        local_offset_s=_local_offset_s,
        randomness=_ten_random_bytes,
    )


def local_iso(moment_s: float) -> str:
    """Return a moment as ISO 8601 in the local time zone, to the second."""
    # time.strftime: datetime would cost milliseconds on the way to a cold answer.
    text = time.strftime("%Y-%m-%dT%H:%M:%S%z", time.localtime(moment_s))
    return f"{text[:-2]}:{text[-2:]}"


def _local_offset_s(moment_s: float) -> int:
    """Return the offset of the local time zone from UTC at a moment."""
    return time.localtime(moment_s).tm_gmtoff


def _ten_random_bytes() -> bytes:
    """Return what makes an entry's number unique."""
    return os.urandom(10)
