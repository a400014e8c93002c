"""Ask anything at all: is every text a legal question, and answered soon?

    python -m benchmarks.hostile_queries --queries 100000

Random and hostile questions over some 10,000 chunks: operators, quotes, control
characters, half surrogates, any script, texts of 100 kB. Exits 1 on an error or when
the 99th percentile is 50 ms or more.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.corpus import corpus
from hivemind_memory import Memory, Query, open_memory
from hivemind_memory.model.terms import MAX_TERMS

PIECES = (
    *"\"'()*^:-+~{}[]<>|&!?.,;#$%\\/@=`",
    " ",
    "\0",
    "\n",
    "\t",
    "\ud800",
    "\udfff",
    "\u200b",
    "\u202e",
    "é",
    "e\u0301",
    "東京",
    "сервер",
    "हिन्दी",
    "ไทย",
    "🤖",
    "AND",
    "OR",
    "NOT",
    "NEAR(",
    "body:",
    "col:x",
    "rowid",
    "*",
    "SELECT 1; --",
    "the",
    "snake_case",
    "CamelCase",
    "a/b/c.py",
    "%s",
    "{0}",
)
LIMIT_P99_S = 0.050
ONE_IN_LONG = 500


def question(rng: random.Random, words: list[str]) -> str:
    """Return one question: words, pieces, code points, or a very long one."""
    kind = rng.random()
    if rng.randrange(ONE_IN_LONG) == 0:
        whole = " ".join(rng.choices(words + list(PIECES), k=20_000))
        return whole[:100_000]
    if kind < 0.3:
        return " ".join(rng.choices(words, k=rng.randrange(1, 15)))
    if kind < 0.8:
        parts = rng.choices(words + list(PIECES) * 20, k=rng.randrange(0, 30))
        return rng.choice(("", " ")).join(parts)
    return "".join(chr(rng.randrange(0x110000)) for _ in range(rng.randrange(60)))


def ask(memory: Memory, asked: str) -> str:
    """Ask; return what is wrong with the answer."""
    try:
        answer = memory.search(Query(text=asked))
    except Exception as error:  # noqa: BLE001 - that is what is looked for
        return f"{type(error).__name__}: {error} for {asked[:80]!r}"
    scores = [hit.score for hit in answer.hits]
    if scores != sorted(scores, reverse=True):
        return f"scores do not descend for {asked[:80]!r}"
    if len(asked) > 50_000 and not answer.report.ignored_terms:
        return f"more than {MAX_TERMS} terms, and the report does not say so"
    return ""


def main() -> None:
    """Run, and tell."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--queries", type=int, default=2_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    rng = random.Random(options.seed)
    made = corpus()
    words = [word for query in made.queries() for word in query.split()]
    took: list[float] = []
    problems: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        flags = {"embedding_provider": "none", "index_dir": f"{folder}/index"}
        with open_memory(
            memory_dir=str(made.notes), home=str(Path(folder) / "home"), flags=flags
        ) as memory:
            memory.sync()
            for _ in range(options.queries):
                asked = question(rng, words)
                started = time.perf_counter()
                problem = ask(memory, asked)
                took.append(time.perf_counter() - started)
                problems += [problem] if problem else []
    took.sort()
    p50, p99 = took[len(took) // 2], took[int(len(took) * 0.99)]
    print(
        f"{options.queries} questions, seed {options.seed}: {len(problems)} problems; "
        f"p50 {1000 * p50:.1f} ms, p99 {1000 * p99:.1f} ms, "
        f"longest {1000 * took[-1]:.1f} ms"
    )
    for problem in problems[:20]:
        print(problem)
    sys.exit(bool(problems) or p99 >= LIMIT_P99_S)


if __name__ == "__main__":
    main()
