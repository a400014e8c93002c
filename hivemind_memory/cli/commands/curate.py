"""The commands that curate: save, replace, look at, relate, forget."""

from __future__ import annotations

from hivemind_memory.cli.commands.parts import (
    BY,
    CURATE,
    JSON,
    MEMORY,
    SCOPE,
    SESSION,
    SOURCE,
)
from hivemind_memory.cli.shapes import Argument, Command, Flag

_WEIGHT = Flag(
    ("--weight",), "float", "How strong, 0 to 1 (1).", metavar="X", low=0, high=1
)
_KIND = Flag(
    ("--kind",),
    "text",
    "What joins them (related_to).",
    choices=("related_to", "updates", "contradicts"),
)
_ENDS = (
    Argument("from", "Key, id or path of the memory that is changed."),
    Argument("to", "Key, id or path of the other."),
)
_WHICH = Argument(
    "ref", "Key or id of a memory, id of an entry, or a path.", is_required=False
)
_SETS = (
    SESSION,
    Flag(
        ("--source",),
        "text",
        "All that such a writer wrote.",
        choices=("human", "agent", "tool", "external"),
    ),
    Flag(("--day",), "text", "All that was written on a day.", metavar="DAY"),
)

COMMANDS: tuple[Command, ...] = (
    Command(
        "save",
        "curating:save",
        "Save a memory under a key; a new one replaces the old, with a reason.",
        panel=CURATE,
        description=(
            "At most one memory of a key is in force. Where there is one, --reason says"
            " why it is replaced; it stays, marked as superseded, and hm history shows"
            " it. Several words are joined by spaces; with no words, or with -, the"
            " text is read from standard input."
        ),
        arguments=(
            Argument("key", "Name of the memory, such as deploy-day; any text."),
            Argument("content", "What to remember.", is_required=False, is_many=True),
        ),
        flags=(
            Flag(
                ("--type",),
                "text",
                "identity, lesson, decision, preference, goal, todo, context (the"
                " default), fact, event, observation, reference, historical, summary,"
                " checkpoint, or one of config.json.",
                metavar="TYPE",
            ),
            Flag(
                ("--reason",),
                "text",
                "Why it replaces the memory in force; 'minor correction' for a slip.",
                metavar="WHY",
            ),
            SCOPE,
            Flag(
                ("--importance",),
                "float",
                "0 to 1; by default as its type.",
                metavar="X",
                low=0,
                high=1,
            ),
            Flag(
                ("--visibility",),
                "text",
                "Who may read it over the network; by default as its project.",
                choices=("public", "private"),
            ),
            Flag(
                ("--related",),
                "text",
                "Keys or ids of memories that it goes with, separated by commas.",
                metavar="KEYS",
            ),
            Flag(
                ("--contradicts",),
                "text",
                "Keys or ids of memories that it disputes, separated by commas.",
                metavar="KEYS",
            ),
            Flag(("--expires",), "text", "Day on which it is over.", metavar="DAY"),
            Flag(("--tags",), "text", "Words, separated by commas.", metavar="WORDS"),
            Flag(("--pin",), "flag", "Tell it to every agent; it never ages."),
            BY,
            SESSION,
            SOURCE,
            Flag(("--force",), "flag", "Also a text that was purged before."),
            JSON,
        ),
        examples=(
            "hm save deploy-day --type decision We deploy on Tuesdays",
            "hm save deploy-day --reason 'new team' We deploy on any day but Friday",
        ),
    ),
    Command(
        "show",
        "curating:show",
        "Show one memory: its text, edges, chain, and how often it was recalled.",
        panel=CURATE,
        arguments=(MEMORY,),
        flags=(SCOPE, JSON),
    ),
    Command(
        "history",
        "curating:history",
        "Show what a memory was before, and why it was replaced.",
        panel=CURATE,
        arguments=(MEMORY,),
        flags=(SCOPE, JSON),
    ),
    Command(
        "link",
        "curating:link",
        "Join two memories: related_to, updates or contradicts.",
        panel=CURATE,
        description="Of a memory and one that updates it, only the newer answers.",
        arguments=_ENDS,
        flags=(_KIND, _WEIGHT, JSON),
        examples=("hm link deploy-day party-day --kind contradicts",),
    ),
    Command(
        "unlink",
        "curating:unlink",
        "Take away what joins two memories.",
        panel=CURATE,
        arguments=_ENDS,
        flags=(_KIND, JSON),
    ),
    Command(
        "learn",
        "curating:learn",
        "Save a claim with how sure it is; verified again, it replaces itself.",
        panel=CURATE,
        arguments=(
            Argument("topic", "What it is about, such as pip or ci."),
            Argument("claim", "What is claimed.", is_many=True),
        ),
        flags=(
            Flag(
                ("--confidence",),
                "text",
                "How sure it is (medium).",
                choices=("high", "medium", "low"),
            ),
            Flag(
                ("--corroborated",),
                "int",
                "By how many independent sources.",
                metavar="N",
                low=0,
            ),
            Flag(
                ("--domains",),
                "text",
                "Root domains that say so, separated by commas.",
                metavar="WORDS",
            ),
            Flag(
                ("--verified",), "text", "Day on which it was checked.", metavar="DAY"
            ),
            SCOPE,
            BY,
            SESSION,
            SOURCE,
            JSON,
        ),
    ),
    Command(
        "forget",
        "curating:forget",
        "Hide memories, or with --purge take them out of every place.",
        panel=CURATE,
        description=(
            "Forgotten is out of search, lists and injected sections, and hm restore"
            " brings it back. --purge also takes the text out of notes, earlier"
            " versions, index, vectors, caches and journal, for good. By session,"
            " source or day, all that was written then is meant."
        ),
        arguments=(_WHICH,),
        flags=(
            *_SETS,
            SCOPE,
            Flag(("--purge",), "flag", "For good, and from everywhere."),
            Flag(("--dry-run",), "flag", "Say what would be done, and do nothing."),
            Flag(("--yes",), "flag", "Do not ask."),
            JSON,
        ),
        examples=(
            "hm forget deploy-day",
            "hm forget --session 3f9a --purge --dry-run",
        ),
    ),
    Command(
        "restore",
        "curating:restore",
        "Bring back what was forgotten.",
        panel=CURATE,
        arguments=(_WHICH,),
        flags=(
            *_SETS,
            SCOPE,
            JSON,
        ),
    ),
)
