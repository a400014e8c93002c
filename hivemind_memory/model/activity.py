"""Values of activity: what agents and programs did, found by words."""

from __future__ import annotations

from hivemind_memory.model.agents import TRANSCRIPT_SOURCES
from hivemind_memory.model.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

TRANSCRIPT, CALL, POST = "transcript", "call", "post"
"""Kinds of activity: a message of a transcript, a call of our own server, a row that a
program posted."""

ID_BITS = 20
"""Low bits of an id that tell what happened within one millisecond apart."""

_END = 1 << 63
"""Numbers of rows are below it."""

MAX_RESULTS = 200
MAX_CONTENT_CHARS = 500
"""What is shown of a hit, around the first match."""


def first_id_at(at_s: float) -> int:
    """Return the lowest id of a moment, in seconds since the epoch."""
    return int(at_s * 1000) << ID_BITS


def ms_of_id(number: int) -> int:
    """Return the moment of an id, in ms since the epoch.

    >>> ms_of_id(first_id_at(1.5))
    1500
    """
    return number >> ID_BITS


def public_id(kind: str, number: int) -> str:
    """Return the id that people and agents name.

    >>> public_id(TRANSCRIPT, 255), public_id(CALL, 16)
    ('tff', 'a10')
    """
    return f"{'t' if kind == TRANSCRIPT else 'a'}{number:x}"


def number_of(public: str) -> tuple[bool, int] | None:
    """Return whether an id is that of a transcript's message, and its number.

    None: it is no id.

    >>> number_of("tff"), number_of("a10"), number_of("port"), number_of("t")
    ((True, 255), (False, 16), None, None)
    """
    first, digits = public[:1].lower(), public[1:]
    is_number = 0 < len(digits) <= 16 and not digits.strip("0123456789abcdefABCDEF")
    if first not in ("t", "a") or not is_number or int(digits, 16) >= _END:
        return None
    return first == "t", int(digits, 16)


@value
class ActivityQuery:
    """What to look for, and where."""

    text: str = ""
    """Words; empty: the newest."""

    max_results: int = 20
    """From 1 to ``MAX_RESULTS``."""

    agent: str = ""
    """Only of this agent or program; empty: of all."""

    since_s: float = 0.0
    """Only from this time on, in seconds since the epoch."""

    before: int = 0
    """Only what is older than the one with this number (``number_of``); 0: all."""

    session: str = ""
    """Only of this session; empty: of all."""

    workspace: str = ""
    """Only rows of this workspace's scope; empty: of all that the caller sees."""

    sources: tuple[str, ...] = TRANSCRIPT_SOURCES
    """Agents whose transcripts are searched."""


@value
class ActivityHit:
    """One thing that was said or done. Secrets are masked, and long texts cut."""

    id: str
    kind: str
    """``transcript``, ``call`` or ``post``."""

    at: str
    """When, ISO 8601 in the local time zone."""

    agent: str
    """The agent or program."""

    label: str
    """Who speaks in a transcript (user, assistant, tool), or the name of a tool."""

    content: str
    session: str = ""
    project: str = ""
    """Scope of its project; empty: none, or not known."""

    workspace: str = ""
    """Scope of its workspace; empty: none."""

    method: str = ""
    status: str = ""
    place: str = ""
    """``FILE:LINE`` of a transcript's message; of a database, ``FILE`` and the part."""

    folder: str = ""
    """Where the agent worked."""

    request_body: str = ""
    response_body: str = ""


@value
class ReadReport:
    """What reading transcripts did."""

    files: int = 0
    """Files that had something new."""

    messages: int = 0
    """Messages that were added."""

    bytes_read: int = 0
    bytes_left: int = 0
    """What is still to be read: the time was over."""

    is_busy: bool = False
    """Another process was reading all the time."""

    problems: tuple[str, ...] = ()
    """What could not be read, and why, as sentences."""


@value
class ActivityAnswer:
    """The hits of a search, newest first, and how complete they are."""

    hits: tuple[ActivityHit, ...]
    is_partial: bool = False
    """Nothing holds all the words; the hits hold some of them."""

    warnings: tuple[str, ...] = ()


@value
class ActivityDetails:
    """One hit with all that is kept of it, and what was said around it."""

    hit: ActivityHit
    before: tuple[ActivityHit, ...] = ()
    after: tuple[ActivityHit, ...] = ()


@value
class SessionRow:
    """One session of an agent, or the calls of one client."""

    agent: str
    session: str
    kind: str
    first_at: str
    last_at: str
    messages: int
    project: str = ""
    folder: str = ""
    file: str = ""


@value
class SourceStatus:
    """What is kept of one agent's transcripts."""

    name: str
    folder: str
    is_there: bool
    files: int
    messages: int


@value
class ActivityStatus:
    """What is read, and how much is kept."""

    records_calls: bool
    """The option ``activity``."""

    rows: int
    """Calls and posted rows that are kept."""

    sources: tuple[SourceStatus, ...] = ()
    file: str = ""
    size_bytes: int = 0
    problem: str = ""
    """Why transcripts cannot be searched now; empty: they can."""

    @property
    def is_on(self) -> bool:
        """Whether anything is read or recorded."""
        return self.records_calls or bool(self.sources)


def excerpt_of(text: str, words: Iterable[str]) -> str:
    """Return what to show of a text: 500 characters around the first match.

    >>> excerpt_of("one two three", ["TWO"])
    'one two three'
    """
    if len(text) <= MAX_CONTENT_CHARS:
        return text
    folded = text.casefold()
    found = [at for word in words if (at := folded.find(word.casefold())) >= 0]
    start = max(0, min(found, default=0) - MAX_CONTENT_CHARS // 4)
    start = min(start, len(text) - MAX_CONTENT_CHARS + 2)
    end = start + MAX_CONTENT_CHARS - (1 if start else 0) - 1
    before, after = "…" if start else "", "…" if end < len(text) else ""
    return f"{before}{text[start:end]}{after}"
