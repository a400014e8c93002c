"""A time in a request, as RFC 3339 writes it: with a zone, and never a mere number."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Annotated

from pydantic import PlainValidator, WithJsonSchema

from hivemind_memory.model.schema_words import allowed_by

_FORM = re.compile(r"\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}:\d{2}.*", re.ASCII | re.DOTALL)


def _read(given: object) -> datetime:
    """Return the time that a text says.

    Raises:
        ValueError: It is none with a zone.
    """
    message = f"must be {allowed_by({'format': 'date-time'})}"
    if not isinstance(given, str) or not _FORM.fullmatch(given):
        raise ValueError(message)
    try:
        at = datetime.fromisoformat(given.upper())
    except ValueError:
        raise ValueError(message) from None
    if at.tzinfo is None:
        raise ValueError(message)
    return at


Moment = Annotated[
    datetime,
    PlainValidator(_read),
    WithJsonSchema({"type": "string", "format": "date-time"}),
]
