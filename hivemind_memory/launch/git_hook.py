"""Installs a post-checkout hook that injects memories into every new worktree.

The hook is a marked block below the first line of the existing script, or in a script
that we create. What the user's own hook does, and its exit code, stay the same.
Removing the block restores the exact bytes.
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
    """State of a repository's hook."""

    path: str
    is_installed: bool
    is_changed: bool = False
    """Changed by the call that returns this."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HookCommand:
    """What the hook runs."""

    hm: Sequence[str]
    """The command that starts this program, with an absolute path."""

    options: Sequence[str] = ()
    """Global options, before the subcommand."""

    agents: str = "claude"
    """The agents to inject for, separated by commas."""

    home: str = ""
    """The home folder, if it is not the default."""


def state(folder: str, environ: Mapping[str, str]) -> HookState:
    """Return the state of the hook in a folder's repository.

    Raises:
        HookNotChangedError: There is no repository, or the hook cannot be read.
    """
    path = _path(folder, environ)
    return HookState(path=path, is_installed=bool(_body(path, _read(path))))


def install(folder: str, call: HookCommand, environ: Mapping[str, str]) -> HookState:
    """Install our block in the hook, or update it.

    Raises:
        HookNotChangedError: The hook is not a script that can be extended.
        UsageError: The agents are not valid names.
    """
    if not _IS_NAME.fullmatch(call.agents):
        message = f"{call.agents!r} is not a list of agents; no hook was changed."
        raise UsageError(message, hint="Separate names with commas: claude,codex.")
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
        # First, because theirs may end with `exit` or `exec`, and decides the status.
        after = put_section(first + newline, body, SETTINGS_MARKS) + rest
    if after != before:
        _replace(path, after)
    return HookState(path=path, is_installed=True, is_changed=after != before)


def remove(folder: str, environ: Mapping[str, str]) -> HookState:
    """Remove our block; a file that we created is deleted.

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
    """Return the block for any shell; it does nothing if this program is gone."""
    hm = " ".join(map(shlex.quote, call.hm))
    words = " ".join(map(shlex.quote, call.options))
    home = f"HIVEMIND_HOME={shlex.quote(call.home)}"
    set_home = f'    [ -n "${{HIVEMIND_HOME-}}" ] || export {home}'
    return [
        "# Injects memories into a new worktree. Remove: `hm git-hook remove`.",
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
    """Return the command to call from a hook that we cannot change."""
    hm = " ".join(map(shlex.quote, (*call.hm, *call.options)))
    return f"{hm} git-hook run --agent {call.agents}"


def _path(folder: str, environ: Mapping[str, str]) -> str:
    """Return the path of the repository's own hook."""
    if not os.path.isdir(folder):
        raise UsageError(f"{folder} is not a folder; no hook was changed.")
    try:
        done = run_git(folder, ("rev-parse", "--git-common-dir"), environ)
    except (GitError, OSError) as error:
        raise HookNotChangedError(f"git cannot be run: {error}.") from error
    if done.returncode:
        message = f"{folder} has no hooks: git says: {complaint_of(done)}."
        raise HookNotChangedError(message, hint="Name a folder inside a repository.")
    common_dir = os.fsdecode(done.stdout).removesuffix("\n")
    return os.path.join(
        os.path.realpath(os.path.join(folder, common_dir)), "hooks", NAME
    )


def _refuse_other_hooks(
    folder: str, environ: Mapping[str, str], call: HookCommand
) -> None:
    """Refuse if git does not run the repository's own hooks.

    Those it runs may be tracked, or shared by all repositories.
    """
    done = run_git(folder, ("config", "--get", "core.hooksPath"), environ)
    other = os.fsdecode(done.stdout).removesuffix("\n")
    if other:
        message = f"core.hooksPath is {other}, so git runs hooks only from there."
        hint = (
            f"Nothing was changed. Call this from {NAME} there: {manual_command(call)}"
        )
        raise HookNotChangedError(message, hint=hint)


def _refuse_other_scripts(path: str, data: bytes, call: HookCommand) -> None:
    """Refuse a hook that cannot be extended with lines of sh."""
    if os.path.islink(path):
        why = "is a link"
    elif not os.access(path, os.X_OK):
        why = "is not executable, so git ignores it"
    elif not _IS_SHELL.match(data):
        why = "is not a shell script"
    elif b"\r\n" in data:
        why = "has CRLF line endings"
    else:
        return
    message = f"{path} {why}; it was not changed."
    raise HookNotChangedError(
        message, hint=f"Call this from it: {manual_command(call)}"
    )


def _body(path: str, data: bytes | None) -> str:
    """Return our block without its marks; empty if there is none."""
    try:
        return body_of(data or b"", SETTINGS_MARKS)
    except NotInjectedError as error:
        message = f"{path} was not changed: {error}."
        raise HookNotChangedError(message, hint="Repair the file by hand.") from error


def _read(path: str) -> bytes | None:
    """Return the hook; None if there is none."""
    try:
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        if os.path.islink(path):
            message = f"{path} is a broken link; it was not changed."
            raise HookNotChangedError(message) from None
        return None
    except OSError as error:
        raise _unchanged(path, error) from error


def _replace(path: str, data: bytes) -> None:
    """Replace the hook atomically; its mode stays."""
    try:
        mode = os.stat(path).st_mode & 0o777 if os.path.exists(path) else 0o755
        os.makedirs(os.path.dirname(path), exist_ok=True)
        write_file(path, data, mode=mode)
    except OSError as error:
        raise _unchanged(path, error) from error


def _unchanged(path: str, error: OSError) -> HookNotChangedError:
    """Return the error for a hook that cannot be changed."""
    return HookNotChangedError(f"{path} was not changed: {error.strerror}.")
