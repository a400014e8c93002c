"""Find secrets of many kinds, and count false alarms: how many, and how fast?

    python -m benchmarks.secrets
    python -m benchmarks.secrets --each 200 --seeds 5 --tree ~/src

Writes each kind of ``tests/redaction/samples.py`` into prose, configuration and code,
and prints how many are left after redaction; the same for the lists of
``tests/redaction/unseen``, each written before anyone looked at the rules; then the
false alarms in harmless lines:
generated ones, those of this project, and those of any folders you name (look at these
lines yourself: some of them do hold secrets); then the speed, and the cost of a first
use in a fresh process. Exits 1 if less than 98 % of the kinds or 95 % of a list are
found, or if there is more than one false alarm in 1,000 harmless lines.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from hivemind_memory.redaction import find_secrets, scrub
from hivemind_memory.redaction.tokens.keywords import EXACT, FOLDED
from tests.redaction.harmless import made_lines, own_lines, prose
from tests.redaction.samples import is_left, samples
from tests.redaction.unseen_forms import LISTS, forms

ROOT = Path(__file__).parents[1]
PROMISED_RECALL = 0.98
PROMISED_OF_LISTS = 0.95
PROMISED_ALARMS = 1 / 1000
CHUNK = 800
MEGABYTE = 1_000_000
SHOWN = 40
SUFFIXES = {
    ".py",
    ".md",
    ".rst",
    ".txt",
    ".js",
    ".ts",
    ".json",
    ".toml",
    ".yml",
    ".yaml",
}
HOSTILE = (
    "key=", "key = ", "password: a1", 'password="\\"', "token=aB3xK9q2LmZ8 ", "pass",
    "://", "a://b:c@", "eyJ", "eyJaaaaaaaaaaaaaaaaaa.ey", "sk-", "discord", "-us", "Q~",
    "twitter    ====   ", "cookie: a=b;", "[redacted:", "密码是", "AccountKey=", "A",
    "a1 ",
    "=".join(EXACT + FOLDED), "-" * 5 + "BEGIN PRIVATE " + "KEY" + "-" * 5 + "\n",
)  # fmt: skip
FRESH = """
import re, time
from hivemind_memory.model.value import value
start = time.process_time()
from hivemind_memory.redaction import mask
between = time.process_time()
for number in range(10):
    mask({text!r})
print((between - start) * 1e3, (time.process_time() - between) * 1e3)
"""


def main() -> int:
    """Measure, print, and return whether the promises hold."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--each", type=int, default=25, help="samples of each kind")
    options.add_argument("--seeds", type=int, default=1)
    options.add_argument("--lines", type=int, default=20_000, help="harmless ones made")
    options.add_argument("--tree", type=Path, action="append", default=[])
    options.add_argument("--no-speed", action="store_true", help="measure no times")
    given = options.parse_args()
    good = recall(given.each, given.seeds)
    for path in sorted(LISTS.glob("*.txt")):
        good &= of_list(path.stem, given.seeds)
    made = alarms("made lines", made_lines(1, given.lines))
    own = alarms("this project", own_lines())
    for tree in given.tree:
        alarms(str(tree), lines_below(tree))
    if not given.no_speed:
        speed()
        fresh()
    return 0 if good and made and own else 1


def recall(each: int, seeds: int) -> bool:
    """Print how many of each kind are found."""
    kinds: Counter[str] = Counter()
    left: Counter[str] = Counter()
    for seed in range(1, seeds + 1):
        for sample in samples(seed, each):
            kinds[sample.kind] += 1
            scrubbed = scrub(sample.text, sample.known)
            left[sample.kind] += is_left(sample.secret, scrubbed.text)
    print(f"{'kind':30} {'written':>8} {'found':>8}")
    for kind, count in sorted(kinds.items()):
        print(f"{kind:30} {count:8} {(count - left[kind]) / count:8.1%}")
    share = 1 - left.total() / kinds.total()
    print(f"{len(kinds)} kinds, {kinds.total()} secrets, {share:.3%} found\n")
    return share >= PROMISED_RECALL


def of_list(name: str, seeds: int) -> bool:
    """Print how many forms of a list have no secret left, of each kind."""
    kinds: Counter[str] = Counter()
    found: Counter[str] = Counter()
    for seed in range(1, seeds + 1):
        for form in forms(name, seed):
            kinds[form.kind] += 1
            found[form.kind] += not form.left(scrub(form.text).text)
    for kind, count in sorted(kinds.items()):
        print(f"{name + ': ' + kind:30} {count:8} {found[kind] / count:8.1%}")
    share = found.total() / kinds.total()
    print(f"{name} list: {kinds.total()} forms, {share:.1%} found\n")
    return share >= PROMISED_OF_LISTS


def alarms(name: str, lines: Iterable[str]) -> bool:
    """Print the alarms in some lines."""
    number = 0
    raised: list[tuple[str, str]] = []
    for line in lines:
        number += 1
        raised += [
            (secret.kind, line[max(0, secret.start - 50) : secret.end + 20])
            for secret in find_secrets(line)
        ]
    per_1000 = 1000 * len(raised) / max(1, number)
    print(f"{name}: {number:,} lines, {len(raised)} alarms, {per_1000:.3f} per 1,000")
    for kind, line in raised[:SHOWN]:
        print(f"    {kind}: {line.strip()[:120]}")
    return len(raised) <= PROMISED_ALARMS * number


def lines_below(tree: Path) -> Iterable[str]:
    """Return the lines of all text files below a folder."""
    for path in sorted(tree.rglob("*")):
        if path.suffix in SUFFIXES and path.is_file():
            yield from path.read_text(encoding="utf-8", errors="replace").splitlines()


def speed() -> None:
    """Print how fast texts are searched, and the slowest hostile one."""
    code = "\n".join(own_lines())
    words = prose(random.Random(1), MEGABYTE)
    for name, text, size in (
        ("prose, in chunks", words, CHUNK),
        ("sources and documents, in chunks", code, CHUNK),
        ("sources and documents, as one text", code, len(code)),
    ):
        spent_s = timed([text[at : at + size] for at in range(0, len(text), size)])
        print(f"{name}: {len(text) / MEGABYTE / spent_s:.1f} MB/s")
    slowest = max(
        (timed([(piece * (MEGABYTE // len(piece) + 1))[:MEGABYTE]]), piece[:20])
        for piece in HOSTILE
    )
    print(f"slowest hostile megabyte: {slowest[0]:.2f} s, of {slowest[1]!r}")


def timed(texts: list[str]) -> float:
    """Return the seconds of processor time that some texts take."""
    start = time.process_time()
    for text in texts:
        find_secrets(text)
    return time.process_time() - start


def fresh() -> None:
    """Print what a fresh process pays for ten snippets without secrets."""
    sentence = "The retry budget is 10 s; see notes/writer.py, or ask `hm doctor`. " * 8
    about_tokens = "The token of the header: `api_key = settings.KEY`, a password. " * 8
    for name, text in (("prose", sentence), ("about tokens", about_tokens)):
        command = [sys.executable, "-c", FRESH.format(text=text)]
        runs = [
            tuple(map(float, subprocess.check_output(command, cwd=ROOT).split()))
            for _ in range(15)
        ]
        least = min(runs, key=sum)
        print(f"fresh, {name}: import {least[0]:.2f} ms, ten texts {least[1]:.2f} ms")


if __name__ == "__main__":
    sys.exit(main())
