"""The commands that keep notes and index in order."""

from __future__ import annotations

from hivemind_memory.cli.commands.parts import JSON, KEEP
from hivemind_memory.cli.shapes import Command

COMMANDS: tuple[Command, ...] = (
    Command(
        "sync",
        "upkeep:sync",
        "Bring the index in step with the notes.",
        panel=KEEP,
        description=(
            "Searches do this by themselves; after a large change it shows progress,"
            " and it also makes the vectors that are missing."
        ),
        flags=(JSON,),
    ),
    Command(
        "rebuild",
        "upkeep:rebuild",
        "Make the index again from the notes alone.",
        panel=KEEP,
        description=(
            "The old index answers until the new one is whole, and no text is sent to"
            " the embedding provider a second time."
        ),
        flags=(JSON,),
    ),
    Command(
        "watch",
        "watching:watch",
        "Stay, and index every change as it happens; Ctrl-C ends it.",
        panel=KEEP,
    ),
    Command(
        "status",
        "upkeep:status",
        "Show what there is: notes, chunks, vectors, provider, skipped files.",
        panel=KEEP,
        flags=(JSON,),
    ),
    Command(
        "doctor",
        "upkeep:doctor",
        "Look for what is wrong and say what to do; exit 1 if something is.",
        panel=KEEP,
        flags=(JSON,),
    ),
)
