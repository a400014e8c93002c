"""Installs a post-checkout hook that injects memories into every new worktree."""

from __future__ import annotations

import os
import re
import shlex
from dataclasses import dataclass

from hivemind_memory.errors import GitError, HookNotChangedError, UsageError
from hivemind_memory.files.errors import no_folder
from hivemind_memory.git.hook_script import install_block, read_hook, remove_block
from hivemind_memory.git.repository import complaint_of, run_git
from hivemind_memory.patterns.lazy_pattern import lazy_re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

NAME = "post-checkout"
_IS_NAME = lazy_re(r"[\w-]+(,[\w-]+)*", re.ASCII)


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
    hook = read_hook(_path(folder, environ))
    return HookState(path=hook.path, is_installed=bool(hook.body))


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
    try:
        is_changed = install_block(read_hook(path), _lines(call))
    except HookNotChangedError as error:
        error.hint = error.hint or f"Call this from it: {manual_command(call)}"
        raise
    return HookState(path=path, is_installed=True, is_changed=is_changed)


def remove(folder: str, environ: Mapping[str, str]) -> HookState:
    """Remove our block; a file that we created is deleted.

    Raises:
        HookNotChangedError: The hook cannot be read or written.
    """
    hook = read_hook(_path(folder, environ))
    is_changed = remove_block(hook)
    return HookState(path=hook.path, is_installed=False, is_changed=is_changed)


def manual_command(call: HookCommand) -> str:
    """Return the command to call from a hook that we cannot change."""
    hm = " ".join(map(shlex.quote, (*call.hm, *call.options)))
    return f"{hm} git-hook run --agent {call.agents}"


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


def _path(folder: str, environ: Mapping[str, str]) -> str:
    """Return the path of the repository's own hook."""
    if not os.path.isdir(folder):
        raise no_folder(folder, effect="No hook was changed")
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
