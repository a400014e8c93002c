"""The further fields of the forms that save a memory: tags, expiry, importance.

A form shows them as text. What a person leaves as it is stays as it is; what they empty
is removed from the memory.
"""

from __future__ import annotations

from typing import Any

from hivemind_memory.errors import UsageError
from hivemind_memory.http_api.failures import Failure

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from hivemind_memory.model.curation import StoredMemory

_NO_VERSION = Failure(
    400,
    "The form does not say which version it began with. Nothing was saved.",
    hint="Send it from the page that shows it: its field `version` says that.",
)

FIELDS = ("tags", "expires", "importance")


def begun_with(form: Mapping[str, str]) -> str:
    """Return the version with which a form began: another one is not overwritten.

    Raises:
        Failure: It names none, as no form of the dashboard does.
    """
    version = form.get("version", "").strip()
    if not version:
        raise _NO_VERSION
    return version


def shown_fields(memory: StoredMemory) -> dict[str, str]:
    """Return the text of each field as the form of a memory shows it at first."""
    return {
        "tags": ", ".join(memory.tags),
        "expires": memory.expires[:10],
        "importance": f"{memory.importance:g}",
    }


def given_fields(
    form: Mapping[str, str], memory: StoredMemory | None = None
) -> dict[str, Any]:
    """Return what a person typed, as fields of ``NewMemory``.

    Args:
        form: As it was sent; a field that it does not have is left as it is.
        memory: The one that the form changes; None: a new one.

    Raises:
        UsageError: The importance is no number.
    """
    before = dict.fromkeys(FIELDS, "") if memory is None else shown_fields(memory)
    typed = {name: form[name].strip() for name in FIELDS if name in form}
    changed = {name: text for name, text in typed.items() if text != before[name]}
    given: dict[str, Any] = {}
    emptied: dict[str, object] = {}
    for name, text in changed.items():
        if text:
            given[name] = _value_of(name, text)
        else:
            emptied[name] = "" if name == "expires" else None
    return {**given, "more": emptied} if emptied else given


def _value_of(name: str, text: str) -> object:
    """Return the value of a field."""
    if name == "tags":
        return tuple(filter(None, map(str.strip, text.split(","))))
    if name == "expires":
        return text
    try:
        return float(text)
    except ValueError:
        raise UsageError(
            f"importance cannot be {text[:60]!r}.",
            hint="Give a number from 0 to 1.",
            effect="Nothing was saved",
        ) from None
