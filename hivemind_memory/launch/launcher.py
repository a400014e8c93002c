"""Starts an agent in a tmux session, or finds the session in which it runs."""

from __future__ import annotations

import os
import shutil
import time
from dataclasses import dataclass

from hivemind_memory.errors import NotLaunchedError
from hivemind_memory.launch.agents import with_memory_file
from hivemind_memory.launch.session_names import session_names
from hivemind_memory.launch.tmux import NewSession, Tmux
from hivemind_memory.launch.worktrees import (
    LaunchLocation,
    locate_branch,
    locate_folder,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from hivemind_memory.launch.agents import AgentCommand
    from hivemind_memory.launch.tmux import AgentSession

    Usable = Callable[[frozenset[str]], Collection[str]]
    """Worktrees -> those that the caller may use."""

    Inject = Callable[[str, str], str]
    """Worktree and kind of agent -> the file with the section, or empty. It raises
    nothing: whatever goes wrong, the agent starts."""

_LAST_LINES = 20
_POLL_S = 0.05
_STATUS_S = 1.0
"""An exit status is available at once, or, before tmux 3.3, perhaps never."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EndedAgent:
    """An agent that ended while it was watched."""

    exit_code: int | None
    """None: tmux does not know it."""

    last_lines: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchedAgent:
    """A running agent."""

    session: AgentSession
    is_new: bool
    """It was started now, and not found running."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchRequest:
    """An agent to launch."""

    agent: AgentCommand
    location: LaunchLocation
    watch_s: float
    """How long a new agent is watched for an early end, in seconds."""

    arguments: tuple[str, ...] = ()
    """The user's arguments, after those of the agent's own command."""

    size: tuple[int, int] | None = None
    """Columns and lines of the terminal that will show it, if any."""


class Launcher:
    """Finds worktrees and sessions for agents, and starts them."""

    def __init__(
        self,
        environ: Mapping[str, str],
        git_environ: Mapping[str, str],
        *,
        locks: str,
        usable: Usable,
    ) -> None:
        self._git_environ = git_environ
        self._locks = locks
        self._usable = usable
        self.environ = environ
        """The environment of the agents."""
        program = shutil.which("tmux", path=environ.get("PATH"))
        self.tmux = Tmux(program, environ) if program else None

    def locate(self, worktree: str | None, branch: str | None) -> LaunchLocation:
        """Return the named worktree, the worktree of a branch, or the current folder.

        Raises:
            UsageError: The folder does not exist, or the branch name is not valid.
            NotLaunchedError: git cannot create a worktree.
        """
        if branch is None:
            folder = os.curdir if worktree is None else worktree
            return locate_folder(folder, self._git_environ)
        return locate_branch(os.curdir, branch, self._git_environ, locks=self._locks)

    def sessions(self) -> list[AgentSession]:
        """Return our sessions in worktrees that the caller may use; none without tmux.

        The others do not exist for it: it neither finds nor ends them.
        """
        found = self.tmux.sessions() if self.tmux else []
        usable = self._usable(frozenset(session.worktree for session in found))
        return [session for session in found if session.worktree in usable]

    def launch(
        self, tmux: Tmux, launch_request: LaunchRequest, inject: Inject
    ) -> LaunchedAgent | EndedAgent:
        """Start an agent, or find the one that is running there.

        Raises:
            NotLaunchedError: tmux failed.
        """
        found = self._find(tmux, launch_request)
        if found is not None:
            return LaunchedAgent(session=found, is_new=False)
        words = self.words(launch_request, inject)
        identity = f"{launch_request.agent.name}\n{launch_request.location.worktree}"
        for name in session_names(
            launch_request.location.label, launch_request.agent.name, identity
        ):
            new = NewSession(
                name=name,
                agent=launch_request.agent.name,
                worktree=launch_request.location.worktree,
                folder=launch_request.location.folder,
                words=words,
                environ=self.environ,
                size=launch_request.size,
            )
            is_new = tmux.start(new)
            # If the name is taken, another launch of the same agent may have taken it.
            found = _started(tmux, name) if is_new else self._find(tmux, launch_request)
            if found is not None:
                seen = (
                    _watch_start(tmux, found, launch_request.watch_s)
                    if is_new
                    else None
                )
                return seen or LaunchedAgent(session=found, is_new=is_new)
            if is_new:
                raise NotLaunchedError("tmux started a session, but it is gone.")
        message = f"Every session name for {launch_request.agent.name} is taken."
        raise NotLaunchedError(message, hint="`tmux list-sessions` shows them.")

    def words(self, launch_request: LaunchRequest, inject: Inject) -> tuple[str, ...]:
        """Inject memories; return the command that reads them."""
        file = inject(launch_request.location.worktree, launch_request.agent.kind)
        words = with_memory_file(
            launch_request.agent.kind, launch_request.agent.words, file
        )
        return (*words, *launch_request.arguments)

    def reap_if_ended(self, tmux: Tmux, session: AgentSession) -> EndedAgent | None:
        """Return how an agent ended and close its pane; None while it runs."""
        now = _current(tmux, session)
        return _close(tmux, now) if now is not None and now.is_ended else None

    def _find(self, tmux: Tmux, launch_request: LaunchRequest) -> AgentSession | None:
        """Return the session of an agent in a worktree; close ended ones."""
        for session in self.sessions():
            is_same = session.worktree == launch_request.location.worktree
            if not is_same or session.agent != launch_request.agent.name:
                continue
            if not session.is_ended:
                return session
            tmux.kill(session)
        return None


def _started(tmux: Tmux, name: str) -> AgentSession | None:
    """Return the session that was just started, wherever it is; None: it is gone."""
    return next((session for session in tmux.sessions() if session.name == name), None)


def _watch_start(
    tmux: Tmux, session: AgentSession, watch_s: float
) -> EndedAgent | None:
    """Watch a new agent for a while; return how it ended, if it did."""
    until_s = time.monotonic() + watch_s
    is_last = False
    while True:
        now = _current(tmux, session)
        if now is None:
            raise NotLaunchedError("The session was closed as soon as it started.")
        if now.is_ended:
            return _close(tmux, now)
        if is_last:
            return None
        if time.monotonic() < until_s:
            time.sleep(_POLL_S)
        else:
            # Check once more: it may have ended in between, and its pane would stay.
            tmux.release_pane(session)
            is_last = True


def _close(tmux: Tmux, session: AgentSession) -> EndedAgent:
    """Return how an agent ended, and close its pane."""
    until_s = time.monotonic() + _STATUS_S
    now: AgentSession | None = session
    while now and now.exit_code is None and time.monotonic() < until_s:
        time.sleep(_POLL_S)
        now = _current(tmux, session)
    lines = tmux.last_lines(session, _LAST_LINES)
    tmux.kill(session)
    exit_code = now.exit_code if now else None
    return EndedAgent(exit_code=exit_code, last_lines=tuple(lines))


def _current(tmux: Tmux, session: AgentSession) -> AgentSession | None:
    """Return the current state of a session; None if it is gone."""
    found = (
        candidate for candidate in tmux.sessions() if candidate.pane == session.pane
    )
    return next(found, None)
