"""hm backup and hm restore-backup: everything that cannot be rebuilt, in one file."""

from __future__ import annotations

from hivemind_memory.cli.command import Argument, CommandRequest, Flag, command
from hivemind_memory.cli.dates import minute_text
from hivemind_memory.cli.options import JSON
from hivemind_memory.cli.output import print_json, print_line, print_notices, size_text
from hivemind_memory.model.display import count_text

_FILE = Argument("file", "The backup, such as hivemind.tar.gz.", is_raw=True)


@command(
    "backup",
    description=(
        "Agents can keep writing in the meantime. The file contains the notes, the"
        " journal, state.db and config.json without keys. The vault is left out, and"
        " so is the index, because it can be rebuilt. Notes that could not be"
        " read are listed. An existing file is never replaced."
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
        f"wrote {done.file}: {count_text(done.notes, 'note')}, {keys} ({size})",
        keep=[done.file],
    )
    print_notices(
        f"skipped {skipped.path}: {skipped.reason}" for skipped in done.skipped
    )
    return 0


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
    notes = count_text(done.notes, "note")
    print_line(
        f"restored {notes} to {places.notes}, as they were on {minute_text(done.at)}"
    )
    counts: dict[str, int] = {}
    for entry in done.put_back:
        counts[entry.target] = counts.get(entry.target, 0) + 1
    print_notices(
        f"put back {count_text(count, 'entry', 'entries')} in {target}: only the"
        " journal of the backup had the text"
        for target, count in counts.items()
    )
    return 0
