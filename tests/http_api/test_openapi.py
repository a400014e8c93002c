"""The OpenAPI document, and the page that shows it."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from typing import Any

from hivemind_memory.http_api.openapi import make_openapi
from hivemind_memory.http_api.route_groups import all_groups
from hivemind_memory.http_api.routes import Route
from tests.http_api.served import Served

ROUTES = [route for group in all_groups() for route in group.routes]


def test_every_route_is_in_the_document_and_says_what_it_does() -> None:
    """With an example of its answer, and of its body if it takes one."""
    document = make_openapi(all_groups())
    names = [route.work.__name__ for route in ROUTES]

    assert len(set(names)) == len(names)
    for route in ROUTES:
        path = route.path.replace("...}", "}")
        operation = document["paths"][path][route.method.lower()]
        assert operation["summary"], route
        done = operation["responses"][str(route.status)]
        assert "content" not in done or "example" in next(
            iter(done["content"].values())
        )
        if route.body is not None:
            assert "example" in operation["requestBody"]["content"]["application/json"]


def test_the_examples_are_what_the_routes_take_and_answer() -> None:
    """An example that is wrong is worse than none."""
    for route in ROUTES:
        if route.body is not None:
            route.body.model_validate(route.sample, strict=True)
        if route.adapter is not None:
            assert_answers(route)


def assert_answers(route: Route) -> None:
    """Check that an example is an answer, whole or in part."""
    assert route.adapter is not None
    answer = route.adapter.validate_python(route.example)
    whole = route.adapter.dump_python(answer, by_alias=True, mode="json")
    assert is_part(route.example, whole), route


def is_part(part: Any, whole: Any) -> bool:
    """Whether a value says nothing that another does not say."""
    if isinstance(part, dict):
        return all(name in whole and is_part(part[name], whole[name]) for name in part)
    if isinstance(part, list):
        return all(map(is_part, part, whole))
    return bool(part == whole)


def test_every_reference_leads_to_a_schema() -> None:
    """Programs that are generated from the document break otherwise."""
    document = make_openapi(all_groups())
    named = set(re.findall(r'"#/components/schemas/([^"]+)"', json.dumps(document)))

    assert named <= document["components"]["schemas"].keys()


class Loads(HTMLParser):
    """Collects what a page would load, and whether it runs anything."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in {"script", "link", "img", "iframe", "object", "embed"}:
            self.found.append(tag)
        self.found += [name for name, _ in attrs if name in {"src", "style", "onload"}]


def test_the_page_loads_nothing_and_needs_no_token(served: Served) -> None:
    """It works offline, and no third party learns that it was opened."""
    page = served.ask("GET", "/api/v1/docs", token=None)
    loads = Loads()
    loads.feed(page.text)

    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert page.headers["content-security-policy"].startswith("default-src 'none'")
    assert loads.found == []
    assert "url(" not in page.text
    for route in ROUTES:
        assert route.path.replace("...}", "}") in page.text
    document = served.ask("GET", "/api/v1/openapi.json", token=None)
    assert document.json() == make_openapi(all_groups())
    assert served.ask("POST", "/api/v1/docs").status_code == 405
