"""Serves the OpenAPI document, and a page that shows it without any other request."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from html import escape
from typing import Any

from hivemind_memory.http_api.app import DOCUMENT, PAGE
from hivemind_memory.http_api.compression import PACKED, VARY, compressed, takes_gzip
from hivemind_memory.http_api.failures import Failure, plain_envelope
from hivemind_memory.http_api.frame import send_failure
from hivemind_memory.http_api.openapi import make_openapi
from hivemind_memory.http_api.routes import RouteGroup
from hivemind_memory.mcp_server.http_checks import SAFE_HEADERS, send_json
from hivemind_memory.mcp_server.http_sessions import Receive, Scope, Send

# No script, and nothing from elsewhere: a browser enforces it.
_POLICY = b"default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"
_KEPT = ((b"cache-control", b"no-cache"), VARY)
_LEVEL = 6
_STYLE = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto;
  padding: 0 1rem; }
code, pre { font: 14px/1.45 ui-monospace, monospace; }
pre { background: #8881; padding: .75rem; overflow-x: auto; border-radius: 4px; }
h3 { font-size: 1rem; }
summary { cursor: pointer; padding: .35rem 0; }
summary code b { display: inline-block; min-width: 4.5rem; }
td, th { text-align: left; padding: .15rem 1rem .15rem 0; vertical-align: top; }
details > div { margin: 0 0 1rem 1rem; }
"""


class OpenApi:
    """The application that answers with the document or the page."""

    def __init__(self, groups: Sequence[RouteGroup]) -> None:
        """Make both."""
        document = make_openapi(groups)
        self._document = json.dumps(document).encode()
        self._page = "".join(_page_of(document)).encode()
        self._packed = {
            body: compressed(body, _LEVEL) for body in (self._document, self._page)
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        del receive  # it has no body
        if scope["method"] not in {"GET", "HEAD"}:
            allow = {"allow": "GET, HEAD"}
            failure = Failure(405, "method not allowed", headers=allow)
            await send_failure(send, failure, plain_envelope)
        elif scope["path"] in {DOCUMENT, PAGE}:
            is_page = scope["path"] == PAGE
            body, headers = self._page if is_page else self._document, [*_KEPT]
            if takes_gzip(scope):
                body = self._packed[body]
                headers.append(PACKED)
            if not is_page:
                await send_json(send, 200, body, tuple(headers))
                return
            headers += [
                (b"content-type", b"text/html; charset=utf-8"),
                (b"content-length", str(len(body)).encode()),
                (b"content-security-policy", _POLICY),
                *SAFE_HEADERS,
            ]
            start = {"type": "http.response.start", "status": 200}
            await send({**start, "headers": headers})
            await send({"type": "http.response.body", "body": body})
        else:
            await send_failure(send, Failure(404, "no route"), plain_envelope)


def _page_of(document: dict[str, Any]) -> Iterator[str]:
    """Yield the parts of the page."""
    title = f"{document['info']['title']} {document['info']['version']}"
    yield (
        '<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n'
        f"<title>{escape(title)}</title>\n<style>{_STYLE}</style>\n"
        f"<h1>{escape(title)}</h1>\n<p>Send the token with each request:"
        " <code>Authorization: Bearer TOKEN</code>. The same as JSON:"
        f' <a href="{DOCUMENT}">{DOCUMENT}</a>.</p>\n'
    )
    for tag in document["tags"]:
        yield f"<h2>{escape(tag['name'])}</h2>\n"
        for path, methods in document["paths"].items():
            for method, operation in methods.items():
                if tag["name"] in operation["tags"]:
                    yield from _operation(method.upper(), path, operation)
    yield "<h2>Schemas</h2>\n"
    for name, schema in document["components"]["schemas"].items():
        yield f'<details id="{escape(name)}"><summary>{escape(name)}</summary>'
        yield f"{_json(schema)}</details>\n"


def _operation(method: str, path: str, operation: dict[str, Any]) -> Iterator[str]:
    """Yield what one route takes and answers."""
    yield (
        f"<details><summary><code><b>{method}</b> {escape(path)}</code>"
        f" {escape(operation['summary'])}</summary><div>\n"
    )
    if "description" in operation:
        yield f"<p>{escape(operation['description'])}</p>\n"
    if parameters := operation.get("parameters"):
        yield "<table>\n<tr><th>name<th>in<th>type<th>meaning\n"
        for field in parameters:
            kind = json.dumps(field["schema"])
            meaning = field.get("description", "")
            cells = (field["name"], field["in"], kind, meaning)
            yield "<tr>" + "".join(f"<td>{escape(cell)}" for cell in cells) + "\n"
        yield "</table>\n"
    if body := operation.get("requestBody"):
        yield f"<h3>Body</h3>{_content(body['content'])}"
    for status, answer in operation["responses"].items():
        yield f"<h3>{status}: {escape(answer['description'])}</h3>"
        if int(status) < 400 and "content" in answer:
            yield _content(answer["content"])
    yield "</div></details>\n"


def _content(content: dict[str, Any]) -> str:
    """Return the schema of a body, and an example."""
    [(media, body)] = content.items()
    example = _json(body["example"]) if "example" in body else ""
    name = body["schema"].get("$ref", "").rpartition("/")[2]
    link = f'<a href="#{escape(name)}">{escape(name)}</a>' if name else ""
    schema = "" if link else _json(body["schema"])
    return f"<p>{escape(media)} {link}</p>{schema}{example}\n"


def _json(value: object) -> str:
    """Return a value as a block of JSON."""
    return f"<pre>{escape(json.dumps(value, indent=2))}</pre>"
