"""No text, however it is made, keeps a pattern busy for longer than its length says."""

from __future__ import annotations

import pkgutil
import re
import time
from importlib import import_module
from typing import TYPE_CHECKING

import pytest

from hivemind_memory import redaction
from tests.support.hostile_texts import hostile_texts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SHORT, LONG = 2_000, 8_000
AT_ONCE_S = 0.015
"""What takes less for ``LONG`` characters is fast enough, whatever it grows by."""

GROWTH = 10
"""Four times the text takes four times as long, and sixteen times if it is squared."""

BOUNDED = {"assignments._OF"}
"""Matched at one place of the seven words before a value, never searched for."""


def patterns() -> dict[str, re.Pattern[str]]:
    """Return every pattern of the rules that is written in a module."""
    found: dict[str, re.Pattern[str]] = {}
    for module in pkgutil.iter_modules(redaction.__path__):
        names = vars(import_module(f"{redaction.__name__}.{module.name}"))
        for name, value in names.items():
            for place, pattern in enumerate(_patterns_in(value)):
                if pattern not in found.values():
                    found[f"{module.name}.{name}{f'-{place}' * bool(place)}"] = pattern
    return found


def _patterns_in(value: object) -> Iterator[re.Pattern[str]]:
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, dict):
        yield from _patterns_in(list(value.values()))
    elif isinstance(value, tuple | list):
        for one in value:
            yield from _patterns_in(one)


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


MENDED = ("htpasswd", "snmpwalk -v3", "xfreerdp", "mosquitto_pub", "Label\n")
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
    }

    assert chosen
    assert [name for name, one in chosen.items() if is_slow(one)] == []


def is_slow(pattern: re.Pattern[str]) -> bool:
    """Whether any hostile text keeps a pattern busy for more than its length."""
    pairs = zip(
        hostile_texts(pattern, SHORT), hostile_texts(pattern, LONG), strict=True
    )
    return any(
        grows_too_fast(lambda text: list(pattern.finditer(text)), short, long)
        for short, long in pairs
    )


def test_the_check_notices_a_pattern_that_is_not_linear() -> None:
    """Else it would prove nothing."""
    assert is_slow(re.compile(r"snmp\w+\b[^\n]{0,200}? -[AX][ \t]+"))


if __name__ == "__main__":
    for each in sorted(PATTERNS.keys() - BOUNDED):
        print(each, "SLOW" if is_slow(PATTERNS[each]) else "linear", flush=True)
