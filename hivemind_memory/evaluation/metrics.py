"""Scores answers whose evidence lines are known, and confidences that came true or not.

Pure, and the one home of these formulas: ``hm eval`` and the benchmarks both use them.
A hit shows a piece of evidence if it is of the same note and has one of its lines.

    R@k      share of the evidence that the first k hits show
    MRR@10   1 divided by the rank of the first hit that shows any of it
    nDCG@10  each piece counts once, where it is first shown, discounted by the
             logarithm of its rank; the n-th piece found counts at rank n at best, so
             that a perfect list has exactly 1
    R@4kc    share of the evidence within the first 4,000 characters, about 1,000
             tokens: what an agent pays for, and what larger hits cannot raise
"""

from __future__ import annotations

import math
import random
from typing import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

METRICS = ("R@1", "R@5", "R@10", "MRR@10", "nDCG@10", "R@4kc")
BUDGET_CHARS = 4000
HIT_CHARS = 1000
"""What a hit shows beyond this many characters does not count."""

CALIBRATION_BINS = 10
DRAWS = 1000
"""How often a bootstrap draws."""


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


def score_answer(
    evidence: Sequence[Lines],
    hits: Iterable[Lines],
    lengths_of: Callable[[str], Sequence[int]],
) -> dict[str, float]:
    """Return every metric of one answer, each in 0..1.

    Args:
        evidence: What answers the question, at least one piece.
        hits: Best first.
        lengths_of: Takes the path of a note and returns the characters of each of its
            lines, the end of the line included; empty when there is no such note.
    """
    shown = [counted_lines(lengths_of, lines) for lines in hits]
    ranks = [
        next((at for at, hit in enumerate(shown, start=1) if hit.overlaps(piece)), 0)
        or math.inf
        for piece in evidence
    ]
    metrics = {f"R@{k}": sum(rank <= k for rank in ranks) / len(ranks) for k in (1, 5)}
    metrics["R@10"] = sum(rank <= 10 for rank in ranks) / len(ranks)
    first = min(ranks)
    metrics["MRR@10"] = 1 / first if first <= 10 else 0.0
    metrics["nDCG@10"] = _ndcg(ranks, depth=10)
    metrics["R@4kc"] = _within_budget(evidence, shown, lengths_of)
    return metrics


def counted_lines(lengths_of: Callable[[str], Sequence[int]], lines: Lines) -> Lines:
    """Return the whole lines that fit into what counts of a hit, at least one."""
    known = lengths_of(lines.path)
    first, last = max(1, lines.first), min(lines.last, len(known))
    chars, end = 0, first - 1
    for number in range(first, last + 1):
        chars += known[number - 1]
        if chars > HIT_CHARS and number > first:
            break
        end = number
    return Lines(lines.path, first, end)


def _ndcg(ranks: Sequence[float], *, depth: int) -> float:
    """Return the gain of the pieces found, as a share of the best there could be."""
    gain = 0.0
    for count, rank in enumerate(sorted(ranks), start=1):
        if rank <= depth and count <= depth:
            gain += 1 / math.log2(1 + max(rank, count))
    best = sum(1 / math.log2(1 + n) for n in range(1, min(len(ranks), depth) + 1))
    return gain / best


def _within_budget(
    evidence: Sequence[Lines],
    shown: Sequence[Lines],
    lengths_of: Callable[[str], Sequence[int]],
) -> float:
    """Return the share of the evidence that a reader of the budget has seen."""
    left = BUDGET_CHARS
    seen: set[tuple[str, int]] = set()
    for hit in shown:
        known = lengths_of(hit.path)
        for number in range(hit.first, hit.last + 1):
            if (hit.path, number) in seen:
                continue  # shown before, so it costs nothing
            left -= known[number - 1]
            if left < 0:
                return _share_seen(evidence, seen)
            seen.add((hit.path, number))
    return _share_seen(evidence, seen)


def _share_seen(evidence: Sequence[Lines], seen: set[tuple[str, int]]) -> float:
    """Return the share of the evidence with a line among *seen*."""
    found = sum(
        any((piece.path, n) in seen for n in range(piece.first, piece.last + 1))
        for piece in evidence
    )
    return found / len(evidence)


def mean_interval(
    groups: Mapping[str, Sequence[float]], *, draws: int = DRAWS
) -> tuple[float, float, float]:
    """Return the mean over groups, each weighing alike, with its 95 % interval.

    A percentile bootstrap: questions are drawn again within each group.

    Args:
        groups: Name -> one value a question; no group empty.
        draws: How often they are drawn.

    Returns:
        Mean, lower end, upper end.
    """
    rng = random.Random(11)  # noqa: S311 - the same draws each time
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


def calibration_error(likely: Sequence[float], right: Sequence[float]) -> float:
    """Return how far confidences are from the share that is right, on average.

    It is the expected calibration error in ten bins of equal width.

    Args:
        likely: Confidences, 0..1.
        right: 1 where it was right, else 0; in the same order.

    >>> calibration_error([0.75, 0.75, 0.75, 0.75], [1, 1, 1, 0])
    0.0
    """
    bins = [0.0] * CALIBRATION_BINS
    for confidence, is_right in zip(likely, right, strict=True):
        at = min(int(confidence * CALIBRATION_BINS), CALIBRATION_BINS - 1)
        bins[at] += confidence - is_right
    return sum(map(abs, bins)) / max(1, len(likely))


def chance_error(likely: Sequence[float], *, draws: int = DRAWS) -> float:
    """Return the calibration error that 95 % of perfect models stay within, by chance.

    A perfect model is right as often as it says; with few questions chance alone makes
    an error.
    """
    rng = random.Random(1)  # noqa: S311 - the same draws each time
    errors = sorted(
        calibration_error(likely, [rng.random() < confidence for confidence in likely])
        for _ in range(draws)
    )
    return errors[round(0.95 * (draws - 1))]
