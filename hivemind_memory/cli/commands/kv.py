"""hm kv: keys with values and versions, for what programs keep between their runs."""

from __future__ import annotations

import json

from hivemind_memory.cli.command import VALUE, Argument, CommandRequest, Flag, command
from hivemind_memory.cli.dates import minute_text
from hivemind_memory.cli.options import JSON, SCOPE
from hivemind_memory.cli.output import (
    print_json,
    print_line,
    print_notices,
    print_table,
    write_stdout,
)
from hivemind_memory.cli.text_input import read_content
from hivemind_memory.errors import UsageError
from hivemind_memory.model.display import escape_line, escape_text
from hivemind_memory.model.json_text import (
    InvalidJsonError,
    begins_like_json,
    parse_json,
)
from hivemind_memory.model.key_values import MAX_KEY_CHARS, MAX_TTL_S, MAX_VERSION
from hivemind_memory.model.keys import operand

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.curation.key_values import KeyValue
    from hivemind_memory.memory.memory import Memory

_KEY = Argument("key", f"Key, 1 to {MAX_KEY_CHARS} characters.")
_WORKSPACE = Flag(
    ("--workspace",), "text", "Same as --scope workspace/NAME.", metavar="NAME"
)


@command(
    "kv get",
    description=(
        "Text is printed as is, anything else as JSON. Exits with 1 if there is no"
        " such key, or if it has expired."
    ),
    arguments=(_KEY,),
    flags=(_WORKSPACE, SCOPE, JSON),
    examples=("hm kv get deploy/last-run",),
)
def get(request: CommandRequest) -> int:
    """Print the value of a key."""
    scope = _scope(request)
    with request.open_memory() as memory:
        found = memory.curation.key_values.get(request.values["key"], scope=scope)
        row = _row(found, memory)
    if request.values["json"]:
        print_json(row)
        return 0
    write_stdout(f"{escape_text(_text(found.value))}\n")
    return 0


@command(
    "kv set",
    description=(
        "The value may be any JSON; anything else is kept as text. Without a value it"
        " is read from standard input. Put a text with dashes in quotes, or after --."
        " Keys belong to a scope: the one in --scope, else your workspace, else the"
        " project, else global. Each write gives the key the next version, even after"
        " it was deleted. Searches never find keys or values."
    ),
    arguments=(
        _KEY,
        Argument(
            "value", "Value; - for standard input.", is_required=False, reads=VALUE
        ),
    ),
    flags=(
        Flag(
            ("--ttl",),
            "duration",
            "Time until the key expires: 30s, 10m, 2h, 7d; without a unit, seconds.",
            metavar="TIME",
            low=1,
            high=MAX_TTL_S,
        ),
        Flag(
            ("--if-version",),
            "int",
            "Only if the key has this version; 0: only if there is no such key.",
            metavar="N",
            low=0,
            high=MAX_VERSION,
        ),
        _WORKSPACE,
        SCOPE,
        JSON,
    ),
    examples=(
        "hm kv set deploy/last-run 2026-11-21",
        'hm kv set --ttl 10m build/lock \'{"by": "ci"}\'',
        "hm kv set --if-version 4 counter 5",
    ),
)
def set_(request: CommandRequest) -> int:
    """Give a key a value."""
    values, scope = request.values, _scope(request)
    text = read_content(values["value"], "the value")
    if not (text or values["value"]):
        raise UsageError(
            "No value was given, and standard input is empty.",
            hint=f"`hm kv set {operand(values['key'])} ''` sets an empty text.",
            effect="Nothing was changed",
        )
    content = _parsed(text)
    with request.open_memory() as memory:
        version = memory.curation.key_values.set(
            values["key"],
            content,
            scope=scope,
            ttl_s=values["ttl"],
            if_version=values["if_version"],
        )
    if values["json"]:
        print_json({"key": values["key"], "version": version})
        return 0
    print_line(f"{escape_line(values['key'])}: version {version}")
    return 0


@command(
    "kv list",
    description="Sorted by key, each with its version and when it expires.",
    flags=(_WORKSPACE, SCOPE, JSON),
)
def list_(request: CommandRequest) -> int:
    """List the keys."""
    scope = _scope(request)
    with request.open_memory() as memory:
        rows = [
            _row(found, memory) for found in memory.curation.key_values.all(scope=scope)
        ]
    if request.values["json"]:
        print_json(rows)
        return 0
    print_table(
        ("key", "version", "expires", "value"),
        [
            (
                str(row["key"]),
                str(row["version"]),
                minute_text(str(row["expires_at"])) if row["expires_at"] else "never",
                _text(row["value"]),
            )
            for row in rows
        ],
        is_cut=True,
    )
    if not rows:
        print_notices(["no keys here; `hm kv set KEY VALUE` sets one"])
    return 0


@command(
    "kv delete",
    description="If the key is set again, its versions continue from there.",
    arguments=(_KEY,),
    flags=(_WORKSPACE, SCOPE),
    examples=("hm kv delete build/lock",),
)
def delete(request: CommandRequest) -> int:
    """Delete a key."""
    key, scope = request.values["key"], _scope(request)
    with request.open_memory() as memory:
        memory.curation.key_values.delete(key, scope=scope)
    print_line(f"{escape_line(key)}: deleted")
    return 0


def _scope(request: CommandRequest) -> str:
    """Return the scope that --workspace or --scope names; empty: neither."""
    workspace = (request.values["workspace"] or "").strip()
    scope = (request.values["scope"] or "").strip()
    if workspace and scope:
        raise UsageError("--workspace and --scope cannot be combined.")
    return f"workspace/{workspace}" if workspace else scope


def _parsed(text: str) -> object:
    """Return the JSON that a text is; if it is none, the text itself.

    Raises:
        UsageError: It begins as JSON does, but is none.
    """
    try:
        return parse_json(text)
    except InvalidJsonError as error:
        if begins_like_json(text):
            raise UsageError(str(error), effect="Nothing was saved") from error
        return text.removesuffix("\n")


def _text(content: object) -> str:
    """Return a value as it is printed: a text as it is, anything else as JSON."""
    if isinstance(content, str):
        return content
    return json.dumps(content, ensure_ascii=False)


def _row(found: KeyValue, memory: Memory) -> dict[str, object]:
    """Return a key as JSON shows it."""
    local_iso = memory.clocks.local_iso
    return {
        "key": found.key,
        "value": found.value,
        "version": found.version,
        "expires_at": local_iso(found.expires_at) if found.expires_at else None,
        "updated_at": local_iso(found.updated_at),
    }
