"""The stream of events: what changed, whoever changed it, for whom it is."""

from __future__ import annotations

import asyncio
import json
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from pathlib import Path

import httpx
import pytest

from hivemind_memory import opening
from hivemind_memory.curation.access_tokens import AccessTokens
from hivemind_memory.http_api import event_feed
from hivemind_memory.http_api.event_feed import EventFeed, Listener
from hivemind_memory.http_api.recent_events import RecentEvents
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
        assert next(lines) == "retry: 2000"
        first = next(lines)
        assert first.startswith("id: ")
        assert next(lines) == ""
        yield Events(lines, first[4:])


class Events:
    """What a client receives."""

    def __init__(self, lines: Iterator[str], first: str) -> None:
        self._lines = lines
        self.id = first

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
    """It names the last event that it has, or the place where its stream began."""
    with listening(served) as events:
        begun = events.id
        first = save("one", "The first one.")
        told = events.next("saved")
        known = events.id
    second, third = save("two", "The second."), save("three", "And a third text.")

    with listening(served, Last_Event_ID=known) as events:
        assert [events.next("saved")["id"] for _ in "23"] == [second, third]
    with listening(served, Last_Event_ID=begun) as events:
        assert [events.next("saved")["id"] for _ in "123"] == [first, second, third]
    with listening(served, Last_Event_ID=begun) as events:
        assert events.next("indexed")["path"] == told["path"]
        assert events.id not in {begun, known}


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

    # No part of one is a part of the other, nor of another id of the same place.
    assert not {first[at : at + 16] for at in (0, 16, 32)} & {
        second[at : at + 16] for at in (0, 16, 32)
    }
    assert len(first) == len(second) == 48
    recent = RecentEvents(10)
    assert recent.id_of(7)[16:] != recent.id_of(7)[16:]


def test_a_client_whose_id_is_not_known_is_told_to_read_everything_anew(
    served: Served,
) -> None:
    """It was met with silence, and kept what it had read for ever.

    A number, as earlier versions sent, is no id, nor is one of another process.
    """
    save("old", "From before.")
    for given in ("0", "z" * 26, "9" * 5_000, "a" * 48, RecentEvents(1).id_of(1)):
        with listening(served, Last_Event_ID=given) as events:
            assert events.next("reset") == {}
            new = save(f"new-{given[:5].lower()}", f"A text of its own {given[:5]}.")
            assert events.next("saved")["id"] == new


def feed_told(memory: Memory, then: Callable[[], object]) -> tuple[bool, list[str]]:
    """Return what a client is told that connects again after *then*: whether it must
    read everything anew, and which memories were saved."""

    async def told() -> tuple[bool, list[str]]:
        feed = EventFeed(lambda: nullcontext(memory))
        listener = Listener(memory.caller)
        known, _ = await feed.add(listener, "")
        feed.remove(listener)
        then()
        _, is_reset = await feed.add(listener, known)
        feed.remove(listener)
        told = listener.take()
        return is_reset, [item.path for item in told if item.kind == "saved"]

    return asyncio.run(told())


def test_a_client_that_missed_too_much_is_told_to_read_everything_anew(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While others listened, and while nobody did."""
    assert home.is_dir()
    recent = RecentEvents(3)
    recent.add(MemoryEvent(kind="saved", scope="", path=f"{at}.md") for at in range(5))
    assert [item.path for item in recent.after(2) or ()] == ["2.md", "3.md", "4.md"]
    assert recent.after(1) is None
    monkeypatch.setattr(event_feed, "MAX_WAITING", 2)
    with opening.open_memory() as memory:

        def save_three() -> None:
            for key in ("first", "second", "third"):
                save(key, f"It is the {key}.")

        assert feed_told(memory, save_three) == (True, [])


def test_what_was_purged_meanwhile_is_not_told_to_who_connects_again(
    home: Path,
) -> None:
    """Nor is what came after it lost."""
    assert home.is_dir()
    with opening.open_memory() as memory:

        async def told() -> list[str]:
            feed = EventFeed(lambda: nullcontext(memory))
            listener = Listener(memory.caller)
            known, _ = await feed.add(listener, "")
            save("secret", "To be purged.")
            save("later", "After it.")
            await feed._look()
            feed.remove(listener)
            memory.curation.purge(MemorySelector(name="secret"))
            late = Listener(memory.caller)
            assert not (await feed.add(late, known))[1]
            feed.remove(late)
            return [item.path for item in late.take() if item.kind == "saved"]

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


def test_a_change_while_a_client_is_added_is_told_it_once(home: Path) -> None:
    """The feed looked for changes while it read what the client had missed."""
    assert home.is_dir()
    with opening.open_memory() as memory:

        async def told() -> list[str]:
            feed = EventFeed(lambda: nullcontext(memory))
            known, _ = await feed.add(Listener(memory.caller), "")
            save("first", "Before.")
            async with feed._lock:
                await feed._look()
            without_purged = feed._without_purged

            def slow(missed: list[MemoryEvent]) -> list[MemoryEvent]:
                missed = without_purged(missed)
                save("second", "Meanwhile.")
                time.sleep(3 * event_feed.POLL_S)
                return missed

            feed._without_purged = slow  # type: ignore[method-assign]
            late = Listener(memory.caller)
            await feed.add(late, known)
            await asyncio.sleep(3 * event_feed.POLL_S)
            for listener in list(feed._listeners):
                feed.remove(listener)
            return [item.path for item in late.take() if item.kind == "saved"]

        assert asyncio.run(told()) == ["first.md", "second.md"]


def test_who_connects_while_the_last_one_leaves_is_still_told(home: Path) -> None:
    """The watch ended with the one that left: the new stream was silent for good."""
    assert home.is_dir()
    with opening.open_memory() as memory:

        async def told() -> list[str]:
            feed = EventFeed(lambda: nullcontext(memory))
            old, new = Listener(memory.caller), Listener(memory.caller)
            known, _ = await feed.add(old, "")
            save("missed", "Before the new one.")
            async with feed._lock:
                await feed._look()
            loop, without_purged = asyncio.get_running_loop(), feed._without_purged

            def leave(missed: list[MemoryEvent]) -> list[MemoryEvent]:
                loop.call_soon_threadsafe(feed.remove, old)
                time.sleep(event_feed.POLL_S / 4)
                return without_purged(missed)

            feed._without_purged = leave  # type: ignore[method-assign]
            await feed.add(new, known)
            assert [item.path for item in new.take() if item.number] == ["missed.md"]
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
