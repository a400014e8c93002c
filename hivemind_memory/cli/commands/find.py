"""The commands that find what is known."""

from __future__ import annotations

from hivemind_memory.cli.commands.parts import FIND, JSON, NOTE, SCOPE
from hivemind_memory.cli.shapes import Argument, Command, Flag

COMMANDS: tuple[Command, ...] = (
    Command(
        "search",
        "finding:search",
        "Ask the notes a question, in any words and any language.",
        panel=FIND,
        description=(
            "Every change that was saved before is seen. Several words are joined by"
            " spaces; no quotes or operators are needed. With - the question is read"
            " from standard input. Words that begin with a dash come after --."
        ),
        arguments=(Argument("query", "The question.", is_many=True),),
        flags=(
            Flag(
                ("-n", "--max-results"),
                "int",
                "At most so many hits (10, unless config.json says otherwise).",
                metavar="N",
                low=1,
                high=1000,
            ),
            Flag(
                ("--min-score",),
                "float",
                "Relevance that a hit must have (0.3, unless config.json says so).",
                metavar="X",
                low=0,
                high=1,
            ),
            Flag(
                ("--type",),
                "text",
                "Only memories of these types, such as lesson,decision.",
                metavar="TYPES",
            ),
            SCOPE,
            Flag(
                ("--since",),
                "text",
                "Only what is of this day or later: 2026-11-21.",
                metavar="DAY",
            ),
            Flag(
                ("--until",),
                "text",
                "Only what is of this day or earlier.",
                metavar="DAY",
            ),
            Flag(("--inbox",), "flag", "Also untrusted claims that wait in the inbox."),
            Flag(("--expired",), "flag", "Also memories that are over."),
            JSON,
            Flag(("--explain",), "flag", "Say how each score came about."),
            Flag(("--fail-empty",), "flag", "Exit with 1 when nothing is found."),
        ),
        examples=(
            "hm search how do I deploy",
            "hm search -n 3 --json 'staging database'",
        ),
    ),
    Command(
        "get",
        "finding:get",
        "Print a note, or some of its lines.",
        panel=FIND,
        description="PATH may be a place as a search prints it: deploy.md:12-18.",
        arguments=(NOTE,),
        flags=(
            Flag(("--from",), "int", "First line to print.", metavar="N", low=1),
            Flag(("--lines",), "int", "How many lines to print.", metavar="M", low=0),
            JSON,
        ),
        examples=("hm get global.md", "hm get deploy.md:12-18"),
    ),
    Command(
        "list",
        "finding:list_notes",
        "List all notes: size, last change, number of chunks.",
        panel=FIND,
        flags=(JSON,),
    ),
)
