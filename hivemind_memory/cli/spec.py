"""What ``hm`` understands, as data: every command, argument and option once.

The quick parser (``parse``), the typer application (``app``) and ``docs/cli.md`` are
made from this table, so they cannot disagree about a name, a type or a bound.
"""

from __future__ import annotations

from hivemind_memory.cli.shapes import Argument, Command, Flag

TYPE_CHECKING = False  # typing costs milliseconds on the way to a cold answer
if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = [
    "COMMANDS",
    "GROUPS",
    "MEMORY_DIR",
    "PANELS",
    "Argument",
    "Command",
    "Flag",
    "commands_of",
    "find_command",
]

MEMORY_DIR = Flag(
    ("--memory-dir",),
    "text",
    "Folder with the notes, instead of memory/ in the home folder.",
    metavar="FOLDER",
)
_JSON = Flag(("--json",), "flag", "Print JSON, complete and for programs.")
_FILE = Argument(
    "path", "Name of a note, such as global.md or projects/site.md.", completes="notes"
)
_WORKTREE = Argument(
    "worktree",
    "Folder of a git worktree, or any folder; this one if none is given.",
    is_required=False,
)
_KEY = Argument("key", "Name of an option, such as min_score.", completes="options")

PANELS = FIND, WRITE, AGENTS, KEEP, SET = (
    "Find",
    "Write",
    "Agents",
    "Keep in order",
    "Set up",
)
"""Headings of the list of commands, in order."""

COMMANDS: tuple[Command, ...] = (
    Command(
        "init",
        "starting:init",
        "Make the notes folder and a first note; safe to repeat.",
        panel=SET,
        description="Nothing that exists is changed: what is there is left as it is.",
    ),
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
            _JSON,
        ),
        examples=(
            "hm write we deploy on Tuesdays only",
            "git log -1 --format=%B | hm write --file projects/site.md",
        ),
    ),
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
            _JSON,
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
        arguments=(_FILE,),
        flags=(
            Flag(("--from",), "int", "First line to print.", metavar="N", low=1),
            Flag(("--lines",), "int", "How many lines to print.", metavar="M", low=0),
            _JSON,
        ),
        examples=("hm get global.md", "hm get deploy.md:12-18"),
    ),
    Command(
        "list",
        "finding:list_notes",
        "List all notes: size, last change, number of chunks.",
        panel=FIND,
        flags=(_JSON,),
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
    Command(
        "inject",
        "injecting:inject",
        "Put the memories that matter here into the file that an agent reads first.",
        panel=AGENTS,
        description=(
            "The section stands between two marker lines; every other byte of the file"
            " stays, and git sees no change: no status, diff or commit shows it. The"
            " same memories write nothing. What was chosen, and why: hm why."
        ),
        arguments=(_WORKTREE,),
        flags=(
            Flag(
                ("--agent",),
                "text",
                "Who will read it: claude (the default), codex, gemini, opencode,"
                " cursor or another.",
                metavar="NAME",
            ),
            Flag(("--dry-run",), "flag", "Print the section and write nothing."),
            Flag(("--off",), "flag", "Never inject into this repository again."),
            Flag(("--on",), "flag", "Inject into this repository again."),
            _JSON,
        ),
        examples=("hm inject", "hm inject --agent codex ~/code/shop"),
    ),
    Command(
        "eject",
        "injecting:eject",
        "Take the injected section away, and give git its settings back.",
        panel=AGENTS,
        arguments=(_WORKTREE,),
        flags=(_JSON,),
    ),
    Command(
        "why",
        "injecting:why",
        "Show what was last injected into a worktree, and what was left out and why.",
        panel=AGENTS,
        arguments=(_WORKTREE,),
        flags=(_JSON,),
    ),
    Command(
        "sync",
        "upkeep:sync",
        "Bring the index in step with the notes.",
        panel=KEEP,
        description=(
            "Searches do this by themselves; after a large change it shows progress,"
            " and it also makes the vectors that are missing."
        ),
        flags=(_JSON,),
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
        flags=(_JSON,),
    ),
    Command(
        "watch",
        "watching:watch",
        "Stay, and index every change as it happens; Ctrl-C ends it.",
        panel=KEEP,
    ),
    Command(
        "mcp",
        "serving:mcp",
        "Serve agents over the Model Context Protocol; started by the agent itself.",
        panel=KEEP,
        description=(
            "The agent that starts it speaks to it on standard input and output, and it"
            " leaves when that agent leaves. With --http it stays and serves any number"
            " of agents on this machine; each must send the token as Authorization:"
            " Bearer TOKEN. While it runs it keeps the index in step, as hm watch does."
        ),
        flags=(
            Flag(("--http",), "flag", "Serve over HTTP, on 127.0.0.1 alone."),
            Flag(
                ("--port",),
                "int",
                "Port for --http (8737); 0 takes any that is free.",
                metavar="N",
                low=0,
                high=65535,
            ),
            Flag(
                ("--token-file",),
                "text",
                "File with the token for --http, made if it is not there"
                " (mcp-token in the home folder).",
                metavar="FILE",
            ),
        ),
        examples=("hm mcp", "hm mcp --http --port 8737"),
    ),
    Command(
        "status",
        "upkeep:status",
        "Show what there is: notes, chunks, vectors, provider, skipped files.",
        panel=KEEP,
        flags=(_JSON,),
    ),
    Command(
        "doctor",
        "upkeep:doctor",
        "Look for what is wrong and say what to do; exit 1 if something is.",
        panel=KEEP,
        flags=(_JSON,),
    ),
    Command(
        "config list",
        "configuring:list_options",
        "Show every option with its value and where the value comes from.",
        panel=SET,
        flags=(_JSON,),
    ),
    Command(
        "config get",
        "configuring:get",
        "Print the value of one option; a key is shown as set or not set.",
        panel=SET,
        arguments=(_KEY,),
        flags=(_JSON,),
    ),
    Command(
        "config set",
        "configuring:set_option",
        "Write the value of one option into config.json.",
        panel=SET,
        description=(
            "With - the value is read from standard input, so that a key does not"
            " stay in the history of the shell."
        ),
        arguments=(_KEY, Argument("value", "The new value.")),
        examples=(
            "hm config set embedding_provider ollama",
            "hm config set openai_api_key -",
        ),
    ),
    Command(
        "config unset",
        "configuring:unset",
        "Take one option out of config.json, so that its default counts.",
        panel=SET,
        arguments=(_KEY,),
    ),
    Command(
        "config path",
        "configuring:path",
        "Print where config.json lies.",
        panel=SET,
    ),
)

GROUPS = {
    "config": ("Show and change the options in config.json.", SET, "config list"),
}
"""Group -> its sentence, its panel, and what it does when no command follows."""


def find_command(name: str) -> Command | None:
    """Return the command called *name*, or nothing."""
    for command in COMMANDS:
        if command.name == name:
            return command
    return None


def commands_of(group: str) -> Iterator[Command]:
    """Return the commands of a group, or those of none for the empty name."""
    for command in COMMANDS:
        first, _, second = command.name.partition(" ")
        if (first if second else "") == group:
            yield command
