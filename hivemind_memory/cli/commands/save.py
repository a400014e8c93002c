"""hm save and hm learn: save a memory under a key, or a claim with its confidence."""

from __future__ import annotations

from hivemind_memory.cli.command import TEXT, Argument, CommandRequest, Flag, command
from hivemind_memory.cli.commands.write import new_scope_notices
from hivemind_memory.cli.options import (
    BY,
    FORCE,
    GLOBAL,
    JSON,
    SCOPE,
    SESSION,
    SOURCE,
    SOURCE_REF,
    TAGS,
)
from hivemind_memory.cli.output import (
    print_json,
    print_line,
    print_notices,
)
from hivemind_memory.cli.persons_only import check_persons_shell
from hivemind_memory.cli.text_input import (
    read_content,
    scope_of,
    split_items,
    writer_of,
)
from hivemind_memory.model.display import lines_text, shorten
from hivemind_memory.model.memory_types import (
    BUILT_IN,
    CONFIDENCES,
    DEFAULT_CONFIDENCE,
    DEFAULT_TYPE,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.errors import KeyTakenError
    from hivemind_memory.model.curation import SaveResult

_MAX_SAID = 300
"""Characters of the existing text that the error quotes."""


def _type_flag(default: str) -> Flag:
    """Return the option that names the type of what is saved."""
    return Flag(
        ("--type",),
        "text",
        f"{', '.join(BUILT_IN)}, or a type from config.json. {default}",
        metavar="TYPE",
        completes="types",
    )


@command(
    "save",
    description=(
        "A key has at most one active memory. To replace it, give the reason with"
        " --reason; the old text is kept, marked as superseded, and hm history shows"
        " it. The words are joined by spaces, and everything after the first word of"
        " the text is text, so options go before it, or after a text in quotes. Without"
        " a text, or with -, it is read from standard input. In a repository the memory"
        " is saved to its project, unless --scope or -g says otherwise."
    ),
    arguments=(
        Argument(
            "key",
            "Name of the memory, such as deploy-day; any text.",
            completes="keys",
        ),
        Argument("text", "What to remember.", is_required=False, reads=TEXT),
    ),
    flags=(
        _type_flag(f"The default is {DEFAULT_TYPE}."),
        Flag(
            ("--reason",),
            "text",
            "Why it replaces the active memory; 'minor correction' for a typo.",
            metavar="WHY",
        ),
        SCOPE,
        GLOBAL,
        Flag(
            ("--importance",),
            "float",
            "How much it matters; the default depends on the type.",
            metavar="0..1",
            low=0,
            high=1,
        ),
        Flag(
            ("--visibility",),
            "text",
            "Who may read it over the network; the default is that of its project.",
            choices=("public", "private"),
        ),
        Flag(
            ("--related",),
            "text",
            "Keys or ids of related memories, separated by commas.",
            metavar="KEYS",
            is_list=True,
            completes="keys",
        ),
        Flag(
            ("--contradicts",),
            "text",
            "Keys or ids of memories that it contradicts, separated by commas.",
            metavar="KEYS",
            is_list=True,
            completes="keys",
        ),
        Flag(
            ("--expires",),
            "due",
            "Day on which it expires: 2026-12-31, tomorrow, 30d.",
            metavar="DAY",
        ),
        SOURCE_REF,
        TAGS,
        Flag(("--pin",), "flag", "Always inject it; it never ages."),
        BY,
        SESSION,
        SOURCE,
        FORCE,
        JSON,
    ),
    examples=(
        "hm save --type decision deploy-day We deploy on Tuesdays",
        "hm save --reason 'new team' deploy-day We deploy on any day but Friday",
    ),
)
def save(request: CommandRequest) -> int:
    """Save a memory under a key."""
    from hivemind_memory.errors import KeyTakenError
    from hivemind_memory.model.curation import NewMemory

    values = request.values
    if values["pin"]:
        check_persons_shell("Pinning a memory")
    wanted = NewMemory(
        key=values["key"],
        content=read_content(values["text"], "the memory"),
        type=values["type"] or "",
        reason=values["reason"] or "",
        importance=values["importance"],
        scope=scope_of(values),
        visibility=values["visibility"] or "",
        related=split_items(values["related"]),
        contradicts=split_items(values["contradicts"]),
        expires=values["expires"] or "",
        source_ref=values["source_ref"] or "",
        tags=split_items(",".join(values["tags"] or ())),
        is_pinned=values["pin"],
        **writer_of(values),
    )
    with request.open_memory() as memory:
        notices = new_scope_notices(memory, wanted.scope)
        try:
            saved = memory.curation.save(wanted, is_forced=values["force"])
        except KeyTakenError as error:
            raise _key_taken(wanted.key, error) from error
    _print_saved(saved, as_json=values["json"])
    print_notices(notices)
    return 0


@command(
    "learn",
    description=(
        "The words of the claim are joined by spaces, and everything after the first"
        " one is text, so options go before it, or after a claim in quotes."
    ),
    arguments=(
        Argument("topic", "What it is about, such as pip or ci."),
        Argument("claim", "The claim.", reads=TEXT),
    ),
    flags=(
        Flag(
            ("--confidence",),
            "text",
            f"How certain it is ({DEFAULT_CONFIDENCE}).",
            choices=CONFIDENCES,
        ),
        Flag(
            ("--corroborated",),
            "int",
            "Number of independent sources, at least one for each root domain.",
            metavar="N",
            low=0,
        ),
        Flag(
            ("--domains",),
            "text",
            "Domains of the sources, separated by commas; one root counts once.",
            metavar="WORDS",
            is_list=True,
        ),
        Flag(("--verified",), "day", "Day on which it was verified.", metavar="DAY"),
        _type_flag(
            "The default is lesson for high confidence with two sources, else"
            " reference."
        ),
        SOURCE_REF,
        SCOPE,
        GLOBAL,
        BY,
        SESSION,
        SOURCE,
        JSON,
    ),
    examples=("hm learn --confidence high sqlite WAL allows one writer at a time",),
)
def learn(request: CommandRequest) -> int:
    """Save a claim."""
    from hivemind_memory.model.curation import NewMemory

    values = request.values
    wanted = NewMemory(
        key="",
        content=read_content(values["claim"], "the claim"),
        type=values["type"] or "",
        source_ref=values["source_ref"] or "",
        scope=scope_of(values),
        **writer_of(values),
    )
    with request.open_memory() as memory:
        notices = new_scope_notices(memory, wanted.scope)
        saved = memory.curation.learn(
            wanted,
            topic=values["topic"],
            confidence=values["confidence"] or DEFAULT_CONFIDENCE,
            domains=split_items(values["domains"]),
            corroborated=values["corroborated"],
            verified=values["verified"] or "",
        )
    _print_saved(saved, as_json=values["json"])
    print_notices(notices)
    return 0


def _key_taken(key: str, error: KeyTakenError) -> KeyTakenError:
    """Return the error of a save whose key is taken, in the words of the command."""
    from hivemind_memory.errors import KeyTakenError
    from hivemind_memory.model.curation import StoredMemory
    from hivemind_memory.redaction import mask

    current, quoted, taken = error.current, "", f'"{key}" is'
    if isinstance(current, StoredMemory):
        text = " ".join(mask(current.text).split())
        quoted = f" {current.path} says: {shorten(text, _MAX_SAID)}"
        if current.key != key:
            taken = f'"{key}" is the same key as "{current.key}", which is'
    return KeyTakenError(
        f"{taken} already saved. Nothing was changed.",
        hint=f"--reason WHY replaces it and keeps this version.{quoted}",
        current=current,
    )


def _print_saved(saved: SaveResult, *, as_json: bool) -> None:
    """Print where a memory is and what it replaced."""
    from hivemind_memory.model.memories import PENDING, STATUSES
    from hivemind_memory.model.save_hints import HintWords, hint_texts
    from hivemind_memory.model.value import replaced

    words = HintWords(global_scope="`-g`", opening="`--type preference --reason WHY`")
    hints = hint_texts(saved.hints, words)
    if as_json:
        return print_json(replaced(saved, hints=hints))
    is_pending = saved.status == STATUSES[PENDING]
    place = lines_text(saved.path, saved.start_line, saved.end_line)
    if not saved.is_new:
        print_line(f"unchanged: {place} already says exactly this", keep=[place])
        return print_notices((*saved.warnings, *(hints if is_pending else ())))
    verb = "pending" if is_pending else "saved"
    line = f"{verb} {place} as {saved.type} {saved.key} ({saved.id})"
    print_line(line, keep=[place, saved.key])
    if saved.superseded:
        kept = saved.superseded_path or saved.superseded
        print_line(f"kept the previous version as {kept}", keep=[kept])
    return print_notices((*saved.warnings, *hints))
