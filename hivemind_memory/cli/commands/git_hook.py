"""hm git-hook: status, install, remove, and what the hook itself runs."""

from __future__ import annotations

import os

from hivemind_memory.cli.command import CommandRequest, Flag, command
from hivemind_memory.cli.options import JSON, WORKTREE
from hivemind_memory.cli.output import print_json, print_line
from hivemind_memory.cli.own_command import own_command
from hivemind_memory.cli.persons_only import check_persons_shell
from hivemind_memory.cli.recorded_command import record_command

_AGENTS = Flag(
    ("--agent",),
    "text",
    "Agents to inject for: claude (the default), or several, as claude,codex.",
    metavar="NAMES",
    is_list=True,
    completes="agents",
)

_INSTALL, _REMOVE = ("git-hook", "install"), ("git-hook", "remove")

_MAX_S = 20.0
"""How long `git worktree add` waits for its memories at most."""


@command("git-hook status", arguments=(WORKTREE,), flags=(JSON,))
def status(request: CommandRequest) -> int:
    """Say whether the hook is installed."""
    from hivemind_memory import environment
    from hivemind_memory.launch import new_worktree_hook
    from hivemind_memory.model.value import as_dict

    state = new_worktree_hook.state(_folder(request), environment.git_environ())
    if request.values["json"]:
        print_json(as_dict(state))
    else:
        what = "installed" if state.is_installed else "not installed"
        print_line(f"{what}: {state.path}", keep=[state.path])
    return 0


@command(
    "git-hook install",
    description=(
        "Adds a block to the post-checkout hook, which runs after git worktree add. The"
        " block never fails, waits 20 seconds at most, and does nothing once hm is"
        " gone. An existing sh script is kept, with the block added to it; any other"
        " hook, and core.hooksPath, are refused."
    ),
    arguments=(WORKTREE,),
    flags=(_AGENTS,),
    examples=("hm git-hook install --agent claude,codex",),
)
def install(request: CommandRequest) -> int:
    """Install the hook, or update it."""
    from hivemind_memory import environment
    from hivemind_memory.files.home import HOME_VARIABLE
    from hivemind_memory.launch import new_worktree_hook
    from hivemind_memory.model.agents import check_agent

    folder = _folder(request)
    check_persons_shell("hm git-hook install")
    for agent in (request.values["agent"] or "").split(","):
        check_agent(agent)
    call = new_worktree_hook.HookCommand(
        hm=own_command(),
        options=("--memory-dir", os.path.abspath(request.memory_dir))
        if request.memory_dir
        else (),
        agents=request.values["agent"] or "claude",
        home=environment.resolve_home(None) if os.environ.get(HOME_VARIABLE) else "",
    )
    state = new_worktree_hook.install(folder, call, environment.git_environ())
    if state.is_changed:
        place = os.path.abspath(folder)
        record_command(request, (*_INSTALL, place), (*_REMOVE, place))
    what = "installed" if state.is_changed else "already installed"
    print_line(f"{what}: {state.path}", keep=[state.path])
    return 0


@command("git-hook remove", arguments=(WORKTREE,))
def remove(request: CommandRequest) -> int:
    """Remove the hook."""
    from hivemind_memory import environment
    from hivemind_memory.launch import new_worktree_hook

    folder = _folder(request)
    check_persons_shell("hm git-hook remove")
    state = new_worktree_hook.remove(folder, environment.git_environ())
    if state.is_changed:
        place = os.path.abspath(folder)
        record_command(request, (*_REMOVE, place), (*_INSTALL, place))
    what = "removed" if state.is_changed else "not installed"
    print_line(f"{what}: {state.path}", keep=[state.path])
    return 0


@command("git-hook run", flags=(_AGENTS,), is_hook=True)
def run(request: CommandRequest) -> int:
    """Inject into this new worktree, in bounded time and without ever failing."""
    import threading

    from hivemind_memory import opening
    from hivemind_memory.cli import output
    from hivemind_memory.model.agents import check_agent

    # A killed injection leaves no half-written file, so it may end at any moment.
    limit = threading.Timer(_MAX_S, output.leave, args=(0,))
    limit.daemon = True
    limit.start()
    try:
        with request.open_memory(is_reported=True) as memory:
            injector = opening.open_injector(memory)
            for agent in (request.values["agent"] or "claude").split(","):
                check_agent(agent)
                injector.inject(os.curdir, agent=agent)
    except Exception:  # noqa: BLE001 - git must not fail, whatever it is
        return 0
    finally:
        limit.cancel()
    return 0


def _folder(request: CommandRequest) -> str:
    """Return the folder whose repository is meant.

    Raises:
        ScopeError: It is another project's, and the caller sees only some scopes.
    """
    from hivemind_memory import opening

    folder = os.path.expanduser(request.values["worktree"] or os.curdir)
    opening.check_folder(folder, request.memory_dir)
    return folder
