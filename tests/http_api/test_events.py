"""The stream of events: what changed, whoever changed it, for whom it is."""

from __future__ import annotations

import asyncio
import json
import signal
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from pathlib import Path

import httpx
import pytest

from hivemind_memory import opening
from hivemind_memory.curation.access_tokens import AccessTokens
from hivemind_memory.http_api import event_feed
from hivemind_memory.http_api.event_feed import EventFeed, Listener
from hivemind_memory.memory.memory import Memory
from hivemind_memory.model.curation import MemorySelector
from hivemind_memory.model.events import MemoryEvent
from tests.http_api.served import TIMEOUT_S, Served, add_token, save, serving

EVENTS = "/api/v1/events"


@pytest.fixture(autouse=True)
def _short_polls(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every server here look for changes four times as often."""
    monkeypatch.setattr(event_feed, "POLL_S", event_feed.POLL_S / 4)


@contextmanager
def listening(served: Served, token: str = "", **headers: str) -> Iterator[Events]:
    """Open a stream; what changes from now on is in it."""
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    if token != "visitor":
        sent["Authorization"] = f"Bearer {token or served.token}"
    url = served.url + EVENTS
    with (
        httpx.Client(trust_env=False, timeout=TIMEOUT_S) as client,
        client.stream("GET", url, headers=sent) as stream,
    ):
        assert stream.status_code == 200, stream.read()
        assert stream.headers["content-type"] == "text/event-stream"
        lines = stream.iter_lines()
        assert (next(lines), next(lines)) == ("retry: 2000", "")
        yield Events(lines)


class Events:
    """What a client receives."""

    def __init__(self, lines: Iterator[str]) -> None:
        self._lines = lines
        self.id = ""

    def next(self, kind: str) -> dict[str, str]:
        """Return the next event of a kind."""
        name = ""
        for line in self._lines:
            if line.startswith("id: "):
                self.id = line[4:]
            if line.startswith("event: "):
                name = line[7:]
            elif line.startswith("data: ") and name == kind:
                data: dict[str, str] = json.loads(line[6:])
                return data
        raise AssertionError("the stream has ended")


def test_what_another_process_changes_is_told(served: Served) -> None:
    """The server need not be the one that saves."""
    with listening(served) as events:
        first = save("deploy-day", "We deploy on Tuesdays.", "project/shop")

        told = events.next("saved")
        assert (told["id"], told["scope"]) == (first, "projects/shop")
        assert events.next("indexed")["path"] == told["path"]
        second = save("deploy-day", "On Mondays.", "project/shop", reason="a new rota")
        replaced = events.next("superseded")
        assert replaced.pop("at") >= told["at"]
        assert replaced == {"scope": told["scope"], "id": first, "byId": second}
        with opening.open_memory() as memory:
            memory.curation.forget(MemorySelector(name=second))
        assert events.next("forgotten")["id"] == second


def test_only_what_a_client_may_read_is_told(home: Path) -> None:
    """A token of one project hears nothing of another; a visitor nothing private."""
    assert home.is_dir()
    with serving("--public") as served, ExitStack() as stack:
        shop = add_token("ci", project="shop")
        of_shop = stack.enter_context(listening(served, shop))
        visitor = stack.enter_context(listening(served, "visitor"))

        save("hidden", "Of the blog.", "project/blog")
        save("mine", "Of nobody else.", visibility="private")
        ours = save("ours", "Of the shop.", "project/shop")
        everyones = save("open", "For everyone.")

        mine = of_shop.next("saved")
        assert mine["scope"] == "global"
        assert of_shop.next("saved")["id"] == ours
        assert visitor.next("saved")["id"] == everyones


def test_a_client_that_connects_again_misses_nothing(served: Served) -> None:
    """It names the last event that it has."""
    with listening(served) as events:
        save("one", "The first one.")
        events.next("saved")
    known = events.id
    second, third = save("two", "The second."), save("three", "And a third text.")

    with listening(served, Last_Event_ID=known) as events:
        assert [events.next("saved")["id"] for _ in "23"] == [second, third]


def test_the_ids_of_events_count_no_hidden_change(home: Path) -> None:
    """Two numbers told how much was saved meanwhile in scopes of others."""
    assert home.is_dir()
    with serving() as served:
        shop = add_token("ci", project="shop")
        with listening(served, shop) as events:
            save("first", "Of the shop.", "project/shop")
            events.next("saved")
            first = events.id
            for number in range(5):
                save(f"hidden-{number}", f"Of the blog, {number}.", "project/blog")
            save("second", "Of the shop, too.", "project/shop")
            events.next("saved")
            second = events.id

    assert first != second
    assert not first.isdigit()
    # The first letters are the time, which the events tell anyway; the rest is random.
    assert first[10:] != second[10:]
    assert len(first) == len(second) == 26


def test_an_id_of_no_change_brings_nothing_of_the_past(served: Served) -> None:
    """A number, as earlier versions sent, is none."""
    save("old", "From before.")
    for given in ("0", "1", "z" * 26, "x" * 100):
        with listening(served, Last_Event_ID=given) as events:
            new = save(f"new-{given[:5].lower()}", f"A text of its own {given[:5]}.")

            assert events.next("saved")["id"] == new


def test_after_the_id_of_a_purged_change_comes_what_was_changed_since(
    home: Path,
) -> None:
    """It was taken for no id: the client never learned of what came after it."""
    assert home.is_dir()
    save("before", "Long before.")
    save("secret", "To be purged.")
    with opening.open_memory() as memory:
        log = memory.curation.events
        purged = log.after(0)[-1].change_id
        save("later", "After it.")
        memory.curation.purge(MemorySelector(name="secret"))
        assert purged not in {item.change_id for item in log.after(0)}

        async def told() -> list[str]:
            feed = EventFeed(lambda: nullcontext(memory))
            listener = Listener(memory.caller)
            await feed.add(listener, purged)
            feed.remove(listener)
            return [item.path for item in listener.take() if item.kind == "saved"]

        assert asyncio.run(told()) == ["later.md"]


def test_a_stream_ends_when_its_project_gets_another_name(served: Served) -> None:
    """It went on telling what the old name means, which may be another project now."""
    save("plan", "The shop opens.", "project/shop")
    token = add_token("ci", project="shop")
    with listening(served, token) as events, opening.open_memory() as memory:
        memory.curation.projects.move("shop", "store", is_merge=False)
        save("foreign", "Of another shop.", "project/shop")

        with pytest.raises(AssertionError, match="the stream has ended"):
            events.next("saved")

    with listening(served, token) as events:
        save("later", "The store opens.", "project/store")
        assert events.next("saved")["scope"] == "projects/store"


def test_a_stream_ends_when_its_token_is_revoked(served: Served) -> None:
    """With the next change, and without telling it."""
    token = add_token("ci")
    with listening(served, token) as events, opening.open_memory() as memory:
        AccessTokens(memory.state(), memory.clocks, memory.caller).revoke("ci")
        save("later", "Not for it.")

        with pytest.raises(AssertionError, match="the stream has ended"):
            events.next("saved")


def test_the_server_ends_while_clients_listen(served: Served) -> None:
    """At once, and with nothing to say."""
    with ExitStack() as stack:
        for _ in range(20):
            stack.enter_context(listening(served))
        served.process.send_signal(signal.SIGTERM)

        assert served.process.wait(TIMEOUT_S) == 0
    assert served.process.stderr is not None
    assert served.process.stderr.read() == ""


def test_a_last_event_id_that_is_too_long_is_none(served: Served) -> None:
    """Python refuses to read so many digits: that is no defect of the server."""
    with listening(served, Last_Event_ID="9" * 5_000) as events:
        known = save("later", "Told as to a client that knows nothing.")
        assert events.next("saved")["id"] == known


def test_a_change_while_a_client_is_added_is_told_it_once(home: Path) -> None:
    """The feed looked for changes while it read what the client had missed."""
    assert home.is_dir()
    save("known", "Long before.")
    first = save("first", "Before.")
    with opening.open_memory() as memory:
        known = memory.curation.events.after(0)[0].change_id

        async def told() -> list[str]:
            feed = EventFeed(lambda: nullcontext(memory))
            await feed.add(Listener(memory.caller), "")
            changes_after = feed._changes_after

            def slow(after: str) -> tuple[MemoryEvent, ...]:
                missed = changes_after(after)
                save("second", "Meanwhile.")
                time.sleep(3 * event_feed.POLL_S)
                return missed

            feed._changes_after = slow  # type: ignore[method-assign]
            late = Listener(memory.caller)
            feed._last = memory.curation.events.last_number()
            await feed.add(late, known)
            await asyncio.sleep(3 * event_feed.POLL_S)
            for listener in list(feed._listeners):
                feed.remove(listener)
            return [item.path for item in late.take() if item.kind == "saved"]

        assert first
        assert asyncio.run(told()) == ["first.md", "second.md"]


def test_who_connects_while_the_last_one_leaves_is_still_told(home: Path) -> None:
    """The watch ended with the one that left: the new stream was silent for good."""
    assert home.is_dir()
    save("known", "Long before.")
    with opening.open_memory() as memory:
        known = memory.curation.events.after(0)[0].change_id

        async def told() -> list[str]:
            feed = EventFeed(lambda: nullcontext(memory))
            old, new = Listener(memory.caller), Listener(memory.caller)
            await feed.add(old, "")
            loop, changes_after = asyncio.get_running_loop(), feed._changes_after

            def leave(after: str) -> tuple[MemoryEvent, ...]:
                loop.call_soon_threadsafe(feed.remove, old)
                time.sleep(event_feed.POLL_S / 4)
                return changes_after(after)

            feed._changes_after = leave  # type: ignore[method-assign]
            await feed.add(new, known)
            save("later", "After both.")
            await asyncio.wait_for(new.woken.wait(), 60)
            feed.remove(new)
            return [item.path for item in new.take() if item.kind == "saved"]

        assert asyncio.run(told()) == ["later.md"]


def test_a_memory_that_is_saved_during_a_look_is_not_told_as_indexed_first(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The log was read before the notes: a save between the two came backwards."""
    assert home.is_dir()
    read_notes = event_feed._notes_of
    saved: list[str] = []

    def save_then_read(memory: Memory) -> dict[str, tuple[object, ...]]:
        if not saved:
            saved.append(save("plan", "The shop opens at nine.", "global"))
        return read_notes(memory)

    with opening.open_memory() as memory:
        feed = EventFeed(lambda: nullcontext(memory))
        feed._begin()
        save("other", "The tea is green.", "global")
        monkeypatch.setattr(event_feed, "_notes_of", save_then_read)

        told = [*feed._changed(), *feed._changed()]

    assert [one.kind for one in told if one.path == "plan.md"] == ["saved", "indexed"]
