"""Someone who reads the pages as a browser without JavaScript does."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html import unescape
from html.parser import HTMLParser
from typing import Self

import httpx

from tests.http_api.served import NO_CERTIFICATES, TIMEOUT_S, Served

_VERSION = re.compile(r'name="version" value="([^"]+)"')
_SECRET = re.compile(r'name="form_secret" value="([0-9a-f]+)"')


class Reader:
    """A browser's cookies, pages and forms."""

    def __init__(self, served: Served) -> None:
        """Begin without a session."""
        self.served = served
        self.client = httpx.Client(
            base_url=served.url,
            timeout=TIMEOUT_S,
            trust_env=False,
            verify=NO_CERTIFICATES,
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

    def receipt(self, answer: httpx.Response) -> httpx.Response:
        """Return the page of a purge once it is done, as a browser reads it."""
        while address := answer.headers.get("refresh"):
            answer = self.client.get(address.partition("url=")[2])
        return answer

    def send(self, path: str, on: str = "/new", **fields: str) -> httpx.Response:
        """Send a form that is on a page, and return the page that answers.

        What the page says of the version that it shows is sent along.
        """
        page = self.page(on).text
        found, shown = _SECRET.search(page), _VERSION.search(page)
        assert found, f"there is no form on {on}"
        if shown:
            fields = {"version": unescape(shown[1]), **fields}
        return self.client.post(
            f"/memory{path}",
            data={"form_secret": found[1], **fields},
            headers={"Origin": self.served.url},
            follow_redirects=True,
        )

    def press(self, page: str, action: str, **typed: str) -> httpx.Response:
        """Fill in the first form of a page that leads to *action*, and send it.

        It sends what a browser would: its hidden fields, and what is chosen already.
        """
        forms = [form for form in Forms(page).found if form.action == action]
        assert forms, f"no form leads to {action}"
        fields = {**forms[0].fields, **typed}
        if forms[0].method == "get":
            return self.client.get(action, params=fields, follow_redirects=True)
        headers = {"Origin": self.served.url}
        return self.client.post(
            action, data=fields, headers=headers, follow_redirects=True
        )


@dataclass
class Form:
    """A form of a page."""

    action: str
    method: str
    fields: dict[str, str] = field(default_factory=dict)
    """What it sends if nothing is typed."""


class Forms(HTMLParser):
    """The forms of a page; ticks and the texts of large fields are left out."""

    def __init__(self, html: str) -> None:
        """Read a page."""
        super().__init__()
        self.found: list[Form] = []
        self._select = ""
        self._is_chosen = False
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep a form, or a field of the last one."""
        given = {name: text or "" for name, text in attrs}
        if tag == "form":
            self.found.append(Form(given.get("action", ""), given.get("method", "get")))
        elif tag == "select":
            self._select = given["name"]
        elif tag == "input" and given.get("type") != "checkbox" and self.found:
            self.found[-1].fields[given["name"]] = given.get("value", "")
        elif tag == "option" and self._select:
            fields = self.found[-1].fields
            self._is_chosen = "selected" in given or self._select not in fields
            if self._is_chosen:
                fields[self._select] = given.get("value", "")
                self._is_chosen = "value" not in given

    def handle_data(self, data: str) -> None:
        """Take the text of a choice that has no value of its own."""
        if self._is_chosen:
            self.found[-1].fields[self._select] = data.strip()
            self._is_chosen = False

    def handle_endtag(self, tag: str) -> None:
        """End a list of choices."""
        if tag == "select":
            self._select, self._is_chosen = "", False


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
