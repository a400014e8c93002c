"""Answers as JSON, for programs: complete, and the same value in any encoding."""

from __future__ import annotations

import json
import sys

from hivemind_memory.cli.escape import escape_json
from hivemind_memory.cli.streams import is_terminal, write_stdout
from hivemind_memory.model.value import fields_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.model.query import SearchAnswer
    from hivemind_memory.model.results import Diagnosis


def print_json(value: object) -> None:
    """Print *value*, made of plain types and our values, as one JSON document.

    Indented on a terminal, one line otherwise.
    """
    encoding = (getattr(sys.stdout, "encoding", None) or "utf-8").lower()
    text = json.dumps(
        value,
        default=plain_value,
        # What another encoding lacks must still be JSON.
        ensure_ascii=encoding.replace("-", "") != "utf8",
        indent=2 if is_terminal(sys.stdout) else None,
    )
    write_stdout(escape_json(text) + "\n")


def answer_value(answer: SearchAnswer) -> dict[str, object]:
    """Return an answer as ``{"hits": […], "report": {…}}``."""
    return {"hits": [_hit(hit) for hit in answer.hits], "report": answer.report}


def diagnosis_value(diagnosis: Diagnosis) -> dict[str, object]:
    """Return a diagnosis with its verdict."""
    return {"is_healthy": diagnosis.is_healthy, "findings": diagnosis.findings}


def _hit(hit: object) -> dict[str, object]:
    """Return a hit, its parts only when it has been explained."""
    value = plain_value(hit)
    if not value["parts"]:
        del value["parts"]
    return value


def plain_value(value: object) -> dict[str, object]:
    """Return one of our values as a dictionary; ``json`` asks again for its parts."""
    names = fields_of(value) or getattr(type(value), "__dataclass_fields__", ())
    if not names:
        message = f"{type(value).__name__} has no form in JSON"
        raise TypeError(message)
    return {name: getattr(value, name) for name in names}
