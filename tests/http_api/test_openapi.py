"""The OpenAPI document, and the page that shows it."""

from __future__ import annotations

import itertools
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


def test_what_the_values_of_a_field_may_be_is_in_the_document() -> None:
    """Programs that are generated from the document offered any text."""
    document = make_openapi(all_groups())
    row = document["components"]["schemas"]["Row"]["properties"]
    assert row["visibility"]["enum"] == ["public", "private"]
    assert {"active", "superseded", "expired"} <= {*row["status"]["enum"]}
    assert re.search(row["scope"]["pattern"], "projects/shop")
    assert not re.search(row["scope"]["pattern"], "shop")
    # More types can be configured, so they are no closed list.
    assert "decision" in row["type"]["examples"]
    for name in ("Edge", "Link"):
        kind = document["components"]["schemas"][name]["properties"]["kind"]
        assert kind["enum"] == ["related_to", "updates", "contradicts"]
    fields = document["components"]["schemas"]["SaveFields"]["properties"]
    assert fields["visibility"]["enum"] == ["", "public", "private"]
    for scope in (
        "",
        "global",
        "project/shop",
        "TEAM/red",
        "workspaces/a.b-c_d",
        "org",
    ):
        assert re.search(fields["scope"]["pattern"], scope), scope
    for scope in ("projects/", "projects/a/b", "projects/-a", "?"):
        assert not re.search(fields["scope"]["pattern"], scope), scope


def test_what_a_client_keeps_and_follows_is_in_the_document() -> None:
    """Versions, what was made, and when to try again."""
    paths = make_openapi(all_groups())["paths"]
    read = paths["/api/v1/memories/{id}"]["get"]
    assert "ETag" in read["responses"]["200"]["headers"]
    assert "ETag" in read["responses"]["304"]["headers"]
    assert "If-None-Match" in {each["name"] for each in read["parameters"]}
    saved = paths["/api/v1/memories"]["post"]["responses"]
    assert {*saved["201"]["headers"]} == {"ETag", "Location"}
    assert "415" in saved
    for status in ("429", "503"):
        assert "Retry-After" in saved[status]["headers"]
    assert "WWW-Authenticate" in saved["401"]["headers"]


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


class Outline(HTMLParser):
    """The rows of the tables of a page, its headings, and what is in its paragraphs."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[int] = []
        self.levels: list[int] = [1]
        self.in_paragraphs: set[str] = set()
        self._is_paragraph = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        del attrs
        if tag == "tr":
            self.rows.append(0)
        elif tag in {"td", "th"}:
            self.rows[-1] += 1
        elif re.fullmatch("h[1-6]", tag):
            self.levels.append(int(tag[1]))
        if self._is_paragraph:
            self.in_paragraphs.add(tag)
        self._is_paragraph |= tag == "p"

    def handle_endtag(self, tag: str) -> None:
        self._is_paragraph &= tag != "p"


def test_the_page_is_valid_html(served: Served) -> None:
    """Each row began behind its cells, and the last one had none."""
    outline = Outline()
    outline.feed(served.ask("GET", "/api/v1/docs", token=None).text)

    assert set(outline.rows) == {4}
    assert outline.in_paragraphs <= {"a", "code"}
    assert all(b - a <= 1 for a, b in itertools.pairwise(outline.levels))


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
