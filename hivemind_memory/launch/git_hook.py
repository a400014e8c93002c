"""Git's own post-checkout hook: memories in every new worktree, whoever makes it.

A block between two marks, put below the first line of the script that is there, or into
one that we make. What the person's hook does and how it ends stays; taking the block
away gives the exact bytes back.
"""

from __future__ import annotations

import os
import re
import shlex
from dataclasses import dataclass

from hivemind_memory.errors import (
    GitError,
    HookNotChangedError,
    NotInjectedError,
    UsageError,
)
from hivemind_memory.files.atomic import write_file
from hivemind_memory.files.marked_section import (
    SETTINGS_MARKS,
    body_of,
    put_section,
    remove_section,
)
from hivemind_memory.git.repository import complaint_of, run_git

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

NAME = "post-checkout"
_SHEBANG = b"#!/bin/sh\n"
_CREATED = "# This file is hm's own."
_IS_SHELL = re.compile(rb"#!\s*\S*/(env\s+(-S\s+)?)?(ba|da|k|z|a)?sh(\s|$)")
_IS_NAME = re.compile(r"[\w-]+(,[\w-]+)*", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class HookState:
    """A repository's hook."""

    path: str
    is_installed: bool
    is_changed: bool = False
    """By the call that returns this."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HookCommand:
    """What the hook runs."""

    hm: Sequence[str]
    """The words that start this program, the first as an absolute path."""

    options: Sequence[str] = ()
    """Options that stand before the command."""

    agents: str = "claude"
    """Who will read it: names with commas between them."""

    home: str = ""
    """The home folder, if it is not the usual one."""


def state(folder: str, environ: Mapping[str, str]) -> HookState:
    """Return whether the hook is installed in a folder's repository.

    Raises:
        HookNotChangedError: There is no repository, or the hook cannot be read.
    """
    path = _path(folder, environ)
    return HookState(path=path, is_installed=bool(_body(path, _read(path))))


def install(folder: str, call: HookCommand, environ: Mapping[str, str]) -> HookState:
    """Put our block into the hook, or bring it up to date.

    Raises:
        HookNotChangedError: The hook is no script that we may add to, and why.
        UsageError: The names of agents are none.
    """
    if not _IS_NAME.fullmatch(call.agents):
        message = f"{call.agents!r} names no agents; no hook was changed."
        raise UsageError(message, hint="Names with commas between: claude,codex.")
    path = _path(folder, environ)
    _refuse_other_hooks(folder, environ, call)
    before = _read(path)
    is_ours = before is None or _CREATED in _body(path, before)
    lines = [_CREATED] if is_ours else []
    body = "\n".join((*lines, *_lines(call)))
    if before is None:
        after = put_section(_SHEBANG, body, SETTINGS_MARKS)
    elif _body(path, before):
        after = put_section(before, body, SETTINGS_MARKS)
    else:
        _refuse_other_scripts(path, before, call)
        first, newline, rest = before.partition(b"\n")
        # Before theirs: it may end with `exit` or `exec`, and its status is git's.
        after = put_section(first + newline, body, SETTINGS_MARKS) + rest
    if after != before:
        _replace(path, after)
    return HookState(path=path, is_installed=True, is_changed=after != before)


def remove(folder: str, environ: Mapping[str, str]) -> HookState:
    """Take our block away; a file that we made goes with it.

    Raises:
        HookNotChangedError: The hook cannot be read or written.
    """
    path = _path(folder, environ)
    before = _read(path)
    body = _body(path, before)
    if before is None or not body:
        return HookState(path=path, is_installed=False)
    after = remove_section(before, SETTINGS_MARKS)
    try:
        if _CREATED in body and after == _SHEBANG:
            os.unlink(path)
        else:
            _replace(path, after)
    except OSError as error:
        raise _unchanged(path, error) from error
    return HookState(path=path, is_installed=False, is_changed=True)


def _lines(call: HookCommand) -> list[str]:
    """Return the block, for any shell; it does nothing when this program is gone."""
    hm = " ".join(map(shlex.quote, call.hm))
    words = " ".join(map(shlex.quote, call.options))
    home = f"HIVEMIND_HOME={shlex.quote(call.home)}"
    set_home = f'    [ -n "${{HIVEMIND_HOME-}}" ] || export {home}'
    return [
        "# Puts memories into a new worktree. `hm git-hook remove` takes this away.",
        "(",
        '    [ "${3-}" = 1 ] || exit 0',
        "    case ${1-} in '' | *[!0]*) exit 0 ;; esac",
        *([set_home] if call.home else []),
        f"    if command -v {shlex.quote(call.hm[0])}; then set -- {hm}",
        "    elif command -v hm; then set -- hm",
        "    else exit 0; fi",
        f'    "$@" {words}{" " if words else ""}git-hook run --agent {call.agents}',
        ") </dev/null >/dev/null 2>&1 || :",
    ]


def manual_command(call: HookCommand) -> str:
    """Return the one line that a person may put into a hook of another kind."""
    hm = " ".join(map(shlex.quote, (*call.hm, *call.options)))
    return f"{hm} git-hook run --agent {call.agents}"


def _path(folder: str, environ: Mapping[str, str]) -> str:
    """Return where the repository's own hook is, or would be."""
    if not os.path.isdir(folder):
        raise UsageError(f"{folder} is no folder; no hook was changed.")
    try:
        done = run_git(folder, ("rev-parse", "--git-common-dir"), environ)
    except (GitError, OSError) as error:
        raise HookNotChangedError(f"git cannot be asked: {error}.") from error
    if done.returncode:
        message = f"{folder} has no hooks; git says: {complaint_of(done)}."
        raise HookNotChangedError(message, hint="Name a folder of a repository.")
    common_dir = os.fsdecode(done.stdout).removesuffix("\n")
    return os.path.join(
        os.path.realpath(os.path.join(folder, common_dir)), "hooks", NAME
    )


def _refuse_other_hooks(
    folder: str, environ: Mapping[str, str], call: HookCommand
) -> None:
    """Refuse where git does not run the repository's own hooks.

    Theirs may be tracked, or shared by all repositories: not ours to change.
    """
    done = run_git(folder, ("config", "--get", "core.hooksPath"), environ)
    other = os.fsdecode(done.stdout).removesuffix("\n")
    if other:
        message = f"core.hooksPath is {other}, so git runs hooks from there alone."
        hint = (
            f"Nothing was changed. Call this from {NAME} there: {manual_command(call)}"
        )
        raise HookNotChangedError(message, hint=hint)


def _refuse_other_scripts(path: str, data: bytes, call: HookCommand) -> None:
    """Refuse a hook to which no line of sh can be added."""
    if os.path.islink(path):
        why = "is a link"
    elif not os.access(path, os.X_OK):
        why = "may not be run, so git passes over it"
    elif not _IS_SHELL.match(data):
        why = "is no script for sh"
    elif b"\r\n" in data:
        why = "has line ends of Windows"
    else:
        return
    message = f"{path} is yours and {why}; it was not changed."
    raise HookNotChangedError(
        message, hint=f"Call this from it: {manual_command(call)}"
    )


def _body(path: str, data: bytes | None) -> str:
    """Return our block without its marks; empty when there is none."""
    try:
        return body_of(data or b"", SETTINGS_MARKS)
    except NotInjectedError as error:
        message = f"{path} was not changed: {error}."
        raise HookNotChangedError(message, hint="Correct the file by hand.") from error


def _read(path: str) -> bytes | None:
    """Return the hook; None when there is none."""
    try:
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        if os.path.islink(path):
            message = f"{path} is a link that leads nowhere; it was not changed."
            raise HookNotChangedError(message) from None
        return None
    except OSError as error:
        raise _unchanged(path, error) from error


def _replace(path: str, data: bytes) -> None:
    """Give the hook new bytes, at once; what it may do stays."""
    try:
        mode = os.stat(path).st_mode & 0o777 if os.path.exists(path) else 0o755
        os.makedirs(os.path.dirname(path), exist_ok=True)
        write_file(path, data, mode=mode)
    except OSError as error:
        raise _unchanged(path, error) from error


def _unchanged(path: str, error: OSError) -> HookNotChangedError:
    """Return the error for a hook that the system does not let us change."""
    return HookNotChangedError(f"{path} was not changed: {error.strerror}.")
