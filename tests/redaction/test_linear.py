"""No text, however it is made, keeps a pattern busy for longer than its length says."""

from __future__ import annotations

import json
import pkgutil
import re
import time
from collections import Counter
from importlib import import_module, resources
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hivemind_memory import redaction
from hivemind_memory.patterns.lazy_pattern import LazyPattern
from hivemind_memory.redaction import tokens
from hivemind_memory.redaction.in_code.literals import joined
from hivemind_memory.redaction.suspects.below_labels import (
    MAX_TABLE,
    MAY_BE_BELOW,
    SIGNS_OF_TABLES,
    BelowLabels,
)
from hivemind_memory.redaction.tokens.rules import FILES
from tests.support.hostile_texts import hostile_texts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import ModuleType

    from hivemind_memory.redaction.spans import TextSpan

LENGTHS = (2_000, 8_000)
"""Of the texts, in characters; the shorter ones show what would take hours at once."""

AT_ONCE_S = 0.015
"""What takes less for a text is fast enough, whatever it grows by."""

ALL_AT_ONCE_S = 2.0
"""What each of 20,000 values may take together; each with each, it is a minute."""

GROWTH = 10
"""Four times the text takes four times as long, and sixteen times if it is squared."""

BOUNDED = {
    *("arguments._COUNTED", "assignments._OF", "labels._ALL_OF_IT"),
    *("dialog._ANSWER", "dialog._ANSWERED_CODE", "dialog._BELOW", "dialog._NEW_VALUE"),
    *("dialog._ROW", "pieces._GROUP_OF_FOUR"),
}
"""Matched where a value, a short line or a few words begin, never searched for."""


_BEFORE_RULES = {False: "", True: r"(?<![A-Za-z0-9])", "dash": r"(?<![\w-])"}
"""How a rule's ``left`` is written in a pattern."""


def modules_of_room() -> Iterator[ModuleType]:
    """Yield every module that finds secrets, those of its subfolders too."""
    for module in pkgutil.walk_packages(redaction.__path__, f"{redaction.__name__}."):
        yield import_module(module.name)


def patterns() -> dict[str, re.Pattern[str]]:
    """Return every pattern of the modules and of the data files."""
    found: dict[str, re.Pattern[str]] = {}
    for module in modules_of_room():
        home = module.__name__.rpartition(".")[2]
        names = vars(module)
        for name, value in names.items():
            for place, pattern in enumerate(_patterns_in(value)):
                if pattern not in found.values():
                    found[f"{home}.{name}{f'-{place}' * bool(place)}"] = pattern
    for name in FILES:
        data = json.loads(resources.files(tokens).joinpath(name).read_text("utf-8"))
        for rule in data["rules"]:
            before = _BEFORE_RULES[rule.get("left", False)]
            found[f"{name}: {rule['id']}"] = re.compile(
                before + rule["regex"], re.ASCII
            )
    return found


def _patterns_in(value: object) -> Iterator[re.Pattern[str]]:
    if isinstance(value, LazyPattern):
        yield value.compiled()
    elif isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, dict):
        yield from _patterns_in(list(value.values()))
    elif isinstance(value, tuple | list):
        for item in value:
            yield from _patterns_in(item)


def cpu_s(work: Callable[[], object]) -> float:
    """Return the CPU time of some work, the least of three."""
    times = []
    for _ in range(3):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
        if times[-1] < AT_ONCE_S:
            break
    return min(times)


def grows_too_fast(work: Callable[[str], object], short: str, long: str) -> bool:
    """Whether the time of some work grows faster than its text."""
    took_s = cpu_s(lambda: work(long))
    return took_s >= AT_ONCE_S and took_s > GROWTH * cpu_s(lambda: work(short))


PATTERNS = patterns()


MENDED = (
    *("htpasswd", "snmpwalk -v3", "xfreerdp", "mosquitto_pub", "Label\n"),
    *("arguments.PAIR", "arguments.CALLED"),
)
"""What patterns that were slow once look for; all the others are checked by hand with
``python -m tests.redaction.test_linear``, for that takes some minutes."""


@pytest.mark.parametrize("start", MENDED)
def test_a_pattern_takes_no_longer_than_its_text_is_long(start: str) -> None:
    """A note of 1 MB would take minutes; its writer may be anybody."""
    chosen = {
        name: pattern
        for name, pattern in PATTERNS.items()
        if pattern.pattern.startswith(start[:4])
        or (start == "Label\n" and name == "layouts._LABEL")
        or start == name
    }

    assert chosen
    assert [name for name, one in chosen.items() if is_slow(one)] == []


def is_slow(pattern: re.Pattern[str]) -> bool:
    """Whether any hostile text keeps a pattern busy for more than its length."""
    texts = list(hostile_texts(pattern, max(LENGTHS)))
    return any(
        grows_too_fast(
            lambda text: list(pattern.finditer(text)), text[: chars // 4], text[:chars]
        )
        for chars in LENGTHS
        for text in texts
    )


def test_the_check_notices_a_pattern_that_is_not_linear() -> None:
    """Else it would prove nothing."""
    assert is_slow(re.compile(r"snmp\w+\b[^\n]{0,200}? -[AX][ \t]+"))


def test_literals_in_parts_take_no_longer_than_there_are() -> None:
    """35,000 of them, each with a secret, kept a write busy for minutes."""
    text = "k = 'abcd' + 'efgh'\n" * 20_000
    whole = "k = 'abcdefgh'\n"

    def find(joined_text: str) -> list[TextSpan]:
        places = range(0, len(joined_text), len(whole))
        return [(at + 5, at + 13, "secret") for at in places]

    start = time.process_time()
    spans = joined(text, find)

    assert {text[begin:end] for begin, end, _ in spans} == {"abcd' + 'efgh"}
    assert len(spans) == 20_000
    assert time.process_time() - start < ALL_AT_ONCE_S


@pytest.mark.parametrize("label", ["password:", "| password |", "a,password;  x"])
def test_no_line_is_looked_at_for_each_label_above_it(label: str) -> None:
    """Of a file of labels, each one looked at the 200 lines below it."""
    lines = CountedLines([label] * 2_000)
    below = BelowLabels(lines)

    for row in range(len(lines)):
        below.keep(row, [False] * len(lines))

    assert max(lines.asked.values()) < 10


@given(
    lines=st.lists(
        st.sampled_from(
            ("", " ", "a", "Sentence one. " * 3, "Xk9 " * 9, "a | b " * 9, "a,b" * 20)
        ),
        max_size=300,
    ),
    labels=st.sets(st.integers(0, 299)),
)
def test_lines_below_labels_are_those_that_each_label_keeps(
    lines: list[str], labels: set[int]
) -> None:
    """What one label has looked at, another one below it does not look at again."""
    rows = sorted(row for row in labels if row < len(lines))
    below = BelowLabels(lines)
    kept = [False] * len(lines)
    for row in rows:
        below.keep(row, kept)

    assert {row for row, is_kept in enumerate(kept) if is_kept} == {
        place for row in rows for place in kept_below(lines, row)
    }


def kept_below(lines: list[str], row: int) -> Iterator[int]:
    """Yield the lines that one label keeps, each looked at for it alone."""
    left = 8
    signs = [sign for sign in SIGNS_OF_TABLES if sign in lines[row].strip()]
    for place in range(row + 1, min(len(lines), row + MAX_TABLE)):
        line = lines[place]
        if not line.strip():
            continue
        is_short = len(line) <= 32
        if left <= 0 and not is_short and not any(sign in line for sign in signs):
            return
        if is_short or MAY_BE_BELOW.search(line):
            yield place
        left -= 1


class CountedLines(list[str]):
    """Lines that know how often each was asked for."""

    def __init__(self, lines: list[str]) -> None:
        super().__init__(lines)
        self.asked: Counter[object] = Counter()

    def __getitem__(self, row):  # type: ignore[no-untyped-def, override]
        self.asked[row] += 1
        return super().__getitem__(row)


if __name__ == "__main__":
    for each in sorted(PATTERNS.keys() - BOUNDED):
        print(each, "SLOW" if is_slow(PATTERNS[each]) else "linear", flush=True)
