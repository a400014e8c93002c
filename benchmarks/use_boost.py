"""Would it help if a memory that was recalled often scored higher?

    python -m benchmarks.quality --data DIR --max-results 30 --out thirty.jsonl
    python -m benchmarks.use_boost --data DIR --run thirty.jsonl

Each set is cut in two halves by its questions. What the answers of the first showed
among their first five is counted as recalled; those of the second are ordered anew with
a factor that grows with the count, and compared with the order they had. Real use
repeats itself more than judged questions do: this is the fair case, not the best.
"""

from __future__ import annotations

import argparse
import math
import zlib
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.asking import Run, read_run
from benchmarks.quality import difference_table, values
from benchmarks.scoring import read_questions

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from benchmarks.scoring import Question

RECALL = 5
REACHES = (0.05, 0.1, 0.2)
"""The most that use may add to a raw score."""

OFTEN = 10
"""So many recalls add all of it."""


def counts_of(questions: Sequence[Question], run: Run) -> Counter[tuple[str, str, int]]:
    """Return (notes, path, line) -> how often it was among the first five."""
    counted: Counter[tuple[str, str, int]] = Counter()
    for question in questions:
        for hit in run.results.get(question.id, ())[:RECALL]:
            counted[_name(question, hit)] += 1
    return counted


def boosted(
    questions: Sequence[Question],
    run: Run,
    counted: Mapping[tuple[str, str, int], int],
    reach: float,
) -> Run:
    """Return the answers in the order that use would give them."""

    def weight(question: Question, hit: Mapping[str, object]) -> float:
        count = min(OFTEN, counted.get(_name(question, hit), 0))
        factor = 1 + reach * math.log1p(count) / math.log1p(OFTEN)
        # A score is the cube root of a raw score.
        return float(str(hit["score"])) ** 3 * factor

    return Run(
        results={
            question.id: sorted(
                run.results.get(question.id, ()),
                key=lambda hit, question=question: -weight(question, hit),  # type: ignore[misc]
            )[:10]
            for question in questions
        }
    )


def _name(question: Question, hit: Mapping[str, object]) -> tuple[str, str, int]:
    """Return what tells one place of one collection from all others."""
    return str(question.notes), str(hit["path"]), int(str(hit["start_line"]))


def main() -> None:
    """Compare, and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--run", type=Path, required=True)
    options = parser.parse_args()
    run = read_run(options.run)
    questions = read_questions(options.data)
    first = [one for one in questions if zlib.crc32(one.id.encode()) % 2]
    second = [one for one in questions if not zlib.crc32(one.id.encode()) % 2]
    counted = counts_of(first, run)
    before = values(second, boosted(second, run, {}, 0))
    for reach in REACHES:
        after = values(second, boosted(second, run, counted, reach))
        print(f"use adds at most {reach:.0%}\n\n{difference_table(after, before)}\n")


if __name__ == "__main__":
    main()
