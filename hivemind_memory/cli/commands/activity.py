"""hm activity: searches, shows and lists what agents said and did."""

from __future__ import annotations

from hivemind_memory.cli.command import QUERY, Argument, CommandRequest, Flag, command
from hivemind_memory.cli.dates import minute_text
from hivemind_memory.cli.options import JSON, SINCE
from hivemind_memory.cli.output import (
    print_json,
    print_line,
    print_notices,
    print_table,
    read_stdin,
    write_stdout,
)
from hivemind_memory.model.display import count_text, escape_line, escape_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.memory.memory import Memory
    from hivemind_memory.model.activity import (
        ActivityHit,
        ActivityQuery,
        ActivityStatus,
    )

_HITS = 20
_AGENT = Flag(
    ("--agent",),
    "text",
    "Only from this agent, such as claude, or this program.",
    metavar="NAME",
)
_LIMIT = Flag(
    ("-n", "--limit"),
    "int",
    f"Maximum number of rows ({_HITS}).",
    metavar="N",
    low=1,
    high=200,
)
_OFF = (
    "activity is off. To read transcripts, run `hm config set session_sources"
    " claude,codex`; to record tool calls, run `hm config set activity true`"
)


@command(
    "activity search",
    description=(
        "Finds messages that contain every word, newest first: those of the agents that"
        " the option session_sources names, calls of hm mcp if the option activity is"
        " on, and rows that programs posted. New lines of the transcripts are read"
        " first, for up to 2 seconds. Secrets are masked. In an agent's shell, only its"
        " project is searched. With - the query is read from standard input. Without a"
        " query, prints the newest."
    ),
    arguments=(Argument("query", "What to look for.", is_required=False, reads=QUERY),),
    flags=(
        _LIMIT,
        _AGENT,
        SINCE,
        Flag(("--session",), "text", "Only from this session.", metavar="ID"),
        JSON,
        Flag(("--fail-empty",), "flag", "Exit with 1 if nothing is found."),
    ),
    examples=(
        "hm activity search tide gauge",
        "hm activity search --agent codex --since 7d --json deploy",
    ),
)
def search(request: CommandRequest) -> int:
    """Search the activity."""
    from hivemind_memory import opening

    values = request.values
    words = values["query"]
    text = read_stdin().strip() if words == ("-",) else " ".join(words)
    with request.open_memory() as memory, opening.open_activity(memory) as activity:
        answer = activity.search(_query(request, text))
        is_off = not answer.hits and not activity.status().is_on
    if values["json"]:
        print_json(answer)
    else:
        write_stdout("\n".join(map(_hit_text, answer.hits)))
        notices = list(answer.warnings)
        if answer.is_partial:
            notices.append("no message contains all the words; these contain the most")
        if not answer.hits:
            notices.append(_OFF if is_off else "nothing found")
        print_notices(notices)
    return 1 if values["fail_empty"] and not answer.hits else 0


@command(
    "activity show",
    description=(
        "Prints the whole text that is kept, with its file and line, and the messages"
        " before and after it. Only the beginning of a long message is kept; the file"
        " has the rest."
    ),
    arguments=(Argument("id", "Id of a hit."),),
    flags=(
        Flag(
            ("--around",),
            "int",
            "How many messages before and after it (3).",
            metavar="N",
            low=0,
            high=50,
        ),
        JSON,
    ),
    examples=("hm activity show t1a214efbf5c751f3",),
)
def show(request: CommandRequest) -> int:
    """Show one hit."""
    from hivemind_memory import opening
    from hivemind_memory.transcripts.activity import AROUND

    values = request.values
    around = AROUND if values["around"] is None else values["around"]
    with request.open_memory() as memory, opening.open_activity(memory) as activity:
        found = activity.show(values["id"], around)
    if values["json"]:
        print_json(found)
        return 0
    for hit in found.before:
        write_stdout(_hit_text(hit) + "\n")
    hit = found.hit
    print_line(_head(hit))
    for name, value in (
        ("place", hit.place),
        ("session", hit.session),
        ("folder", hit.folder),
        ("project", hit.project),
        ("workspace", hit.workspace),
        ("tool", hit.method),
    ):
        if value:
            print_line(f"  {name}: {escape_line(value)}", keep=[value])
    write_stdout(f"\n{escape_text(hit.content)}\n")
    for name, text in (("request", hit.request_body), ("response", hit.response_body)):
        if text and text != hit.content:
            write_stdout(f"\n{name}:\n{escape_text(text)}\n")
    for later in found.after:
        write_stdout("\n" + _hit_text(later))
    return 0


@command(
    "activity list",
    description=(
        "Prints one line for each session: when it ended, the agent, the session, how"
        " many messages or calls are kept, and its project. New lines of the"
        " transcripts are read first, for up to 2 seconds."
    ),
    flags=(_LIMIT, _AGENT, SINCE, JSON),
    examples=("hm activity list --since 7d",),
)
def list_(request: CommandRequest) -> int:
    """List the sessions."""
    from hivemind_memory import opening
    from hivemind_memory.transcripts.activity import ANSWER_BUDGET_S

    with request.open_memory() as memory, opening.open_activity(memory) as activity:
        report = activity.read(ANSWER_BUDGET_S)
        rows = activity.sessions(_query(request, ""))
        status = activity.status()
    if request.values["json"]:
        print_json({"sessions": rows, "sources": status.sources})
        return 0
    print_table(
        ("ended", "agent", "session", "kept", "project"),
        [
            (
                minute_text(row.last_at),
                row.agent,
                row.session,
                f"{row.messages:,}",
                row.project.partition("/")[2] or row.folder,
            )
            for row in rows
        ],
    )
    notices = list(report.problems)
    if not rows:
        notices.append("no session found" if status.is_on else _OFF)
    print_notices(notices)
    return 0


def status_lines(status: ActivityStatus) -> list[str]:
    """Return what is read and how much is kept, as ``hm status`` shows it."""
    from hivemind_memory.cli.output import size_text

    lines = []
    if status.records_calls or status.rows:
        calls = "recorded" if status.records_calls else "not recorded"
        lines.append(f"calls {calls}, {count_text(status.rows, 'row')} kept")
    for source in status.sources:
        messages = count_text(source.messages, "message")
        kept = f"{messages} of {count_text(source.files, 'file')}"
        where = source.folder if source.is_there else f"{source.folder} does not exist"
        lines.append(f"{source.name}: {kept} ({where})")
    if status.file:
        lines.append(f"{status.file} ({size_text(status.size_bytes)})")
    return [*lines, *([status.problem] if status.problem else [])]


def read_rest(memory: Memory) -> list[str]:
    """Read all that is new in the transcripts; return what to say of it."""
    from hivemind_memory import opening

    with opening.open_activity(memory) as activity:
        report = activity.read()
    lines = list(report.problems)
    if report.is_busy:
        lines.append("another process is reading the transcripts")
    elif report.messages:
        messages = count_text(report.messages, "message")
        lines.append(f"added {messages} from transcripts")
    return lines


def _query(request: CommandRequest, text: str) -> ActivityQuery:
    """Return what the options select."""
    from hivemind_memory.model.activity import ActivityQuery
    from hivemind_memory.model.clocks import seconds_of

    values = request.values
    since_s = 0.0
    if values["since"]:
        # A day begins at midnight in the time zone of the user.
        since_s = seconds_of(values["since"]) or 0.0
    return ActivityQuery(
        text=text,
        max_results=values["limit"] or _HITS,
        agent=values["agent"] or "",
        since_s=since_s,
        session=values.get("session") or "",
    )


def _hit_text(hit: ActivityHit) -> str:
    """Return one hit: a line of facts, and its text, indented."""
    text = escape_text(hit.content).strip().replace("\n", "\n    ")
    return f"{_head(hit)}\n    {text}\n"


def _head(hit: ActivityHit) -> str:
    """Return the facts of a hit: its id, when, who, and where it stands."""
    status = f" {hit.status}" if hit.status else ""
    project = f"  {hit.project}" if hit.project else ""
    place = f"  {hit.place}" if hit.place else ""
    at = minute_text(hit.at)
    who = " ".join(filter(None, (hit.agent, hit.label)))
    return escape_line(f"{hit.id}  {at}  {who}{status}{project}{place}")
