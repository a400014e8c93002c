"""Sessions of browsers: what one token begins ends no session of another reader.

And a stream of changes ends with the session that it belongs to.
"""

from __future__ import annotations

import httpx
import pytest

from hivemind_memory.access.rules import OWNER
from hivemind_memory.dashboard.sessions import SESSION_S, Sessions
from hivemind_memory.http_api.event_feed import Listener
from tests.dashboard.reader import Reader
from tests.http_api.served import TIMEOUT_S, Served, add_token, save


def test_logins_with_a_token_log_nobody_else_out() -> None:
    """One that only reads logged the owner out: the oldest of all sessions ended."""
    sessions = Sessions("own", None, now_s=lambda: 0.0)
    link = sessions.follow(sessions.new_link())
    begun = [sessions.log_in("own") for _ in range(1001)]
    first, last = begun[0], begun[-1]
    assert link is not None
    assert first is not None
    assert last is not None
    assert sessions.find(link.secret) is not None
    assert sessions.find(first.secret) is None
    assert sessions.find(last.secret) is not None


@pytest.mark.parametrize("token", ["", "bot"])
def test_a_stream_ends_when_its_reader_logs_out(served: Served, token: str) -> None:
    """It went on telling where something was saved."""
    with Reader(served) as reader, httpx.Client(base_url=served.url) as listening:
        if token:
            reader.log_in(add_token(token))
        else:
            reader.follow_link()
        listening.cookies.update(reader.client.cookies)
        address = "/memory/events"
        with listening.stream("GET", address, timeout=TIMEOUT_S) as stream:
            lines = stream.iter_lines()
            assert next(lines).startswith("retry")
            reader.send("/logout")
            save("deploy-day", "We deploy on Mondays.")
            assert not any(line.startswith("data") for line in lines)


def test_a_stream_is_only_for_the_reader_of_its_page(reader: Reader) -> None:
    """A page that is older than a restart, or than another login, is refused."""
    of_page = reader.page("").text.partition('data-reader="')[2].partition('"')[0]
    found = {}
    for name in (of_page, "dashboard-0badcafe"):
        address = f"/memory/events?reader={name}"
        with reader.client.stream("GET", address) as stream:
            found[name] = stream.status_code

    assert found == {of_page: 200, "dashboard-0badcafe": 401}


def test_a_stream_is_over_after_twelve_hours() -> None:
    """As its session is; that of a visitor, who has none, is not."""
    now = [0.0]
    sessions = Sessions("own", None, now_s=lambda: now[0])
    session = sessions.follow(sessions.new_link())
    listeners = {
        name: Listener(OWNER, None, lambda of=of: sessions.is_over(of))
        for name, of in {"reader": session, "visitor": None}.items()
    }
    assert not any(each.is_outdated(()) for each in listeners.values())

    now[0] = SESSION_S

    outdated = {name: each.is_outdated(()) for name, each in listeners.items()}
    assert outdated == {"reader": True, "visitor": False}
