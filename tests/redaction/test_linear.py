"""No text, however it is made, keeps a pattern busy for longer than its length says."""

from __future__ import annotations

import json
import pkgutil
import re
import time
from importlib import import_module, resources
from typing import TYPE_CHECKING

import pytest

from hivemind_memory import redaction
from hivemind_memory.redaction import tokens
from hivemind_memory.redaction.lazy_pattern import LazyPattern
from hivemind_memory.redaction.tokens.rules import FILES
from tests.support.hostile_texts import hostile_texts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import ModuleType

LENGTHS = (2_000, 8_000)
"""Of the texts, in characters; the shorter ones show what would take hours at once."""

AT_ONCE_S = 0.015
"""What takes less for a text is fast enough, whatever it grows by."""

GROWTH = 10
"""Four times the text takes four times as long, and sixteen times if it is squared."""

BOUNDED = {
    *("assignments._OF", "labels._ALL_OF_IT"),
    *("dialog._ANSWER", "dialog._BELOW", "dialog._NEW_VALUE", "dialog._ROW"),
}
"""Matched at the beginning of a few words or of a short line, never searched for."""


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
    *("arguments._PAIR", "arguments._CALLED"),
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


if __name__ == "__main__":
    for each in sorted(PATTERNS.keys() - BOUNDED):
        print(each, "SLOW" if is_slow(PATTERNS[each]) else "linear", flush=True)
