"""hm edit: opens a note in the person's editor."""

from __future__ import annotations

import os
import sys
from contextlib import suppress

from hivemind_memory.cli.command import Argument, CommandRequest, command
from hivemind_memory.cli.output import (
    is_terminal,
    print_notices,
    print_sync,
    write_stderr,
)
from hivemind_memory.errors import (
    ForgottenError,
    HivemindError,
    MemoryNotFoundError,
    NoteNotFoundError,
    NoteUnreadableError,
)
from hivemind_memory.files.errors import reason_of
from hivemind_memory.model.changes import EDIT
from hivemind_memory.model.keys import no_such
from hivemind_memory.model.note_path import GLOBAL_NOTE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.memory import Memory
    from hivemind_memory.model.note_path import NotePath

_USUAL_EDITORS = ("nano", "vim", "vi", "notepad")
_LINE_EDITORS = frozenset(
    ("nano", "vi", "vim", "nvim", "emacs", "emacsclient", "micro", "kak", "joe", "ne")
)
"""Editors that take the line to open as +N before the file."""


@command(
    "edit",
    description=(
        "REF can be anything hm prints for a note: a path (with or without line"
        " numbers), a key or an id. The editor comes from VISUAL or EDITOR; nano, vi,"
        " vim, emacs and similar editors open at the line. If REF ends in .md and the"
        " note does not exist, saving creates it."
    ),
    arguments=(
        Argument(
            "ref",
            "Path of a note, or key or id of what is in it (global.md).",
            is_required=False,
            completes="names",
        ),
    ),
    examples=("hm edit", "hm edit deploy.md:12"),
)
def edit(request: CommandRequest) -> int:
    """Open a note in the editor, then index it."""
    return edit_note(request, request.values["ref"] or GLOBAL_NOTE)


def edit_note(request: CommandRequest, name: str) -> int:
    """Open the note that a name means in the editor, index it, return the exit code."""
    import subprocess

    from hivemind_memory.cli.indexing import SYNC_KEPT, stop_notice
    from hivemind_memory.cli.progress import ProgressDisplay
    from hivemind_memory.model.results import pending_notice

    with request.open_memory() as memory:
        note, line = _note_to_edit(memory, name)
        editor = editor_command(os.environ)
        file = _path_to_edit(memory, note)
        before = memory.folder.signature(note)
        # A note is private to its owner, also one that the editor creates.
        mask = 0o077 if os.name == "posix" else -1
        try:
            words = [*editor, *_line_option(editor[0], line), file]
            done = subprocess.run(words, check=False, umask=mask)
        except OSError as error:
            message = f"The editor {editor[0]} did not start: {reason_of(error)}."
            raise HivemindError(message, hint="Set VISUAL or EDITOR.") from error
        with stop_notice(SYNC_KEPT), ProgressDisplay() as progress:
            result = memory.sync(progress, keeps_rebuild=True)
            embedding = memory.embed_pending(progress)
        is_changed = memory.folder.signature(note) != before
        if is_changed:
            memory.curation.record_other(EDIT, note)
    print_notices(pending_notice(note) if memory.folder.signature(note) else ())
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
        message = f"The name of the editor cannot be parsed: {named}"
        raise HivemindError(
            message, hint="Check the quotes in VISUAL or EDITOR."
        ) from error
    if words:
        return words
    if not is_terminal(sys.stdin):
        message = "`hm edit` needs a terminal."
        raise HivemindError(message, hint="`hm get NOTE` prints a note instead.")
    for name in _USUAL_EDITORS:
        if shutil.which(name):
            return [name]
    message = "No editor was found."
    raise HivemindError(message, hint="Set EDITOR, for example to nano.")


def _note_to_edit(memory: Memory, name: str) -> tuple[NotePath, int]:
    """Return the note that a name means, and the line; 0: none is named.

    Raises:
        HivemindError: The name means nothing, and is not that of a new note.
    """
    from hivemind_memory.access.rules import check_writable
    from hivemind_memory.files.paths import SUFFIX, parse_note_path
    from hivemind_memory.memory.write import refuse_secret_name

    name, similar = name.strip(), ""
    try:
        path, line, last, _ = memory.curation.locate(name)
    except NoteNotFoundError as error:
        if not name.endswith(SUFFIX):
            raise
        path, line, last, similar = name, 0, 0, error.similar
    except ForgottenError:
        raise
    except MemoryNotFoundError as error:
        message = no_such("note or memory", name)
        hint = "A new note's name ends in .md."
        raise NoteNotFoundError(message, hint=hint) from error
    note = memory.folder.spelled(parse_note_path(path))
    # Before anything is said of a note that the caller may not see.
    check_writable(memory.caller, note)
    is_new = memory.folder.signature(note) is None
    refuse_secret_name(memory.folder, note, note)
    if line or (is_new and not name.endswith(SUFFIX)):
        # Says that the note or the line is not there.
        memory.read(note, start_line=line or 1, line_count=last - line)
    if similar and is_new:
        write_stderr(f"(new note; a similar one is {similar})\n")
    return note, line


def _line_option(editor: str, line: int) -> list[str]:
    """Return the option that opens an editor at a line, if it has one."""
    name = os.path.basename(editor).removesuffix(".exe")
    return [f"+{line}"] if line and name in _LINE_EDITORS else []


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
