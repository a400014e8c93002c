"""The page of a session names what it saved, and what of it waits in the inbox."""

from __future__ import annotations

import html
import re
from pathlib import Path

import pytest

from hivemind_memory import opening
from hivemind_memory.dashboard.render import Renderer
from hivemind_memory.model.activity import ActivityHit
from hivemind_memory.state.activity_log import ActivityRow
from tests.dashboard.reader import Reader
from tests.http_api.served import Served, add_token, save, serving


def test_a_session_links_to_its_claims_in_the_inbox(served: Served) -> None:
    """What a capture proposes waits there; a reader of other scopes sees neither."""
    save("lion", "It sleeps.", "project/shop", session="5e55a", is_proposal=True)

    with Reader(served) as owner:
        owner.follow_link()
        shown = owner.page("/sessions?session=5e55a").text
        assert ">1 claim of this session in the inbox</a>" in shown
        assert "lion" in owner.page("/inbox").text
    with Reader(served) as ci:
        ci.log_in(add_token("ci", project="site"))
        assert ci.page("/sessions?session=5e55a").status_code == 404


def test_a_browser_saves_in_its_own_session(served: Served) -> None:
    """What a person saved was listed with what any client of the server had saved."""
    new = {"key": "lion", "content": "It sleeps.", "type": "fact"}
    assert served.ask("POST", "/api/v1/memories", json=new).status_code == 201
    with Reader(served) as owner, Reader(served) as other:
        for number, reader in enumerate((owner, owner, other)):
            reader.follow_link()
            reader.send("/new", key=f"zebra-{number}", content="Its stripes.")
        pages = [
            owner.page(path).text
            for path in ("/lion", "/zebra-0", "/zebra-1", "/zebra-2")
        ]
    sessions = [re.findall(r"sessions\?session=([\w-]+)", page) for page in pages]
    assert [len(found) for found in sessions] == [1, 1, 1, 1]
    assert sessions[1][0].startswith("dashboard-")
    assert len({found[0] for found in sessions}) == 4


def test_the_newest_session_comes_first(served: Served, home: Path) -> None:
    """Those known by what they saved came after all that were known by messages."""
    row = {"label": "Bash", "content": "It sleeps."}
    path = "/workspaces/web/activity"
    assert served.ask("POST", path, json=row).status_code == 201
    for name, year in (("5e55b", 2_030), ("5e55c", 2_020)):
        front = f"key: {name}\ntype: fact\nsession: {name}\n"
        text = f"---\n{front}created: {year}-01-01T10:00:00+00:00\n---\nText.\n"
        (home / "memory" / f"{name}.md").write_text(text, encoding="utf-8")
    with Reader(served) as owner:
        owner.follow_link()
        page = owner.page("/sessions").text
    links = re.findall(r'class="open" href="[^"]*session=(\w*)"', page)
    assert len(links) == 3
    assert (links[0], links[2]) == ("5e55b", "5e55c")


def test_a_session_opens_though_no_transcripts_are_read(
    reader: Reader, served: Served
) -> None:
    """A call is kept with any settings: it was listed, and its page was not there."""
    row = {"label": "Bash", "content": "The zebra sleeps."}
    path = "/workspaces/web/activity"
    assert served.ask("POST", path, json=row).status_code == 201
    [link] = re.findall(
        r'class="open" href="/memory([^"]*)"', reader.page("/sessions").text
    )

    page = reader.page(html.unescape(link))

    assert page.status_code == 200
    assert "The zebra sleeps." in page.text


def test_a_long_session_is_read_a_page_at_a_time(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of more than 100 messages the page named a command that finds the others."""
    monkeypatch.setenv("HIVEMIND_ACTIVITY", "true")
    with opening.open_memory() as memory, opening.open_activity(memory) as activity:
        for number in range(200):
            text = f"message-{number:03}"
            activity.add(ActivityRow(kind="call", session="5e55a", content=text))
    found: list[str] = []
    with serving() as served, Reader(served) as owner:
        owner.follow_link()
        page = owner.page("/sessions?session=5e55a").text
        assert "The newest messages" not in page
        while True:
            found = re.findall(r"message-\d+", page) + found
            link = re.search(r'href="/memory([^"]*)">Earlier messages', page)
            if link is None:
                break
            page = owner.page(html.unescape(link[1]).partition("#")[0]).text
            assert "The newest messages" in page
        odd = owner.page("/sessions?session=5e55a&before=%22odd").text
    assert found == [f"message-{number:03}" for number in range(200)]
    assert re.findall(r"message-\d+", odd) == found[-100:]


def test_what_an_agent_said_is_shown_as_markdown() -> None:
    """Its signs were text, code too; what a tool returned is shown as it is."""
    said = [
        ActivityHit(
            id="t1",
            kind="transcript",
            at="2026-11-28T10:00:00+00:00",
            agent="claude",
            label=label,
            content="Run `make` **now**: <b>",
        )
        for label in ("assistant", "tool")
    ]
    names = ("may_change", "notice", "is_logged_in", "is_member", "is_person")
    frame = dict.fromkeys(("theme", "here", "address", "event", "reader"), "")
    values = {"session": "5e55a", "said": said, "saved": [], "waiting": 0}
    values |= {"earlier": "", "is_newest": True}
    values |= {**frame, "form_secret": "", "time": None, **dict.fromkeys(names)}

    page = Renderer().page("session.html", values)

    assert "Run <code>make</code> <strong>now</strong>: &lt;b&gt;" in page
    assert "Run `make` **now**: &lt;b&gt;" in page
