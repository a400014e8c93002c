"""The commands for git's hook: git-hook status, install, remove, and what it calls."""

from __future__ import annotations

import os
import threading
from dataclasses import asdict

from hivemind_memory import wiring
from hivemind_memory.cli.as_json import print_json
from hivemind_memory.cli.escape import escape_line
from hivemind_memory.cli.own_command import own_command
from hivemind_memory.cli.streams import write_stdout
from hivemind_memory.launch import git_hook

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.cli.parse import CommandRequest

_MAX_S = 20.0
"""So long may `git worktree add` wait for its memories at most."""


def status(request: CommandRequest) -> int:
    """Say whether the hook is installed."""
    state = git_hook.state(_folder(request), wiring.git_environ())
    if request.values["json"]:
        print_json(asdict(state))
    else:
        what = "installed" if state.is_installed else "not installed"
        write_stdout(f"{what}: {escape_line(state.path)}\n")
    return 0


def install(request: CommandRequest) -> int:
    """Install the hook, or bring it up to date."""
    call = git_hook.HookCommand(
        hm=own_command(),
        options=("--memory-dir", os.path.abspath(request.memory_dir))
        if request.memory_dir
        else (),
        agents=request.values["agent"] or "claude",
        home=wiring.resolve_home(None) if os.environ.get(wiring.HOME_VARIABLE) else "",
    )
    state = git_hook.install(_folder(request), call, wiring.git_environ())
    what = "Installed" if state.is_changed else "Was installed already"
    write_stdout(f"{what}: {escape_line(state.path)}\n")
    return 0


def remove(request: CommandRequest) -> int:
    """Take the hook away."""
    state = git_hook.remove(_folder(request), wiring.git_environ())
    what = "Removed" if state.is_changed else "Was not installed"
    write_stdout(f"{what}: {escape_line(state.path)}\n")
    return 0


def run(request: CommandRequest) -> int:
    """Inject into this new worktree; git waits a bounded time and hears no failure."""
    # A killed injection leaves no half-written file, so there is nothing to wait for.
    limit = threading.Timer(_MAX_S, os._exit, args=(0,))
    limit.daemon = True
    limit.start()
    try:
        with wiring.open_memory(memory_dir=request.memory_dir) as memory:
            injector = wiring.open_injector(memory)
            for agent in (request.values["agent"] or "claude").split(","):
                injector.inject(os.curdir, agent=agent)
    except Exception:  # noqa: BLE001 - git must not hear of it, whatever it is
        return 0
    finally:
        limit.cancel()
    return 0


def _folder(request: CommandRequest) -> str:
    """Return the folder whose repository is meant."""
    return os.path.expanduser(request.values["worktree"] or os.curdir)
