"""Asks a memory golden questions and sums up how good its answers are.

Nothing is written: the questions don't count as recalls.
"""

from __future__ import annotations

from hivemind_memory.context.tokens import estimate_tokens
from hivemind_memory.evaluation.metrics import (
    METRICS,
    Lines,
    calibration_error,
    chance_error,
    mean_interval,
    score_answer,
)
from hivemind_memory.model.filters import Access, Requirement
from hivemind_memory.model.query import NONE, STRONG, WEAK, Query
from hivemind_memory.model.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from hivemind_memory.evaluation.targets import JudgedQuestion
    from hivemind_memory.memory.memory import Memory

DEPTH = 10
"""Hits that each question asks for: as many as the metrics look at."""


@value
class JudgedAnswer:
    """How good one answer is."""

    question: JudgedQuestion

    level: str
    """strong, weak or none."""

    metrics: Mapping[str, float]
    """Empty: nothing was to be found."""

    rank: int
    """Of the first hit that shows evidence; 0: none does."""

    confidence: float
    """Of the first hit; 0: there is none."""

    tokens: int
    """What the text of the hits costs an agent; 0 where it is told that nothing is
    known."""

    mode: str
    """hybrid or keyword."""

    @property
    def is_right_nothing(self) -> bool:
        """Whether nothing was to be found, and the answer says so."""
        return not self.question.evidence and self.level == NONE


@value
class Interval:
    """A mean with its 95 % interval."""

    mean: float
    low: float
    high: float


@value
class Calibration:
    """How far the confidences of the first hits came true."""

    hits: int
    mean_confidence: float
    share_right: float
    error: float
    """Expected calibration error, 0..1."""

    chance: float
    """95 % of perfect models have at most this error with so few questions."""


@value
class Summary:
    """How good the answers to all questions are."""

    metrics: Mapping[str, Interval]
    """Over the questions that have an answer; empty: none has."""

    calibration: Calibration | None
    """None: no question found anything."""

    levels: Mapping[str, Mapping[str, int]]
    """``answered`` and ``nothing`` -> strong, weak and none -> questions."""

    tokens: float
    """A mean answer costs so many."""


def ask_questions(
    memory: Memory,
    questions: Sequence[JudgedQuestion],
    lengths_of: Callable[[str], Sequence[int]],
    *,
    hidden: str = "",
) -> list[JudgedAnswer]:
    """Return how good the answer to each question is, in their order.

    Args:
        memory: What is asked; from here on it does not see the hidden note.
        questions: What to ask.
        lengths_of: See ``score_answer``.
        hidden: Path of the note that holds the questions; it would answer them all.
    """
    if hidden:
        memory.access = _without(memory.access, hidden)
    return [_ask(memory, question, lengths_of) for question in questions]


def sum_up(answers: Sequence[JudgedAnswer]) -> Summary:
    """Return how good some answers are, at least one."""
    known = [answer for answer in answers if answer.metrics]
    metrics = {
        name: _interval([answer.metrics[name] for answer in known])
        for name in METRICS
        if known
    }
    levels = {
        kind: {
            level: sum(
                answer.level == level and bool(answer.question.evidence) == has_answer
                for answer in answers
            )
            for level in (STRONG, WEAK, NONE)
        }
        for kind, has_answer in (("answered", True), ("nothing", False))
    }
    return Summary(
        metrics=metrics,
        calibration=_calibration(answers),
        levels=levels,
        tokens=sum(answer.tokens for answer in answers) / len(answers),
    )


def differences(
    answers: Sequence[JudgedAnswer], others: Sequence[JudgedAnswer]
) -> dict[str, Interval]:
    """Return by how much *others* are better, question by question, for each metric.

    Args:
        answers: Of one setting.
        others: To the same questions with another setting.
    """
    pairs = [
        (one.metrics, other.metrics)
        for one, other in zip(answers, others, strict=True)
        if one.metrics
    ]
    return {
        name: _interval([after[name] - before[name] for before, after in pairs])
        for name in METRICS
        if pairs
    }


def _ask(
    memory: Memory,
    question: JudgedQuestion,
    lengths_of: Callable[[str], Sequence[int]],
) -> JudgedAnswer:
    """Ask one question."""
    answer = memory.search(Query(text=question.text, max_results=DEPTH))
    hits = [Lines(hit.path, hit.start_line, hit.end_line) for hit in answer.hits]
    metrics = {}
    if question.evidence:
        metrics = score_answer(question.evidence, hits, lengths_of)
    rank = next(
        (
            number
            for number, hit in enumerate(hits, start=1)
            if any(hit.overlaps(piece) for piece in question.evidence)
        ),
        0,
    )
    shown = () if answer.is_unknown else answer.hits
    return JudgedAnswer(
        question=question,
        level=answer.report.confidence,
        metrics=metrics,
        rank=rank,
        confidence=answer.hits[0].confidence if answer.hits else 0.0,
        tokens=sum(estimate_tokens(hit.snippet) for hit in shown),
        mode=answer.report.mode,
    )


def _without(access: Access, path: str) -> Access:
    """Return an access that does not see a note either."""
    hides = Requirement(field="path", values=frozenset({path}), is_excluded=True)
    return Access(scopes=access.scopes, condition=(*access.condition, (hides,)))


def _calibration(answers: Sequence[JudgedAnswer]) -> Calibration | None:
    """Return how far the confidences of the first hits came true."""
    first = [(answer.confidence, answer.rank == 1) for answer in answers]
    found = [(confidence, is_right) for confidence, is_right in first if confidence]
    if not found:
        return None
    likely = [confidence for confidence, _ in found]
    right = [float(is_right) for _, is_right in found]
    return Calibration(
        hits=len(found),
        mean_confidence=sum(likely) / len(likely),
        share_right=sum(right) / len(right),
        error=calibration_error(likely, right),
        chance=chance_error(likely),
    )


def _interval(values: Sequence[float]) -> Interval:
    """Return the mean of some values, at least one, with its interval."""
    mean, low, high = mean_interval({"": values})
    return Interval(mean=mean, low=low, high=high)
