"""The commands that change notes: write, edit."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from contextlib import suppress

from hivemind_memory import wiring
from hivemind_memory.access.check import check_writable
from hivemind_memory.cli import render
from hivemind_memory.cli.progress import ProgressDisplay
from hivemind_memory.cli.streams import (
    is_terminal,
    read_stdin,
    typed_text,
    write_stderr,
)
from hivemind_memory.errors import (
    HivemindError,
    NoteNotFoundError,
    NoteUnreadableError,
    UsageError,
)
from hivemind_memory.files.descriptors import make_private_folder
from hivemind_memory.files.errors import save_error
from hivemind_memory.files.paths import parse_note_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.cli.parse import CommandRequest
    from hivemind_memory.memory import Memory
    from hivemind_memory.model.note_path import NotePath

_USUAL_EDITORS = ("nano", "vim", "vi", "notepad")


def write(request: CommandRequest) -> int:
    """Append an entry."""
    values = request.values
    content = _content(values["content"])
    if not content.strip():
        message = "There is nothing to write."
        raise UsageError(message, hint="`hm write TEXT`, or pipe the text in.")
    is_person = is_terminal(sys.stdin) and is_terminal(sys.stdout)
    with wiring.open_memory(memory_dir=request.memory_dir) as memory:
        written = memory.write(
            content,
            file=values["file"] or "",
            by=values["by"] or "",
            session=values["session"] or "",
            source=values["source"] or ("human" if is_person else "agent"),
            is_forced=values["force"],
        )
    render.show_written(written, as_json=values["json"])
    return 0


def edit(request: CommandRequest) -> int:
    """Open a note in the editor, then index it."""
    command = editor_command(os.environ)
    with wiring.open_memory(memory_dir=request.memory_dir) as memory:
        note = parse_note_path(request.values["path"] or "global.md")
        check_writable(memory.caller, note)
        path = _path_to_edit(memory, note)
        before = memory.folder.stamp(note)
        # A note is for its owner's eyes, also one that the editor makes.
        mask = 0o077 if os.name == "posix" else -1
        try:
            done = subprocess.run([*command, path], check=False, umask=mask)
        except OSError as error:
            message = f"the editor {command[0]} did not start: {error.strerror}."
            raise HivemindError(message, hint="Set VISUAL or EDITOR.") from error
        with ProgressDisplay() as progress:
            result = memory.sync(progress)
            embedding = memory.embed_pending(progress)
        is_changed = memory.folder.stamp(note) != before
    if not memory.caller.is_owner:
        # What was counted is all that changed, in whatever scope.
        write_stderr(f"{note} was changed\n" if is_changed else "nothing changed\n")
    elif result.added or result.updated or result.removed:
        render.show_sync(result, embedding, as_json=False)
    else:
        write_stderr("nothing changed\n")
    if done.returncode:
        write_stderr(f"note: the editor ended with status {done.returncode}\n")
    return 0


def _path_to_edit(memory: Memory, note: NotePath) -> str:
    """Return where a note lies, its folders made.

    Raises:
        NotePathError: A link is in its place, which may lead to anybody's notes.
        NotSavedError: Its folder cannot be made.
    """
    make_private_folder(memory.folder.root)
    try:
        memory.folder.open_parent(note, made=[]).close()
    except OSError as error:
        raise save_error(note, error) from error
    # What cannot be read may need the editor most.
    with suppress(NoteNotFoundError, NoteUnreadableError):
        memory.folder.read(note)
    return os.path.join(memory.places.notes, note)


def editor_command(environ: os._Environ[str]) -> list[str]:
    """Return the editor with its options: VISUAL, EDITOR, or one that is there.

    Raises:
        HivemindError: There is none, or its name cannot be read.
    """
    named = environ.get("VISUAL") or environ.get("EDITOR") or ""
    try:
        words = shlex.split(named, posix=os.name == "posix")
    except ValueError as error:
        message = f"the name of the editor cannot be read: {named}"
        raise HivemindError(
            message, hint="check the quotes in VISUAL/EDITOR"
        ) from error
    if words:
        return words
    for name in _USUAL_EDITORS:
        if shutil.which(name):
            return [name]
    message = "There is no editor."
    raise HivemindError(message, hint="Set EDITOR, for example to nano.")


def _content(words: tuple[str, ...]) -> str:
    """Return what to write: the words, or standard input."""
    if words and words != ("-",):
        return typed_text(" ".join(words))
    if is_terminal(sys.stdin):
        write_stderr("Type the entry; Ctrl-D on an empty line ends it.\n")
    return read_stdin()
