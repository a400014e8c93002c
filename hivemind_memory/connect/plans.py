"""Values for connecting: the registration, the host, the plan, and its diff.

A diff masks what looks like a secret: an agent's settings contain the keys of other
servers too, and the output may end up in a log or in an agent's context.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from hivemind_memory.connect.agents import ConnectableAgent
from hivemind_memory.connect.entries import LocalServer, RemoteServer
from hivemind_memory.connect.settings_file import ClientFile, ConnectionRecord
from hivemind_memory.errors import HivemindError
from hivemind_memory.patterns.lazy_pattern import lazy_re
from hivemind_memory.redaction import mask

NOT_INSTALLED = "not installed"
NOT_CONNECTED = "not connected"
CONNECTED = "connected"
DIFFERS = "differs"
UNUSABLE = "unusable"


@dataclass(frozen=True, slots=True, kw_only=True)
class HostEnvironment:
    """What the machine provides."""

    home: str
    """Home folder of the memory."""

    user_home: str
    environ: Mapping[str, str]
    find_program: Callable[[str], str | None]
    project: str = ""
    """Folder of the project whose files are meant; empty: those of the user."""

    repository: str = ""
    """Folder of the project in which the command runs; empty: it is in none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Registration:
    """What an agent's settings are to contain."""

    server: LocalServer | RemoteServer
    hook_command: Callable[[str, str], str]
    """Name of an agent, and which of our hooks -> the shell command."""

    has_hooks: bool = False
    has_capture: bool = False
    has_rules: bool = False
    keeps_address: bool = False
    """An agent that is connected over HTTP stays so."""

    is_named: bool = False
    """It is for agents that were named, installed or not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileChange:
    """The change of one file."""

    file: ClientFile
    text: str | None
    """None: it is deleted."""

    record: ConnectionRecord | None
    """None: nothing needs to be recorded any more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionPlan:
    """The state of one agent, and the changes to make."""

    agent: ConnectableAgent
    state: str
    """not installed, not connected, connected, differs or unusable."""

    path: str
    """The file that contains its servers."""

    has_hook: bool = False
    off_by: str = ""
    """The setting that switches the server off, and its file; empty: it is on."""

    changes: tuple[FileChange, ...] = ()
    error: HivemindError | None = field(default=None, compare=False)
    notice: str = field(default="", compare=False)
    """What is wrong with its files although nothing needs to be changed there."""


_CONTEXT = 2
"""Lines of context around a change."""

_NAMED = lazy_re(
    r"""(?<![\w.-])(?P<name>[\w.-]++)(?P<sign>["']?\s*+[:=]\s*+)"""
    r"""(?:"(?:[^"\\]|\\.)*+"|'[^']*+')"""
)
_SECRET = lazy_re("key|token|secret|passw|auth|credential|cookie", re.IGNORECASE)
_OPTION = lazy_re(r"""(?P<name>"-[\w-]++")(?P<sign>\s*+,\s*+)"(?:[^"\\]|\\.)*+\"""")
"""An option among arguments, and its value."""

_PARAMETER = lazy_re(r"""(?<![\w.-])(?P<name>[\w.-]++=)[^\s"'&,;]++""")
_GIVEN = lazy_re(
    r"""(?<![\w.-])["']?(?:env|environment|(?:http_)?headers)["']?\s*+[:=]\s*+\{[^{}]*+\}"""
)
"""What a server is given: any of it may be secret, whatever it is called."""

_OWN = "HIVEMIND_"
"""How the names of our own variables begin."""

_TEXT = lazy_re(r"""(?:"(?:[^"\\]|\\.)*+"|'[^']*+')(?P<sign>\s*+[:=])?""")
"""A text, and what follows it if it is a name."""

_SHAPES = lazy_re(r"\b(?:sk-|gh[pousr]_|xox[abprs]-|AKIA|AIza|eyJ)[\w.-]{8,}")
_HUNK = lazy_re(r"^@@ -(\d+)(,\d+)? \+(\d+)(,\d+)? @@$")


def mask_secrets(text: str) -> str:
    """Return *text* with an ellipsis for what looks like a secret.

    In settings a name says so more often than in notes; what the rules for those find
    beyond that, such as a password in an address, is masked as there.

    >>> mask_secrets('"API_KEY": "abc", "port": "80"')
    '"API_KEY": "…", "port": "80"'
    """

    def masked(match: re.Match[str]) -> str:
        name = match["name"]
        return f'{name}{match["sign"]}"…"' if _SECRET.search(name) else match[0]

    def masked_given(match: re.Match[str]) -> str:
        name = match["name"]
        return match[0] if name.startswith(_OWN) else f'{name}{match["sign"]}"…"'

    def masked_parameter(match: re.Match[str]) -> str:
        return f"{match['name']}…" if _SECRET.search(match["name"]) else match[0]

    text = _GIVEN.sub(lambda given: _NAMED.sub(masked_given, given[0]), text)
    text = _OPTION.sub(masked, _NAMED.sub(masked, text))
    return mask(_SHAPES.sub("…", _PARAMETER.sub(masked_parameter, text)))


def pasteable(value: object) -> str:
    """Return a value as one line of JSON, masked."""
    return mask_secrets(json.dumps(value, ensure_ascii=False))


def difference(path: str, old: str | None, new: str | None) -> str:
    """Return a unified diff of a file, masked; None: the file does not exist."""
    before, after = (old or "").splitlines(), (new or "").splitlines()
    # Most of a large file is equal, and comparing all of it takes seconds.
    first = _same_lines(before, after)
    rest = _same_lines(before[first:][::-1], after[first:][::-1])
    start = max(0, first - _CONTEXT)
    cut = max(0, rest - _CONTEXT)
    lines = list(
        difflib.unified_diff(
            before[start : len(before) - cut],
            after[start : len(after) - cut],
            "/dev/null" if old is None else path,
            "/dev/null" if new is None else path,
            n=_CONTEXT,
            lineterm="",
        )
    )
    both = {line[1:].rstrip(",") for line in lines if line[:1] == "-"}
    both &= {line[1:].rstrip(",") for line in lines if line[:1] == "+"}
    shown = (
        # Of others; a line that got a comma is one of theirs, too.
        _TEXT.sub(lambda text: text[0] if text["sign"] else '"…"', line)
        if line[:1] == " " or line[1:].rstrip(",") in both
        else _shifted(line, start)
        for line in lines
    )
    return mask_secrets("".join(f"{line}\n" for line in shown))


def _same_lines(before: list[str], after: list[str]) -> int:
    """Return how many lines are equal from the beginning."""
    for number, (one, other) in enumerate(zip(before, after, strict=False)):
        if one != other:
            return number
    return min(len(before), len(after))


def _shifted(line: str, by: int) -> str:
    """Return a line of a diff with the line numbers of the whole file."""
    found = _HUNK.match(line)
    if found is None:
        return line
    old, old_count, new, new_count = found.groups()
    return f"@@ -{int(old) + by}{old_count or ''} +{int(new) + by}{new_count or ''} @@"
