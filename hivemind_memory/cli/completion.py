"""Tab completion: the candidates for a command line, and the scripts for shells.

The scripts call the hidden command ``hm __complete`` with the words typed so far, which
prints one candidate a line.
"""

from __future__ import annotations

from hivemind_memory.cli.options import MEMORY_DIR
from hivemind_memory.cli.parse import HELP
from hivemind_memory.cli.table import (
    ALIASES,
    GROUPS,
    command_names,
    find_command,
    full_second,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from hivemind_memory.cli.command import Command, Flag

SCRIPTS = {
    "bash": """\
_hm_complete() {
    local line word head='' at=0
    local -a words=()
    COMPREPLY=()
    (( COMP_CWORD )) || return 0  # the cursor is on hm itself
    # Bash splits words at colons, and replaces what follows the last one.
    for word in "${COMP_WORDS[@]:1:COMP_CWORD}"; do
        if (( at )) && [[ $word == :* || ${words[at-1]} == *: ]]; then
            words[at-1]+=$word
        else
            words[at++]=$word
        fi
    done
    if [[ ${words[at-1]} == *:* && $COMP_WORDBREAKS == *:* ]]; then
        head=${words[at-1]%:*}:
    fi
    while IFS= read -r line; do
        COMPREPLY+=("${line#"$head"}")
    done < <(hm __complete -- "${words[@]}" 2>/dev/null)
    # Bash quotes names of files that exist; of others it leaves $ and more as it is.
    if [[ ${words[at-1]} == [\\'\\"]* ]]; then
        compopt -o filenames 2>/dev/null  # inside an open quote, it quotes all
    else
        for at in "${!COMPREPLY[@]}"; do
            printf -v "COMPREPLY[at]" %q "${COMPREPLY[at]}"
        done
    fi
}
complete -o default -F _hm_complete hm
""",
    "zsh": """\
#compdef hm
_hm() {
    local -a found
    found=("${(@f)$(hm __complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)}")
    found=(${found:#})
    if (( ${#found} )); then
        compadd -a found
    else
        _files
    fi
}
compdef _hm hm
""",
    "fish": """\
function __hm_complete
    set -l words (commandline -opc) (commandline -ct)
    set -l found (hm __complete -- $words[2..-1] 2>/dev/null)
    if test (count $found) -gt 0
        printf '%s\\n' $found
    else
        __fish_complete_path $words[-1]
    end
end
complete -c hm -f -a '(__hm_complete)'
""",
}
"""Shell -> what makes Tab complete ``hm``."""

_LISTS = ("--type", "--related", "--contradicts")
"""Options that take several words, separated by commas."""

OPTION_VALUES = "option values"
"""Kind of the values of the option that the word before names."""


def candidates(words: list[str], memory_dir: str | None = None) -> list[str]:
    """Return the candidates for the last of *words*, which follow ``hm``."""
    # Bash splits --source=human into three words.
    words = [_unquoted(word) for word in words]
    *before, current = [word for word in words if word != "="] or [""]
    if words[-1:] == ["="]:
        current = ""
    option, equals, value = current.partition("=")
    if equals and option.startswith("--"):  # the other shells leave it in one word
        inside = candidates([*before, option, value], memory_dir)
        return [f"{option}={option_value}" for option_value in inside]
    found = dict.fromkeys(_all_candidates(before, current, memory_dir))
    head, comma, tail = current.rpartition(",")
    if comma and before and before[-1] in _LISTS:
        named = head.split(",")
        rest = [word for word in found if word.startswith(tail) and word not in named]
        return [f"{head},{word}" for word in rest]
    return [word for word in found if word.startswith(current)]


def _unquoted(word: str) -> str:
    r"""Return a word without the quotes and escapes that a person typed, even half.

    >>> _unquoted("my\\ ke"), _unquoted("'my ke")
    ('my ke', 'my ke')
    """
    quote = word[:1] if word[:1] in ("'", '"') else ""
    return word.strip(quote) if quote else word.replace("\\", "")


def _all_candidates(
    before: list[str], current: str, memory_dir: str | None
) -> Iterable[str]:
    """Return what may follow the words *before*."""
    rest = list(before)
    while rest and rest[0].startswith("-"):
        if rest.pop(0) in MEMORY_DIR.names:
            memory_dir = rest.pop(0) if rest else None
            if memory_dir is None:
                return ()
    if not rest:
        if current.startswith("-"):
            return (*MEMORY_DIR.names, "--version", "--help")
        return dict.fromkeys(name.partition(" ")[0] for name in command_names())
    name = rest.pop(0)
    name = ALIASES.get(name, name)
    if name in GROUPS:
        if not rest:
            return (full_name.partition(" ")[2] for full_name in command_names(name))
        name = f"{name} {full_second(name, rest.pop(0))}"
    command = find_command(name)
    return _of_command(command, rest, current, memory_dir) if command else ()


def _of_command(
    command: Command, before: list[str], current: str, memory_dir: str | None
) -> Iterable[str]:
    """Return what may follow a command and the words after it."""
    flags = {name: flag for flag in (*command.flags, MEMORY_DIR) for name in flag.names}
    places: list[str] = []
    waiting = None
    is_name = False
    for word in before:
        if is_name:
            places.append(word)
        elif waiting is not None:
            memory_dir = word if waiting is MEMORY_DIR else memory_dir
            waiting = None
        elif word == "--":
            is_name = True
        elif word in flags:
            waiting = flags[word] if flags[word].kind != "flag" else None
        elif not word.startswith("-"):
            places.append(word)
    if waiting is not None:
        return _values(waiting, memory_dir)
    if current.startswith("-") and not is_name:
        return [name for name in (*flags, *HELP) if name.startswith("--")]
    left = command.arguments[len(places) :]
    left = left or tuple(last for last in command.arguments[-1:] if last.is_many)
    if not left:
        return ()
    argument = left[0]
    if argument.completes == OPTION_VALUES:
        return _option_values(places[0])
    return _of_kind(argument.completes, memory_dir)


def _values(flag: Flag, memory_dir: str | None) -> Iterable[str]:
    """Return the values that an option may take, as far as they are known."""
    return flag.choices or _of_kind(flag.completes, memory_dir)


def _of_kind(kind: str, memory_dir: str | None) -> Iterable[str]:
    """Return all words of a kind; none when they cannot be known."""
    from hivemind_memory.errors import HivemindError

    if not kind:
        return ()
    try:
        return KINDS[kind](memory_dir)
    except (HivemindError, OSError):
        return ()


def _notes(memory_dir: str | None) -> Iterable[str]:
    """Return the notes."""
    from hivemind_memory import opening

    with opening.open_memory(memory_dir=memory_dir) as memory:
        return [note.path for note in memory.list()]


def _keys(memory_dir: str | None) -> Iterable[str]:
    """Return the keys of the memories."""
    from hivemind_memory import opening

    with opening.open_memory(memory_dir=memory_dir) as memory:
        return [row.key for row in memory.memories() if row.key]


def _local_models(memory_dir: str | None) -> Iterable[str]:  # noqa: ARG001
    """Return the known local models."""
    from hivemind_memory.providers.local_catalog import MODELS

    return [model.name for model in MODELS]


def _names(memory_dir: str | None) -> Iterable[str]:
    """Return the keys of the memories, then the notes that have none."""
    from hivemind_memory import opening

    with opening.open_memory(memory_dir=memory_dir) as memory:
        keys = {row.path: row.key for row in memory.memories() if row.key}
        notes = [note.path for note in memory.list() if note.path not in keys]
    return (*keys.values(), *notes)


def _folders(memory_dir: str | None) -> Iterable[str]:
    """Return the folders of the notes."""
    from itertools import accumulate

    parts = (path.split("/")[:-1] for path in _notes(memory_dir))
    joined = (folder for some in parts for folder in accumulate(some, "{}/{}".format))
    return dict.fromkeys(joined)


def _options(memory_dir: str | None) -> Iterable[str]:  # noqa: ARG001 - one shape
    """Return the options of config.json."""
    from hivemind_memory.config import options

    return options()


def _option_values(name: str) -> Iterable[str]:
    """Return the values that an option of config.json may take, if they are few."""
    from hivemind_memory.config import options

    option = options().get(name.removeprefix("memory."))
    if option is None:
        return ()
    if option.kind == "bool":
        return ("true", "false")
    # A lone dash reads a secret from standard input, and keeps it out of the history.
    return ("-",) if option.is_secret else option.choices


def _claims(memory_dir: str | None) -> Iterable[str]:
    """Return the keys and ids of what is pending in the inbox."""
    from hivemind_memory import opening

    with opening.open_memory(memory_dir=memory_dir) as memory:
        claims = memory.curation.pending()
    return (
        *(claim.key for claim in claims if claim.key),
        *(claim.id for claim in claims if claim.id),
    )


def _forgotten(memory_dir: str | None) -> Iterable[str]:
    """Return the ids of each forget, and the keys of what is forgotten."""
    from hivemind_memory import opening
    from hivemind_memory.model.memories import FORGOTTEN

    with opening.open_memory(memory_dir=memory_dir) as memory:
        rows = [row for row in memory.memories() if row.status == FORGOTTEN]
        changes = memory.curation.changes()
    ids = (
        change.id
        for change in changes
        if change.kind == "forget" and not change.undone_by
    )
    return (*(row.key for row in rows if row.key), *ids)


def _changes(memory_dir: str | None) -> Iterable[str]:
    """Return the ids of the changes that can be undone."""
    from hivemind_memory import opening
    from hivemind_memory.curation.undo_errors import is_reversible

    with opening.open_memory(memory_dir=memory_dir) as memory:
        made = [each for each in memory.curation.changes() if is_reversible(each)]
    return [change.id for change in made if not change.undone_by]


def _projects(memory_dir: str | None) -> Iterable[str]:
    """Return the names of the projects."""
    from hivemind_memory import opening

    with opening.open_memory(memory_dir=memory_dir) as memory:
        return [project.name for project in memory.curation.projects.list()]


def _commands(memory_dir: str | None) -> Iterable[str]:  # noqa: ARG001 - one shape
    """Return the topics of the help."""
    return (*dict.fromkeys(name.partition(" ")[0] for name in command_names()), "all")


def _connectable(memory_dir: str | None) -> Iterable[str]:  # noqa: ARG001 - one shape
    """Return the agents that can be connected."""
    from hivemind_memory.model.agents import CONNECTABLE

    return (*CONNECTABLE, "all")


def _agents(memory_dir: str | None) -> Iterable[str]:  # noqa: ARG001 - one shape
    """Return the agents that can be launched or injected for."""
    from hivemind_memory import environment
    from hivemind_memory.model.agents import PROGRAMS

    return (*PROGRAMS, *environment.load_settings().agents)


def _types(memory_dir: str | None) -> Iterable[str]:
    """Return the types of memories, a person's own too."""
    from hivemind_memory import opening
    from hivemind_memory.model.memory_types import all_types

    with opening.open_memory(memory_dir=memory_dir) as memory:
        return tuple(all_types(memory.types))


def _writers(memory_dir: str | None) -> Iterable[str]:
    """Return who wrote something."""
    from hivemind_memory import opening
    from hivemind_memory.model.listing import MemoryFilter

    with opening.open_memory(memory_dir=memory_dir) as memory:
        entries = memory.curation.log(MemoryFilter())
        return sorted({entry.by for entry in entries if entry.by})


def _tags(memory_dir: str | None) -> Iterable[str]:
    """Return the tags of notes and entries, the most common first."""
    from hivemind_memory import opening
    from hivemind_memory.memory.tag_counts import count_tags

    with opening.open_memory(memory_dir=memory_dir) as memory:
        return [tag for tag, _ in count_tags(memory)]


def _scopes(memory_dir: str | None) -> Iterable[str]:
    """Return the scopes that have notes."""
    from hivemind_memory import opening
    from hivemind_memory.model.scope import scope_of

    with opening.open_memory(memory_dir=memory_dir) as memory:
        scopes = {scope_of(note.path) for note in memory.list()}
    return ("global", *sorted(filter(None, scopes)))


def _sessions(memory_dir: str | None) -> Iterable[str]:
    """Return the sessions of agents."""
    from hivemind_memory import environment, opening

    launcher = opening.open_launcher(environment.shell_scope_request(), memory_dir)
    return [session.name for session in launcher.sessions()]


def _shells(memory_dir: str | None) -> Iterable[str]:  # noqa: ARG001 - one shape
    """Return the shells that have a script."""
    return SCRIPTS


KINDS: dict[str, Callable[[str | None], Iterable[str]]] = {
    "agents": _agents,
    "changes": _changes,
    "claims": _claims,
    "commands": _commands,
    "connectable": _connectable,
    "folders": _folders,
    "forgotten": _forgotten,
    "keys": _keys,
    "local models": _local_models,
    "names": _names,
    "notes": _notes,
    "options": _options,
    "projects": _projects,
    "scopes": _scopes,
    "sessions": _sessions,
    "shells": _shells,
    "tags": _tags,
    "types": _types,
    "writers": _writers,
}
"""Kind of a word -> returns all words of it."""
