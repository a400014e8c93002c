"""Converts words of the command line to values of options. Pure."""

from __future__ import annotations

from hivemind_memory.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.cli.command import Flag

_MAX_DIGITS = 15


def parse_value(name: str, flag: Flag, text: str) -> object:
    """Return the value of an option in its type."""
    if flag.kind in ("day", "due"):
        return _day(name, flag, text)
    if flag.kind == "moment":
        return _moment(name, text)
    if flag.kind == "duration":
        return _seconds(name, flag, text)
    if flag.kind in ("text", "path"):
        if flag.choices and text not in flag.choices:
            from hivemind_memory.cli.unknown_names import nearest

            allowed = f"{', '.join(flag.choices[:-1])} or {flag.choices[-1]}"
            near = nearest(text, flag.choices)
            hint = f"Did you mean {near}?" if near else ""
            raise UsageError(f"`{name}` takes {allowed}, not `{text}`.", hint=hint)
        return text
    number: float | None = None
    # Plain digits only: int() and float() also take blanks, underscores and more.
    digits = text.removeprefix("-")
    if flag.kind == "float":
        digits = digits.replace(".", "", 1)
    if digits.isascii() and digits.isdigit() and len(digits) <= _MAX_DIGITS:
        number = float(text) if flag.kind == "float" else int(text)
    is_low = number is not None and flag.low is not None and number < flag.low
    is_high = number is not None and flag.high is not None and number > flag.high
    if number is None or is_low or is_high:
        what = "a number" if flag.kind == "float" else "a whole number"
        if flag.low is not None:
            # What has more digits than may be typed bounds nothing that anyone types.
            is_bounded = flag.high is not None and flag.high < 10**_MAX_DIGITS
            bound = f" to {flag.high:.15g}" if is_bounded else " up"
            what += f" from {flag.low:.15g}{bound}"
        raise UsageError(f"`{name}` takes {what}, not `{text}`.", hint=flag.description)
    return number


def _seconds(name: str, flag: Flag, text: str) -> int:
    """Return a duration in seconds."""
    from hivemind_memory.cli.dates import DURATION_HINT, parse_duration

    seconds = parse_duration(text)
    low, high = flag.low or 0, flag.high
    if seconds is None or seconds < low or (high is not None and seconds > high):
        what = "a duration"
        if seconds is not None:
            most = f" and at most {high:.15g}" if high is not None else ""
            what += f" of at least {low:.15g}{most} seconds"
        raise UsageError(f"`{name}` takes {what}, not `{text}`.", hint=DURATION_HINT)
    return seconds


def _day(name: str, flag: Flag, text: str) -> str:
    """Return a day in ISO form."""
    from datetime import date

    from hivemind_memory.cli.dates import FUTURE_HINT, PAST_HINT, parse_day

    is_future = flag.kind == "due"
    day = parse_day(text, date.today(), is_future=is_future)
    if day is None:
        hint = FUTURE_HINT if is_future else PAST_HINT
        raise UsageError(f"`{name}` takes a day, not `{text}`.", hint=hint)
    return day


def _moment(name: str, text: str) -> str:
    """Return a day or a moment in ISO form."""
    from datetime import datetime

    from hivemind_memory.cli.dates import MOMENT_HINT, parse_moment

    moment = parse_moment(text, datetime.now().astimezone())
    if moment is None:
        raise UsageError(f"`{name}` takes a time, not `{text}`.", hint=MOMENT_HINT)
    return moment
