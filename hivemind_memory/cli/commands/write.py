"""The commands that write notes."""

from __future__ import annotations

from hivemind_memory.cli.commands.parts import JSON, WRITE
from hivemind_memory.cli.shapes import Argument, Command, Flag

COMMANDS: tuple[Command, ...] = (
    Command(
        "write",
        "writing:write",
        "Add an entry to a note; today's note unless --file names one.",
        panel=WRITE,
        description=(
            "The text is appended with a comment line that says who wrote it and when."
            " Several words are joined by spaces; with no words, or with -, the text"
            " is read from standard input. When it has answered, the entry is on the"
            " disk."
        ),
        arguments=(
            Argument("content", "What to remember.", is_required=False, is_many=True),
        ),
        flags=(
            Flag(
                ("--file",),
                "text",
                "Note to append to; made if it is not there.",
                metavar="PATH",
            ),
            Flag(
                ("--by",),
                "text",
                "Who writes: a person's or an agent's name.",
                metavar="NAME",
            ),
            Flag(
                ("--session",),
                "text",
                "The writer's own name for its session.",
                metavar="NAME",
            ),
            Flag(
                ("--source",),
                "text",
                "What kind of writer; by default human at a terminal, else agent.",
                choices=("human", "agent", "tool", "external"),
            ),
            Flag(("--force",), "flag", "Also a text that was purged before."),
            JSON,
        ),
        examples=(
            "hm write we deploy on Tuesdays only",
            "git log -1 --format=%B | hm write --file projects/site.md",
        ),
    ),
    Command(
        "edit",
        "writing:edit",
        "Open a note in your editor, then index it.",
        panel=WRITE,
        description=(
            "The editor is what VISUAL or EDITOR names. A note that is not there is"
            " made by saving it."
        ),
        arguments=(
            Argument(
                "path",
                "Name of a note; global.md if none is given.",
                is_required=False,
                completes="notes",
            ),
        ),
    ),
)
