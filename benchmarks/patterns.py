"""Repeat what each pattern of the program looks for, and see what it costs.

    python -m benchmarks.patterns --seconds 600 --seed 1

A pattern that can split a text in several ways may try them all: a few more blanks
double the time, and a note of a megabyte never finishes. Takes every pattern that a
module holds, repeats each piece of it 4,000 and 16,000 characters long, and has both
texts read: as a note, which is searched for secrets, and as a question. CPU time may
grow as the text does. Prints the first that grew faster; exits 1 if one did. The same
seed takes the same order; the time limits how many are tried.
"""

from __future__ import annotations

import argparse
import importlib
import pkgutil
import random
import re
import re._constants as op
import re._parser as parser
import signal
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import hivemind_memory
from hivemind_memory.markdown.note_parser import parse_note
from hivemind_memory.model.note_path import NotePath
from hivemind_memory.model.query import Query
from hivemind_memory.opening import open_memory
from hivemind_memory.patterns.lazy_pattern import LazyPattern
from hivemind_memory.redaction.detection import find_secrets

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Reader = Callable[[str], object]

SMALL, LARGE = 4_000, 16_000
MIN_S = 0.1
"""What is faster is not compared."""

MAX_RATIO = 9.0
"""Of the two times. 4 is linear, 16 is the square."""

LIMIT_S = 2.0
LETTERS = "a0A_ -.:/[](){}<>\"'`!?#*+|=,;\\\t\n@é中"
ENDS = ("", "\n", '!"', "\x01")
BEGINS = ("", "- ", "[a]: ", "password: ", "the token is ", "IDENTIFIED BY ")


class TooLongError(Exception):
    """A reader took more than ``LIMIT_S``."""


def sources() -> list[tuple[str, int]]:
    """Return (source, flags) of each pattern that a module holds, or makes at need."""
    found: dict[tuple[str, int], None] = {}
    for module in pkgutil.walk_packages(hivemind_memory.__path__, "hivemind_memory."):
        if module.name.endswith("__main__"):
            continue
        for value in list(vars(importlib.import_module(module.name)).values()):
            for pattern in patterns_in(made(value), 4):
                if isinstance(pattern.pattern, str):
                    found[pattern.pattern, pattern.flags] = None
    return list(found)


def made(value: object) -> object:
    """Return what a cached function without parameters returns, or the value itself."""
    if hasattr(value, "cache_info") and str(
        getattr(value, "__module__", "")
    ).startswith("hivemind_memory"):
        try:
            return value()  # type: ignore[operator]
        except TypeError:
            return None
    return value


def patterns_in(value: Any, depth: int) -> Iterator[re.Pattern[str]]:
    """Return the patterns in a value, and in what it holds."""
    if isinstance(value, LazyPattern):
        yield value.compiled()
    elif isinstance(value, re.Pattern):
        yield value
    elif isinstance(getattr(value, "_regex", None), str):  # see ``redaction.tokens``
        yield re.compile(value._regex, re.ASCII)  # noqa: SLF001
    elif depth and isinstance(value, (list, tuple, set, frozenset)):
        for item in value:
            yield from patterns_in(item, depth - 1)
    elif depth and isinstance(value, dict):
        yield from patterns_in(list(value.values()), depth)
    elif depth and type(value).__module__.startswith("hivemind_memory"):
        for name in (*getattr(value, "__slots__", ()), *getattr(value, "__dict__", ())):
            yield from patterns_in(getattr(value, name, None), depth - 1)


def fits(items: list[tuple[Any, Any]], letter: str) -> bool:
    """Whether a set of characters, as the parser gives it, holds a letter."""
    source = {
        op.CATEGORY_DIGIT: r"\d",
        op.CATEGORY_NOT_DIGIT: r"\D",
        op.CATEGORY_SPACE: r"\s",
        op.CATEGORY_NOT_SPACE: r"\S",
        op.CATEGORY_WORD: r"\w",
        op.CATEGORY_NOT_WORD: r"\W",
    }
    for kind, given in items:
        if kind is op.LITERAL and given == ord(letter):
            return True
        if kind is op.RANGE and given[0] <= ord(letter) <= given[1]:
            return True
        if kind is op.CATEGORY and re.match(source[given], letter):
            return True
    return False


def example(sequence: Any, rng: random.Random) -> str:
    """Return a text that a parsed pattern may match, its repetitions short."""
    text = ""
    for kind, given in sequence:
        if kind is op.LITERAL:
            text += chr(given)
        elif kind is op.NOT_LITERAL:
            text += rng.choice([letter for letter in LETTERS if ord(letter) != given])
        elif kind is op.IN:
            is_negated = given[0][0] is op.NEGATE
            pool = LETTERS + "".join(chr(it[1]) for it in given if it[0] is op.LITERAL)
            allowed = [c for c in pool if fits(given, c) != is_negated]
            text += rng.choice(allowed or ["x"])
        elif kind is op.ANY:
            text += rng.choice(LETTERS)
        elif kind in (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT):
            least, _, repeated = given
            for _ in range(least or rng.randrange(2)):
                text += example(repeated, rng)
        elif kind is op.SUBPATTERN:
            text += example(given[3], rng)
        elif kind is op.ATOMIC_GROUP:
            text += example(given, rng)
        elif kind is op.BRANCH:
            text += example(rng.choice(given[1]), rng)
    return text


def pieces(sequence: Any, before: Any = ()) -> Iterator[tuple[Any, Any]]:
    """Return (what comes before, what may be repeated) for each repetition."""
    items = list(sequence)
    yield (), items
    for number, (kind, given) in enumerate(items):
        ahead = [*before, *items[:number]]
        if kind in (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT):
            yield ahead, given[2]
            yield (), [*ahead, (kind, given)]
            yield from pieces(given[2], ahead)
        elif kind is op.SUBPATTERN:
            yield from pieces(given[3], ahead)
        elif kind is op.ATOMIC_GROUP:
            yield from pieces(given, ahead)
        elif kind is op.BRANCH:
            for branch in given[1]:
                yield from pieces(branch, ahead)


def attacks(source: str, flags: int, rng: random.Random) -> list[tuple[str, str, str]]:
    """Return some (begin, piece, end): texts are a piece over and over."""
    found = []
    for before, repeated in pieces(parser.parse(source, flags)):
        piece = example(repeated, rng)
        if piece:
            begin = example(before, rng) or rng.choice(BEGINS)
            found.append((begin, piece, rng.choice(ENDS)))
    return found


def seconds(reader: Reader, text: str) -> float:
    """Return the CPU time of a text at a reader; infinity: more than ``LIMIT_S``."""
    signal.setitimer(signal.ITIMER_VIRTUAL, LIMIT_S)
    before_s = time.process_time()
    try:
        reader(text)
    except TooLongError:
        return float("inf")
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    return time.process_time() - before_s


def grows(reader: Reader, begin: str, piece: str, end: str) -> bool:
    """Whether a text four times as long takes much more than four times as long."""
    large = begin + piece * (LARGE // len(piece)) + end
    small = begin + piece * (SMALL // len(piece)) + end
    # The machine may have been busy: no text is judged by one look.
    return all(is_slower(reader, small, large) for _ in range(3))


def is_slower(reader: Reader, small: str, large: str) -> bool:
    """Whether the larger text takes longer than it may, beside the smaller one."""
    large_s = seconds(reader, large)
    if large_s < MIN_S or large_s > LIMIT_S:
        return large_s > LIMIT_S
    return large_s > MAX_RATIO * seconds(reader, small)


def read_note(text: str) -> None:
    """Do what an index does with a note, up to its tables."""
    parse_note(NotePath("note.md"), text.encode(), limit_chars=800)
    find_secrets(text)


def stop(*_: object) -> None:
    """End what a reader does."""
    raise TooLongError


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--seconds", type=float, default=600)
    options.add_argument("--seed", type=int, default=1)
    given = options.parse_args()
    signal.signal(signal.SIGVTALRM, stop)
    rng = random.Random(given.seed)
    known = sources()
    until = time.monotonic() + given.seconds
    tried = 0
    problems: list[str] = []
    with tempfile.TemporaryDirectory() as base:
        Path(base, "memory").mkdir()
        Path(base, "memory", "note.md").write_text(
            "- See [how](a.md), C++, www.a.b/c\n"
        )
        memory = open_memory(home=base)
        memory.sync()
        readers: dict[str, Reader] = {
            "a note": read_note,
            "a question": lambda text: memory.search(Query(text=text)),
        }
        while time.monotonic() < until and not problems:
            source, flags = rng.choice(known)
            for attack in attacks(source, flags, rng):
                tried += 1
                problems = [
                    f"{name} of {attack!r} takes long: {source[:100]!r}"
                    for name, reader in readers.items()
                    if grows(reader, *attack)
                ]
                if problems:
                    break
        memory.close()
    for problem in problems:
        print(problem)
    print(
        f"seed {given.seed}: {len(known)} patterns, {tried:,} repeated pieces, "
        f"{len(problems)} problems"
    )
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
