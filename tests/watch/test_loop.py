"""The watcher over real folders and real events: what changes is seen, and how soon."""

from __future__ import annotations

import errno
import logging
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from hivemind_memory.errors import IndexBusyError
from hivemind_memory.model.results import EmbedResult
from hivemind_memory.model.snapshot import SETTLED_NS
from hivemind_memory.watch import leader_loop
from hivemind_memory.watch.change_detector import FOLDER_MISSING
from hivemind_memory.watch.events import (
    Embedded,
    Following,
    Leading,
    StateChanged,
    Synced,
    SyncFailed,
    WatchEvent,
    WatchState,
)
from hivemind_memory.watch.leader import Leadership
from hivemind_memory.watch.leader_loop import WatchSettings
from hivemind_memory.watch.observer import Listener
from tests.watch.fakes import SOON_S, FakeSource, FolderMemory, make_watcher, running
from tests.watch.styles import STYLES


@pytest.fixture
def memory(folder: Path) -> FolderMemory:
    return FolderMemory(folder)


def polls(event: WatchEvent) -> bool:
    return isinstance(event, StateChanged) and event.state.mode == "polling"


def is_native(event: WatchEvent) -> bool:
    return isinstance(event, StateChanged) and event.state.mode == "native"


@pytest.mark.parametrize("style", STYLES)
def test_every_way_to_save_reaches_the_memory(
    memory: FolderMemory, folder: Path, style: str
) -> None:
    """Whatever the steps of a save, its end is what the index holds."""
    with running(make_watcher(memory)):
        assert memory.holds(note="old text")
        before = memory.syncs

        STYLES[style](folder / "note.md", "old text and more")

        if style == "touch":
            assert memory.wait_for(lambda: memory.syncs > before)
        else:
            assert memory.holds(note="old text and more")


def test_what_changed_before_the_start_is_seen_at_the_start(
    memory: FolderMemory,
) -> None:
    """Edits made while nobody watched need no event."""
    with running(make_watcher(memory)) as events:
        assert memory.holds(note="old text")
        assert events.wait_for(
            lambda event: isinstance(event, Synced) and event.cause == "start"
        )


def test_what_changed_is_looked_at_once_more_when_it_has_settled(
    memory: FolderMemory, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A young note has no signature to rely on: every search would read it again."""
    assert leader_loop.SETTLE_S > SETTLED_NS / 1e9
    monkeypatch.setattr(leader_loop, "SETTLE_S", 0.1)
    with running(make_watcher(memory)) as events:
        assert memory.holds(note="old text")

        assert events.wait_for(
            lambda event: isinstance(event, Synced) and event.cause == "settle"
        )


def test_a_burst_of_files_is_seen_whole_in_few_looks(
    memory: FolderMemory, folder: Path
) -> None:
    """A checkout must not cost one sync for each file."""
    with running(make_watcher(memory)):
        assert memory.holds(note="old text")
        before = memory.syncs

        for number in range(400):
            (folder / f"{number}.md").write_text("text")

        assert memory.wait_for(lambda: len(memory.notes) == 401)
        assert memory.syncs - before < 40


def test_notes_in_folders_made_while_watching_are_seen(
    memory: FolderMemory, folder: Path
) -> None:
    """A new project: folder after folder, then notes, then edits."""
    with running(make_watcher(memory)):
        assert memory.holds(note="old text")
        deep = folder / "projects" / "new"

        deep.mkdir(parents=True)
        (deep / "note.md").write_text("first")
        assert memory.wait_for(
            lambda: memory.notes.get("projects/new/note.md") == b"first"
        )
        (deep / "note.md").write_text("second")

        assert memory.wait_for(
            lambda: memory.notes.get("projects/new/note.md") == b"second"
        )


def test_writing_the_index_does_not_cause_a_look(
    memory: FolderMemory, folder: Path
) -> None:
    """Else a watcher would wake itself for ever."""
    (folder / ".index").mkdir()
    with running(make_watcher(memory)):
        assert memory.holds(note="old text")
        before = memory.syncs

        for number in range(50):
            (folder / ".index" / "memory.db").write_text(str(number))
        (folder / "note.md").write_text("new")

        assert memory.holds(note="new")
        assert memory.syncs - before <= 2


def test_an_edit_is_visible_without_waiting_for_a_rescan(
    memory: FolderMemory, folder: Path
) -> None:
    """How soon after the quiet time, benchmarks/speed.py shows."""
    settings = WatchSettings(quiet_s=0.1, rescan_s=3600)

    with running(make_watcher(memory, settings=settings)) as events:
        assert memory.holds(note="old text")
        for number in range(7):
            (folder / "note.md").write_text(str(number))
            assert memory.holds(note=str(number))

    found = [event for event in events.of(Synced) if event.result.updated]
    assert {event.cause for event in found} == {"hint"}


def test_a_muted_source_is_found_out_and_replaced_by_looking(
    memory: FolderMemory, folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Found within one poll interval, without a traceback, and the log says so."""
    with running(make_watcher(memory, source=FakeSource)) as events:
        assert memory.holds(note="old text")
        assert events.wait_for(polls)

        (folder / "note.md").write_text("new")

        assert memory.holds(note="new")
        assert events.wait_for(
            lambda event: isinstance(event, Synced) and event.cause == "poll"
        )
    assert any("polling" in line for line in caplog.messages)
    assert not [record for record in caplog.records if record.exc_info]


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EMFILE, errno.ENOSYS])
def test_without_watches_or_instances_changes_are_seen(
    memory: FolderMemory,
    folder: Path,
    caplog: pytest.LogCaptureFixture,
    number: int,
) -> None:
    """Found within one poll interval, without a traceback."""

    def refuse(folder: str, listener: Listener) -> FakeSource:
        raise OSError(number, "no")

    with running(make_watcher(memory, source=refuse)) as events:
        assert events.wait_for(polls)
        assert memory.holds(note="old text")

        (folder / "note.md").write_text("new")

        assert memory.holds(note="new")
    assert not [record for record in caplog.records if record.exc_info]


def test_a_network_folder_is_polled_besides_its_events(
    memory: FolderMemory, folder: Path
) -> None:
    """Own edits are seen by events, those of others by looking."""
    source = FakeSource()
    source.spoke = True

    def opens(folder: str, listener: Listener) -> FakeSource:
        source.listener = listener
        return source

    watcher = make_watcher(memory, source=opens, type_of=lambda _folder: "nfs4")
    with running(watcher) as events:
        assert events.wait_for(polls)
        (folder / "note.md").write_text("by another machine")
        assert memory.holds(note="by another machine")
        source.say()
        assert events.wait_for(
            lambda event: isinstance(event, Synced) and event.cause == "hint"
        )


def test_a_change_that_only_a_rescan_found_makes_it_poll(
    memory: FolderMemory, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A source can fall silent later; the next change must not wait a minute again."""
    monkeypatch.setattr(leader_loop, "LATE_EVENT_S", 0.5)
    source = FakeSource()
    source.spoke = True
    settings = WatchSettings(quiet_s=0.05, rescan_s=0.2)
    watcher = make_watcher(memory, source=lambda *_: source, settings=settings)
    with running(watcher) as events:
        assert memory.holds(note="old text")
        assert events.wait_for(is_native)

        (folder / "note.md").write_text("unheard")

        assert events.wait_for(polls)
        assert memory.holds(note="unheard")


def test_an_announced_change_does_not_make_it_poll(
    memory: FolderMemory, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A rescan that comes before the end of the quiet time discredits no source."""
    monkeypatch.setattr(leader_loop, "LATE_EVENT_S", 0.05)
    settings = WatchSettings(quiet_s=0.5, rescan_s=0.1)
    with running(make_watcher(memory, settings=settings)) as events:
        assert memory.holds(note="old text")
        (folder / "note.md").write_text("takes the haste of the first change")
        assert memory.wait_for(lambda: memory.syncs > 1)

        (folder / "note.md").write_text("found by a rescan")
        assert memory.holds(note="found by a rescan")
        seen = memory.syncs
        assert memory.wait_for(lambda: memory.syncs > seen + 1)

        assert events.of(Synced)
        assert not any(map(polls, events.events))


def test_a_folder_that_comes_back_is_watched_again(
    memory: FolderMemory, folder: Path
) -> None:
    """A drive is taken away and mounted again, a checkout replaces everything."""
    with running(make_watcher(memory)) as events:
        assert memory.holds(note="old text")

        folder.rename(folder.with_name("away"))
        assert events.wait_for(
            lambda event: (
                isinstance(event, StateChanged) and event.state.reason == FOLDER_MISSING
            )
        )
        assert memory.notes, "a missing folder is not an empty memory"
        folder.mkdir()
        (folder / "other.md").write_text("new")
        assert memory.holds(other="new")
        assert events.wait_for(lambda _: len(events.of(StateChanged)) >= 3)
        (folder / "other.md").write_text("newer")

        assert memory.holds(other="newer")


def test_a_folder_replaced_by_another_is_noticed(
    memory: FolderMemory, folder: Path, tmp_path: Path
) -> None:
    """`mv memory old; mv new memory`: the old one's events say nothing."""
    (tmp_path / "new").mkdir()
    (tmp_path / "new" / "other.md").write_text("new")
    with running(make_watcher(memory)):
        assert memory.holds(note="old text")

        folder.rename(tmp_path / "old")
        (tmp_path / "new").rename(folder)

        assert memory.holds(other="new")


def test_no_folder_at_the_start_is_waited_for(tmp_path: Path) -> None:
    """`hm watch` may be started at login, before the drive is there."""
    memory = FolderMemory(tmp_path / "memory")
    with running(make_watcher(memory)) as events:
        assert events.wait_for(polls)
        assert memory.syncs == 0

        memory.folder.mkdir()
        (memory.folder / "note.md").write_text("text")

        assert memory.holds(note="text")


@pytest.mark.parametrize("error", [RuntimeError("odd"), IndexBusyError("busy")])
def test_a_failed_sync_is_told_and_tried_again(
    memory: FolderMemory,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    error: Exception,
) -> None:
    """A watcher that ends silently is a stale index that nobody notices."""
    monkeypatch.setattr(leader_loop, "FIRST_RETRY_S", 0.05)
    memory.errors = [error, error]
    with running(make_watcher(memory)) as events, caplog.at_level(logging.WARNING):
        assert events.wait_for_type(Synced)

    failed = events.of(SyncFailed)
    assert [event.error for event in failed] == [error, error]  # type: ignore[attr-defined]
    assert "tried again" in caplog.text


def test_hints_during_a_rest_do_not_shorten_it(
    memory: FolderMemory, folder: Path
) -> None:
    """A broken index under a busy folder must not become a busy loop."""
    memory.errors = [RuntimeError("odd")] * 50
    with running(make_watcher(memory)) as events:
        assert events.wait_for_type(SyncFailed)
        for number in range(20):
            (folder / "note.md").write_text(str(number))
        assert not memory.wait_for(lambda: memory.syncs > 1, timeout_s=0.3)


def test_a_folder_lost_while_waiting_for_a_retry_is_waited_for_calmly(
    memory: FolderMemory, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A date in the past that nothing clears would be a busy loop."""
    monkeypatch.setattr(leader_loop, "FIRST_RETRY_S", 0.01)
    source = FakeSource()
    memory.errors = [RuntimeError("odd")]
    monkeypatch.setattr(
        memory, "sync", lambda sync=memory.sync: (folder.rename(f"{folder}-"), sync())
    )
    with running(make_watcher(memory, source=lambda *_: source)) as events:
        assert events.wait_for_type(SyncFailed)
        assert not events.wait_for(lambda _: len(source.refreshes) > 5, timeout_s=0.2)
        looks = len(source.refreshes)

    assert looks <= 5


def test_indexing_does_not_wait_for_vectors(
    memory: FolderMemory, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A provider may take a minute; text is found at once all the same."""
    is_asked, may_answer = threading.Event(), threading.Event()

    def embed(*, should_stop: Callable[[], bool]) -> EmbedResult:
        is_asked.set()
        may_answer.wait(SOON_S)
        return EmbedResult(embedded=3)

    monkeypatch.setattr(memory, "embed_pending", embed)
    with running(make_watcher(memory)) as events:
        assert is_asked.wait(SOON_S)
        (folder / "note.md").write_text("new")

        assert memory.holds(note="new")

        assert not events.of(Embedded)
        may_answer.set()
        assert events.wait_for_type(Embedded)


def test_vectors_are_asked_for_after_each_look_that_was_hinted(
    memory: FolderMemory, folder: Path
) -> None:
    """Other processes index what they write and leave the vectors to the leader."""
    with running(make_watcher(memory)):
        assert memory.wait_for(lambda: memory.embeds == 1)

        STYLES["touch"](folder / "note.md", "")

        assert memory.wait_for(lambda: memory.embeds >= 2)


def test_stopping_waits_for_no_provider(
    memory: FolderMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Promise: a signal ends it within a second (``running`` asserts that)."""
    is_asked, may_answer = threading.Event(), threading.Event()

    def embed(*, should_stop: Callable[[], bool]) -> EmbedResult:
        is_asked.set()
        may_answer.wait(SOON_S)
        assert should_stop()
        return EmbedResult()

    monkeypatch.setattr(memory, "embed_pending", embed)
    with running(make_watcher(memory)):
        assert is_asked.wait(SOON_S)
    may_answer.set()


def test_nothing_is_left_behind(
    memory: FolderMemory, folder: Path, tmp_path: Path
) -> None:
    """No thread, no lock, no state, no file among the notes."""
    before = set(threading.enumerate())
    with running(make_watcher(memory)) as events:
        assert events.wait_for(is_native)
        assert memory.holds(note="old text")

    assert set(threading.enumerate()) <= before
    assert [path.name for path in folder.iterdir()] == ["note.md"]
    assert [path.name for path in (tmp_path / "index").iterdir()] == ["leader.lock"]
    lock = tmp_path / "index" / "leader.lock"
    assert Leadership(str(lock), state_path=f"{lock}.state").holder() == ""


def test_what_the_listener_raises_ends_the_run_cleanly(memory: FolderMemory) -> None:
    """A closed pipe at the other end of `hm watch | head` must end it."""
    before = set(threading.enumerate())

    def raises(event: WatchEvent) -> None:
        if isinstance(event, Synced):
            raise BrokenPipeError

    with pytest.raises(BrokenPipeError):
        make_watcher(memory).run(threading.Event(), raises)

    assert set(threading.enumerate()) <= before


def test_others_learn_how_the_leader_watches(
    memory: FolderMemory, tmp_path: Path
) -> None:
    """`hm status` runs in another process and has to say it."""
    lock = tmp_path / "index" / "leader.lock"
    other = Leadership(str(lock), state_path=f"{lock}.state")
    with running(make_watcher(memory, source=FakeSource)) as events:
        assert events.wait_for(polls)

        told = other.read_state()

    assert told == WatchState(mode="polling", reason="file events do not arrive here")
    assert other.read_state() is None


def test_a_second_watcher_follows_and_takes_over(
    memory: FolderMemory, folder: Path
) -> None:
    """One process leads and any may take over; a follower does not index."""
    second = FolderMemory(folder)
    with running(make_watcher(second)) as follower_events:
        assert follower_events.wait_for_type(Leading)
        with running(make_watcher(memory)) as events:
            assert events.wait_for_type(Following)
            assert memory.syncs == 0

    with running(make_watcher(memory)) as events:
        assert events.wait_for_type(Leading)
        assert memory.holds(note="old text")


def test_a_leader_whose_index_is_deleted_leads_the_new_one(
    memory: FolderMemory, tmp_path: Path
) -> None:
    """The index can be deleted at any moment, its lock with it."""
    with running(make_watcher(memory)) as events:
        assert events.wait_for(is_native)
        (tmp_path / "index" / "leader.lock").unlink()

        assert events.wait_for(lambda _: len(events.of(Leading)) == 2)
        assert events.wait_for(lambda _: len(events.of(StateChanged)) >= 2)
