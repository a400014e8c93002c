"""Says what a field may be, in words, by its JSON schema.

The tools for agents and the routes of the server refuse a wrong field with it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

ANY_FORM = "in the form that the schema defines"

_KINDS = {
    "string": "a string",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list of strings",
    "object": "an object",
}
"""Type in a JSON schema -> what such a field is."""

_FORMATS = {
    "uuid": "a UUID",
    "date-time": "a time with a zone, like 2027-01-31T12:00:00Z",
}


def allowed_by(schema: Mapping[str, Any]) -> str:
    """Return what a field may be, by its schema.

    >>> allowed_by({"type": "integer", "minimum": 1, "maximum": 100})
    'a whole number from 1 to 100'
    >>> allowed_by({"anyOf": [{"type": "number", "minimum": 0}, {"type": "null"}]})
    'a number, 0 or more'
    >>> allowed_by({"type": "string", "enum": ["", "high", "low"]})
    'high or low'
    >>> allowed_by({"type": "string", "minLength": 1, "maxLength": 2000})
    'a string of 1 to 2,000 characters'
    >>> allowed_by({"type": "array"}), allowed_by({})
    ('a list of strings', 'in the form that the schema defines')
    >>> allowed_by({"type": "string", "maxItems": 50, "maxLength": 1000})
    'a string of up to 50 names, separated by commas'
    """
    kinds = [kind for kind in schema.get("anyOf", ()) if kind.get("type") != "null"]
    if kinds:
        return allowed_by(kinds[0])
    if choices := [str(choice) for choice in schema.get("enum", ()) if choice != ""]:
        return " or ".join(filter(None, (", ".join(choices[:-1]), choices[-1])))
    if what := _FORMATS.get(str(schema.get("format"))):
        return what
    kind = str(schema.get("type"))
    return _KINDS.get(kind, ANY_FORM) + (
        _length(schema) if kind in ("string", "array") else _range(schema)
    )


def schema_at(schema: Mapping[str, Any], place: Sequence[int | str]) -> dict[str, Any]:
    """Return the schema of a field inside another; empty: it cannot be told.

    >>> of_list = {"type": "array", "items": {"type": "string"}}
    >>> schema_at({"properties": {"tags": of_list}}, ("tags", 0))
    {'type': 'string'}
    >>> schema_at({"properties": {}}, ("tags",))
    {}
    """
    found: Any = schema
    for part in place:
        options = (found, *found.get("anyOf", ()))
        inner = (
            option.get("items")
            if isinstance(part, int)
            else option.get("properties", {}).get(part)
            for option in options
        )
        found = next(filter(None, inner), {})
    return dict(found)


def _length(schema: Mapping[str, Any]) -> str:
    """Return how long a text or a list may be, as it follows its name."""
    if items := schema.get("maxItems"):
        if schema["type"] == "string":  # so a list is written in a query
            return f" of up to {items:,} names, separated by commas"
        return f", at most {items:,}"
    low, high = schema.get("minLength", 0), schema.get("maxLength")
    if high is None:
        return " that is not empty" if low else ""
    return (
        f" of {low:,} to {high:,} characters"
        if low
        else f" of up to {high:,} characters"
    )


def _range(schema: Mapping[str, Any]) -> str:
    """Return from where to where a number may be, as it follows its name."""
    low, high = schema.get("minimum"), schema.get("maximum")
    if low is None:
        return "" if high is None else f", {high:,} or less"
    return f", {low:,} or more" if high is None else f" from {low:,} to {high:,}"
