"""Someone who reads the pages as a browser without JavaScript does."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import Self

import httpx

from tests.http_api.served import TIMEOUT_S, Served

_SECRET = re.compile(r'name="form_secret" value="([0-9a-f]+)"')


class Reader:
    """A browser's cookies, pages and forms."""

    def __init__(self, served: Served) -> None:
        """Begin without a session."""
        self.served = served
        self.client = httpx.Client(
            base_url=served.url, timeout=TIMEOUT_S, trust_env=False
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.client.close()

    def follow_link(self) -> None:
        """Log in as ``hm dashboard`` does."""
        code = self.served.ask("POST", "/memory/link").json()["code"]
        assert self.client.get(f"/memory/login?code={code}").status_code == 303

    def log_in(self, token: str) -> httpx.Response:
        """Log in with a token."""
        return self.client.post("/memory/login", data={"token": token})

    def page(self, path: str) -> httpx.Response:
        """Return a page, after at most one redirect."""
        return self.client.get(f"/memory{path}", follow_redirects=True)

    def send(self, path: str, on: str = "/new", **fields: str) -> httpx.Response:
        """Send a form that is on a page, and return the page that answers."""
        found = _SECRET.search(self.page(on).text)
        assert found, f"there is no form on {on}"
        return self.client.post(
            f"/memory{path}",
            data={"form_secret": found[1], **fields},
            headers={"Origin": self.served.url},
            follow_redirects=True,
        )


class Elements(HTMLParser):
    """The elements of a page, and what the text of each attribute is."""

    def __init__(self, html: str) -> None:
        """Read a page."""
        super().__init__()
        self.found: list[tuple[str, dict[str, str]]] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep an element."""
        self.found.append((tag, {name: text or "" for name, text in attrs}))
