"""Everything that names a project follows it to its new name, or needs not."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path

import apsw
import pytest

from hivemind_memory.access.rules import Caller
from hivemind_memory.curation.project_followers import FOLLOWERS, UNNAMED
from hivemind_memory.curation.purge_plan import PurgePlan
from hivemind_memory.errors import HivemindError
from hivemind_memory.memory.memory import Memory
from hivemind_memory.model.curation import MemorySelector, NewMemory
from hivemind_memory.model.value import replaced
from hivemind_memory.notes.edge import RELATED
from hivemind_memory.notes.recovered_entries import read_recovered
from hivemind_memory.projects.record_file import read_record, write_record
from hivemind_memory.state.injection_log import InjectionLog
from hivemind_memory.state.namespaces import Namespace, Namespaces
from tests.support.sandbox import Sandbox, ask, paths

SHOP = Caller(project="projects/shop")
STORE = Caller(project="projects/store")


def rename(memory: Memory, source: str = "shop", target: str = "store") -> None:
    memory.curation.projects.move(source, target, is_merge=False)


def use_all(sandbox: Sandbox, memory: Memory) -> None:
    """Make the project shop, and do everything that is remembered of it."""
    above = sandbox.notes / "projects"
    for name in ("shop", "site"):
        (above / name).mkdir(parents=True)
        write_record(str(above), read_record(str(above), name))
    site = read_record(str(above), "site")
    write_record(str(above), replaced(site, maybe=("shop",), distinct=("shop", "x")))
    sandbox.save("projects/shop/n.md", "# An old buffer\n")
    with memory.as_caller(SHOP) as shop:
        shop.write("The harbour is blue.", file="n.md")
        shop.save(NewMemory(key="port", content="It is 5433."))
        shop.save(NewMemory(key="port", content="It is 5434.", reason="it moved"))
        shop.save(NewMemory(key="host", content="It is db1."))
        shop.save(NewMemory(key="gone", content="It is to be purged."))
        shop.save(NewMemory(key="claim", content="From a page.", source="external"))
        shop.curation.link("port", "projects/shop/host.md", RELATED)
        shop.record_recall(ask(shop, "port"))
        sandbox.save_over("projects/shop/n.md", "# An old buffer\n")
        sandbox.age("projects/shop/n.md", 30)
        ask(shop, "harbour")
    memory.curation.purge(MemorySelector(name="gone"), is_forced=True)
    Namespaces(memory.state()).change(
        "custom:tea",
        lambda _: Namespace(name="custom:tea", scope="projects/shop", kind="custom"),
    )
    plan = PurgePlan(paths={"projects/shop/p.md"}, notes={"projects/shop/q.md"})
    memory.state().begin("a purge that was killed", plan.as_json())
    InjectionLog(memory.state()).append(
        {
            "worktree": "/projects/shop/x",
            "file": "CLAUDE.md",
            "memories": [{"path": "projects/shop/port.md", "type": "fact"}],
            "left_out": [{"path": "projects/shop/host.md", "why": "budget"}],
        }
    )


def named(sandbox: Sandbox, name: str) -> Iterator[str]:
    """Yield each file and each table of the state that holds a text."""
    needles = [name.encode(), json.dumps(name).strip('"').encode()]
    for file in sorted(sandbox.home.rglob("*")):
        path = file.relative_to(sandbox.home).as_posix()
        if path.startswith(("state.db", "memory/.index/")) or not file.is_file():
            continue
        if any(needle in file.read_bytes() for needle in needles):
            yield path
    connection = apsw.Connection(str(sandbox.home / "state.db"))
    for table in tables(connection):
        rows = connection.execute(f"SELECT * FROM {table}").fetchall()
        if name in repr(rows).replace("/projects/shop/x", ""):
            yield f"state.db:{table}"
    connection.close()


def tables(connection: apsw.Connection) -> list[str]:
    """Return the tables of a database."""
    sql = "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name"
    return [str(name) for (name,) in connection.execute(sql)]


def test_every_store_follows_or_says_why_it_needs_not(
    sandbox: Sandbox, memory: Memory
) -> None:
    """A new file or a new table must join one of the two lists."""
    use_all(sandbox, memory)
    rename(memory)

    patterns = {*UNNAMED}.union(*(one.names for one in FOLLOWERS))
    files = [
        file.relative_to(sandbox.home).as_posix()
        for file in sandbox.home.rglob("*")
        if file.is_file()
    ]
    connection = apsw.Connection(str(sandbox.home / "state.db"))
    rows = [f"state.db:{table}" for table in tables(connection)]
    connection.close()

    listed = {one for one in patterns if one.startswith("state.db:")}
    assert [
        one for one in files if not any(fnmatch(one, pattern) for pattern in patterns)
    ] == []
    assert set(rows) == listed


def test_nothing_names_a_project_by_the_old_name(
    sandbox: Sandbox, memory: Memory
) -> None:
    """Whatever it is; the tombstones keep the name under which they were made."""
    use_all(sandbox, memory)
    before = set(named(sandbox, "projects/shop"))

    rename(memory)

    assert {"state.db:changes", "state.db:injections", "state.db:unfinished"} < before
    assert {"journal/entries.jsonl", "journal/returned.jsonl"} & before
    assert list(named(sandbox, "projects/shop")) == ["state.db:meta"]
    site = read_record(str(sandbox.notes / "projects"), "site")
    assert (site.maybe, site.distinct) == (("store",), ("store", "x"))


def test_what_was_purged_stays_purged_and_only_there(
    sandbox: Sandbox, memory: Memory
) -> None:
    """A new project of the old name has nothing to do with it."""
    use_all(sandbox, memory)
    rename(memory)
    (sandbox.notes / "projects" / "shop").mkdir()
    again = NewMemory(key="again", content="It is to be purged.")

    with memory.as_caller(STORE) as store, memory.as_caller(SHOP) as shop:
        with pytest.raises(HivemindError, match="purged"):
            store.save(again)
        shop.save(again)
        rename(memory, "store", "market")
        with (
            memory.as_caller(Caller(project="projects/market")) as market,
            pytest.raises(HivemindError, match="purged"),
        ):
            market.save(again)


CHANGES = 6
"""Of the project's agent, in ``use_all``."""


def taken_back(memory: Memory, change: str, *, is_dry_run: bool = False) -> str:
    """Undo a change; return what became of it, or why it cannot be."""
    try:
        done = memory.curation.undo(change, is_dry_run=is_dry_run)
    except HivemindError as error:
        return type(error).__name__ + str(error).partition("projects/")[0]
    items = [len(one) for one in (done.forgotten, done.restored, done.reactivated)]
    return f"{done.kind} {items[:2]} {done.link != ''}"


@pytest.mark.parametrize("number", range(CHANGES))
def test_each_change_can_be_taken_back_afterwards(
    sandbox: Sandbox, memory: Memory, number: int
) -> None:
    """By the person, and by the agent of the renamed project who made it."""
    use_all(sandbox, memory)
    with memory.as_caller(SHOP) as shop:
        mine = [one.id for one in shop.curation.changes()]
        said = taken_back(shop, mine[number], is_dry_run=True)
    assert len(mine) == CHANGES
    rename(memory)

    with memory.as_caller(STORE) as store:
        assert [one.id for one in store.curation.changes()] == mine
        assert taken_back(store, mine[number]) == said


def test_an_entry_that_is_lost_after_the_rename_comes_back_in_the_new_folder(
    sandbox: Sandbox, memory: Memory
) -> None:
    """And not in the old one, which another project may have by then."""
    sandbox.save("projects/shop/n.md", "# An old buffer\n")
    with memory.as_caller(SHOP) as shop:
        shop.write("The harbour is blue.", file="n.md")
    rename(memory)
    sandbox.save_over("projects/store/n.md", "# An old buffer\n")
    sandbox.age("projects/store/n.md", 30)

    with memory.as_caller(STORE) as store:
        assert paths(ask(store, "harbour")) == ["projects/store/recovered.md"]

    assert not os.path.lexists(sandbox.notes / "projects" / "shop")
    [kept] = read_recovered(sandbox.places.journal)
    assert kept.entry.target == "projects/store/recovered.md"


def test_what_is_counted_is_counted_by_ids(sandbox: Sandbox, memory: Memory) -> None:
    """So a memory keeps its count wherever it is."""
    use_all(sandbox, memory)
    with memory.as_caller(SHOP) as shop:
        before = shop.curation.show("port").recall

    rename(memory)

    with memory.as_caller(STORE) as store:
        after = store.curation.show("port").recall
    assert after == before
    assert after.access_count == 1


def test_edges_follow(sandbox: Sandbox, memory: Memory) -> None:
    """By key, by id and by path."""
    use_all(sandbox, memory)
    rename(memory)

    with memory.as_caller(STORE) as store:
        [hit, *_] = ask(store, "5434").hits
    assert hit.path == "projects/store/port.md"
    assert (
        "projects/shop"
        not in (Path(sandbox.notes) / "projects" / "store" / "port.md").read_text()
    )


def test_after_a_merge_each_note_has_its_own_new_path(
    sandbox: Sandbox, memory: Memory
) -> None:
    """A note whose name was taken has another one, and the other is not meant."""
    (sandbox.notes / "projects" / "store").mkdir(parents=True)
    sandbox.save("projects/store/n.md", "# Of the store\n")
    sandbox.save("projects/shop/n.md", "# Of the shop\n")
    with memory.as_caller(SHOP) as shop:
        shop.write("The harbour is blue.", file="n.md")
        shop.save(NewMemory(key="port", content="It is 5433."))

    memory.curation.projects.move("shop", "store", is_merge=True)
    sandbox.save_over("projects/store/n-shop.md", "# Of the shop\n")
    sandbox.age("projects/store/n-shop.md", 30)

    with memory.as_caller(STORE) as store:
        assert paths(ask(store, "harbour")) == ["projects/store/recovered.md"]
        assert store.curation.undo("").kind == "save"
    [kept] = read_recovered(sandbox.places.journal)
    assert kept.entry.path == "projects/store/n-shop.md"
    assert (sandbox.notes / "projects/store/n.md").read_text() == "# Of the store\n"
