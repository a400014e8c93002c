"""Sessions that each teach one known lesson, in the forms of all agents.

The lessons are written by hand in ``fixtures/sessions/lessons.jsonl``; around them is
talk that teaches nothing.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from hivemind_memory.model.agents import TRANSCRIPT_SOURCES
from tests.support.sessions import ASSISTANT, TOOL, USER

FILE = Path(__file__).parents[2] / "fixtures" / "sessions" / "lessons.jsonl"

SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
"""Stands in every session; nothing may send or keep it."""

_TALK = (
    (USER, "Good morning. Where did we stop?"),
    (ASSISTANT, "The tests were green, and one warning was left."),
    (USER, "Please look at the warning first."),
    (TOOL, "warning: unused import in the module of reports"),
    (ASSISTANT, "It is an unused import. I removed it."),
    (USER, f"The token of the test account is {SECRET}, don't write it anywhere."),
    (ASSISTANT, "I only pass it on in the environment."),
    (USER, "Fine. Run the tests again."),
    (TOOL, "all tests passed"),
    (ASSISTANT, "They are green."),
)
_END = (
    (USER, "Thanks. Show me the diff before you commit."),
    (ASSISTANT, "Here it is: two files, a few lines."),
    (USER, "Good, commit it."),
    (ASSISTANT, "Committed."),
)


class LessonSession(NamedTuple):
    """A session and what it teaches."""

    agent: str
    session: str
    said: tuple[tuple[str, str], ...]
    lesson: str
    key: str
    type: str
    must: tuple[str, ...]
    """In small letters; a memory of the lesson has all of them."""

    taught: tuple[str, ...]
    """The messages that teach it."""

    @property
    def first(self) -> int:
        """Which message begins to teach it, from 0."""
        return [text for _, text in self.said].index(self.taught[0])


def lesson_sessions(count: int = 60) -> Iterator[LessonSession]:
    """Yield the sessions, of each agent in turn."""
    lines = FILE.read_text("utf-8").splitlines()
    for number, line in enumerate(lines[:count]):
        row = json.loads(line)
        taught = [tuple(each.split(": ", 1)) for each in row["said"]]
        cut = number % len(_TALK)
        talk = (*_TALK[cut:], *_TALK[:cut])
        yield LessonSession(
            agent=TRANSCRIPT_SOURCES[number % len(TRANSCRIPT_SOURCES)],
            session=f"{number:08x}-0000-4000-8000-{number:012x}",
            said=(*talk, *((role, text) for role, text in taught), *_END),
            lesson=row["lesson"],
            key=row["key"],
            type=row["type"],
            must=tuple(row["must"]),
            taught=tuple(text for _, text in taught),
        )


def lines_of(shown: Sequence[Mapping[str, Any]], texts: Sequence[str]) -> list[int]:
    """Return the first and the last line of some texts, as a model is shown them."""
    found = [row["line"] for row in shown if row["text"] in texts]
    return [min(found), max(found)] if found else []
