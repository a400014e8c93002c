"""Ask a memory of 10,000 chunks anything at all: does it ever fail, and how long?

    python -m benchmarks.hostile_queries --queries 100000

Words of the notes, random Unicode with lone surrogates, operators and quotes of the
full-text language, identifiers, scripts without spaces, words that no note holds, one
letter a hundred thousand times, and whole files of a hundred kilobytes. Exits 1 if a
question raised, if a long one was cut without a word in the report, or if the 99th
percentile is above 50 ms.
"""

from __future__ import annotations

import argparse
import random
import shutil
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

from benchmarks.corpus import corpus
from benchmarks.many_processes import at
from hivemind_memory.memory.memory import Memory
from hivemind_memory.model.query import Query
from tests.support.sandbox import Sandbox

LONG_BYTES = 100_000
PROMISED_P99_MS = 50.0
OPERATORS = "\"'*^:(){}[]+-~\\/ \0\n"
SYNTAX = ("AND", "OR", "NOT", "NEAR(", "body:", "*", '"', "(", ")", "^", "-", "{a b}:")
SCRIPTS = (
    range(0x20, 0x7F),
    range(0x400, 0x460),
    range(0x5D0, 0x5EB),
    range(0x900, 0x950),
    range(0xE00, 0xE40),
    range(0x4E00, 0x4F00),
    range(0xAC00, 0xAD00),
    range(0x1F300, 0x1F400),
)
CODE_POINTS = 0x110000


ONE_NEEDLE_IN = 10
NEEDLES = tuple(
    f"{first}{second}{third}z"
    for first, second in (("gu", "vo"), ("fi", "ku"), ("wa", "xe"), ("jo", "py"))
    for third in ("dru", "flo", "kwi", "sna", "tre")
)
"""Words that one note each has, and no other."""


class Asker:
    """Makes questions of many kinds."""

    def __init__(self, words: list[str], rng: random.Random) -> None:
        self._words = words
        self._rng = rng
        self.kinds: dict[str, Callable[[], str]] = {
            "words": self._some_words,
            "slips": self._slips,
            "syntax": self._syntax,
            "unicode": self._unicode,
            "script": self._script,
            "identifiers": self._identifiers,
            "operators": lambda: "".join(rng.choices(OPERATORS, k=rng.randrange(60))),
            "unknown": lambda: " ".join(self._unknown() for _ in range(64)),
            "many words": lambda: " ".join(rng.choices(words, k=200)),
        }
        self.long_kinds: dict[str, Callable[[], str]] = {
            "100 kB of words": self._long_words,
            "100 kB of one letter": lambda: rng.choice('aé东\u0301ﷺ_ "') * LONG_BYTES,
            "100 kB of unicode": self._long_unicode,
            "100 kB of mixed case": lambda: "aB1_" * (LONG_BYTES // 4),
        }

    def needle(self) -> tuple[str, str, str]:
        """Return a kind, a question and the note that has to be found."""
        word = self._rng.choice(NEEDLES)
        if self._rng.random() < 0.5:
            return "a needle", word, f"{word}.md"
        pieces = [f"({word})", *self._rng.choices(SYNTAX, k=self._rng.randrange(1, 12))]
        self._rng.shuffle(pieces)
        return "a needle in syntax", " ".join(pieces), f"{word}.md"

    def _some_words(self) -> str:
        return " ".join(self._rng.choices(self._words, k=self._rng.randrange(1, 12)))

    def _slips(self) -> str:
        """Words as people mistype them, most of which no note holds."""
        slipped = []
        for word in self._rng.choices(self._words, k=self._rng.randrange(1, 6)):
            at_letter = self._rng.randrange(len(word))
            slipped.append(word[:at_letter] + word[at_letter + 1 :])
        return " ".join(slipped)

    def _syntax(self) -> str:
        pieces = [*SYNTAX, *self._rng.choices(self._words, k=8)]
        return " ".join(self._rng.choices(pieces, k=self._rng.randrange(1, 20)))

    def _unicode(self) -> str:
        count = self._rng.randrange(1, 80)
        return "".join(chr(self._rng.randrange(CODE_POINTS)) for _ in range(count))

    def _script(self) -> str:
        block = self._rng.choice(SCRIPTS)
        return "".join(
            chr(self._rng.choice(block)) for _ in range(self._rng.randrange(1, 60))
        )

    def _identifiers(self) -> str:
        glue = self._rng.choice(("_", "-", ".", "/", "::", ""))
        words = self._rng.choices(self._words, k=self._rng.randrange(2, 6))
        return glue.join(word.capitalize() if not glue else word for word in words)

    def _unknown(self) -> str:
        return "".join(self._rng.choices("qxzjkvwy", k=self._rng.randrange(3, 12)))

    def _long_words(self) -> str:
        text = " ".join(self._rng.choices(self._words, k=LONG_BYTES // 4))
        return text[:LONG_BYTES]

    def _long_unicode(self) -> str:
        codes = (self._rng.randrange(CODE_POINTS) for _ in range(LONG_BYTES // 3))
        return "".join(map(chr, codes))


def run(
    memory: Memory, asker: Asker, count: int, long_share: float, rng: random.Random
):
    """Ask *count* questions; return kind -> milliseconds, and what went wrong."""
    took_ms: dict[str, list[float]] = defaultdict(list)
    problems = []
    for number in range(count):
        kinds = asker.long_kinds if rng.random() < long_share else asker.kinds
        kind, path = rng.choice(list(kinds)), ""
        if number % ONE_NEEDLE_IN:
            text = kinds[kind]()
        else:
            kind, text, path = asker.needle()
        started = time.perf_counter()
        try:
            answer = memory.search(Query(text=text))
        except Exception as error:  # noqa: BLE001 - whatever it is, it is a finding
            problems.append(f"{kind} {number}: {type(error).__name__}: {error}")
            continue
        took_ms[kind].append(1000 * (time.perf_counter() - started))
        if path and path not in [hit.path for hit in answer.hits]:
            problems.append(f"{kind} {number}: {text!r} does not find {path}")
        if kind == "100 kB of words" and not answer.report.ignored_terms:
            problems.append(f"{kind} {number}: nothing is said of what was ignored")
    return took_ms, problems


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--queries", type=int, default=100_000)
    parser.add_argument("--chunks", type=int, default=10_000)
    parser.add_argument("--long-share", type=float, default=0.02)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--max-p99-ms", type=float, default=PROMISED_P99_MS)
    given = parser.parse_args()
    rng = random.Random(given.seed)
    made = corpus(chunks=given.chunks)
    with tempfile.TemporaryDirectory() as base:
        sandbox = Sandbox(Path(base) / "home")
        shutil.rmtree(sandbox.notes)
        shutil.copytree(made.notes, sandbox.notes)
        words = sorted(
            {
                word.strip(".,;:()`*")
                for note in sorted(sandbox.notes.glob("*.md"))[:200]
                for word in note.read_text(encoding="utf-8").split()
            }
            - {""}
        )
        for word in NEEDLES:
            sandbox.save(f"{word}.md", f"# Needle\n\nHere lies {word} alone.\n")
        with sandbox.memory() as memory:
            memory.sync()
            memory.search(Query(text="é"))
            asker = Asker(words, rng)
            took_ms, problems = run(memory, asker, given.queries, given.long_share, rng)
    everything = [value for values in took_ms.values() for value in values]
    for kind, values in sorted(took_ms.items()):
        print(
            f"{kind:22} {len(values):7} asked, p50 {at(0.5, values):6.2f} ms, "
            f"p99 {at(0.99, values):6.2f} ms, longest {max(values):6.1f} ms"
        )
    for problem in problems[:20]:
        print(problem[:300])
    p99 = at(0.99, everything)
    print(
        f"seed {given.seed}: {len(everything)} questions on {given.chunks} chunks, "
        f"p50 {at(0.5, everything):.2f} ms, p99 {p99:.2f} ms, "
        f"longest {max(everything):.0f} ms, {len(problems)} problems"
    )
    return 1 if problems or p99 > given.max_p99_ms else 0


if __name__ == "__main__":
    sys.exit(main())
