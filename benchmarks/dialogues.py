"""Write the sessions of a dialogue as notes, and see which sessions a question finds.

Each session is a note, named by its day, with a list item for each turn. Questions are
asked with default settings. Hits are parts of notes, so sessions are ranked by their
first hit, and more hits than the default are asked for: ten hits may be of fewer than
ten sessions. ``benchmarks/locomo.py`` and ``benchmarks/longmemeval.py`` read the files.

    any@k    share of the questions with any evidence among the first k sessions;
             others call it recall_any@k
    share@10 mean share of the evidence sessions among the first ten
    nDCG@10  of the sessions, each evidence session alike
"""

from __future__ import annotations

import argparse
import math
import tempfile
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.asking import Asked, opened
from benchmarks.measure import table
from benchmarks.scoring import mean_interval
from hivemind_memory import Query

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Iterator, Mapping, Sequence

    from hivemind_memory import Memory

HITS = 100
"""Hits that are asked for, to have ten sessions among them."""

SHOWN = ("any@5", "any@10", "share@10", "nDCG@10")


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """Some turns of a dialogue, at one time."""

    id: str
    at: dt.datetime
    turns: Sequence[tuple[str, str]]
    """Who says what."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DialogueQuestion:
    """A question, and the sessions that answer it."""

    text: str
    category: str
    evidence: frozenset[str]
    """Ids of sessions, at least one."""

    at: dt.datetime | None = None
    """When it is asked; None: today."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialogue:
    """What one memory holds, and what it is asked."""

    sessions: Sequence[Session]
    questions: Sequence[DialogueQuestion]


Scores = dict[str, list[dict[str, float]]]
"""Category -> the metrics of each question."""


def ask_dialogues(dialogues: Iterator[Dialogue], asked: Asked) -> tuple[Scores, str]:
    """Ask each dialogue its questions in a memory of its own.

    Returns:
        The scores, and how many questions were answered in which mode.
    """
    scores: Scores = defaultdict(list)
    modes: Counter[str] = Counter()
    for dialogue in dialogues:
        with tempfile.TemporaryDirectory() as folder:
            notes = Path(folder, "dialogue", "notes", "sessions")
            session_of = write_sessions(notes, dialogue.sessions)
            with opened(notes, asked) as (memory, _):
                for question in dialogue.questions:
                    ranked, mode = rank_sessions(memory, question, session_of)
                    found = session_scores(ranked, question.evidence)
                    scores[question.category].append(found)
                    modes[mode] += 1
    return scores, ", ".join(f"{count} {mode}" for mode, count in modes.most_common())


def write_sessions(notes: Path, sessions: Sequence[Session]) -> dict[str, str]:
    """Write a note for each session; return the path of each note and its session."""
    notes.mkdir(parents=True)
    session_of = {}
    for number, session in enumerate(sessions, start=1):
        name = f"{session.at:%Y-%m-%d}-{number:03}.md"
        lines = [f"# {session.at:%Y-%m-%d %H:%M}", ""]
        for speaker, text in session.turns:
            first, *others = text.splitlines() or [""]
            lines += [f"- {speaker}: {first}", *(f"  {other}" for other in others)]
        (notes / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
        session_of[name] = session.id
    return session_of


def rank_sessions(
    memory: Memory, question: DialogueQuestion, session_of: Mapping[str, str]
) -> tuple[list[str], str]:
    """Ask a question; return the sessions in the order of their hits, and the mode."""
    if question.at is not None:  # so that "last week" means what the asker means
        moment = question.at.timestamp()
        memory.clocks.now = lambda: moment
    answer = memory.search(Query(text=question.text, max_results=HITS))
    return list(dict.fromkeys(session_of[hit.path] for hit in answer.hits)), (
        answer.report.mode
    )


def session_scores(ranked: Sequence[str], evidence: frozenset[str]) -> dict[str, float]:
    """Return the metrics of one answer.

    >>> session_scores(["a", "b"], frozenset("b"))["nDCG@10"]
    0.6309297535714575
    """
    ranks = [at for at, session in enumerate(ranked, start=1) if session in evidence]
    ranks = [rank for rank in ranks if rank <= 10]
    best = range(1, 1 + min(10, len(evidence)))
    return {
        "any@5": float(any(rank <= 5 for rank in ranks)),
        "any@10": float(bool(ranks)),
        "share@10": len(ranks) / len(evidence),
        "nDCG@10": _gain(ranks) / _gain(best),
    }


def _gain(ranks: Sequence[int]) -> float:
    return sum(1 / math.log2(1 + rank) for rank in ranks)


def scores_table(scores: Scores, totals: Mapping[str, Sequence[str]]) -> str:
    """Return a row for each category, and one with intervals for each total.

    Args:
        scores: Category -> the metrics of each question.
        totals: Name -> the categories that it is made of.
    """
    rows = [_row(category, scores[category]) for category in sorted(scores)]
    for name, categories in totals.items():
        found = [one for category in categories for one in scores.get(category, ())]
        if found:
            rows.append(_row(f"**{name}**", found, has_interval=True))
    return table(["questions", "", *SHOWN], rows)


def _row(
    name: str, found: Sequence[Mapping[str, float]], *, has_interval: bool = False
) -> list[str]:
    """Return the means of some questions as cells of a table."""
    cells = [name, str(len(found))]
    for metric in SHOWN:
        mean, low, high = mean_interval({name: [one[metric] for one in found]})
        interval = f" [{low:.3f}, {high:.3f}]" if has_interval else ""
        cells.append(f"{mean:.3f}{interval}")
    return cells


def parser_of(description: str | None, file: str) -> argparse.ArgumentParser:
    """Return the options that both programs take."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("file", type=Path, help=file)
    add("--limit", type=int, help="the first so many entries of the file only")
    add("--provider", choices=("none", "ollama", "openai"), default="none")
    add("--embedding-url", default="http://127.0.0.1:11434")
    add("--embedding-model", default="all-minilm")
    return parser
