"""One check: which program it wants, what it does, and what came of it."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from benchmarks.real_clients.scratch import Scratch, Setting, scratch

OK = "ok"
FAILED = "FAILED"
SKIPPED = "skipped"
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_MAX_CHARS = 300


class FailedError(Exception):
    """A check did not see what it must see; the message says what it saw."""


class SkippedError(Exception):
    """A check cannot be made here; the message says what is missing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """Something that a client must show."""

    name: str
    """Unique, and a claim: what is proved when it is ok."""

    programs: tuple[str, ...]
    """What must be installed."""

    run: Callable[[Scratch], str]
    """Does it, and returns in a few words what was seen."""

    needs_server: bool = True
    """Whether it must fail when another program stands in the server's place."""

    needs_http: bool = False
    """Whether it must fail when a web server answers that knows no protocol."""

    needs_hm: bool = False
    """Whether it must fail when /bin/true is our command, and so does nothing."""

    is_quick: bool = False
    """Whether the tests run it too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What came of a check."""

    name: str
    verdict: str
    said: str
    took_s: float = 0.0

    def __str__(self) -> str:
        said = " ".join(_COLOUR.sub("", self.said).split())
        short = said if len(said) <= _MAX_CHARS else f"{said[:_MAX_CHARS]}…"
        return f"{self.verdict:8}{self.name}: {short} ({self.took_s:.1f} s)"


def outcomes(checks: list[Check], setting: Setting) -> Iterator[Outcome]:
    """Run checks one after the other, each in a home of its own."""
    for check in checks:
        missing = [one for one in check.programs if not setting.find(one)]
        if missing:
            said = f"{', '.join(missing)} not installed"
            yield Outcome(name=check.name, verdict=SKIPPED, said=said)
            continue
        began = time.monotonic()
        verdict, said = _verdict(check, setting)
        took_s = time.monotonic() - began
        yield Outcome(name=check.name, verdict=verdict, said=said, took_s=took_s)


def expect(text: str, *wanted: str) -> None:
    """See that *text* holds all that is wanted.

    Raises:
        FailedError: It does not.
    """
    for word in wanted:
        if word not in text:
            raise FailedError(f"no {word!r} in {tail(text)!r}")


def tail(text: str, most: int = 400) -> str:
    """Return the end of a text."""
    short = text.strip()
    return short if len(short) <= most else f"…{short[-most:]}"


def _verdict(check: Check, setting: Setting) -> tuple[str, str]:
    """Run a check; whatever goes wrong in it is a failure of it alone."""
    try:
        with scratch(setting) as place:
            return OK, check.run(place)
    except SkippedError as reason:
        return SKIPPED, str(reason)
    except FailedError as failure:
        return FAILED, str(failure)
    # A check of someone else's program must not end the others.
    except Exception as error:  # noqa: BLE001
        return FAILED, f"{type(error).__name__}: {error}"
