"""Score answers against questions whose evidence lines are known.

A set is a folder with ``queries.jsonl`` and ``notes/<collection>/``; a line of the file
is ``{query_id, collection, category, query, gold: [{path, start_line, end_line}]}``;
``gold`` is empty if the notes don't answer the question. The formulas are those of
``hm eval``, in ``hivemind_memory/evaluation/metrics.py``.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from hivemind_memory.evaluation.metrics import (
    METRICS,
    Lines,
    mean_interval,
    score_answer,
)
from hivemind_memory.evaluation.metrics import counted_lines as counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["METRICS", "Lines", "mean_interval"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question, where it is asked, and the lines that answer it."""

    id: str
    set_name: str
    category: str
    notes: Path
    """The folder of notes; it is searched alone."""

    text: str
    gold: tuple[Lines, ...]
    """Empty: the notes don't answer it."""


def read_questions(data: Path, sets: Sequence[str] = ()) -> list[Question]:
    """Return the questions of all sets below *data*, or of the named ones only."""
    questions = []
    for file in sorted(data.glob("*/queries.jsonl")):
        if sets and file.parent.name not in sets:
            continue
        for line in file.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            gold = (
                Lines(piece["path"], piece["start_line"], piece["end_line"])
                for piece in row["gold"]
            )
            question = Question(
                id=row["query_id"],
                set_name=file.parent.name,
                category=row["category"],
                notes=file.parent / "notes" / row["collection"],
                text=row["query"],
                gold=tuple(gold),
            )
            questions.append(question)
    return questions


@dataclass(slots=True)
class LineLengths:
    """How many characters each line of a note has, its end included; read once."""

    _known: dict[Path, list[int]] = field(default_factory=dict)

    def of(self, notes: Path, path: str) -> list[int]:
        """Return the lengths of one note's lines; empty when there is no such note."""
        file = notes / path
        if file not in self._known:
            try:
                text = file.read_text(encoding="utf-8")
            except OSError:
                self._known[file] = []
            else:
                self._known[file] = [len(line) + 1 for line in text.split("\n")]
        return self._known[file]


def score(
    question: Question, results: Iterable[Lines], lengths: LineLengths
) -> dict[str, float]:
    """Return every metric of one answer, each in 0..1.

    Args:
        question: What was asked; the notes answer it.
        results: Best first.
        lengths: Kept between calls.
    """
    return score_answer(question.gold, results, partial(lengths.of, question.notes))


def counted_lines(lengths: LineLengths, notes: Path, lines: Lines) -> Lines:
    """Return the whole lines that fit into what counts of a result, at least one."""
    return counted(partial(lengths.of, notes), lines)
