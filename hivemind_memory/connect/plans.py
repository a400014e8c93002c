"""What connecting an agent is made of: the wish, the surroundings, the plan."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from hivemind_memory.connect.agents import Agent, Local, Remote
from hivemind_memory.connect.client_file import ClientFile
from hivemind_memory.connect.receipts import Receipt
from hivemind_memory.errors import HivemindError

NOT_INSTALLED = "not installed"
NOT_CONNECTED = "not connected"
CONNECTED = "connected"
DIFFERS = "differs"
UNUSABLE = "unusable"


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What the machine tells."""

    home: str
    """Our home folder."""

    user_home: str
    environ: Mapping[str, str]
    find_program: Callable[[str], str | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What is to be there afterwards."""

    server: Local | Remote
    hook_command: Callable[[str], str]
    """Agent's name -> what its hook runs, for a shell."""

    has_hooks: bool = False
    has_rules: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What is to become of one file."""

    file: ClientFile
    text: str | None
    """None: it is deleted."""

    receipt: Receipt | None
    """None: there is nothing to remember any more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What there is for one agent, and what is to be done."""

    agent: Agent
    state: str
    """not installed, not connected, connected, differs or unusable."""

    path: str
    """The file in which it keeps its servers."""

    has_hook: bool = False
    changes: tuple[Change, ...] = ()
    error: HivemindError | None = field(default=None, compare=False)
