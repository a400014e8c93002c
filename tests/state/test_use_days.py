"""Figures by day: what they hold, who finds them, and when they go."""

from __future__ import annotations

from pathlib import Path

import apsw
import pytest

from hivemind_memory.access.activity_rules import VisibleActivity
from hivemind_memory.access.rules import Caller
from hivemind_memory.cli.main import main
from hivemind_memory.dashboard.page import PageCall
from hivemind_memory.dashboard.use import (
    WEEKS,
    active_rows,
    sent_of,
    times_of,
    use_of,
)
from hivemind_memory.http_api.callers import Client
from hivemind_memory.memory.memory import Memory
from hivemind_memory.model.clocks import SECONDS_PER_DAY
from hivemind_memory.model.curation import MemorySelector, NewMemory
from hivemind_memory.model.query import Query
from hivemind_memory.state.recall_log import RecallLog
from hivemind_memory.state.schema import STEPS
from hivemind_memory.state.state_file import StateFile
from hivemind_memory.state.use_days import KEPT_DAYS, UseDays
from tests.support.embedding_server import EmbeddingServer
from tests.support.sandbox import Sandbox, ask

ALL = VisibleActivity(is_all=True).has
NOTHING = VisibleActivity().has
SHOP = Caller(project="projects/shop")
TABLES = ("recall_days", "search_days", "embedding_days")


def rows_of(memory: Memory) -> str:
    """Return all that the tables hold."""
    connection = apsw.Connection(memory.places.state_file)
    held = [connection.execute(f"SELECT * FROM {t}").fetchall() for t in TABLES]
    connection.close()
    return repr(held)


def test_a_search_counts_by_day_agent_and_type(memory: Memory) -> None:
    """And holds nothing of the question or of what was found."""
    memory.save(NewMemory(key="kettle", content="The kettle is blue.", type="fact"))
    memory.save(NewMemory(key="tea", content="Tea needs a kettle.", type="lesson"))
    answer = ask(memory, "kettle")
    memory.record_recall(answer, "claude")
    memory.record_recall(answer)
    memory.record_recall(ask(memory, "zebra"), "claude")

    days, today = UseDays(memory.state()), memory.clocks.today()
    assert days.recalls(ALL, today) == {
        (today, agent, name): 1
        for agent in ("claude", "")
        for name in ("fact", "lesson")
    }
    assert days.searches(ALL, today)[today].total() == 3
    held = rows_of(memory)
    ids = [row.memory_id for row in memory.memories()]
    assert not [word for word in ("kettle", "zebra", "tea", *ids) if word in held]


def test_a_search_in_other_notes_makes_no_home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The README's first command left a database in the home of a newcomer."""
    home, notes = tmp_path / "no-home", tmp_path / "notes"
    notes.mkdir()
    (notes / "disk.md").write_text("# Disk full\n\nDelete old logs.\n")
    monkeypatch.setenv("HIVEMIND_HOME", str(home))
    monkeypatch.setenv("HIVEMIND_EMBEDDING_PROVIDER", "none")

    assert main(["search", "--memory-dir", str(notes), "disk full"]) == 0

    told = capsys.readouterr()
    assert "Delete old logs." in told.out
    assert told.err == "1 hit by keyword search\n"
    assert not home.exists()


def test_a_caller_finds_its_own_searches_only(memory: Memory) -> None:
    """Of a project, what was asked in it; without one, nothing; the owner, all."""
    memory.save(NewMemory(key="kettle", content="The kettle is blue.", type="fact"))
    today = memory.clocks.today()
    for project in ("projects/shop", "projects/site"):
        with memory.as_caller(Caller(project=project)) as one:
            one.record_recall(ask(one, "kettle"), "claude")
    days = UseDays(memory.state())
    shop = VisibleActivity(projects=frozenset({"projects/shop"})).has
    assert days.recalls(shop, today) == {(today, "claude", "fact"): 1}
    assert days.searches(shop, today)[today].total() == 1
    assert days.recalls(NOTHING, today) == {}
    assert days.searches(NOTHING, today) == {}
    assert days.recalls(ALL, today) == {(today, "claude", "fact"): 2}


def test_old_days_are_deleted(sandbox: Sandbox, memory: Memory) -> None:
    """The first search of a later day takes them away; after a gap, of the second."""
    memory.save(NewMemory(key="kettle", content="The kettle is blue.", type="fact"))
    answer, today = ask(memory, "kettle"), memory.clocks.today()
    memory.record_recall(answer)
    days = UseDays(memory.state())
    days.count_sent({"openai small": (3, 90)}, today)
    for later in (KEPT_DAYS, KEPT_DAYS + 1):
        sandbox.ahead_s = later * SECONDS_PER_DAY
        memory.record_recall(answer)
    left = {today + KEPT_DAYS, today + KEPT_DAYS + 1}
    assert {day for day, _, _ in days.recalls(ALL, 0)} == left
    assert set(days.searches(ALL, 0)) == left
    assert days.sent(0) == {}


def test_one_search_with_a_clock_that_is_ahead_deletes_no_figures(
    sandbox: Sandbox, memory: Memory
) -> None:
    """It deleted all. What it counts is on no page: that day has not been."""
    memory.save(NewMemory(key="kettle", content="The kettle is blue.", type="fact"))
    answer, today = ask(memory, "kettle"), memory.clocks.today()
    memory.record_recall(answer)
    days = UseDays(memory.state())
    days.count_sent({"openai small": (3, 90)}, today)
    sandbox.ahead_s = 1000 * SECONDS_PER_DAY
    memory.record_recall(answer)
    days.count_sent({"openai small": (1, 5)}, today + 1000)
    sandbox.ahead_s = 0
    assert days.recalls(ALL, 0)[today, "", "fact"] == 1
    assert days.searches(ALL, 0)[today].total() == 1
    client = Client(is_person=True)
    call = PageCall(
        memory=memory, client=client, session="", path={}, query={}, form={}
    )
    assert use_of(call, active_rows(call))["recalled"] == 1
    assert [time["at"] for time in times_of(call)] == [7 * WEEKS - 1]
    assert sent_of(call)["providers"] == [("openai small", (3, 90))]


def test_a_purge_takes_the_recalls_of_its_scope(memory: Memory) -> None:
    """They do not say of which memory they are; those of other scopes stay."""
    with memory.as_caller(SHOP) as shop:
        shop.save(NewMemory(key="secret-tea", content="The tea is green.", type="fact"))
        shop.record_recall(ask(shop, "tea"), "claude")
        memory.save(NewMemory(key="cup", content="The cup is here.", type="context"))
        memory.record_recall(ask(memory, "cup"))
        report = memory.curation.purge(
            MemorySelector(name="secret-tea"),
            is_forced=True,
        )
    [row] = [place for place in report.places if place.name == "recalls by day"]
    assert row.count == 1
    today = memory.clocks.today()
    assert UseDays(memory.state()).recalls(ALL, today) == {(today, "", "context"): 1}


def test_what_is_embedded_is_counted(sandbox: Sandbox) -> None:
    """The texts and their characters, also of questions; once only."""
    with (
        EmbeddingServer() as provider,
        sandbox.memory(
            embedding_provider="openai",
            openai_base_url=provider.openai_url,
            openai_api_key="sk-test-5f1c0de5ecret",
        ) as memory,
    ):
        memory.write("The harbour of Aarhus is blue.", file="n.md")
        memory.sync()
        memory.embed_pending()
        today = memory.clocks.today()
        days = UseDays(memory.state())
        [((day, name), (texts, characters))] = days.sent(0).items()
        assert (day, texts) == (today, len(provider.texts))
        assert characters == sum(map(len, provider.texts))
        assert name.startswith("openai ")
        memory.embed_pending()
        assert days.sent(0) == {(day, name): (texts, characters)}
        memory.record_recall(memory.search(Query(text="harbour")))
        assert days.sent(0) == {(day, name): (texts + 1, characters + len("harbour"))}


def test_counting_never_makes_an_answer_fail(memory: Memory) -> None:
    """Not even while another process has the state locked."""
    memory.save(NewMemory(key="kettle", content="The kettle is blue."))
    answer = ask(memory, "kettle")
    memory.record_recall(answer)
    other = apsw.Connection(memory.places.state_file)
    other.execute("BEGIN EXCLUSIVE")
    try:
        assert not memory.record_recall(answer)
    finally:
        other.execute("ROLLBACK")
        other.close()
    assert memory.record_recall(answer)


@pytest.mark.parametrize("version", range(1, len(STEPS)))
def test_a_file_of_every_earlier_version_gets_the_tables(
    tmp_path: Path, version: int
) -> None:
    """With the counters that it had."""
    path = str(tmp_path / "state.db")
    old = apsw.Connection(path)
    for sql in STEPS[:version]:
        old.execute(sql)
    columns = [row[1] for row in old.execute("PRAGMA table_info(recalls)")]
    given = {"ref": "a", "scope": "", "notes": "", "count": 4, "last_at": 9}
    marks = ", ".join("?" * len(columns))
    old.execute(f"INSERT INTO recalls VALUES ({marks})", [given[c] for c in columns])
    old.execute("INSERT INTO meta VALUES ('key', ?)", (b"k" * 32,))
    old.pragma("user_version", version)
    old.close()
    state = StateFile(path)
    UseDays(state).count_sent({"openai small": (3, 90)}, 20_000)
    assert UseDays(state).sent(0) == {(20_000, "openai small"): (3, 90)}
    [(count, last)] = RecallLog(state)._read(["a"]).values()
    assert (count, last) == (4, 9)
