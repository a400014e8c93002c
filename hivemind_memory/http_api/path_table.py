"""Finds the route of a path."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Generic, Protocol, TypeVar
from urllib.parse import unquote_to_bytes

from hivemind_memory.http_api.failures import NO_ROUTE, Failure


class HasPath(Protocol):
    """What a request is answered by: a route, or a page."""

    @property
    def method(self) -> str:
        """In capitals."""

    @property
    def path(self) -> str:
        """``/api/v1/memories/{id}``; ``{path...}`` takes the rest."""


R = TypeVar("R", bound=HasPath)


class PathTable(Generic[R]):
    """Routes by the parts of their paths."""

    def __init__(self, routes: Iterable[R]) -> None:
        """Sort them so that a fixed part comes before a name in its place."""
        by_path: dict[str, dict[str, R]] = {}
        for route in routes:
            by_path.setdefault(route.path, {})[route.method] = route
        self._paths = sorted(
            ((tuple(path.split("/")), found) for path, found in by_path.items()),
            key=lambda entry: [part[:1] == "{" for part in entry[0]],
        )

    def find(self, method: str, raw_path: bytes) -> tuple[R, dict[str, str]]:
        """Return the route of a request, and what its path has for each name.

        Args:
            method: ``HEAD`` is answered as ``GET``.
            raw_path: As it was sent: an encoded slash is part of a name.

        Raises:
            Failure: There is no such path, or it has no such method.
        """
        parts = _parts(raw_path)
        for pattern, by_method in self._paths:
            named = _match(pattern, parts)
            if named is None:
                continue
            route = by_method.get("GET" if method == "HEAD" else method)
            if route is not None:
                return route, named
            allowed = sorted({*by_method, *(["HEAD"] if "GET" in by_method else [])})
            raise Failure(
                405, "method not allowed", headers={"allow": ", ".join(allowed)}
            )
        raise Failure(404, NO_ROUTE)


def _parts(raw_path: bytes) -> list[str]:
    """Return the parts of a path, decoded.

    Raises:
        Failure: They are not UTF-8, so no route has them.
    """
    try:
        return [unquote_to_bytes(part).decode() for part in raw_path.split(b"/")]
    except UnicodeDecodeError:
        raise Failure(404, NO_ROUTE) from None


def _match(pattern: tuple[str, ...], parts: list[str]) -> dict[str, str] | None:
    """Return what a path has for each name of a pattern; None: it is another path."""
    is_open = pattern[-1].endswith("...}")
    if len(parts) < len(pattern) if is_open else len(parts) != len(pattern):
        return None
    named = {}
    for at, expected in enumerate(pattern):
        if expected[:1] != "{":
            if expected != parts[at]:
                return None
        elif expected.endswith("...}"):
            named[expected[1:-4]] = "/".join(parts[at:])
        elif parts[at]:
            named[expected[1:-1]] = parts[at]
        else:
            return None
    return named
