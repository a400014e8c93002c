"""What a body may be: each wrong one is answered with a sentence, and saves nothing."""

from __future__ import annotations

import gzip
import json
import socket
from pathlib import Path
from typing import Any

import pytest

from hivemind_memory import opening
from tests.http_api.served import TIMEOUT_S, Served, save

MEMORIES = "/api/v1/memories"
NEW = {"key": "new", "content": "Something new."}


def notes_of(home: Path) -> dict[str, bytes]:
    """Every note, with its bytes."""
    notes = home / "memory"
    return {str(path): path.read_bytes() for path in notes.rglob("*.md")}


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Content-Type": "application/json; charset=utf-8"}, 201),
        ({"Content-Type": "application/problem+json"}, 201),
        ({"Content-Type": "application/x-www-form-urlencoded"}, 201),
        ({}, 201),
        ({"Content-Encoding": "identity"}, 201),
        ({"Content-Type": "text/plain"}, 415),
        ({"Content-Type": "multipart/form-data; boundary=x"}, 415),
        ({"Content-Encoding": "gzip"}, 415),
        ({"Content-Encoding": "br"}, 415),
    ],
)
def test_a_body_that_says_it_is_no_plain_json_is_not_read(
    served: Served, home: Path, headers: dict[str, str], status: int
) -> None:
    """A compressed one was called invalid JSON. What curl says of any body is taken."""
    content = json.dumps(NEW).encode()
    if "gzip" in headers.values():
        content = gzip.compress(content)
    answer = served.ask("POST", MEMORIES, content=content, headers=headers)

    assert answer.status_code == status, answer.text
    if status == 415:
        is_packed = "Content-Encoding" in headers
        said = "compressed bodies are not read" if is_packed else "must be JSON"
        assert said in answer.json()["error"]
        assert notes_of(home) == {}


@pytest.mark.parametrize(
    ("body", "error"),
    [
        (b"", "invalid JSON"),
        (b"{", "invalid JSON"),
        (b"\xff\xfe", "invalid JSON"),
        (b'{"key": "a", "content": "\\ud800"}', "invalid JSON"),
        (b"[" * 20_000, "invalid JSON"),
        (b"[]", "body: must be an object"),
        (b"null", "body: must be an object"),
        (b'"text"', "body: must be an object"),
        ({"key": "new"}, "content: is required"),
        ({**NEW, "colour": "red"}, "colour: unknown field"),
        ({**NEW, "key": 5}, "key: must be a string of up to 1,100 characters"),
        ({**NEW, "key": None}, "key: must be a string of up to 1,100 characters"),
        ({**NEW, "importance": "0.5"}, "importance: must be a number from 0 to 1"),
        ({**NEW, "importance": 2}, "importance: must be a number from 0 to 1"),
        (b'{"key": "a", "content": "b", "importance": NaN}', "importance: "),
        ({**NEW, "related": "a"}, "related: must be a list of strings, at most 50"),
        (
            {**NEW, "related": [1]},
            "related.0: must be a string of up to 1,100 characters",
        ),
        ({**NEW, "key": ""}, "key"),
        (b'{"key": "a", "content": "b", "key": "c"}', "key: is given more than once"),
        (
            {**NEW, "type": "nothing"},
            "There is no memory type 'nothing'. Nothing was saved.",
        ),
        ({**NEW, "scope": "galaxy/x"}, ""),
        ({**NEW, "expires": "someday"}, ""),
        ({**NEW, "visibility": "secret"}, ""),
    ],
)
def test_a_wrong_body_is_refused_and_saves_nothing(
    served: Served, home: Path, body: Any, error: str
) -> None:
    """The sentence names the field; no value is repeated that was not asked for."""
    before = notes_of(home)
    content = body if isinstance(body, bytes) else json.dumps(body).encode()

    answer = served.ask("POST", MEMORIES, content=content)

    assert answer.status_code == 400, answer.text
    assert error in answer.json()["error"]
    assert notes_of(home) == before


def test_a_body_that_is_too_large_is_refused(served: Served, home: Path) -> None:
    """Whether it says so before or not; the server goes on."""

    def parts() -> Any:
        for _ in range(40):
            yield b"x" * 65_536

    for content in (b"x" * (1 << 20) + b"y", parts()):
        answer = served.ask("POST", MEMORIES, content=content)
        assert answer.status_code == 413
        assert answer.json() == {"error": "the body is larger than 1 MiB"}
    assert served.ask("POST", MEMORIES, json=NEW).status_code == 201
    assert len(notes_of(home)) == 1


@pytest.mark.parametrize("has_length", [True, False])
@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("/memory/new", "The form is larger than 1 MiB. Nothing was saved."),
        (MEMORIES, '{"error":"the body is larger than 1 MiB"}'),
    ],
)
def test_who_sends_too_much_before_they_read_gets_the_answer(
    served: Served, path: str, said: str, has_length: bool
) -> None:
    """As browsers and most clients do, which told of a connection that was reset."""
    body, port = b"content=" + b"x" * (24 << 20), int(served.url.rpartition(":")[2])
    head = [
        f"POST {path} HTTP/1.1",
        f"Host: 127.0.0.1:{port}",
        f"Authorization: Bearer {served.token}",
        "Content-Type: application/x-www-form-urlencoded",
    ]
    if has_length:
        head.append(f"Content-Length: {len(body)}")
    else:
        head += ["Transfer-Encoding: chunked", "Connection: close"]
        body = b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body)
    with socket.create_connection(("127.0.0.1", port), timeout=TIMEOUT_S) as link:
        link.sendall("\r\n".join((*head, "", "")).encode())
        link.sendall(body)
        answer = link.makefile("rb").read().decode()
    assert answer.startswith("HTTP/1.1 413")
    assert said in answer


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"GARBAGE\r\n\r\n", b"400"),
        (b"GET / HTTP/1.1\r\n\r\n", b"4"),
        (b"GET / HTTP/1.0\r\n\r\n", b"421"),
        (b"GET /" + b"a" * 200_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n", b"4"),
        (b"GET / HTTP/1.1\r\nHost: x\r\nX: " + b"a" * 200_000 + b"\r\n\r\n", b"4"),
        (b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n", b"400"),
        (b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: a\r\n\r\n", b"400"),
        (b"GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n", b"4"),
    ],
)
def test_what_is_no_request_is_answered_in_json(
    served: Served, sent: bytes, status: bytes
) -> None:
    """And the next client is served."""
    host, port = served.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), TIMEOUT_S) as one:
        one.sendall(sent)
        answer = b""
        while part := one.recv(65_536):
            answer += part
            head, _, body = answer.partition(b"\r\n\r\n")
            if body.endswith(b"}"):
                break

    assert head.split()[1].startswith(status), head
    assert b"application/json" in head
    assert json.loads(body)["error"]
    assert served.ask("GET", "/healthz").status_code == 200


def test_a_change_needs_the_version_that_was_read(served: Served, home: Path) -> None:
    """Of two that read the same version, the second is told, and shown, the first's."""
    save("rota", "Ann is on call.", type="fact")
    path = f"{MEMORIES}/rota"
    version = served.ask("GET", path).headers["etag"]
    change = {"content": "Ben is on call.", "supersede_reason": "holidays"}

    assert served.ask("PATCH", path, json=change).status_code == 428
    first = served.ask("PATCH", path, json=change, headers={"If-Match": version})
    before = notes_of(home)
    late = {**change, "content": "Cem is on call."}
    second = served.ask("PATCH", path, json=late, headers={"If-Match": version})

    assert (first.status_code, first.json()["content"]) == (200, "Ben is on call.")
    told = second.json()
    assert (second.status_code, told["expected"]) == (412, version)
    assert told["current"] == first.headers["etag"] != version
    assert told["entry"]["content"] == "Ben is on call."
    gone = served.ask("DELETE", path, headers={"If-Match": version})
    assert gone.status_code == 412
    assert notes_of(home) == before
    gone = served.ask("DELETE", path, headers={"If-Match": told["current"]})
    assert gone.json() == {"success": True, "deleted": True}


def test_a_conflict_names_the_version_of_the_same_scope(
    served: Served, home: Path
) -> None:
    """Of two scopes with the key, the answer was 400, or the other scope's memory."""
    save("rota", "Ann, everywhere.", "projects/web", type="fact")
    active = save("rota", "Ben, of the shop.", "projects/shop", type="fact")
    note = home / "memory" / "projects" / "shop" / "rota.md"
    copy = f"01K{'E' * 23}"
    text = note.read_text(encoding="utf-8").replace(active, copy)
    note.with_name("rota (copy).md").write_text(text, encoding="utf-8")
    change = {"content": "Cem, of the shop.", "supersede_reason": "holidays"}

    late = served.ask(
        "PATCH", f"{MEMORIES}/{copy}", json=change, headers={"If-Match": "*"}
    )

    told = late.json()
    assert late.status_code == 412, told
    assert told["entry"]["id"] == active
    assert told["entry"]["content"] == "Ben, of the shop."
    version = served.ask("GET", f"{MEMORIES}/{active}").headers["etag"]
    assert told["current"] == version


def test_of_many_that_change_one_version_one_does(served: Served, home: Path) -> None:
    """Whatever is sent at once: no change is lost without a word."""
    from concurrent.futures import ThreadPoolExecutor

    save("counter", "Nobody yet.", type="fact")
    path = f"{MEMORIES}/counter"
    version = served.ask("GET", path).headers["etag"]

    def change(number: int) -> int:
        sent = {"content": f"Writer {number}.", "supersede_reason": "race"}
        return served.ask(
            "PATCH", path, json=sent, headers={"If-Match": version}
        ).status_code

    with ThreadPoolExecutor(32) as pool:
        statuses = sorted(pool.map(change, range(32)))

    assert statuses == [200] + [412] * 31
    assert len(notes_of(home)) == 2


def test_a_page_of_a_list_is_what_its_numbers_say(served: Served) -> None:
    """Together the pages are all that fit, each once, newest first."""
    known = [save(f"fact-{n}", f"The number is {n}.", type="fact") for n in range(7)]
    save("other", "No fact.", type="decision")

    pages = [
        served.ask("GET", f"{MEMORIES}?type=fact&limit=3&offset={offset}").json()
        for offset in (0, 3, 6, 9)
    ]

    assert [page["total"] for page in pages] == [7] * 4
    assert [len(page["data"]) for page in pages] == [3, 3, 1, 0]
    found = [row["id"] for page in pages for row in page["data"]]
    assert sorted(found) == sorted(known)
    one = served.ask("GET", f"{MEMORIES}?q=NUMBER+3").json()
    assert [row["key"] for row in one["data"]] == ["fact-3"]


def test_a_change_keeps_what_it_does_not_name(served: Served) -> None:
    """What it contradicts, its last day, its source, and the entries below."""
    save("port", "The port is 5432.")
    known = save("new", "The port is 1.", contradicts=("port",), expires="2999-01-01")
    with opening.open_memory() as memory:
        path = Path(memory.places.notes) / memory.curation.show(known).memory.path
    below = f"<!-- hm id=01K{'E' * 23} source=external at=2026-11-21T14:03:11+01:00 -->"
    text = path.read_text().replace("source: agent", "source: external")
    path.write_text(f"{text}\n\n{below}\nThe port is 2.\n")

    changes = {"supersede_reason": "more", "importance": 0.9}
    for change in (changes, {**changes, "content": "The port is 3."}):
        url = "/api/v1/memories/new"
        reply = served.ask("PATCH", url, json=change, headers={"If-Match": "*"})
        assert reply.status_code == 200, reply.text

    with opening.open_memory() as memory:
        details = memory.curation.show("new")
    kinds = {edge.kind for edge in details.edges if edge.key == "port"}
    assert kinds == {"contradicts"}
    assert (details.memory.expires, details.memory.source) == ("2999-01-01", "external")
    assert path.read_text().endswith(f"The port is 3.\n\n\n{below}\nThe port is 2.\n")
