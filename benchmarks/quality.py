"""Ask judged questions and say how good the answers are.

    python -m benchmarks.quality --data fixtures/judged
    python -m benchmarks.quality --data DIR --provider ollama --embedding-url URL
    python -m benchmarks.quality --data DIR --set-option decay_floor=1 --compare OLD

``--data`` is a folder of sets as ``benchmarks/scoring.py`` describes them; it stays as
it is, see ``benchmarks/asking.py``. ``--out`` keeps the answers for ``--compare`` and
for other scorers; those may also call ``open_folder(path)``, imported here.
"""

from __future__ import annotations

import argparse
import importlib
import json
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

import hivemind_memory
from benchmarks.asking import Asked, Run, ask, open_folder, read_run, write_run
from benchmarks.measure import ROOT, table, timing, write_figures
from benchmarks.place import forget_settings
from benchmarks.scoring import LineLengths, Lines, mean_interval, read_questions, score

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from benchmarks.scoring import Question

__all__ = ["main", "means", "open_folder", "quality_table", "values"]

SHOWN = ("R@1", "R@5", "R@10", "MRR@10", "nDCG@10", "R@4kc")
WITH_INTERVAL = ("nDCG@10", "R@5", "R@4kc")
NOT_IN_MEAN = "versions"
"""A set of this name asks something of its own: it is shown, and not in the mean."""


Values = dict[str, dict[str, list[float]]]
"""Metric -> set -> one value a question, in the order of the questions."""


def values(questions: Sequence[Question], run: Run) -> Values:
    """Score every answer to a question that the notes answer; no hits score 0."""
    lengths = LineLengths()
    found: Values = {metric: defaultdict(list) for metric in SHOWN}
    for question in questions:
        if not question.gold:
            continue
        lines = [
            Lines(
                str(row["path"]), int(str(row["start_line"])), int(str(row["end_line"]))
            )
            for row in run.results.get(question.id, ())
        ]
        for metric, value in score(question, lines, lengths).items():
            found[metric][question.set_name].append(value)
    return found


def means(found: Values) -> dict[str, dict[str, float]]:
    """Return set -> metric -> mean; the set ``mean`` is that of all sets but one."""
    sets = {
        name: {
            metric: sum(found[metric][name]) / len(found[metric][name])
            for metric in SHOWN
        }
        for name in found[SHOWN[0]]
    }
    counted = [sets[name] for name in _in_mean(sets)]
    sets["mean"] = {
        metric: sum(row[metric] for row in counted) / len(counted) for metric in SHOWN
    }
    return sets


def quality_table(found: Values) -> str:
    """Return the Markdown table: a row for each set, and the mean with its interval."""
    rows = []
    for name, row in means(found).items():
        if name != "mean":
            count = str(len(found[SHOWN[0]][name]))
            rows.append([name, count, *(_shown(row[metric]) for metric in SHOWN)])
    names = _in_mean(found[SHOWN[0]])
    last = ["**mean of sets**", str(sum(len(found[SHOWN[0]][name]) for name in names))]
    for metric in SHOWN:
        mean, low, high = mean_interval({name: found[metric][name] for name in names})
        interval = f" [{_shown(low)}, {_shown(high)}]"
        last.append(_shown(mean) + (interval if metric in WITH_INTERVAL else ""))
    return table(["set", "questions", *SHOWN], [*rows, last])


def difference_table(found: Values, before: Values) -> str:
    """Return how much better *found* is than *before*, question by question."""
    names = _in_mean(found[SHOWN[0]])
    rows = []
    for metric in SHOWN:
        paired = {
            name: [
                new - old
                for new, old in zip(
                    found[metric][name], before[metric][name], strict=True
                )
            ]
            for name in names
        }
        mean, low, high = mean_interval(paired)
        rows.append([metric, f"{mean:+.4f}", f"[{low:+.4f}, {high:+.4f}]"])
    return table(["metric", "difference", "95 % interval"], rows)


def _in_mean(sets: Mapping[str, object]) -> list[str]:
    """Return the sets that count in the mean; all, when nothing else is there."""
    return [name for name in sets if name != NOT_IN_MEAN] or list(sets)


def _shown(value: float) -> str:
    """Return a share with three digits, without the zero before the point."""
    return f"{value:.3f}".removeprefix("0")


def embedding_settings(options: argparse.Namespace) -> dict[str, object]:
    """Return the config keys of the provider that the options name."""
    settings: dict[str, object] = {"embedding_provider": options.provider}
    if options.provider == "ollama":
        settings |= {
            "ollama_url": options.embedding_url,
            "ollama_model": options.embedding_model,
        }
    elif options.provider == "local":
        settings["local_model"] = options.embedding_model
    elif options.provider == "openai":
        settings |= {
            "openai_base_url": options.embedding_url,
            "openai_model": options.embedding_model,
            "openai_api_key": "local",
        }
    return settings


def _settings(options: argparse.Namespace) -> dict[str, object]:
    """Return the config keys that the options name."""
    settings = embedding_settings(options)
    for pair in options.set_option:
        name, _, value = pair.partition("=")
        try:
            settings[name] = json.loads(value)
        except ValueError:
            settings[name] = value
    return settings


def _set_constant(given: str) -> None:
    """Change a number of the package in this process.

    Raises:
        SystemExit: There is no such number.
    """
    place, _, value = given.partition("=")
    module_name, _, name = place.partition(":")
    try:
        module = importlib.import_module(f"{hivemind_memory.__name__}.{module_name}")
        before = getattr(module, name)
        setattr(module, name, type(before)(value))
    except (ImportError, AttributeError, ValueError, TypeError) as error:
        raise SystemExit(f"--constant {given}: {error}") from error


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--data", type=Path, required=True, help="folder of sets")
    add("--sets", nargs="*", default=(), help="these sets only")
    add("--sample", type=int, help="about so many questions only")
    add("--provider", choices=("none", "ollama", "openai", "local"), default="none")
    add("--embedding-url", default="http://127.0.0.1:11434")
    add("--embedding-model", default="all-minilm")
    add("--set-option", action="append", default=[], metavar="KEY=VALUE")
    add("--min-score", type=float, help="instead of the setting")
    add("--max-results", type=int, default=10)
    add("--keep", type=Path, help="keep copies, indexes and vectors in this folder")
    add("--run", type=Path, help="score these answers instead of asking")
    add(
        "--constant",
        action="append",
        default=[],
        metavar="MODULE:NAME=VALUE",
        help="change a number of the package, to see what it does:"
        " search.fusion:NOTE_WEIGHT=0",
    )
    add("--typed", default="", metavar="TYPE", help="type every note: a name, or any")
    add("--out", type=Path, help="keep the answers in this file")
    add("--compare", type=Path, help="answers of a run before, to tell the difference")
    add("--json", action="store_true", help="print the means as JSON as well")
    add("--write-docs", metavar="NAME", help="put the table into docs/quality.md")
    return parser


def main() -> None:
    """Ask, score, print."""
    options = _parser().parse_args()
    forget_settings()
    for constant in options.constant:
        _set_constant(constant)
    questions = read_questions(options.data, options.sets)
    if options.sample:
        questions = questions[:: max(1, len(questions) // options.sample)]
    asked = Asked(
        settings=_settings(options),
        min_score=options.min_score,
        max_results=options.max_results,
        keep=options.keep,
        typed=options.typed,
    )
    run = read_run(options.run) if options.run else ask(questions, asked)
    if options.out:
        write_run(options.out, run)
    found = values(questions, run)
    text = quality_table(found)
    print(text)
    if run.seconds:
        took = timing(run.seconds)
        print(f"\none search: {took}, p95 {took.p95_ms:.1f} ms; {dict(run.modes)}")
    if options.compare:
        before = values(questions, read_run(options.compare))
        print(f"\n{difference_table(found, before)}")
    if options.json:
        print(json.dumps(means(found)))
    if options.write_docs:
        page = ROOT / "docs" / "quality.md"
        write_figures(page, f"benchmarks/quality.py {options.write_docs}", text)


if __name__ == "__main__":
    main()
