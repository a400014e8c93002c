"""hm consolidate: memories that say nearly the same, as a diff to be applied."""

from __future__ import annotations

import os
from shlex import quote

from hivemind_memory.cli.command import CommandRequest, Flag, command
from hivemind_memory.cli.options import DRY_RUN, JSON, SCOPE, TYPE
from hivemind_memory.cli.output import (
    print_json,
    print_line,
    print_notices,
    write_stdout,
)
from hivemind_memory.errors import ChatError, UsageError
from hivemind_memory.files.descriptors import open_regular
from hivemind_memory.files.errors import cause_of, hint_for_given, reason_of
from hivemind_memory.model.display import count_text
from hivemind_memory.model.scope import scope_text
from hivemind_memory.redaction import mask

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.jobs.consolidation import Merge
    from hivemind_memory.memory.memory import Memory
    from hivemind_memory.model.curation import StoredMemory


@command(
    "consolidate",
    description=(
        "Finds memories of one type and scope that have most words in common, and has"
        " the language model (llm_provider) merge them. Prints a diff, and changes"
        " nothing: read it, edit it, and apply it with --apply. Without a language"
        " model, and with --dry-run, it lists what would be asked. Only the owner may"
        " do this."
    ),
    flags=(
        SCOPE,
        TYPE,
        DRY_RUN,
        Flag(
            ("-o", "--output"),
            "path",
            "Write the diff to this file, which must be new.",
            metavar="FILE",
        ),
        Flag(("--apply",), "path", "Apply the diff in this file.", metavar="FILE"),
        Flag(
            ("--only",),
            "text",
            "With --apply: only the parts with these numbers, such as 1,3.",
            metavar="NUMBERS",
            is_list=True,
        ),
        JSON,
    ),
    examples=(
        "hm consolidate --dry-run",
        "hm consolidate --scope global -o merged.md",
        "hm consolidate --apply merged.md --only 1,3",
    ),
)
def consolidate(request: CommandRequest) -> int:
    """Merge memories that say nearly the same, or propose it."""
    from hivemind_memory.access.rules import check_owner

    with request.open_memory() as memory:
        check_owner(memory.caller, "hm consolidate")
        if request.values["apply"]:
            return _apply(request, memory)
        if request.values["only"]:
            raise UsageError("--only chooses parts of --apply FILE.")
        return _propose(request, memory)


def _propose(request: CommandRequest, memory: Memory) -> int:
    """Print what could be merged."""
    from hivemind_memory.jobs.consolidation import find_clusters
    from hivemind_memory.jobs.consolidation_file import render_merges
    from hivemind_memory.providers.chat_target import ChatTarget, find_chat_target

    clusters = find_clusters(memory, _scopes(request, memory), _types(request, memory))
    target = find_chat_target(memory.settings)
    merges: list[Merge] = []
    refused: list[str] = []
    is_asked = isinstance(target, ChatTarget) and not request.values["dry_run"]
    output: str = request.values["output"] or ""
    if is_asked and output and os.path.lexists(output):
        raise UsageError(f"{output} already exists.")
    if is_asked and clusters:
        merges, refused = _ask(memory, clusters)
    memories = {each.id: each for cluster in clusters for each in cluster}
    diff = render_merges(merges, memories) if merges else ""
    if diff and output:
        _write(output, diff)
    if request.values["json"]:
        rows = [
            {
                "scope": scope_text(cluster[0].scope),
                "type": cluster[0].type,
                "memories": [
                    {"id": each.id, "key": mask(each.key)} for each in cluster
                ],
            }
            for cluster in clusters
        ]
        print_json({"clusters": rows, "diff": diff, "refused": refused})
        return 0
    if diff and not output:
        write_stdout(diff)
    elif not is_asked:
        for cluster in clusters:
            keys = mask(", ".join(each.key for each in cluster))
            print_line(f"{cluster[0].type}, {scope_text(cluster[0].scope)}: {keys}")
    print_notices(refused)
    if not clusters:
        print_notices(["no near copies"])
    elif not is_asked:
        count = count_text(len(clusters), "request")
        print_notices([f"the language model would be asked in {count}"])
        if not isinstance(target, ChatTarget):
            print_notices([str(target)])
    elif diff:
        kept = "" if output else "keep the diff, as with -o FILE: "
        offered = f"`hm consolidate --apply {quote(output or 'FILE')}` applies it"
        print_notices([f"nothing was changed; {kept}{offered}"])
    return 0


def _write(path: str, diff: str) -> None:
    """Write a diff to a new file, for its owner only.

    Raises:
        UsageError: It was not written.
    """
    from hivemind_memory.files.atomic import write_file

    try:
        is_written = write_file(os.path.abspath(path), diff.encode(), is_new=True)
    except OSError as error:
        cause, hint = cause_of(error)
        raise UsageError(f"{path} cannot be written: {cause}.", hint=hint) from None
    if not is_written:
        raise UsageError(f"{path} already exists. Nothing was written.")


def _ask(
    memory: Memory, clusters: list[list[StoredMemory]]
) -> tuple[list[Merge], list[str]]:
    """Ask about each cluster; return the merges, and why there is none of some."""
    from hivemind_memory.jobs.consolidation import ask_for_merges
    from hivemind_memory.jobs.runner import open_chosen_chat

    merges: list[Merge] = []
    refused: list[str] = []
    chat = open_chosen_chat(memory)
    try:
        for cluster in clusters:
            keys = mask(", ".join(each.key for each in cluster))
            try:
                merges += ask_for_merges(memory, cluster, chat)
            except ValueError as error:
                refused.append(f"{keys}: the language model replied {error}")
            except ChatError as error:
                refused.append(f"{keys}: {error}")
    finally:
        chat.close()
    return merges, refused


def _apply(request: CommandRequest, memory: Memory) -> int:
    """Apply a diff, whole or in parts."""
    from hivemind_memory.jobs.consolidate import apply_merges
    from hivemind_memory.jobs.consolidation_file import parse_merges

    path = request.values["apply"]
    try:
        with open(path, encoding="utf-8", opener=open_regular) as file:
            parts = dict(enumerate(parse_merges(file.read()), start=1))
    except OSError as error:
        message = f"{path} cannot be read: {reason_of(error)}."
        raise UsageError(message, hint=hint_for_given(error)) from None
    except ValueError as error:
        raise UsageError(f"{path}: {error}. Nothing was changed.") from None
    if not parts:
        raise UsageError(
            f"{path} has no part to apply. Nothing was changed.",
            hint="`hm consolidate -o FILE` writes one.",
        )
    chosen = _numbers(request.values["only"] or "", set(parts))
    if request.values["dry_run"]:
        for number in chosen:
            count = count_text(len(parts[number].sources), "memory", "memories")
            print_line(f"{number}. {parts[number].key} would replace {count}")
        return 0
    session, done = apply_merges(memory, [(n, parts[n]) for n in chosen])
    if request.values["json"]:
        print_json({"session": session, "parts": done})
    else:
        for part in done:
            said = f"saved as {part.id}" if part.id else "refused"
            problem = f": {part.problem}" if part.problem else ""
            print_line(f"{part.number}. {part.key} {said}{problem}")
        if any(part.id for part in done):
            print_notices([f"`hm forget --session {quote(session)}` undoes it"])
    return 1 if any(part.problem for part in done) else 0


def _numbers(text: str, known: set[int]) -> list[int]:
    """Return the parts that are named; all for an empty text."""
    if not text:
        return sorted(known)
    named = [part.strip() for part in text.split(",")]
    found = {int(part) for part in named if part.isascii() and part.isdigit()}
    if len(found) != len(named) or not found <= known:
        raise UsageError(
            f"--only takes numbers of parts from 1 to {max(known)}, such as 1,3."
        )
    return sorted(found)


def _scopes(request: CommandRequest, memory: Memory) -> list[str]:
    """Return the scopes that are looked at: one, or all."""
    if request.values["scope"]:
        return [memory.find_scope(request.values["scope"])]
    return sorted({row.scope for row in memory.memories()})


def _types(request: CommandRequest, memory: Memory) -> list[str]:
    """Return the types that are looked at; none: all."""
    if not request.values["type"]:
        return []
    return [*memory.parse_filter(types=request.values["type"]).types]
