"""A real browser on the pages of a real server.

Without Chromium on the machine these tests are skipped, and say so. Debian's package
is called chromium; no other download is used.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from tests.http_api.conftest import home, served
from tests.http_api.served import Served

__all__ = ["browser", "home", "open_page", "served"]

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic"),
    *("--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync"),
)
OpenPage = Callable[..., Page]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One browser for the tests of a module: it keeps an event loop of its own, which
    other tests in the process must not meet."""
    program = next(filter(None, map(shutil.which, PROGRAMS)), None)
    if program is None:
        pytest.skip("there is no Chromium on this machine")
    with sync_playwright() as playwright:
        one = playwright.chromium.launch(executable_path=program, args=list(FLAGS))
        yield one
        one.close()


@pytest.fixture
def open_page(served: Served, browser: Browser) -> Iterator[OpenPage]:
    """Open the dashboard, logged in; takes what a browser context takes.

    Fails if a page asked for anything that is not on this machine.
    """
    contexts: list[BrowserContext] = []
    asked: list[str] = []

    def opened(**options: object) -> Page:
        context = browser.new_context(base_url=served.url, **options)  # type: ignore[arg-type]
        context.set_default_timeout(60_000)
        contexts.append(context)
        page = context.new_page()
        page.on("request", lambda request: asked.append(request.url))
        code = served.ask("POST", "/memory/link").json()["code"]
        page.goto(f"/memory/login?code={code}")
        return page

    yield opened
    for context in contexts:
        context.close()
    assert [url for url in asked if not url.startswith(served.url)] == []
