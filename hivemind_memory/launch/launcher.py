"""Starts an agent in a session of tmux, or finds the session in which it runs."""

from __future__ import annotations

import os
import shutil
import time
from dataclasses import dataclass

from hivemind_memory.errors import NotLaunchedError
from hivemind_memory.launch.agents import with_memory_file
from hivemind_memory.launch.names import session_names
from hivemind_memory.launch.tmux import NewSession, Tmux
from hivemind_memory.launch.worktrees import (
    LaunchLocation,
    locate_branch,
    locate_folder,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from hivemind_memory.launch.agents import AgentCommand
    from hivemind_memory.launch.tmux import AgentSession

    Inject = Callable[[str, str], str]
    """Worktree and kind of agent -> the file with the section, empty for none; it
    raises nothing: whatever goes wrong, the agent starts."""

_LAST_LINES = 20
_LOOK_EVERY_S = 0.05
_STATUS_S = 1.0
"""An ended agent's status is there at once, or, before tmux 3.3, never."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EndedAgent:
    """An agent that ended while we looked."""

    exit_code: int | None
    """None: tmux could not tell."""

    last_lines: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchedAgent:
    """An agent that runs."""

    session: AgentSession
    is_new: bool
    """It was started now; otherwise it was found."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchRequest:
    """What is to be launched."""

    agent: AgentCommand
    location: LaunchLocation
    watch_s: float
    """Seconds for which a new agent is watched, to see whether it ends."""

    arguments: tuple[str, ...] = ()
    """What the person gave beside the agent's own words."""

    size: tuple[int, int] | None = None
    """Columns and lines of the terminal, if one will show it."""


class Launcher:
    """Finds places and sessions for agents."""

    def __init__(
        self, environ: Mapping[str, str], git_environ: Mapping[str, str], *, locks: str
    ) -> None:
        self._git_environ = git_environ
        self._locks = locks
        self.environ = environ
        """What agents are started with."""
        program = shutil.which("tmux", path=environ.get("PATH"))
        self.tmux = Tmux(program, environ) if program else None

    def locate(self, worktree: str | None, branch: str | None) -> LaunchLocation:
        """Return the worktree that a person named, or that of a branch; or this folder.

        Raises:
            UsageError: There is no such folder, or no such thing as that branch.
            NotLaunchedError: git refuses to make a worktree.
        """
        if branch is None:
            folder = os.curdir if worktree is None else worktree
            return locate_folder(folder, self._git_environ)
        return locate_branch(os.curdir, branch, self._git_environ, locks=self._locks)

    def sessions(self) -> list[AgentSession]:
        """Return all sessions of ours; none where there is no tmux."""
        return self.tmux.sessions() if self.tmux else []

    def launch(
        self, tmux: Tmux, launch_request: LaunchRequest, inject: Inject
    ) -> LaunchedAgent | EndedAgent:
        """Start an agent, or find the one that runs there.

        Raises:
            NotLaunchedError: tmux refuses.
        """
        found = _find(tmux, launch_request)
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
            # A name that is taken may be by another launch of the same, just now.
            found = _find(tmux, launch_request, include_ended=is_new)
            if found is not None:
                seen = (
                    _watch_start(tmux, found, launch_request.watch_s)
                    if is_new
                    else None
                )
                return seen or LaunchedAgent(session=found, is_new=is_new)
            if is_new:
                raise NotLaunchedError("tmux started a session, and it is gone.")
        message = (
            f"No free name for a session of {launch_request.agent.name} was found."
        )
        raise NotLaunchedError(message, hint="`tmux list-sessions` shows them.")

    def words(self, launch_request: LaunchRequest, inject: Inject) -> tuple[str, ...]:
        """Have memories injected; return the command that reads them."""
        file = inject(launch_request.location.worktree, launch_request.agent.kind)
        words = with_memory_file(
            launch_request.agent.kind, launch_request.agent.words, file
        )
        return (*words, *launch_request.arguments)

    def reap_if_ended(self, tmux: Tmux, session: AgentSession) -> EndedAgent | None:
        """Return how an agent ended, if it has and can be asked; None while it runs.

        What was left of it is taken away.
        """
        now = _again(tmux, session)
        return _bury(tmux, now) if now is not None and now.is_ended else None


def _find(
    tmux: Tmux, launch_request: LaunchRequest, *, include_ended: bool = False
) -> AgentSession | None:
    """Return the session of an agent in a worktree; take away what ended there."""
    for session in tmux.sessions():
        is_same = session.worktree == launch_request.location.worktree
        if not is_same or session.agent != launch_request.agent.name:
            continue
        if include_ended or not session.is_ended:
            return session
        tmux.kill(session)
    return None


def _watch_start(
    tmux: Tmux, session: AgentSession, watch_s: float
) -> EndedAgent | None:
    """Watch a new agent for a while; return how it ended, if it did."""
    until_s = time.monotonic() + watch_s
    is_last = False
    while True:
        now = _again(tmux, session)
        if now is None:
            raise NotLaunchedError("Somebody ended the session as soon as it began.")
        if now.is_ended:
            return _bury(tmux, now)
        if is_last:
            return None
        if time.monotonic() < until_s:
            time.sleep(_LOOK_EVERY_S)
        else:
            # And once more after that: it may have ended in between, and would stay.
            tmux.release_pane(session)
            is_last = True


def _bury(tmux: Tmux, session: AgentSession) -> EndedAgent:
    """Return how an agent ended, and take away what is left of it."""
    until_s = time.monotonic() + _STATUS_S
    now: AgentSession | None = session
    while now and now.exit_code is None and time.monotonic() < until_s:
        time.sleep(_LOOK_EVERY_S)
        now = _again(tmux, session)
    lines = tmux.last_lines(session, _LAST_LINES)
    tmux.kill(session)
    exit_code = now.exit_code if now else None
    return EndedAgent(exit_code=exit_code, last_lines=tuple(lines))


def _again(tmux: Tmux, session: AgentSession) -> AgentSession | None:
    """Return a session as it is now; None when it is gone."""
    found = (one for one in tmux.sessions() if one.pane == session.pane)
    return next(found, None)
