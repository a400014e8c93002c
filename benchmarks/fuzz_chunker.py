"""Feed the chunker what no person writes: does anything raise, get lost or take long?

    python -m benchmarks.fuzz_chunker --cases 1000000 --seed 1

Prints how many inputs there were, how many broke a promise, and the worst times; exits
1 if one did. The same seed makes the same inputs. Each run has large ones besides, in a
small and a large size of the same lines: a byte of the large one may not cost several
times as much.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from hivemind_memory.markdown.note_parser import join_chunks, parse_note
from hivemind_memory.markdown.subchunks import split_subchunks
from hivemind_memory.markdown.text import decode, split_lines
from hivemind_memory.model.note_path import NotePath

FIXTURES = Path(__file__).parent.parent / "fixtures"
NOTE = NotePath("fuzz.md")
COMMENT = (
    "<!-- hm id=01JDK3R8Z60000000000000000 source=agent "
    "at=2026-11-21T14:03:11+01:00 -->"
)
LARGE_BYTES = 64_000
"""A smaller input says nothing about seconds per megabyte: each takes 0.1 ms anyway."""

ONE_LARGE_IN = 2_000

GROWN_BYTES = 50_000
TIMES = 16
"""How much larger the second size is: that much more does a byte cost if the time grows
with the square of the size."""

MAX_RATIO = 4.0
"""Between what a byte costs in both sizes. It is 0.8 to 1.3 where time grows evenly."""

GROWN = (
    "# A heading\n\nSome words of a sentence, and some more.\n\n- an item\n\n",
    "# A heading\n",
    "word ",
    "x",
    "\n",
    "- an item of a list\n",
    "  - a deeper item\n",
    "> quoted words\n",
    "```\ncode of mine\n",
    "| a | b |\n",
    "*a [b](c `d` ",
    f"{COMMENT}\nAn entry of one line.\n\n",
)
"""What is repeated until it is large."""


@dataclass(slots=True)
class Findings:
    """What came of all inputs."""

    cases: int = 0
    chunks: int = 0
    bytes: int = 0
    took_s: float = 0.0
    large: int = 0
    worst_s_per_mb: float = 0.0
    worst_input: bytes = b""
    """How the input began that took longest for its size."""

    worst_small_ms: float = 0.0
    worst_ratio: float = 0.0
    """The highest of what a byte costs in a large note, over that in a small one."""

    broken: Counter[str] = field(default_factory=Counter)
    examples: list[str] = field(default_factory=list)


class Inputs:
    """Makes inputs from a seed."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._lines: list[str] = [
            *json.loads(FIXTURES.joinpath("markdown_lines.json").read_text("utf-8")),
            *(
                "",
                "",
                "",
                "a line of text",
                "x" * 900,
                "A sentence. " * 80,
                "雪。" * 450,
            ),
            *(COMMENT, "---", "...", "title: x", "- [", "\r", "a\rb", "\0", "\u2028"),
        ]
        self._notes = [
            path.read_bytes()
            for path in sorted(FIXTURES.joinpath("notes").rglob("*.md"))
        ]
        cases = json.loads(FIXTURES.joinpath("markdown_cases.json").read_text("utf-8"))
        self._notes += [case["text"].encode() for case in cases]

    def next(self) -> bytes:
        """Return one input: mostly a few lines, at times megabytes."""
        if self._random.randrange(ONE_LARGE_IN) == 0:
            return self._repeated()
        kind = self._random.random()
        if kind < 0.6:
            return self._some_lines(30).encode()
        if kind < 0.7:
            return self._random.randbytes(self._random.randrange(300))
        if kind < 0.8:
            return b"---\n" + self._some_lines(8).encode() + b"\n---\n# a\n"
        return self._mutated()

    def limit_chars(self, data: bytes) -> int:
        """Return a limit: mostly the usual one, and always where time is told."""
        if len(data) >= LARGE_BYTES or self._random.random() < 0.6:
            return 800
        return self._random.randint(1, 120)

    def _some_lines(self, most: int) -> str:
        choose, indents = (
            self._random.choice,
            ("", "", "", " ", "    ", "> ", "- ", "\t"),
        )
        count = self._random.randint(0, most)
        newline = "\r\n" if self._random.random() < 0.1 else "\n"
        return newline.join(choose(indents) + choose(self._lines) for _ in range(count))

    def _mutated(self) -> bytes:
        """Return a real note with some bytes changed, lost or doubled."""
        data = bytearray(self._random.choice(self._notes))
        for _ in range(self._random.randint(1, 6)):
            at = self._random.randint(0, len(data))
            end = at + self._random.randint(0, 20)
            data[at:end] = self._random.choice(
                (
                    b"",
                    self._random.randbytes(2),
                    data[at:end] * 3,
                    b"\n",
                    b"\n\n\n",
                    b"`",
                )
            )
        return bytes(data)

    def _repeated(self) -> bytes:
        """Return a few lines, or a part of one, over and over."""
        size = self._random.choice((LARGE_BYTES, 300_000, 1_000_000))
        part = self._some_lines(4)
        if self._random.random() < 0.3:
            part, size = part.replace("\n", "")[:20], 10 * size
        part += self._random.choice(("", "\n", "\n\n", "\n\n\n"))
        data = part.encode() or b"\xff"
        return data * (size // len(data) + 1)


def broken_promise(data: bytes, findings: Findings, limit: int) -> str:
    """Return which promise one input breaks, or nothing."""
    before_s = time.process_time()
    note = parse_note(NOTE, data, limit_chars=limit)
    took_s = time.process_time() - before_s
    findings.took_s += took_s
    findings.chunks += len(note.chunks)
    if len(data) >= LARGE_BYTES:
        findings.large += 1
        s_per_mb = took_s / len(data) * 1_000_000
        if s_per_mb > findings.worst_s_per_mb:
            findings.worst_s_per_mb, findings.worst_input = s_per_mb, data[:60]
    else:
        findings.worst_small_ms = max(findings.worst_small_ms, took_s * 1000)
    text = decode(data)
    if join_chunks(note.chunks) != text.removesuffix("\n"):
        return "joined, the chunks are not the text"
    if any(len(chunk.text) > limit for chunk in note.chunks):
        return "a chunk is longer than the limit"
    end_line = 0
    for chunk in note.chunks:
        if chunk.start_line not in (end_line, end_line + 1):
            return "a line is left out or told twice"
        end_line = chunk.end_line
        if chunk.body and not split_subchunks(chunk.body):
            return "a body has no unit"
    if end_line != len(split_lines(text)):
        return "the last line is not the last line"
    return ""


def cost_ratio(part: str) -> float:
    """Return what a byte costs in a large note, over what it costs in a small one."""
    small = _repeated(part, GROWN_BYTES)
    small_s = min(_parse_s(small) for _ in range(3))
    return _parse_s(_repeated(part, GROWN_BYTES * TIMES)) / small_s / TIMES


def _repeated(part: str, size: int) -> bytes:
    """Return a part over and over, up to some bytes."""
    return part.encode() * (size // len(part))


def _parse_s(data: bytes) -> float:
    """Return the CPU time that a note takes."""
    before_s = time.process_time()
    parse_note(NOTE, data, limit_chars=800)
    return time.process_time() - before_s


def try_large(findings: Findings) -> None:
    """Try large inputs, and compare what a byte costs in them with small ones."""
    for part in GROWN:
        _try(_repeated(part, GROWN_BYTES * TIMES), 800, findings)
        ratio = cost_ratio(part)
        if ratio > MAX_RATIO:  # the machine may have been busy
            ratio = min(ratio, cost_ratio(part))
        findings.worst_ratio = max(findings.worst_ratio, ratio)
        if ratio > MAX_RATIO:
            findings.broken[f"a byte costs {ratio:.0f} times as much"] += 1
            findings.examples.append(f"{part!r} takes long if it is repeated")
            return  # the others may take as long


def _try(data: bytes, limit: int, findings: Findings) -> None:
    """Try one input."""
    findings.cases += 1
    findings.bytes += len(data)
    try:
        problem = broken_promise(data, findings, limit)
    except Exception as error:  # noqa: BLE001 - to count them is the task
        problem = f"raised {type(error).__name__}"
    if problem:
        findings.broken[problem] += 1
        if len(findings.examples) < 5:
            findings.examples.append(f"{problem}: {limit} {data[:500]!r}")


def fuzz(cases: int, seed: int) -> Findings:
    """Try *cases* inputs."""
    inputs, findings = Inputs(seed), Findings()
    try_large(findings)
    for number in range(cases):
        data = inputs.next()
        _try(data, inputs.limit_chars(data), findings)
        if number % 50_000 == 49_999:
            print(f"{number + 1:,} inputs", file=sys.stderr)
    return findings


def main() -> int:
    """Fuzz, and tell what came of it."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--cases", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    found = fuzz(options.cases, options.seed)
    raised = sum(n for what, n in found.broken.items() if what.startswith("raised"))
    print(
        f"{found.cases:,} inputs (seed {options.seed}, {found.bytes / 1e6:,.0f} MB, "
        f"{found.chunks:,} chunks): {raised} exceptions, "
        f"{found.broken.total() - raised} other broken promises"
    )
    print(
        f"worst of {found.large:,} inputs of {LARGE_BYTES // 1000} kB and more: "
        f"{found.worst_s_per_mb:.2f} s/MB; slowest smaller one: "
        f"{found.worst_small_ms:.0f} ms; all together: "
        f"{found.took_s / max(found.bytes, 1) * 1e6:.2f} s/MB; a byte of a large one"
        f" costs {found.worst_ratio:.1f} times as much at most"
    )
    print(f"the worst one begins with {found.worst_input!r}")
    for problem, count in found.broken.items():
        print(f"{count:,} times: {problem}")
    for example in found.examples:
        print(example)
    return 1 if found.broken else 0


if __name__ == "__main__":
    sys.exit(main())
