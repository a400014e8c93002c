"""Ask judged questions, and say whether confidences mean what they say.

    python -m benchmarks.confidence --data DIR
    python -m benchmarks.confidence --data DIR --provider ollama --embedding-url URL

``--data`` is a folder of sets as ``benchmarks/scoring.py`` describes them. Beside its
own questions every collection is asked two kinds that its notes don't answer. *Foreign*
are a few of each other set. *Withheld* are own ones while the notes with their evidence
are taken away: they use the words of the notes all the same, and a few are answered by
another note that was not marked. Questions without evidence count as withheld. Printed
are

    ECE   expected calibration error in ten bins: how far confidences are, on average,
          from the share of hits that answer
    band  95 % of perfect models with these confidences have at most this ECE, by chance
    rates how many answers are strong, weak and none

first as shipped, then with the coefficients fitted on all other sets (leave one out;
sets that share notes are left out together), then the coefficients that fit all sets.
"""

from __future__ import annotations

import argparse
import contextlib
import random
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.asking import Asked, opened
from benchmarks.measure import table
from benchmarks.place import forget_settings
from benchmarks.quality import embedding_settings
from benchmarks.scoring import LineLengths, Lines, counted_lines, read_questions
from hivemind_memory import Query
from hivemind_memory.evaluation.metrics import calibration_error, chance_error
from hivemind_memory.memory import search as searching
from hivemind_memory.model.query import NONE, STRONG, WEAK
from hivemind_memory.search import confidence
from hivemind_memory.search.confidence import Model, level_of
from hivemind_memory.search.fusion import word_count

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from benchmarks.scoring import Question
    from hivemind_memory import Memory
    from hivemind_memory.model.matches import WordMatches
    from hivemind_memory.search.confidence import Assessment, Evidence

    Pairs = list[tuple[float, float]]

OWN, FOREIGN, WITHHELD = "own", "foreign", "withheld"

# What a row weighs when the coefficients are fitted: what people look at is the first
# hit, and most questions are asked where the answer is.
OTHER_HIT_WEIGHT = 0.2
FOREIGN_WEIGHT = 0.5
RIDGE = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What one question found."""

    set_name: str
    """The set that the notes belong to."""

    kind: str
    """own, foreign or withheld."""

    family: frozenset[str]
    """Sets with notes of the same name, its own included."""

    evidence: tuple[Evidence, ...]
    """Of each hit."""

    nearest: tuple[Evidence, ...]
    """Of the chunks that the level is judged by."""

    lack: float
    """Of the likeliest of them; see ``lack_of``."""

    is_whole: bool
    """One of them holds every word of the question."""

    is_right: tuple[bool, ...]
    """Of each hit: it shows a line of the evidence."""


class Recorder:
    """Keeps what ``assess`` is given during one search."""

    def __init__(self) -> None:
        """Stand between the search and ``assess``."""
        self._assess: Callable[..., Assessment] = confidence.assess
        self.evidence: tuple[Evidence, ...] = ()
        self.nearest: tuple[Evidence, ...] = ()
        self.lack = confidence.USUAL_LACK
        self.is_whole = False

    def assess(
        self, ranked: Any, hits: Any, *, words: WordMatches, fusion: str, **more: Any
    ) -> Assessment:
        """Keep the evidence; return what ``assess`` returns."""
        nearest = ranked[: confidence.RIVALS]
        self.evidence, self.nearest = (
            tuple(confidence.evidence_of(ranked, wanted, words=words, fusion=fusion))
            for wanted in ([hit.ranked for hit in hits], nearest)
        )
        self.lack = confidence.USUAL_LACK
        if nearest and not fusion:
            likely = [confidence.confidence_of(one) for one in self.nearest]
            best = nearest[likely.index(max(likely))]
            self.lack = confidence.lack_of(best.place.chunk_id, words)
        asked = word_count(words)
        self.is_whole = any(
            near.words is not None and near.words.found == asked for near in nearest
        )
        return self._assess(ranked, hits, words=words, fusion=fusion, **more)


def ask_all(
    questions: Sequence[Question],
    asked: Asked,
    *,
    foreign: int,
    withheld: int,
    sets: Sequence[str],
) -> list[Answer]:
    """Ask every collection its own questions, and some that its notes don't answer.

    Args:
        questions: Of all sets.
        asked: How they are asked.
        foreign: Questions of each other set.
        withheld: Own questions that are asked again without their evidence.
        sets: Ask the collections of these sets only; empty: of all.
    """
    by_notes: defaultdict[Path, list[Question]] = defaultdict(list)
    for question in questions:
        by_notes[question.notes].append(question)
    families = _families(by_notes)
    rng = random.Random(5)
    recorder, lengths = Recorder(), LineLengths()
    vars(searching)["assess"] = recorder.assess
    answers = []
    for notes, own in by_notes.items():
        set_name = own[0].set_name
        if sets and set_name not in sets:
            continue
        others: defaultdict[str, list[Question]] = defaultdict(list)
        for question in questions:
            if question.notes.name != notes.name:
                others[question.set_name].append(question)
        strange = [
            question
            for name in sorted(others)
            for question in rng.sample(others[name], min(foreign, len(others[name])))
        ]
        few = rng.sample(own, min(withheld, len(own)))
        with opened(notes, asked) as (memory, _):
            for kind, some in ((OWN, own), (FOREIGN, strange), (WITHHELD, few)):
                for question in some:
                    asked_as = kind if question.gold else WITHHELD
                    with _without_evidence(memory, question, asked_as):
                        is_right = _ask(memory, question, asked_as, lengths)
                    answer = Answer(
                        set_name=set_name,
                        kind=asked_as,
                        family=families[set_name],
                        evidence=recorder.evidence,
                        nearest=recorder.nearest,
                        lack=recorder.lack,
                        is_whole=recorder.is_whole,
                        is_right=is_right,
                    )
                    answers.append(answer)
    return answers


@contextlib.contextmanager
def _without_evidence(memory: Memory, question: Question, kind: str) -> Iterator[None]:
    """Take the notes that answer a withheld question away, and bring them back."""
    taken = {piece.path for piece in question.gold} if kind == WITHHELD else ()
    files = [Path(memory.places.notes, path) for path in taken]
    aside = [file.with_name(f".{file.name}.aside") for file in files]
    for file, other in zip(files, aside, strict=True):
        file.rename(other)
    try:
        yield
    finally:
        for file, other in zip(files, aside, strict=True):
            other.rename(file)


def _ask(
    memory: Memory, question: Question, kind: str, lengths: LineLengths
) -> tuple[bool, ...]:
    """Ask one question; return of each hit whether it shows evidence."""
    hits = memory.search(Query(text=question.text)).hits
    if kind != OWN:
        return (False,) * len(hits)
    notes = question.notes
    shown = [
        counted_lines(lengths, notes, Lines(hit.path, hit.start_line, hit.end_line))
        for hit in hits
    ]
    return tuple(any(lines.overlaps(gold) for gold in question.gold) for lines in shown)


def _families(collections: Iterable[Path]) -> dict[str, frozenset[str]]:
    """Return set -> the sets that have a collection of the same name as one of it."""
    of_name: defaultdict[str, set[str]] = defaultdict(set)
    for notes in collections:
        of_name[notes.name].add(notes.parent.parent.name)
    families: defaultdict[str, set[str]] = defaultdict(set)
    for names in of_name.values():
        for name in names:
            families[name] |= names
    return {name: frozenset(names) for name, names in families.items()}


def fit(answers: Sequence[Answer]) -> Model:
    """Return the coefficients that fit *answers* best: ridge logistic regression."""
    rows, right, weights = [], [], []
    for answer in answers:
        if answer.kind == WITHHELD:
            continue
        for place, evidence in enumerate(answer.evidence):
            rows.append(evidence)
            right.append(float(answer.is_right[place]))
            weight = OTHER_HIT_WEIGHT if place else 1.0
            weights.append(weight * (1.0 if answer.kind == OWN else FOREIGN_WEIGHT))
    given, wanted, weigh = map(np.array, (rows, right, weights))
    mean = np.average(given, axis=0, weights=weigh)
    spread = np.sqrt(np.average((given - mean) ** 2, axis=0, weights=weigh)) + 1e-9
    inputs = np.column_stack([np.ones(len(given)), (given - mean) / spread])
    penalty = np.diag([0.0, *[RIDGE] * given.shape[1]])
    found = np.zeros(inputs.shape[1])
    for _ in range(50):  # Newton's method; it is convex
        likely = 1 / (1 + np.exp(-inputs @ found))
        slope = inputs.T @ (weigh * (wanted - likely)) - penalty @ found
        curve = (inputs * (weigh * likely * (1 - likely))[:, None]).T @ inputs + penalty
        step = np.linalg.solve(curve, slope)
        found += step
        if np.abs(step).max() < 1e-9:
            break
    weights_of = found[1:] / spread
    return Model(float(found[0] - weights_of @ mean), *map(float, weights_of))


def report(title: str, answers: Sequence[Answer], models: Sequence[Model]) -> None:
    """Print the calibration by set, and the rates, each answer by its model."""
    first: defaultdict[str, Pairs] = defaultdict(list)
    every: Pairs = []
    levels: defaultdict[str, list[str]] = defaultdict(list)
    for answer, model in zip(answers, models, strict=True):
        near = [confidence.confidence_of(one, model) for one in answer.nearest]
        level = STRONG if answer.is_whole else level_of(near, answer.lack)
        if answer.kind != OWN:
            levels[answer.kind].append(level)
            levels[f"{answer.kind}, with a hit"] += [level] if near else []
            continue
        levels[answer.set_name].append(level)
        levels["all questions"].append(level)
        levels["answered"] += [level] if any(answer.is_right) else []
        likely = [confidence.confidence_of(one, model) for one in answer.evidence]
        pairs = list(zip(likely, map(float, answer.is_right), strict=True))
        every += pairs
        first[answer.set_name] += pairs[:1]
    pooled = [pair for name in sorted(first) for pair in first[name]]
    rows = [_row(name, pairs) for name, pairs in sorted(first.items())]
    rows += [_row("**pooled, first hits**", pooled), _row("pooled, all hits", every)]
    head = ["set", "hits", "mean confidence", "share right", "ECE", "band"]
    print(f"\n{title}\n\n{table(head, rows)}\n")
    order = (STRONG, WEAK, NONE)
    rates = [
        [
            kind,
            str(len(some)),
            *(f"{some.count(each) / len(some):.3f}" for each in order),
        ]
        for kind, some in sorted(levels.items())
        if some
    ]
    print(table(["questions", "", *order], rates))


def _row(name: str, pairs: Pairs) -> list[str]:
    """Return the calibration of some hits as cells of a table."""
    likely, right = zip(*pairs, strict=True)
    figures = (
        sum(likely) / len(likely),
        sum(right) / len(right),
        calibration_error(likely, right),
        chance_error(likely),
    )
    shown = [f"{value:.3f}" for value in figures]
    return [name, str(len(pairs)), *shown]


def main() -> None:
    """Ask, fit, print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--data", type=Path, required=True, help="folder of sets")
    add("--sets", nargs="*", default=(), help="notes of these sets only")
    add("--foreign", type=int, default=12, help="questions of each other set")
    add("--withheld", type=int, default=100, help="own questions of each collection")
    add("--provider", choices=("none", "ollama", "openai"), default="none")
    add("--embedding-url", default="http://127.0.0.1:11434")
    add("--embedding-model", default="all-minilm")
    add("--keep", type=Path, help="keep copies, indexes and vectors in this folder")
    options = parser.parse_args()
    forget_settings()
    asked = Asked(settings=embedding_settings(options), keep=options.keep)
    answers = ask_all(
        read_questions(options.data),
        asked,
        foreign=options.foreign,
        withheld=options.withheld,
        sets=options.sets,
    )
    report("As shipped", answers, [confidence.MODEL] * len(answers))
    without = {}
    for family in {answer.family for answer in answers}:
        rest = [one for one in answers if not one.family & family]
        if rest:
            without[family] = fit(rest)
    if without:
        models = [without[answer.family] for answer in answers]
        report("Each set by a model fitted without it", answers, models)
    print("\nfitted on all:", Model(*(round(x, 2) for x in fit(answers))))


if __name__ == "__main__":
    main()
