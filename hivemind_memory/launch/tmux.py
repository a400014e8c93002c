"""Runs tmux: starts, lists, shows and ends sessions. Never sends keys to an agent.

A new session is described on tmux's standard input, because every user of the machine
can read a command line, variables included, and its length is limited.

Agent and worktree are stored in options of the agent's pane, so a session needs no file
and leaves nothing behind. They are percent-encoded: tmux separates its answers by
lines, and the name of a folder may contain a newline.
"""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from string import ascii_letters, digits
from urllib.parse import quote, unquote_to_bytes

from hivemind_memory.access.rules import AGENT_VARIABLES
from hivemind_memory.errors import NotLaunchedError
from hivemind_memory.files.errors import reason_of
from hivemind_memory.model.keys import no_such

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence


_TIMEOUT_S = 20.0
"""Two hundred simultaneous launches are served one after the other."""

_HISTORY_LINES = 50
_TRIES = 5
_NO_SERVER = (b"no server running", b"error connecting")
# A server exits with its last session, and serves none meanwhile.
_LEAVING = (b"no current target", b"server exited", b"lost server")

# They describe the terminal or the shell in which hm was run.
_NOT_HANDED_ON = frozenset(
    {
        "COLUMNS",
        "LINES",
        "OLDPWD",
        "PWD",
        "SHLVL",
        "TERM",
        "TERM_PROGRAM",
        "TERM_PROGRAM_VERSION",
        "TMUX",
        "TMUX_PANE",
        "WINDOWID",
        "_",
    }
)

_PLAIN = frozenset(f"{ascii_letters}{digits}-_./=+,@%^ ".encode())

# A shell that execs the agent, so that the pane's process is the agent itself. tmux
# runs more than one word without a shell, so none expands the agent's words.
_BECOME = ("/bin/sh", "-c", 'cd -- "$1" && shift && exec "$@"', "sh")


@dataclass(frozen=True, slots=True, kw_only=True)
class NewSession:
    """A session to start."""

    name: str
    agent: str
    worktree: str
    folder: str
    """The agent's current folder: the worktree or a folder in it."""

    words: Sequence[str]
    environ: Mapping[str, str]
    size: tuple[int, int] | None
    """Columns and lines of the terminal that will show it; None: unknown."""


class Tmux:
    """The user's tmux server, running or not."""

    def __init__(self, program: str, environ: Mapping[str, str]) -> None:
        self._program = program
        # A server that it starts keeps them for every later window, also a person's.
        self._environ = {
            name: text for name, text in environ.items() if name not in AGENT_VARIABLES
        }

    @property
    def is_inside(self) -> bool:
        """Whether this process runs in one of its panes."""
        return bool(self._environ.get("TMUX"))

    def sessions(self) -> list[AgentSession]:
        """Return our sessions, the oldest first; none if no server is running.

        Raises:
            NotLaunchedError: tmux failed.
        """
        found = self._listed()
        if any(session.is_ended and session.exit_code is None for session in found):
            # tmux can miss that a child exited, and then neither knows its status nor
            # closes its pane; the next child that exits makes it check.
            self._run("run-shell", ":")
            found = self._listed()
        return sorted(
            found, key=lambda session: (session.started_s, int(session.pane[1:]))
        )

    def start(self, new: NewSession) -> bool:
        """Start a session, detached; return False if its name is taken.

        The pane of an agent that ends stays until ``release_pane`` is called.

        Raises:
            NotLaunchedError: tmux failed.
        """
        stdin = _description(new)
        for _ in range(_TRIES):
            done = self._run("start-server", ";", "source-file", "-", stdin=stdin)
            if not any(text in done.stderr for text in (*_NO_SERVER, *_LEAVING)):
                break
        if done.returncode == 0:
            return True
        if b"duplicate session" in done.stderr:
            return False
        message = f"tmux could not start a session: {_complaint(done)}."
        raise NotLaunchedError(message, hint="hm needs tmux 3.2 or later.")

    def release_pane(self, session: AgentSession) -> None:
        """From now on keep the pane only if its agent fails."""
        words = ("-t", session.pane, "remain-on-exit", "failed")
        self._run("set-option", "-p", *words)

    def last_lines(self, session: AgentSession, most: int) -> list[str]:
        """Return the last lines that an agent wrote, without empty ones at the end.

        Linux may have discarded what it wrote just before it exited.
        """
        start = str(-_HISTORY_LINES)
        done = self._run("capture-pane", "-p", "-J", "-S", start, "-t", session.pane)
        lines = done.stdout.decode("utf-8", "replace").split("\n")
        # tmux adds one line of its own to a pane whose program ended.
        kept = [line.rstrip() for line in lines if not line.startswith("Pane is dead")]
        while kept and not kept[-1]:
            kept.pop()
        return kept[-most:]

    def kill(self, session: AgentSession) -> None:
        """End an agent, if it still runs.

        Its session ends with it, unless the user has opened more panes there.
        """
        self._run("kill-pane", "-t", session.pane)

    def attach_command(self, session: AgentSession) -> str:
        """Return the command that shows a session, to be typed in a shell."""
        # Always quoted: zsh replaces a word that begins with = by a program's path.
        return f"tmux {self._verb} -t '={session.name}'"

    def attach(self, session: AgentSession) -> int:
        """Show a session in this terminal until the user leaves it."""
        command = [self._program, "-u", self._verb, "-t", f"={session.name}"]
        return subprocess.run(command, env=dict(self._environ), check=False).returncode

    def _listed(self) -> list[AgentSession]:
        """Return our sessions as tmux lists them now."""
        done = self._run("list-panes", "-a", "-F", FORMAT)
        if done.returncode == 0:
            return list(sessions_of(done.stdout))
        if any(text in done.stderr for text in (*_NO_SERVER, *_LEAVING)):
            return []
        raise NotLaunchedError(f"tmux says: {_complaint(done)}.")

    @property
    def _verb(self) -> str:
        """The tmux command that shows a session in this terminal."""
        return "switch-client" if self.is_inside else "attach-session"

    def _run(
        self, *words: str, stdin: bytes = b""
    ) -> subprocess.CompletedProcess[bytes]:
        """Run tmux, whatever its exit code."""
        try:
            return subprocess.run(
                # -u: names come as they are, whatever the locale.
                [self._program, "-u", *words],
                env=dict(self._environ),
                input=stdin,
                capture_output=True,
                timeout=_TIMEOUT_S,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            message = f"tmux did not answer within {_TIMEOUT_S:g} s."
            raise NotLaunchedError(message) from error
        except OSError as error:
            message = f"tmux cannot be run: {reason_of(error)}."
            raise NotLaunchedError(message) from error


def _description(new: NewSession) -> bytes:
    """Return the commands that start a session, in the syntax of a tmux file."""
    size = ("-x", str(new.size[0]), "-y", str(new.size[1])) if new.size else ()
    variables = [
        word
        for name, text in new.environ.items()
        if name not in _NOT_HANDED_ON and name not in AGENT_VARIABLES
        for word in ("-e", f"{name}={text}")
    ]
    # The folder of new windows; the only text here that tmux expands as a format.
    folder = new.folder.replace("#", "##")
    pane = ("-p", "-t", f"={new.name}:")
    head = ("new-session", "-d", "-s", new.name, "-c", folder, *size)
    commands = (
        (*head, *variables, "--", *_BECOME, new.folder, *new.words),
        ("set-option", *pane, "remain-on-exit", "on"),
        ("set-option", *pane, AGENT, tag(new.agent)),
        ("set-option", *pane, WORKTREE, tag(new.worktree)),
        # A user who sets this means sessions that they have attached to.
        ("set-option", "-t", f"={new.name}:", "destroy-unattached", "off"),
    )
    # One line is one sequence: if the name is taken, none of it is run, and a session
    # is never visible without its tags.
    return b" ; ".join(b" ".join(map(_quoted, words)) for words in commands) + b"\n"


def _quoted(word: str) -> bytes:
    """Return a word in which tmux expands nothing."""
    return b'"%s"' % b"".join(
        b"%c" % byte if byte in _PLAIN else b"\\%03o" % byte
        for byte in os.fsencode(word)
    )


def _complaint(done: subprocess.CompletedProcess[bytes]) -> str:
    """Return the first line of tmux's error message."""
    text = done.stderr.decode("utf-8", "replace").strip()
    line = text.partition("\n")[0].removeprefix("-:1: ")
    return line or f"exited with status {done.returncode}"


AGENT, WORKTREE = "@hivemind_agent", "@hivemind_worktree"
_FIELDS = (
    WORKTREE,
    AGENT,
    "pane_id",
    "session_name",
    "session_created",
    "session_attached",
    "pane_pid",
    "pane_dead",
    "pane_dead_status",
    "pane_dead_signal",
)
FORMAT = "\t".join(f"#{{{field}}}" for field in _FIELDS)
"""Format for ``list-panes``. Every version of tmux prints a tab unchanged, unlike other
control characters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentSession:
    """One agent in one worktree."""

    pane: str
    """tmux's id of the pane, ``%7``; a server never uses one twice."""

    name: str
    agent: str
    worktree: str
    started_s: int
    """Seconds since 1970."""

    is_attached: bool
    pid: int
    is_ended: bool
    """The agent ended, and its last lines are still there."""

    exit_code: int | None
    """As a shell reports it, 128 + the signal included; None: not known."""


def tag(text: str) -> str:
    """Return *text* as it is stored in an option.

    >>> tag("/code/my shop"), tag("a%b")
    ('/code/my shop', 'a%25b')
    """
    return quote(os.fsencode(text), safe="/ ~+=@,()[]!&;'")


def sessions_of(printed: bytes) -> Iterator[AgentSession]:
    """Yield the sessions in the output of ``list-panes -a -F FORMAT``."""
    for line in printed.decode("utf-8", "replace").split("\n"):
        fields = line.split("\t")
        if len(fields) != len(_FIELDS) or not fields[0]:
            continue  # started by another program
        worktree, agent, pane, name, created, attached, pid, *death = fields
        is_ended = death[0] == "1"
        yield AgentSession(
            pane=pane,
            name=name,
            agent=_untag(agent),
            worktree=_untag(worktree),
            started_s=_number(created),
            is_attached=_number(attached) > 0,
            pid=_number(pid),
            is_ended=is_ended,
            exit_code=_exit_code(*death[1:]) if is_ended else None,
        )


def choose_session(sessions: Sequence[AgentSession], name: str | None) -> AgentSession:
    """Return the session that a name means, if that is clear.

    Its own name comes first, then its agent's, then the beginning of its own.

    Args:
        sessions: All of them.
        name: None: the only session.

    Raises:
        NotLaunchedError: There is none of that name, or several.
    """
    found = [session for session in sessions if name in (None, session.name)]
    found = found or [session for session in sessions if session.agent == name]
    what = f"There are several sessions of {name}."
    if name and not found:
        found = [session for session in sessions if session.name.startswith(name)]
        what = f"Several sessions begin with {name}."
    if len(found) == 1:
        return found[0]
    if not sessions:
        message = "There are no sessions."
        raise NotLaunchedError(message, hint="`hm launch AGENT` starts one.")
    if not name:
        what = "There are several sessions."
    elif not found:
        what = no_such("session", name)
    names = ", ".join(session.name for session in found or sessions)
    raise NotLaunchedError(what, hint=f"Name one: {names}.")


def _untag(text: str) -> str:
    """Undo ``tag``."""
    return os.fsdecode(unquote_to_bytes(text))


def _number(text: str) -> int:
    """Return a whole number; 0 if tmux prints nothing."""
    return int(text) if text.isdecimal() else 0


def _exit_code(status: str, signal: str) -> int | None:
    """Return an exit code; tmux learns it a little after the end itself."""
    if signal:
        return 128 + _number(signal)
    return _number(status) if status else None
