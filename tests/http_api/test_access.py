"""No route tells of a scope that the caller may not see, whatever is tried there."""

from __future__ import annotations

import os
import random
import subprocess
from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest

from hivemind_memory import opening
from hivemind_memory.model.curation import MemorySelector
from tests.http_api.served import Served, add_token, save, serving
from tests.support.access_matrix import PAIRS, make_twins
from tests.support.http_matrix import Request, http_reads, http_writes, send
from tests.support.tiers import mostly_thorough, part

PARTS = 2 * len(PAIRS)
"""Of all requests; each pair tries one of them in a run."""

RUN = os.environ.get("PYTEST_XDIST_TESTRUNUID") or str(random.SystemRandom().random())
"""One for all processes of a run."""


@pytest.fixture
def seed() -> str:
    """Another one in each run, printed when a test fails; set it to repeat that run."""
    drawn = os.environ.get("ACCESS_SEED") or RUN
    print(f"ACCESS_SEED={drawn}")
    return drawn


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("caller", "hidden"), mostly_thorough(PAIRS, every=2, are_rows=True)
)
def test_routes_answer_as_if_the_other_scope_were_not_there(
    home: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caller: str,
    hidden: str,
    seed: str,
) -> None:
    """A part of all requests for each pair, another part in each run."""
    assert home.is_dir()
    monkeypatch.setenv("HIVEMIND_HOME", "")  # undone when the test ends
    twins = make_twins(tmp_path, caller, hidden)
    first = PAIRS.index((caller, hidden)) + random.Random(seed).randrange(PARTS)

    def part_of(requests: list[Any]) -> list[Any]:
        return list(part(requests[first % PARTS :: PARTS], first, of=3))

    reads, writes = part_of([*http_reads(hidden)]), part_of([*http_writes(hidden)])
    own = {"key": "gnu", "content": "A gnu is allowed."}
    writes.append(Request("POST", "/api/v1/memories", body=own))

    leaks = twins.leaks(lambda side: send(side, [*reads, *writes, *reads[:9]]))

    assert leaks == []
    assert twins.are_changed


def test_a_token_that_only_reads_changes_nothing(served: Served, home: Path) -> None:
    """Whatever the route; what it reads is what any other of its scopes reads."""
    known = save("plan", "The shop opens at nine.", "project/shop")
    token = add_token("look", project="shop", is_read_only=True)
    before = _files(home)

    assert served.ask("GET", f"/api/v1/memories/{known}", token=token).is_success
    for request in http_writes("projects/shop"):
        answer = served.ask(
            request.method, request.path, token=token, json=request.body or {}
        )
        if answer.status_code == 404:  # the path has one more part
            continue
        assert (answer.status_code, answer.json()["error"]) == (
            403,
            "this token only reads",
        )
        if request.body and request.body.get("key") == "type-20":
            break
    assert _files(home) == before


def test_a_visitor_sees_what_is_public_and_nothing_else(home: Path) -> None:
    """What is private, or of a project that is not public, is as if it were absent."""
    (home / "config.json").write_text(
        '{"memory": {"projects": {"open": {"visibility": "public"},'
        ' "shut": {"visibility": "private"}}}}',
        encoding="utf-8",
    )
    seen = [
        save("a", "The okapi is for all."),
        save("b", "The okapi of the open one.", "project/open"),
    ]
    hidden = [
        save("c", "A private okapi.", visibility="private"),
        save("d", "A private okapi of it.", "project/open", visibility="private"),
        save("e", "The okapi of the shut one.", "project/shut"),
        save("f", "The okapi of another one.", "project/other"),
        save("g", "The okapi of a team.", "team/red"),
        save("h", "The okapi of a workspace.", "workspace/web"),
    ]
    old = save("i", "An okapi that was.")
    new = save("i", "An okapi that is.", reason="time goes on")
    with serving("--public") as served:

        def get(path: str) -> Any:
            return served.ask("GET", path, token=None)

        rows = get("/api/v1/memories?status=all").json()
        assert {row["id"] for row in rows["data"]} == {*seen, old, new}
        hits = get("/api/v1/search?q=okapi&max_results=50&min_score=0").json()["hits"]
        assert {hit["id"] for hit in hits} == {*seen, new}
        for known in seen:
            assert get(f"/api/v1/memories/{known}").status_code == 200
        for known in (*hidden, *"cdefgh"):
            for ending in ("", "/chain", "/edges"):
                answer = get(f"/api/v1/memories/{known}{ending}")
                assert answer.status_code == 404, (known, ending)
                assert answer.json() == {"error": f"Memory '{known}' not found"}
        assert len(get("/api/v1/memories/i/chain").json()["data"]) == 1
        assert get("/api/v1/notes").json() == {"data": [], "total": 0}
        assert get("/api/v1/notes/a.md").status_code == 404
        status = get("/api/v1/status").json()
        assert status["memory"] is None
        assert status["caller"]["scopes"] == ["global", "projects/open"]


def _files(home: Path) -> dict[str, bytes]:
    """Every note, with its bytes."""
    notes = home / "memory"
    return {str(path): path.read_bytes() for path in notes.rglob("*.md")}


def test_the_servers_own_token_reads_no_secret_and_nothing_forgotten(
    served: Served, home: Path
) -> None:
    """It sees every scope, as an agent does: its programs send on what they read."""
    body = [b64encode(random.randbytes(48)).decode() for _ in range(24)]
    begin, end = (f"-----{word} RSA PRIVATE KEY-----" for word in ("BEGIN", "END"))
    lines = ["# Keys", "", begin, *body, end, ""]
    (home / "memory" / "keys.md").write_text("\n".join(lines))
    with opening.open_memory() as memory:
        written = memory.write("The plan is to leave in spring.", file="diary.md")
        memory.forget(MemorySelector(name=written.id))

    middle = served.ask("GET", "/api/v1/notes/keys.md?from=8&lines=1").json()
    diary = served.ask("GET", "/api/v1/notes/diary.md").json()

    assert lines[7] not in middle["text"]
    assert "spring" not in diary["text"]


def test_the_servers_own_token_spells_out_no_secret(served: Served, home: Path) -> None:
    """A list that a word narrows says whether a memory has it, masked or not."""
    save("login", "The database has a password.", type="fact")
    note = home / "memory" / "login.md"
    note.write_text(f"{note.read_text()}\npassword=hunter2-Xq9zz\n")

    totals = [
        served.ask("GET", f"/api/v1/memories?q={word}").json()["total"]
        for word in ("database", "hunter2-Xq9z", "hunter3")
    ]

    assert totals == [1, 0, 0]


def test_a_token_that_only_reads_makes_no_project(
    served: Served, home: Path, tmp_path: Path
) -> None:
    """To name a folder was enough: its repository got a folder and a name."""
    shop = tmp_path / "shop"
    subprocess.run(["git", "init", "-q", shop], check=True)
    headers = {"Hivemind-Project": str(shop)}
    reader, writer = add_token("reader", is_read_only=True), add_token("writer")

    answer = served.ask("GET", "/api/v1/search?q=a", token=reader, headers=headers)

    assert answer.status_code == 200
    assert not (home / "memory" / "projects").exists()
    served.ask("GET", "/api/v1/search?q=a", token=writer, headers=headers)
    assert (home / "memory" / "projects" / "shop" / ".project").exists()
