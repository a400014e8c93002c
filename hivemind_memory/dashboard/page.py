"""What a page takes and returns, and how the modules of pages declare theirs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from hivemind_memory.errors import NotesMissingError
from hivemind_memory.http_api.app import PAGES
from hivemind_memory.http_api.callers import Client

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.memory import Memory

_T = TypeVar("_T")
_Other = TypeVar("_Other")

ROOT = PAGES
"""Where the pages are."""

_MAX_DIGITS = 9

TYPED, SETTLED, CHANGED = "typed", "settled", "changed"
PARTS = frozenset({TYPED, SETTLED, CHANGED})
"""Why the script asks for results alone: something was typed, the typing has ended, or
someone else has changed a memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageCall:
    """One request for a page, or one form that was sent."""

    memory: Memory
    """As the reader sees it."""

    client: Client
    session: str
    """Name of the browser's session, recorded in what is written; empty: a visitor."""

    path: Mapping[str, str]
    """Name in the path -> what the request has there."""

    query: Mapping[str, str]
    form: Mapping[str, str]
    """Empty unless a form was sent."""

    part: str = ""
    """Which part of the page the script asks for; empty: a browser asks for it all."""

    @property
    def may_change(self) -> bool:
        """Whether the reader may change anything."""
        return not self.client.is_read_only

    @property
    def writer(self) -> dict[str, Any]:
        """Who writes, as ``NewMemory`` takes it."""
        if self.client.is_person:
            return {"session": self.session, "source": "human"}
        return {"by": self.client.name, "session": self.session}


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A page, as a template and what it shows."""

    template: str
    values: Mapping[str, Any] = field(default_factory=dict)
    status: int = 200
    refresh: str = ""
    """The page that a browser reads next by itself: this one is a part; empty: none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Redirect:
    """Another page, to be read next."""

    path: str
    notice: str = ""
    """A sentence on top of it."""

    undo: str = ""
    """Id of the change that a button beside the notice undoes; empty: none."""

    saved: str = ""
    """Name of the draft that is saved now, so that a browser drops it; empty: none."""


Work = Callable[[PageCall], "Page | Redirect"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PageRoute:
    """One page, or what a form does."""

    method: str
    path: str
    """With the root; ``{id}`` is one part of it, ``{path...}`` the rest."""

    work: Work

    @property
    def is_change(self) -> bool:
        """Whether it is a form: it needs the right to change, and its secret."""
        return self.method == "POST"


class PageGroup:
    """The pages of one module."""

    def __init__(self) -> None:
        """Begin without pages."""
        self.routes: list[PageRoute] = []

    def get(self, path: str) -> Callable[[Work], Work]:
        """Declare the function below as a page; *path* is below the root."""
        return self._route("GET", path)

    def post(self, path: str) -> Callable[[Work], Work]:
        """Declare the function below as what a form does."""
        return self._route("POST", path)

    def _route(self, method: str, path: str) -> Callable[[Work], Work]:
        """Declare a function."""

        def declare(work: Work) -> Work:
            self.routes.append(PageRoute(method=method, path=ROOT + path, work=work))
            return work

        return declare


def address_inside(address: str, otherwise: str = ROOT) -> str:
    """Return an address if it is one of the dashboard's, else another one.

    >>> address_inside("/memory?q=tea"), address_inside("//evil.example/memory/")
    ('/memory?q=tea', '/memory')
    """
    is_ours = address == ROOT or address.startswith((f"{ROOT}/", f"{ROOT}?"))
    is_plain = address.isascii() and address.isprintable()
    return address if is_ours and is_plain else otherwise


def number_of(call: PageCall, name: str) -> int:
    """Return a number in the query of a request, at least 1; what is none is 1."""
    text = call.query.get(name, "").strip()
    # A number with more digits is too high, too, and Python refuses one of thousands.
    return max(1, int(text[:_MAX_DIGITS])) if text.isdecimal() else 1


def unless_missing(read: Callable[[], _T], instead: _Other) -> _T | _Other:
    """Return what a function reads, or something else where there are no notes yet."""
    try:
        return read()
    except NotesMissingError:
        return instead
