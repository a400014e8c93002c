"""Every route with every name that might lead into a scope that a caller may not see.

The calls are made from the declarations of the routes: each name in a path, each text
in the sample of a body and each text of a query takes each of the names.
"""

from __future__ import annotations

import itertools
import json
import os
import re
import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from unittest import mock
from urllib.parse import quote, urlencode

import anyio
import httpx

from hivemind_memory import opening
from hivemind_memory.cli.agent_server import find_token
from hivemind_memory.curation.access_tokens import AccessTokens
from hivemind_memory.dashboard.mount import dashboard_mount
from hivemind_memory.http_api.app import make_app
from hivemind_memory.http_api.mounts import make_mounts, plugin_mount
from hivemind_memory.http_api.route_groups import all_groups, plugin_groups
from hivemind_memory.http_api.routes import Route
from hivemind_memory.mcp_server.http_sessions import App
from hivemind_memory.mcp_server.server_state import ServerState
from hivemind_memory.plugin_api import memories
from tests.support.access_matrix import (
    CALLERS,
    WORDS,
    Answer,
    Side,
    at_one_time,
    names_of,
    scopes_of,
    unlike_others,
)

PORT = 8737
_VERSION = re.compile(r'\\?"[0-9a-f]{20}\\?"')
_ACTIVITY_ID = re.compile(r'(?<="id": ")[apct][0-9a-f]{14,18}(?=")')
"""Made of the time."""

_WORKSPACES = ("web", "leaf", "nobody")


@dataclass(frozen=True)
class Request:
    """One request."""

    method: str
    path: str
    query: dict[str, str] = field(default_factory=dict)
    body: dict[str, Any] | None = None

    def __str__(self) -> str:
        return f"{self.method} {self.path} {self.query} {self.body or ''}"


def http_reads(hidden: str) -> Iterator[Request]:
    """Yield requests that change nothing."""
    for route in _routes(is_change=False):
        yield from _requests(route, hidden)
        texts = _text_fields(route)
        for name in texts:
            for word in (*WORDS, *names_of(hidden), *scopes_of(hidden)):
                if name == "q" and "{home}" in word:
                    continue  # the words of the two homes' own names differ
                query = {name: word}
                if name != "q" and "q" in texts:
                    query["q"] = "plan"
                for path in _paths(route, ["plan"]):
                    yield Request(route.method, path, query)
    for status in ("superseded", "pending", "forgotten", "all"):
        yield Request("GET", "/api/v1/memories", {"status": status})


def http_writes(hidden: str) -> Iterator[Request]:
    """Yield requests that would change something."""
    for route in _routes(is_change=True):
        yield from _requests(route, hidden)


def _routes(*, is_change: bool) -> list[Route]:
    """Return the routes; a stream is tested by itself."""
    return [
        route
        for group in (*all_groups(), *plugin_groups())
        for route in group.routes
        if route.is_change == is_change and route.media == "application/json"
    ]


def _requests(route: Route, hidden: str) -> Iterator[Request]:
    """Yield the requests of one route."""
    names = [*names_of(hidden), "plan", "visible-key"]
    for path in _paths(route, names):
        yield Request(route.method, path, body=route.sample)
    if route.sample is None:
        return
    spelled = [*names, *scopes_of(hidden)]
    for name, value in {**_own_texts(route), **route.sample}.items():
        if isinstance(value, str):
            tricks: list[Any] = list(spelled)
        elif isinstance(value, list):
            tricks = [[one] for one in spelled]
        else:
            continue
        for number, trick in enumerate(tricks):
            if name == "key" and "{home}" in trick:
                continue  # the name of its file would be made of the home's own
            body = {**route.sample, name: trick}
            if "key" in body and name != "key":
                body["key"] = f"{name}-{number}"
            if "content" in body and name != "content":
                body["content"] = unlike_others(f"{name} {number}")
            for path in _paths(route, ["visible-key"]):
                yield Request(route.method, path, body=body)


def _own_texts(route: Route) -> dict[str, Any]:
    """Return the fields of a body that the sample leaves out, empty."""
    assert route.body is not None
    return {
        found.alias or name: found.default
        for name, found in route.body.model_fields.items()
        if isinstance(found.default, str | list)
    }


def _text_fields(route: Route) -> list[str]:
    """Return the names in a query that take a text."""
    if route.query is None:
        return []
    return [
        found.alias or name
        for name, found in route.query.model_fields.items()
        if isinstance(found.default, str | list)
    ]


def _paths(route: Route, names: Iterable[str]) -> Iterator[str]:
    """Yield the path of a route with each of the names in it."""
    workspace = route.group.workspace
    if not route.names:
        yield route.path
        return
    for name in names:
        path = route.path
        for place in route.names:
            if place == workspace:
                continue
            path = path.replace(f"{{{place}...}}", quote(name))
            path = path.replace(f"{{{place}}}", quote(name, safe=""))
        if workspace:
            for one in _WORKSPACES:
                yield path.replace(f"{{{workspace}}}", one)
        else:
            yield path


@contextmanager
def served_to(side: Side) -> Iterator[tuple[App, str]]:
    """Yield all that ``hm serve`` answers for a side, and a token of its caller."""
    os.environ["HIVEMIND_HOME"] = str(side.home)
    for name in ("PROJECT", "TEAM", "WORKSPACE"):
        os.environ.pop(f"HIVEMIND_{name}", None)
    scopes = CALLERS[side.caller][0]
    with opening.open_memory() as memory:
        tokens = AccessTokens(memory.state(), memory.clocks, memory.caller)
        if "matrix" in [token.name for token in tokens.all()]:
            tokens.revoke("matrix")
        secret = tokens.add(
            "matrix",
            project=scopes.get("project", ""),
            teams=[scopes["teams"]] if "teams" in scopes else [],
            workspace=scopes.get("workspace", ""),
        )
    state = ServerState(opening.open_memory)
    own, find = "t" * 20, find_token(None)
    more = {"memory_dir": None, "session": "5e551017"}
    app = make_app(
        {
            **make_mounts(state, PORT, own, **more),
            **plugin_mount(state, **more),
            **dashboard_mount(state, own, find, memory_dir=None, is_public=False),
        },
        PORT,
        own,
        find_token=find,
    )
    try:
        yield app, secret
    finally:
        assert state.close(within_s=5)


def send(side: Side, requests: Iterable[Request]) -> list[Answer]:
    """Send requests as the caller of a side; return what each was answered with."""

    async def run(app: App, secret: str) -> list[Answer]:
        transport = httpx.ASGITransport(app)  # type: ignore[arg-type]
        async with httpx.AsyncClient(
            transport=transport,
            base_url=f"http://127.0.0.1:{PORT}",
            headers={"Authorization": f"Bearer {secret}"},
        ) as client:
            return [await _ask(client, side, request) for request in requests]

    # Notes are listed by their names, which for some are made of these.
    ids = (str(uuid.UUID(int=number)) for number in itertools.count())
    made = mock.patch.object(memories, "made_uuid", side_effect=ids)
    with served_to(side) as (app, secret), at_one_time(), made:
        return anyio.run(run, app, secret)


async def _ask(client: httpx.AsyncClient, side: Side, request: Request) -> Answer:
    """Send one request."""
    address = side.placed(request.path)
    if request.query:
        query = {name: side.placed(text) for name, text in request.query.items()}
        address += f"?{urlencode(query)}"
    sent = None if request.body is None else json.dumps(_placed(side, request.body))
    headers = {"If-Match": "*"} if request.method == "PATCH" else {}
    answer = await client.request(
        request.method, address, content=sent, headers=headers
    )
    assert answer.status_code < 500, (str(request), answer.text)
    told = _ACTIVITY_ID.sub("<id>", side.told(answer.text))
    return str(request), f"{answer.status_code}\n{_VERSION.sub('<version>', told)}"


def _placed(side: Side, body: dict[str, Any]) -> dict[str, Any]:
    """Return a body with the path of the home filled in."""
    return {name: side.placed(value) for name, value in body.items()}
