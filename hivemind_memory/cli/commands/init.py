"""hm init: creates the notes folder and a first note, and offers to connect agents."""

from __future__ import annotations

import os
import sys
from shlex import quote

from hivemind_memory.cli.command import CommandRequest, command
from hivemind_memory.cli.options import YES
from hivemind_memory.cli.output import (
    is_terminal,
    print_line,
    print_notices,
    size_text,
    write_stdout,
)
from hivemind_memory.files.places import models_folder
from hivemind_memory.model.display import count_text, escape_line
from hivemind_memory.model.note_path import GLOBAL_NOTE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

FIRST_NOTE = """\
# Global

<!-- For every project: your preferences, your setup, facts that stay true. -->
"""
FIRST_OPTIONS = {"enabled": True, "embedding_provider": "auto"}
"""The two that a person is most likely to look for; `hm config` shows the rest."""

_NEXT = {
    "hm write we deploy on Tuesdays only": "remember something",
    "hm search when do we deploy": "ask for it",
    "hm edit": "open global.md in your editor",
    "hm status": "see what there is",
    "hm connect": "let your agents use it",
}
"""A command to try -> what it does."""

_NEXT_COLUMNS = 70
"""So wide is their table; a narrower terminal has each in two lines."""


@command(
    "init",
    description=(
        "Existing files are left as they are. On a terminal it offers to connect the"
        " agents that are installed, as hm connect does; with --yes it connects them"
        " without asking. It also offers to download a model for semantic search."
    ),
    flags=(YES,),
)
def init(request: CommandRequest) -> int:
    """Create what is missing, and say what was created and what was there."""
    from hivemind_memory import environment
    from hivemind_memory.cli.indexing import SYNC_KEPT, stop_notice
    from hivemind_memory.cli.progress import ProgressDisplay
    from hivemind_memory.files.places import notes_folder

    home = environment.resolve_home(None)
    folder = os.path.abspath(request.memory_dir or notes_folder(home))
    lines = list(_create(home, folder))
    with request.open_memory() as memory:
        with stop_notice(SYNC_KEPT), ProgressDisplay() as progress:
            skipped = memory.sync(progress, keeps_rebuild=True).skipped
        notes = count_text(memory.status().notes, "note")
    files = count_text(len(skipped), "file")
    left_out = f"; {files} skipped, which `hm status` lists" if skipped else ""
    lines.append(f"Ready: {notes} in the index{left_out}.")
    for line in lines:
        print_line(line)
    _print_next()
    usual = notes_folder(home)
    if not (os.path.exists(usual) and os.path.samefile(folder, usual)):
        write_stdout(_elsewhere(folder, usual))
    if environment.is_agents_shell():  # agents are connected by a person
        return 0
    can_ask = is_terminal(sys.stdin) and is_terminal(sys.stderr)
    if can_ask and not request.values["yes"] and not request.memory_dir:
        _offer_local_model(request, home)
    if request.values["yes"] or (can_ask and not request.memory_dir):
        return _offer_connect(request)
    return 0


def _print_next() -> None:
    """Print what to do next."""
    from shutil import get_terminal_size

    wide = max(map(len, _NEXT))
    is_narrow = is_terminal(sys.stdout) and get_terminal_size().columns < _NEXT_COLUMNS
    write_stdout("\nNext:\n")
    for words, what in _NEXT.items():
        gap = f"\n{' ' * 6}" if is_narrow else " " * (wide - len(words) + 4)
        write_stdout(f"  {words}{gap}{what}\n")
    write_stdout("\n")
    print_line(
        "Any .md file that you put into the notes folder is found by the next search."
    )


def _elsewhere(folder: str, usual: str) -> str:
    """Return how commands find notes that are not in the home folder."""
    named = quote(folder)
    lines = [f"\nThese notes are not in {escape_line(usual)}, so give each command"]
    lines.append(f"`--memory-dir {escape_line(named)}`, also `hm connect`.")
    if not os.path.lexists(usual):
        link = f"ln -s {named} {quote(usual)}"
        lines.append(f"Or link them once: `{escape_line(link)}`")
    return "".join(f"{line}\n" for line in lines)


def _offer_local_model(request: CommandRequest, home: str) -> None:
    """Offer to search by meaning with a model on this machine, if nothing is chosen."""
    from hivemind_memory import environment
    from hivemind_memory.cli.confirm import is_sure
    from hivemind_memory.config import CONFIG_NAME
    from hivemind_memory.config.file import write_option
    from hivemind_memory.errors import HivemindError
    from hivemind_memory.providers.choose import find_missing_packages
    from hivemind_memory.providers.install_command import install_command
    from hivemind_memory.providers.local_catalog import MODELS

    settings = environment.load_settings(home)
    model = MODELS[0]
    with request.open_memory() as memory:
        is_chosen = memory.status().provider != "none"
    if settings.embedding_provider != "auto" or is_chosen:
        return
    missing = find_missing_packages("local")
    if missing:
        remedy = f"`{install_command(missing)}`, then `hm init` again"
        print_notices(["", f"To search by meaning as well: {remedy}."])
        return
    print_notices(["", "With a model on this machine, searches also match by meaning."])
    size = size_text(model.size_bytes)
    question = f"Download {model.name} ({size}) and use it? Your notes stay here."
    if not is_sure(
        question, "Nothing was downloaded; run `hm model fetch` to do it later"
    ):
        return
    from hivemind_memory.cli.commands.model import fetch_model

    try:
        fetch_model(model, models_folder(home), is_agreed=True)
    except HivemindError as error:
        print_notices([str(error), error.hint])
        return
    write_option(os.path.join(home, CONFIG_NAME), "embedding_provider", "local")
    print_notices(["`hm sync` computes the vectors of your notes"])


def _offer_connect(request: CommandRequest) -> int:
    """Show what would connect the installed agents, and do it if the person agrees."""
    from hivemind_memory.cli.commands.connect import installed_titles
    from hivemind_memory.cli.parse import parse_request

    is_agreed = request.values["yes"]
    folder = ["--memory-dir", request.memory_dir] if request.memory_dir else []
    connect = parse_request(["connect", *folder, *(["--yes"] if is_agreed else [])])
    titles = installed_titles(connect)
    if not titles:
        return 0
    print_notices(["", f"Installed here: {', '.join(titles)}."])
    code = connect.command.call(connect)
    return code if is_agreed else 0


def _create(home: str, folder: str) -> Iterator[str]:
    """Create folder, first note and config.json where they are missing; say which."""
    from hivemind_memory.config import CONFIG_NAME
    from hivemind_memory.config.file import write_new_config

    first_note = os.path.join(folder, GLOBAL_NOTE)
    config = os.path.join(home, CONFIG_NAME)
    yield _said(folder, "your notes", is_new=_create_folder(folder))
    yield _said(first_note, "for every project", is_new=_create_first_note(folder))
    yield _said(config, "options", is_new=write_new_config(config, FIRST_OPTIONS))


def _create_folder(folder: str) -> bool:
    """Create the notes folder unless it is there; return whether it was created."""
    from hivemind_memory.errors import NotSavedError
    from hivemind_memory.files.descriptors import make_private_folder
    from hivemind_memory.files.errors import cause_of

    if os.path.isdir(folder):
        return False
    try:
        make_private_folder(folder)
    except OSError as error:
        cause, _ = cause_of(error)
        message = f"The folder {folder} could not be created: {cause}."
        hint = "Choose another with --memory-dir or HIVEMIND_HOME."
        raise NotSavedError(message, hint=hint) from error
    return True


def _create_first_note(folder: str) -> bool:
    """Write the first note unless it is there; return whether it was written."""
    from hivemind_memory.files.folder import NotesFolder

    if os.path.lexists(os.path.join(folder, GLOBAL_NOTE)):
        return False
    data = FIRST_NOTE.encode()
    NotesFolder(folder).replace(GLOBAL_NOTE, data, expected=None)
    return True


def _said(path: str, what: str, *, is_new: bool) -> str:
    """Return one line about one file or folder."""
    return f"{'Created' if is_new else 'Kept'} {path} ({what})"
