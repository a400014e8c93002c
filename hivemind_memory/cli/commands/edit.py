"""hm edit: opens a note in the person's editor."""

from __future__ import annotations

import os
from contextlib import suppress

from hivemind_memory.cli.command import Argument, CommandRequest, command
from hivemind_memory.cli.output import print_sync, write_stderr
from hivemind_memory.errors import (
    HivemindError,
    NoteNotFoundError,
    NoteUnreadableError,
)
from hivemind_memory.model.note_path import GLOBAL_NOTE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.memory import Memory
    from hivemind_memory.model.note_path import NotePath

_USUAL_EDITORS = ("nano", "vim", "vi", "notepad")


@command(
    "edit",
    description=(
        "The editor is the one that VISUAL or EDITOR names. Saving creates a note that"
        " does not exist yet."
    ),
    arguments=(
        Argument(
            "path",
            "Name of a note (global.md).",
            is_required=False,
            completes="notes",
        ),
    ),
)
def edit(request: CommandRequest) -> int:
    """Open a note in the editor, then index it."""
    return edit_note(request, request.values["path"] or GLOBAL_NOTE)


def edit_note(request: CommandRequest, path: str) -> int:
    """Open a note in the editor, then index it; return the exit code."""
    import subprocess

    from hivemind_memory.access.rules import check_writable
    from hivemind_memory.cli.progress import ProgressDisplay
    from hivemind_memory.files.paths import parse_note_path

    editor = editor_command(os.environ)
    with request.open_memory() as memory:
        note = parse_note_path(path)
        check_writable(memory.caller, note)
        file = _path_to_edit(memory, note)
        before = memory.folder.signature(note)
        # A note is private to its owner, also one that the editor creates.
        mask = 0o077 if os.name == "posix" else -1
        try:
            done = subprocess.run([*editor, file], check=False, umask=mask)
        except OSError as error:
            message = f"The editor {editor[0]} did not start: {error.strerror}."
            raise HivemindError(message, hint="Set VISUAL or EDITOR.") from error
        with ProgressDisplay() as progress:
            result = memory.sync(progress)
            embedding = memory.embed_pending(progress)
        is_changed = memory.folder.signature(note) != before
    if not memory.caller.is_owner:
        # The counts cover all notes, also those that this caller may not see.
        write_stderr(f"{note} was changed\n" if is_changed else "nothing changed\n")
    elif result.added or result.updated or result.removed:
        print_sync(result, embedding, as_json=False)
    else:
        write_stderr("nothing changed\n")
    if done.returncode:
        write_stderr(f"the editor exited with status {done.returncode}\n")
    return 0


def editor_command(environ: os._Environ[str]) -> list[str]:
    """Return the editor with its options: VISUAL, EDITOR, or one that is installed.

    Raises:
        HivemindError: There is none, or its name cannot be read.
    """
    import shlex
    import shutil

    named = environ.get("VISUAL") or environ.get("EDITOR") or ""
    try:
        words = shlex.split(named, posix=os.name == "posix")
    except ValueError as error:
        message = f"The name of the editor cannot be read: {named}"
        raise HivemindError(
            message, hint="Check the quotes in VISUAL or EDITOR."
        ) from error
    if words:
        return words
    for name in _USUAL_EDITORS:
        if shutil.which(name):
            return [name]
    message = "No editor was found."
    raise HivemindError(message, hint="Set EDITOR, for example to nano.")


def _path_to_edit(memory: Memory, note: NotePath) -> str:
    """Return the file of a note, its folders created.

    Raises:
        NotePathError: A link is in its place, which may lead anywhere.
        NotSavedError: Its folder cannot be created.
    """
    from hivemind_memory.files.descriptors import make_private_folder
    from hivemind_memory.files.errors import save_error

    make_private_folder(memory.folder.root)
    try:
        memory.folder.open_parent(note, made=[]).close()
    except OSError as error:
        raise save_error(note, error) from error
    # A note that cannot be read may need the editor most.
    with suppress(NoteNotFoundError, NoteUnreadableError):
        memory.folder.read(note)
    return os.path.join(memory.places.notes, note)
