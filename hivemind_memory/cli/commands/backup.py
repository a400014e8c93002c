"""hm backup and hm restore-backup: everything that cannot be rebuilt, in one file."""

from __future__ import annotations

from hivemind_memory.cli.command import Argument, CommandRequest, Flag, command
from hivemind_memory.cli.dates import minute_text
from hivemind_memory.cli.options import JSON
from hivemind_memory.cli.output import print_json, print_line, print_notices, size_text
from hivemind_memory.model.display import count_text, first_few

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from hivemind_memory.backup.backup_result import BackupResult
    from hivemind_memory.backup.restore import RestoreResult

_FILE = Argument("file", "The backup, such as hivemind.tar.gz.", is_raw=True)


@command(
    "backup",
    description=(
        "Agents can keep writing in the meantime. The file contains the notes, the"
        " other files in the notes folder, the journal, state.db and config.json"
        " without keys. The vault is left out, and so is the index, because it can be"
        " rebuilt."
        " What else is left out is listed: notes that could not be read, hidden files,"
        " links, and files of more than 100 MB. An existing file is never replaced."
    ),
    arguments=(_FILE,),
    flags=(
        Flag(("--with-keys",), "flag", "Include provider API keys."),
        Flag(
            ("--with-vault",), "flag", "Include the vault (still encrypted, if it is)."
        ),
        JSON,
    ),
    examples=("hm backup ~/hivemind-2026-11-22.tar.gz",),
)
def backup(request: CommandRequest) -> int:
    """Write a backup."""
    from hivemind_memory.access.rules import check_owner
    from hivemind_memory.backup.write import write_backup

    with request.open_memory() as memory:
        check_owner(memory.caller, "hm backup")
        done = write_backup(
            memory.places,
            request.values["file"],
            at=memory.clocks.local_iso(memory.clocks.now()),
            with_keys=request.values["with_keys"],
            with_vault=request.values["with_vault"],
            links=memory.folder.links,
        )
    if request.values["json"]:
        print_json(done)
        return 0
    keys = "with keys" if done.has_keys else "without keys"
    keys += ", with the vault" if done.has_vault else ""
    size = size_text(done.size_bytes)
    print_line(
        f"wrote {done.file}: {_held(done)}, {keys} ({size})",
        keep=[done.file],
    )
    print_notices(
        f"skipped {skipped.path}: {skipped.reason}" for skipped in done.skipped
    )
    print_notices(_left_out(done))
    return 0


def _held(done: BackupResult | RestoreResult) -> str:
    """Return how many notes and other files a backup holds."""
    notes = count_text(done.notes, "note")
    return f"{notes}, {count_text(done.files, 'other file')}" if done.files else notes


def _left_out(done: BackupResult) -> Iterator[str]:
    """Yield each reason why files are left out, with how many and which."""
    paths: dict[str, list[str]] = {}
    for file in done.left_out:
        paths.setdefault(file.reason, []).append(file.path)
    for reason, found in paths.items():
        yield f"left out {len(found):,}, because {reason}: {first_few(found)}"


@command(
    "restore-backup",
    description=(
        "Checks the whole file first, and replaces nothing: a home that holds other"
        " notes, settings or state is refused. An entry that was saved while the backup"
        " was made is put back in its note, or in recovered.md if that changed"
        " meanwhile. The next search builds the index."
    ),
    arguments=(_FILE,),
    flags=(JSON,),
    examples=("HIVEMIND_HOME=~/restored hm restore-backup hivemind.tar.gz",),
)
def restore_backup(request: CommandRequest) -> int:
    """Restore a backup."""
    from hivemind_memory.access.rules import check_owner
    from hivemind_memory.backup.restore import restore_backup
    from hivemind_memory.cli.progress import ProgressDisplay

    with request.open_memory() as memory:
        check_owner(memory.caller, "hm restore-backup")
        places = memory.places
    with ProgressDisplay() as progress:
        done = restore_backup(places, request.values["file"], progress)
    if request.values["json"]:
        print_json(done)
        return 0
    at = minute_text(done.at)
    print_line(f"restored {_held(done)} to {places.notes}, as they were on {at}")
    counts: dict[str, int] = {}
    for entry in done.put_back:
        counts[entry.target] = counts.get(entry.target, 0) + 1
    print_notices(
        f"put back {count_text(count, 'entry', 'entries')} in {target}: only the"
        " journal of the backup had the text"
        for target, count in counts.items()
    )
    return 0
