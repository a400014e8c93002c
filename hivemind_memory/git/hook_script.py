"""Adds a marked block to a git hook and removes it again, to the byte.

The block goes below the first line of the existing script, or into a script that we
create. What the user's own hook does, and its exit code, stay the same.
"""

from __future__ import annotations

import os

from hivemind_memory.errors import HookNotChangedError, NotInjectedError
from hivemind_memory.files.atomic import write_file
from hivemind_memory.files.descriptors import open_regular
from hivemind_memory.files.errors import reason_of
from hivemind_memory.files.marked_section import (
    SETTINGS_MARKS,
    body_of,
    put_section,
    remove_section,
)
from hivemind_memory.model.value import value
from hivemind_memory.patterns.lazy_pattern import lazy_re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_SHEBANG = b"#!/bin/sh\n"
_CREATED = "# This file is hm's own."
_IS_SHELL = lazy_re(rb"#!\s*\S*/(env\s+(-S\s+)?)?(ba|da|k|z|a)?sh(\s|$)")


@value
class HookScript:
    """A hook as it was when it was read."""

    path: str
    data: bytes | None
    """None: there is no hook."""

    body: str
    """Our block, without its marks; empty: there is none."""

    @property
    def problem(self) -> str:
        """Why the script cannot be extended, as a clause; empty if it can."""
        if self.data is None or self.body:
            return ""
        if os.path.islink(self.path):
            return "is a link"
        if not os.access(self.path, os.X_OK):
            return "is not executable, so git ignores it"
        if not _IS_SHELL.match(self.data):
            return "is not a shell script"
        return "has CRLF line endings" if b"\r\n" in self.data else ""


def read_hook(path: str) -> HookScript:
    """Return the hook at *path*, whether it exists or not.

    Raises:
        HookNotChangedError: It cannot be read, or our marks in it are damaged.
    """
    try:
        with open(path, "rb", opener=open_regular) as file:
            data: bytes | None = file.read()
    except FileNotFoundError:
        if os.path.islink(path):
            message = f"{path} is a broken link; it was not changed."
            raise HookNotChangedError(message) from None
        data = None
    except OSError as error:
        raise _unchanged(path, error) from error
    try:
        return HookScript(
            path=path, data=data, body=body_of(data or b"", SETTINGS_MARKS)
        )
    except NotInjectedError as error:
        raise HookNotChangedError(
            f"{error} in {path}.",
            hint="Fix the file by hand.",
            effect="The hook was not changed",
        ) from error


def install_block(hook: HookScript, lines: Sequence[str]) -> bool:
    """Install our block in a hook, or update it; return whether that changed it.

    Raises:
        HookNotChangedError: It cannot be extended or written.
    """
    if hook.problem:
        raise HookNotChangedError(f"{hook.path} {hook.problem}; it was not changed.")
    is_ours = hook.data is None or _CREATED in hook.body
    body = "\n".join(([_CREATED] if is_ours else []) + list(lines))
    if hook.data is None:
        after = put_section(_SHEBANG, body, SETTINGS_MARKS)
    elif hook.body:
        after = put_section(hook.data, body, SETTINGS_MARKS)
    else:
        first, newline, rest = hook.data.partition(b"\n")
        # First, because theirs may end with `exit` or `exec`, and decides the status.
        after = put_section(first + newline, body, SETTINGS_MARKS) + rest
    if after == hook.data:
        return False
    _replace(hook.path, after)
    return True


def remove_block(hook: HookScript) -> bool:
    """Remove our block; a file that we created is deleted. Return whether it existed.

    Raises:
        HookNotChangedError: The hook cannot be written.
    """
    if hook.data is None or not hook.body:
        return False
    after = remove_section(hook.data, SETTINGS_MARKS)
    if _CREATED not in hook.body or after != _SHEBANG:
        _replace(hook.path, after)
        return True
    try:
        os.unlink(hook.path)
    except OSError as error:
        raise _unchanged(hook.path, error) from error
    return True


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
    return HookNotChangedError(
        f"{path}: {reason_of(error)}.", effect="The hook was not changed"
    )
