"""Decides which lines of which notes the targets of golden questions mean."""

from __future__ import annotations

import re

from hivemind_memory.errors import HivemindError
from hivemind_memory.evaluation.golden import NOTHING
from hivemind_memory.evaluation.metrics import Lines
from hivemind_memory.markdown.front_matter import split_front_matter
from hivemind_memory.model.keys import closest, folded_key
from hivemind_memory.model.memories import ACTIVE
from hivemind_memory.model.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hivemind_memory.evaluation.golden import GoldenQuestion
    from hivemind_memory.memory.memory import Memory
    from hivemind_memory.model.results import NoteLines

_PLACE = re.compile(r"(?P<path>.+?):(?P<first>\d{1,9})(?:\s*[-–]\s*(?P<last>\d{1,9}))?")


@value
class JudgedQuestion:
    """A question and the lines that answer it."""

    line: int
    """Of the file of questions, from 1."""

    text: str
    evidence: tuple[Lines, ...]
    """Empty: the notes don't answer it."""


@value
class TargetProblem:
    """Why a question cannot be judged."""

    line: int
    """Of the file of questions, from 1."""

    problem: str
    """One sentence."""


class _TargetError(Exception):
    """A target means nothing; the text is a sentence about it."""


class TargetFinder:
    """Finds what targets mean in one memory; each note is read once."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._notes: dict[str, NoteLines] = {}
        self._keys: dict[str, list[str]] | None = None

    def judge(
        self, questions: Sequence[GoldenQuestion]
    ) -> tuple[list[JudgedQuestion], list[TargetProblem]]:
        """Return the questions with their evidence, and what is wrong with the rest."""
        judged, problems = [], []
        for question in questions:
            try:
                evidence = self._evidence_of(question)
            except _TargetError as error:
                problems.append(TargetProblem(line=question.line, problem=str(error)))
                continue
            judged.append(
                JudgedQuestion(
                    line=question.line, text=question.text, evidence=evidence
                )
            )
        return judged, problems

    def lengths_of(self, path: str) -> list[int]:
        """Return the characters of each line of a note; empty if there is none."""
        try:
            lines = self._read(path).text.split("\n")
        except HivemindError:
            return []
        return [len(line) + 1 for line in lines]

    def _evidence_of(self, question: GoldenQuestion) -> tuple[Lines, ...]:
        """Return the lines that a question's targets mean."""
        targets = question.targets
        if not targets:
            message = "No target follows the arrow."
            raise _TargetError(message)
        if any(target.casefold() == NOTHING for target in targets):
            if len(targets) > 1:
                message = f"`{NOTHING}` cannot be combined with another target."
                raise _TargetError(message)
            return ()
        return tuple(dict.fromkeys(map(self._lines_of, targets)))

    def _lines_of(self, target: str) -> Lines:
        """Return the lines that one target means."""
        place = _PLACE.fullmatch(target)
        path = place["path"] if place else target
        if not path.endswith(".md"):
            return self._memory_of(target)
        try:
            note = self._read(path)
        except HivemindError as error:
            raise _TargetError(error.problem) from None
        if place is None:
            return Lines(note.path, 1, max(1, note.line_count))
        first, last = int(place["first"]), int(place["last"] or place["first"])
        if not 1 <= first <= last:
            message = f"`{target}` is not a range of lines."
            raise _TargetError(message)
        if last > note.line_count:
            message = (
                f"{note.path} ends at line {note.line_count:,}, before `{target}`."
            )
            raise _TargetError(message)
        return Lines(note.path, first, last)

    def _memory_of(self, key: str) -> Lines:
        """Return the lines of the active memory of a key."""
        keys = self._known_keys()
        paths = keys.get(folded_key(key), [])
        if not paths:
            near = closest(folded_key(key), keys)
            more = f"; did you mean `{near[0]}`?" if near else "."
            message = f"`{key}` is neither a note nor the key of an active memory{more}"
            raise _TargetError(message)
        if len(paths) > 1:
            message = f"The key `{key}` is in {' and '.join(paths)}: name one of them."
            raise _TargetError(message)
        note = self._read(paths[0])
        head = split_front_matter(f"{note.text}\n").line_count
        return Lines(note.path, min(head + 1, note.line_count), note.line_count)

    def _known_keys(self) -> Mapping[str, list[str]]:
        """Return key -> paths of the active memories that have it."""
        if self._keys is None:
            self._keys = {}
            for row in self._memory.memories():
                if row.status == ACTIVE and row.key:
                    self._keys.setdefault(folded_key(row.key), []).append(row.path)
        return self._keys

    def _read(self, path: str) -> NoteLines:
        """Return a note."""
        if path not in self._notes:
            self._notes[path] = self._memory.read(path)
        return self._notes[path]
