"""The commands that read: search, get, list."""

from __future__ import annotations

import sys

from hivemind_memory import wiring
from hivemind_memory.cli import render
from hivemind_memory.cli.streams import is_terminal, read_stdin, typed_text
from hivemind_memory.errors import IndexUnusableError, UsageError
from hivemind_memory.model.filters import DEFAULT_FILTER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from hivemind_memory.cli.parse import CommandRequest
    from hivemind_memory.memory import Memory
    from hivemind_memory.model.filters import SearchFilter


def search(request: CommandRequest) -> int:
    """Answer a question."""
    from hivemind_memory.model.query import Query

    values = request.values
    words = values["query"]
    question = _from_stdin() if words == ("-",) else typed_text(" ".join(words))
    min_score = values["min_score"]
    if min_score is not None and not 0 <= min_score <= 1:  # NaN gets as far as here
        message = f"--min-score is {min_score}, but must be from 0 to 1."
        raise UsageError(message, hint="0 shows every candidate.")
    with wiring.open_memory(memory_dir=request.memory_dir) as memory:
        _catch_up(memory)
        query = Query(
            text=question,
            max_results=values["max_results"] or memory.settings.max_results,
            min_score=min_score,
            should_explain=values["explain"],
            search_filter=_search_filter(memory, values),
        )
        answer = memory.search(query)
        render.show_answer(answer, question, as_json=values["json"])
        # Last: whoever waits for the answer has it.
        memory.record_recall(answer)
    return 1 if values["fail_empty"] and not answer.hits else 0


def _search_filter(memory: Memory, values: Mapping[str, Any]) -> SearchFilter:
    """Return what the options narrow a question to."""
    words = {
        "types": values["type"],
        "scope": values["scope"],
        "since": values["since"],
        "until": values["until"],
        "inbox": values["inbox"],
        "expired": values["expired"],
    }
    given = {name: value for name, value in words.items() if value}
    return memory.parse_filter(**given) if given else DEFAULT_FILTER


def get(request: CommandRequest) -> int:
    """Print a note or some of its lines."""
    values = request.values
    path, first, count = split_place(values["path"])
    if first and (values["from"] is not None or values["lines"] is not None):
        message = "PATH names its lines already."
        raise UsageError(message, hint="Leave out --from and --lines, or the numbers.")
    first = first or values["from"] or 1
    count = values["lines"] if count is None else count
    with wiring.open_memory(memory_dir=request.memory_dir) as memory:
        passage = memory.read(path, start_line=first, line_count=count)
    render.show_passage(passage, as_json=values["json"])
    return 0


def list_notes(request: CommandRequest) -> int:
    """List all notes."""
    with wiring.open_memory(memory_dir=request.memory_dir) as memory:
        _catch_up(memory)
        notes = memory.list()
    render.show_notes(notes, as_json=request.values["json"])
    return 0


def split_place(place: str) -> tuple[str, int, int | None]:
    """Return path, first line and number of lines of a place as a search prints it.

    Without numbers the first line is 0 and the number of lines None.

    >>> split_place("deploy.md:12-18"), split_place("a.md:7"), split_place("b.md")
    (('deploy.md', 12, 7), ('a.md', 7, 1), ('b.md', 0, None))
    """
    path, _, lines = place.rpartition(":")
    first, dash, last = lines.partition("-")
    if not path or not _is_number(first) or (dash and not _is_number(last)):
        return place, 0, None
    start, end = int(first), int(last or first)
    if start < 1 or end < start:
        message = f"{lines} is not a range of lines."
        raise UsageError(message, hint="Lines count from 1, as in deploy.md:12-18.")
    return path, start, end - start + 1


def _catch_up(memory: Memory) -> None:
    """Index what changed, for a person who would see nothing while it lasts.

    The answer does it too, but cannot show how far it is.
    """
    if is_terminal(sys.stderr) and memory.settings.enabled:
        from hivemind_memory.cli.progress import ProgressDisplay

        try:
            with ProgressDisplay() as progress:
                memory.sync(progress)
        except IndexUnusableError:
            return  # the answer comes from elsewhere and says so


def _is_number(text: str) -> bool:
    """Whether *text* is a line number."""
    return text.isascii() and text.isdigit() and len(text) < 10


def _from_stdin() -> str:
    """Return the question that somebody pipes in."""
    return read_stdin().strip()
