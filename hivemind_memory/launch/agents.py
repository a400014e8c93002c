"""Which command starts an agent, and which agent a command starts.

The user's own ``agents`` option comes first, then the built-in names, then any program
on the PATH. ``exec_process`` replaces this process by the command.
"""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import sys
from dataclasses import dataclass

from hivemind_memory.errors import ProgramMissingError
from hivemind_memory.model.agents import PROGRAMS, meant_agent
from hivemind_memory.patterns.pattern_file import PROGRAM

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import NoReturn


NOT_FOUND, NOT_RUNNABLE = 127, 126
"""A shell's exit codes for a command that it cannot start."""

_FLAGS = {"aider": "--read"}
"""Agents that read a file only if their command line names it -> the option."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentCommand:
    """A program that can be started."""

    name: str
    """As the user typed it."""

    kind: str
    """The agent that ``hm inject --agent`` knows: it decides which file is read."""

    words: tuple[str, ...]
    """The program, as an absolute path, and the arguments that always follow it."""


def find_agent(name: str, configured: Mapping[str, object], path: str) -> AgentCommand:
    """Return the agent that *name* stands for.

    Args:
        name: A key of *configured*, a built-in name, or a program.
        configured: The option ``agents``.
        path: Folders to search for programs, as in ``PATH``.

    Raises:
        ProgramMissingError: The agent is unknown, or its program is not installed.
    """
    option = shlex.quote(f"agents.{name}")
    if name in configured:
        words = _words_of(configured[name])
        hint = f"`hm config set {option} COMMAND` changes the command."
    else:
        words = [PROGRAMS.get(name, name)]
        hint = f"Install it, or set another with `hm config set {option} COMMAND`."
    program = shutil.which(os.path.expanduser(words[0]), path=path)
    if program is not None:
        kind = name if name in PROGRAMS else kind_of(words[0])
        return AgentCommand(
            name=name, kind=kind, words=(os.path.abspath(program), *words[1:])
        )
    if name in configured or name in PROGRAMS:
        message = f"{name} was not started: {words[0]} is not installed."
        raise ProgramMissingError(message, hint=hint)
    known = dict.fromkeys((*configured, *PROGRAMS))
    meant = meant_agent(name, known)
    guess = f"Did you mean {meant}? " if meant else ""
    message = f"{name} is neither a known agent nor a program."
    hint = f"{guess}Known agents: {', '.join(known)}. Any program works too."
    raise ProgramMissingError(message, hint=hint)


def kind_of(program: str) -> str:
    """Return the agent that a program is; its own name if it is none.

    >>> kind_of("/usr/bin/cursor-agent"), kind_of("claude"), kind_of("bin/pi")
    ('cursor', 'claude', 'pi')
    """
    base = os.path.basename(program)
    for name, ours in PROGRAMS.items():
        if base in (ours, f"{ours}.exe", f"{ours}.cmd"):
            return name
    return base


def with_memory_file(kind: str, words: Sequence[str], file: str) -> tuple[str, ...]:
    """Return a command that reads *file*, for agents that need an option for that.

    >>> with_memory_file("aider", ["aider", "--model", "x"], "/shop/memory.md")
    ('aider', '--read', '/shop/memory.md', '--model', 'x')
    """
    flag = _FLAGS.get(kind)
    if flag is None or not file:
        return tuple(words)
    return (words[0], flag, file, *words[1:])


def _words_of(command: object) -> list[str]:
    """Return the words of a command; config has checked that there are some."""
    if isinstance(command, str):
        return shlex.split(command)
    return [str(word) for word in command] if isinstance(command, list) else []


def _exec(words: list[str], environ: dict[str, str]) -> NoReturn:
    """Replace this process."""
    os.execvpe(words[0], words, environ)  # noqa: S606 - the user named the program


replace_process: Callable[[list[str], dict[str, str]], NoReturn] = _exec
"""A process that runs the command of another one has that one replaced."""


def exec_process(words: Sequence[str], environ: Mapping[str, str]) -> NoReturn:
    """Replace this process by the program *words*, found as a shell would.

    Raises:
        OSError: It cannot be run.
    """
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()
    # Python ignores these signals, and the next program would inherit that: it would
    # not end when the reader of its output does.
    for name in ("SIGPIPE", "SIGXFSZ"):
        number = getattr(signal, name, None)
        if number is not None:
            signal.signal(number, signal.SIG_DFL)
    PROGRAM.write()  # a process that is replaced has no end
    replace_process(list(words), dict(environ))


def find_problem(program: str, path: str) -> tuple[str, int]:
    """Return why a program cannot be run, and a shell's exit code for that.

    Empty and 0 if it can be, as far as its file tells.

    Args:
        program: As it was typed: a name, or a path.
        path: Folders to search for a name, as in ``PATH``.

    >>> find_problem("sh", "/bin"), find_problem("no-such-agent", "/bin")
    (('', 0), ("There is no program 'no-such-agent' on the PATH.", 127))
    """
    if not program:
        return "The name of the program is empty.", NOT_FOUND
    if os.path.dirname(program):
        if not os.path.exists(program):
            return f"There is no program {program}.", NOT_FOUND
        found = program
    else:
        places = (os.path.join(folder, program) for folder in path.split(os.pathsep))
        files = [place for place in places if os.path.isfile(place)]
        if not files:
            return f"There is no program '{program}' on the PATH.", NOT_FOUND
        found = next((file for file in files if os.access(file, os.X_OK)), files[0])
    if os.path.isdir(found):
        return f"{program} is a folder, not a program.", NOT_RUNNABLE
    if not os.access(found, os.X_OK):
        return f"{found} is not executable.", NOT_RUNNABLE
    return "", 0


def exit_code_of(error: OSError) -> int:
    """Return a shell's exit code for a command that cannot be run: 127 or 126."""
    is_missing = isinstance(error, (FileNotFoundError, NotADirectoryError))
    return NOT_FOUND if is_missing else NOT_RUNNABLE
