"""Score answers against questions whose evidence lines are known.

A set is a folder with ``queries.jsonl`` and ``notes/<collection>/``; a line of the file
is ``{query_id, collection, category, query, gold: [{path, start_line, end_line}]}``. A
result shows a piece of evidence when it is of the same note and has a line of it.

    R@k      share of the evidence shown by the first k results
    nDCG@10  each piece counts once, where it is first shown, discounted by the
             logarithm of its place; the n-th piece found counts at place n at best, so
             that a perfect list has exactly 1
    R@4kc    share of the evidence within the first 4,000 characters handed over: what
             an agent pays for, and what larger results cannot raise
"""

from __future__ import annotations

import json
import math
import random
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

METRICS = ("R@1", "R@5", "R@10", "MRR@10", "nDCG@10", "R@4kc")
BUDGET_CHARS = 4000
RESULT_CHARS = 1000
"""What a result shows beyond this many characters does not count."""


class Lines(NamedTuple):
    """Some lines of a note, both ends included, from 1."""

    path: str
    first: int
    last: int

    def overlaps(self, other: Lines) -> bool:
        """Whether both have a line in common."""
        return (
            self.path == other.path
            and self.first <= other.last
            and other.first <= self.last
        )


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
        question: What was asked.
        results: Best first.
        lengths: Kept between calls.
    """
    shown = [counted_lines(lengths, question.notes, lines) for lines in results]
    places = [
        next((at for at, r in enumerate(shown, start=1) if r.overlaps(piece)), math.inf)
        for piece in question.gold
    ]
    metrics = {
        f"R@{k}": sum(place <= k for place in places) / len(places) for k in (1, 5, 10)
    }
    first = min(places)
    metrics["MRR@10"] = 1 / first if first <= 10 else 0.0
    metrics["nDCG@10"] = _ndcg(places, depth=10)
    metrics["R@4kc"] = _within_budget(question, shown, lengths)
    return metrics


def counted_lines(lengths: LineLengths, notes: Path, lines: Lines) -> Lines:
    """Return the whole lines that fit into what counts of a result, at least one."""
    known = lengths.of(notes, lines.path)
    first, last = max(1, lines.first), min(lines.last, len(known))
    chars, end = 0, first - 1
    for number in range(first, last + 1):
        chars += known[number - 1]
        if chars > RESULT_CHARS and number > first:
            break
        end = number
    return Lines(lines.path, first, end)


def _ndcg(places: Sequence[float], *, depth: int) -> float:
    """Return the gain of the pieces found, as a share of the best there could be."""
    gain = 0.0
    for count, place in enumerate(sorted(places), start=1):
        if place <= depth and count <= depth:
            gain += 1 / math.log2(1 + max(place, count))
    best = sum(1 / math.log2(1 + n) for n in range(1, min(len(places), depth) + 1))
    return gain / best


def _within_budget(
    question: Question, shown: Sequence[Lines], lengths: LineLengths
) -> float:
    """Return the share of the evidence that a reader of the budget has seen."""
    left = BUDGET_CHARS
    seen: set[tuple[str, int]] = set()
    for result in shown:
        known = lengths.of(question.notes, result.path)
        for number in range(result.first, result.last + 1):
            if (result.path, number) in seen:
                continue  # shown before, so it costs nothing
            left -= known[number - 1]
            if left < 0:
                return _share_seen(question, seen)
            seen.add((result.path, number))
    return _share_seen(question, seen)


def _share_seen(question: Question, seen: set[tuple[str, int]]) -> float:
    """Return the share of the evidence with a line among *seen*."""
    found = sum(
        any((piece.path, n) in seen for n in range(piece.first, piece.last + 1))
        for piece in question.gold
    )
    return found / len(question.gold)


def mean_interval(
    groups: Mapping[str, Sequence[float]], *, draws: int = 1000
) -> tuple[float, float, float]:
    """Return the mean over groups, each weighing alike, with its 95 % interval.

    A percentile bootstrap: questions are drawn again within each group.

    Args:
        groups: Set -> one value a question; no set empty.
        draws: How often they are drawn.

    Returns:
        Mean, lower end, upper end.
    """
    rng = random.Random(11)
    means = sorted(
        sum(
            sum(rng.choices(values, k=len(values))) / len(values)
            for values in groups.values()
        )
        / len(groups)
        for _ in range(draws)
    )
    mean = sum(sum(values) / len(values) for values in groups.values()) / len(groups)
    return mean, means[round(0.025 * (draws - 1))], means[round(0.975 * (draws - 1))]
