"""Every page and form of the dashboard, with every name that might lead into a scope.

A reader logs in with a token of the caller's scopes. The names of what a page takes in
its query and of what a form holds are read from the code of the pages.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from importlib import import_module
from pathlib import Path
from urllib.parse import quote, urlencode

import anyio
import httpx

from hivemind_memory import dashboard
from hivemind_memory.dashboard.page import ROOT, PageRoute
from hivemind_memory.mcp_server.http_sessions import App
from tests.support.access_matrix import (
    HIDDEN_SESSION,
    Answer,
    Side,
    at_one_time,
    names_of,
    scopes_of,
    unlike_others,
)
from tests.support.http_matrix import PORT, served_to

_FOLDER = Path(dashboard.__file__).parent
_TAKEN = re.compile(r"call\.(query|form)(?:\.get\(|\[)\"(\w+)\"")
_NAMES = re.compile(r'(?:_FILTERS|names)\b = \(([^)]*)\)|in \("(q)", ')
"""Names that are listed, and taken one by one."""

_WORD = re.compile(r'"(\w+)"')
_PART = re.compile(r"\{(\w+)(?:\.\.\.)?\}")
_EVENT = re.compile(r'data-event="[0-9a-f]*"')
"""Another one each time."""

_SECRET = re.compile(r'name="form_secret" value="([0-9a-f]+)"')

Asked = tuple[str, str, dict[str, str]]
"""Method, path, and what is sent with it."""


def page_requests(hidden: str) -> Iterator[Asked]:
    """Yield requests for every page; each value of one name by itself."""
    spelled = [
        one
        for one in (*names_of(hidden), *scopes_of(hidden), HIDDEN_SESSION)
        if "{home}" not in one
    ]
    for route, fields in _declared():
        parts = _PART.findall(route.path)
        for name in spelled if parts else [""]:
            yield route.method, _PART.sub(quote(name, safe=""), route.path), {}
        path = _PART.sub("visible-key", route.path)
        for field in sorted(fields):
            for name in spelled:
                sent = {field: name}
                if route.is_change:
                    text = unlike_others(f"{path} {field} {name}")
                    sent = {"content": text, "key": "visible-key", **sent}
                yield route.method, path, sent


def _declared() -> Iterator[tuple[PageRoute, set[str]]]:
    """Yield each page and form with the names that its module takes."""
    for file in sorted(_FOLDER.glob("*_pages.py")):
        code = file.read_text(encoding="utf-8")
        taken: dict[str, set[str]] = {"query": set(), "form": set()}
        for kind, name in _TAKEN.findall(code):
            taken[kind].add(name)
        lists = [text for pair in _NAMES.findall(code) for text in pair if text]
        listed = {name for text in lists for name in _WORD.findall(text) or [text]}
        for route in import_module(f"{dashboard.__name__}.{file.stem}").pages.routes:
            yield route, taken["form" if route.is_change else "query"] | listed


def visit(side: Side, asked: Iterable[Asked]) -> list[Answer]:
    """Visit pages as the caller of a side; return what each showed."""
    with served_to(side) as (app, token), at_one_time():
        return anyio.run(_visit, side, app, token, list(asked))


async def _visit(side: Side, app: App, token: str, asked: list[Asked]) -> list[Answer]:
    """Log in, and ask for each page."""
    transport = httpx.ASGITransport(app)  # type: ignore[arg-type]
    origin = f"http://127.0.0.1:{PORT}"
    said = []
    async with httpx.AsyncClient(transport=transport, base_url=origin) as client:
        logged_in = await client.post(f"{ROOT}/login", data={"token": token})
        assert logged_in.status_code == 303, logged_in.text
        found = _SECRET.search((await client.get(f"{ROOT}/new")).text)
        assert found
        for method, path, sent in asked:
            if method == "POST":
                answer = await client.post(
                    path,
                    data={"form_secret": found[1], **sent},
                    headers={"Origin": origin},
                )
            else:
                answer = await client.get(f"{path}?{urlencode(sent)}")
            assert answer.status_code < 500, (path, sent, answer.text)
            told = _EVENT.sub("", side.told(answer.text)).replace(found[1], "<secret>")
            where = answer.headers.get("location", "")
            said.append(
                (
                    f"{method} {path} {sent}",
                    f"{answer.status_code} {side.told(where)}\n{told}",
                )
            )
    return said
