"""Checks values of a request whose types are right already; formats times. Pure."""

from __future__ import annotations

import json
import math
from datetime import datetime

from hivemind_memory.model.clocks import utc_iso
from hivemind_memory.plugin_api.refusal import RefusedError
from hivemind_memory.redaction.redact import scrubbed

MAX_JSON_BYTES = 8 * 1024
"""Of ``propagation`` and ``metadata``, as JSON."""

MAX_LIMIT = 100
DEFAULT_ROWS = 20
_FIRST_S, _LAST_S = -62_135_510_400.0, 253_402_128_000.0
"""From 0001-01-02 to 9999-12-30: in every time zone, a time that Python can hold."""


def check_limit(limit: int, default: int = DEFAULT_ROWS) -> int:
    """Return how many rows are wanted; 0 means the default.

    Raises:
        RefusedError: It is out of range.
    """
    if not 0 <= limit <= MAX_LIMIT:
        message = f"limit {limit} out of range [0,{MAX_LIMIT}]"
        raise RefusedError(message)
    return limit or default


def moment_of(at: datetime | None) -> float | None:
    """Return a time in seconds since the epoch, or the nearest that can be kept."""
    return None if at is None else min(max(at.timestamp(), _FIRST_S), _LAST_S)


def moment_text(seconds: float) -> str:
    """Return a time as answers have it, in UTC.

    >>> moment_text(0), moment_text(1.5)
    ('1970-01-01T00:00:00Z', '1970-01-01T00:00:01.500000Z')
    """
    whole = math.floor(seconds * 1_000_000) / 1_000_000
    return utc_iso(whole)


def json_text(field: str, given: object) -> str:
    """Return a value that may be anything as JSON, without secrets; empty for None.

    Raises:
        RefusedError: It is too long, or cannot be kept.
    """
    if given is None:
        return ""
    try:
        text = json.dumps(given, separators=(",", ":"), allow_nan=False)
    except (ValueError, RecursionError) as error:
        message = f"{field} has a number that JSON cannot hold"
        raise RefusedError(message) from error
    if len(text) > MAX_JSON_BYTES:
        raise RefusedError(f"{field} has more than {MAX_JSON_BYTES:,} bytes as JSON")
    [clean], found = scrubbed(text)
    if found:
        try:
            json.loads(clean)
        except ValueError as error:
            message = f"{field} holds what looks like a secret"
            raise RefusedError(message) from error
    return clean
