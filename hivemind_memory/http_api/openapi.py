"""Makes the OpenAPI document from the routes, which are declared once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from pydantic import BaseModel, TypeAdapter

from hivemind_memory.http_api.routes import Route, RouteGroup
from hivemind_memory.version import __version__

_REF = "#/components/schemas/{model}"
_MEANINGS = {
    400: "the request has the wrong form",
    401: "the token is missing or wrong",
    403: "the token is read-only, or may not write there",
    404: "there is nothing by that name that the caller may see",
    409: "it conflicts with what is already there",
    304: "the client has this version already",
    412: "the version that was named is not the current one",
    413: "the body is larger than 1 MiB",
    415: "the body is compressed, or says that it is no JSON",
    421: "this name is not served here",
    428: "If-Match is missing",
    429: "the client has too many requests open",
    503: "the memory cannot be used now",
}
_ALWAYS = (400, 401, 403, 421, 429, 503)


def _header(text: str, kind: str = "string") -> dict[str, Any]:
    """Return how a header of an answer is documented."""
    return {"description": text, "schema": {"type": kind}}


_RETRY = {"Retry-After": _header("seconds after which to try again", "integer")}
_FAILURE_HEADERS = {
    401: {"WWW-Authenticate": _header("Bearer: a token is expected")},
    429: _RETRY,
    503: _RETRY,
}


def make_openapi(groups: Sequence[RouteGroup]) -> dict[str, Any]:
    """Return the OpenAPI 3.1 document of all routes."""
    schemas: dict[str, Any] = {}
    paths: dict[str, dict[str, Any]] = {}
    for group in groups:
        for route in group.routes:
            path = route.path.replace("...}", "}")
            paths.setdefault(path, {})[route.method.lower()] = _operation(
                route, schemas
            )
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Hivemind Memory",
            "version": __version__,
            "description": "One memory for every coding agent on your machine.",
            "license": {"name": "MIT", "identifier": "MIT"},
        },
        "servers": [{"url": "/"}],
        "security": [{"token": []}],
        "tags": [{"name": tag} for tag in dict.fromkeys(group.tag for group in groups)],
        "paths": paths,
        "components": {
            "schemas": dict(sorted(schemas.items())),
            "securitySchemes": {
                "token": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "The server's own token, or one of hm token add.",
                }
            },
        },
    }


def _operation(route: Route, schemas: dict[str, Any]) -> dict[str, Any]:
    """Return what a route takes and answers; its schemas are added to *schemas*."""
    operation: dict[str, Any] = {
        "operationId": route.work.__name__,
        "tags": [route.group.tag],
        "summary": route.summary,
    }
    if route.description:
        operation["description"] = route.description
    if parameters := list(_parameters(route, schemas)):
        operation["parameters"] = parameters
    if route.body is not None:
        content: dict[str, Any] = {"schema": _schema(route.body, schemas)}
        if route.sample is not None:
            content["example"] = route.sample
        operation["requestBody"] = {
            "required": True,
            "content": {"application/json": content},
        }
    operation["responses"] = _responses(route, schemas)
    return operation


def _parameters(route: Route, schemas: dict[str, Any]) -> Iterable[dict[str, Any]]:
    """Yield the names in a path, the fields of its query, and its headers."""
    for name in route.names:
        schema = {"type": "string", "minLength": 1}
        yield {"name": name, "in": "path", "required": True, "schema": schema}
    if route.query is not None:
        reference = _schema(route.query, schemas)["$ref"]
        whole = schemas.pop(str(reference).rpartition("/")[2])
        for name, field in whole["properties"].items():
            text = field.pop("description", "")
            field.pop("title", None)
            yield {
                "name": name,
                "in": "query",
                "required": name in whole.get("required", ()),
                "schema": field,
                **({"description": text} if text else {}),
            }
    takes = dict(route.takes_headers)
    if route.has_version and route.method == "GET":
        takes["If-None-Match"] = "the ETag of a version that the client has already"
    for name, text in takes.items():
        yield {
            "name": name,
            "in": "header",
            "required": name in route.needs_headers,
            "schema": {"type": "string"},
            "description": text,
        }


def _responses(route: Route, schemas: dict[str, Any]) -> dict[str, Any]:
    """Return the answers of a route by their status."""
    done: dict[str, Any] = {"description": "done"}
    if route.adapter is not None:
        content: dict[str, Any] = {
            "schema": _schema(route.adapter, schemas, mode="serialization")
        }
        if route.example is not None:
            content["example"] = route.example
        done["content"] = {"application/json": content}
    elif route.media != "application/json":
        content = {"schema": {"type": "string"}, "example": route.example}
        done["content"] = {route.media: content}
    failures = {*_ALWAYS, *route.errors}
    failures |= {404} if route.names else set()
    failures |= {413} if route.method != "GET" else set()
    failures |= {409} if route.is_change else set()
    failures |= {415} if route.body is not None else set()
    failure = {"schema": _schema(route.group.failure, schemas, mode="serialization")}
    headers: dict[str, Any] = {}
    if route.has_version:
        headers["ETag"] = _header("names this version of the memory")
    if route.has_location:
        headers["Location"] = _header("the path of what was made")
    if headers:
        done["headers"] = headers
    answers = {str(route.status): done}
    if route.has_version and route.method == "GET":
        known = {"description": _MEANINGS[304], "headers": {"ETag": headers["ETag"]}}
        answers["304"] = known
    for status in sorted(failures):
        answer = answers[str(status)] = {
            "description": _MEANINGS[status],
            "content": {"application/json": failure},
        }
        if status in _FAILURE_HEADERS:
            answer["headers"] = dict(_FAILURE_HEADERS[status])
    return answers


def _schema(
    model: type[BaseModel] | TypeAdapter[Any],
    schemas: dict[str, Any],
    *,
    mode: Any = "validation",
) -> dict[str, Any]:
    """Return a reference to the schema of a model, which is added to *schemas*.

    Raises:
        ValueError: Another model has the same name.
    """
    adapter = model if isinstance(model, TypeAdapter) else TypeAdapter(model)
    schema = adapter.json_schema(by_alias=True, ref_template=_REF, mode=mode)
    parts = schema.pop("$defs", {})
    if "title" in schema and schema.get("type") == "object":
        parts[schema["title"]] = schema
        schema = {"$ref": _REF.format(model=schema["title"])}
    for name, part in parts.items():
        if schemas.setdefault(name, part) != part:
            message = f"two schemas have the name {name}"
            raise ValueError(message)
    return schema
