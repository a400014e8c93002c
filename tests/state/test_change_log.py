"""A purge takes a memory out of every change, and leaves what else a change names."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hivemind_memory.model.changes import LINK, SAVE, Change, ChangedItem
from hivemind_memory.state.change_log import ChangeLog, NamesInChanges
from hivemind_memory.state.state_file import StateFile
from tests.support.tiers import examples

PURGED, KEPT = "01M80JBHRKPTRHKEJQQCVB56P4", "01M80JBHRKPTRHKEJQQCVB56P5"
PATH, KEPT_PATH = "projects/shop/payment-host.md", "projects/shop/deploy-day.md"
KEY = "payment host"
NAMES = NamesInChanges(
    own=frozenset({PURGED, PATH}),
    is_own=lambda path, item_id: item_id == PURGED or path == PATH,
    keys=frozenset({KEY, "payment-host"}),
    is_seen=lambda path: not path.startswith("projects/other/"),
)
ITEM = ChangedItem(kind="memory", path=PATH, id=PURGED, digest="d1")
OTHER = ChangedItem(kind="memory", path=KEPT_PATH, id=KEPT, digest="d2")
UNSEEN = ChangedItem(kind="memory", path="projects/other/x.md", id=KEPT)
FORMS: tuple[object, ...] = (
    *(PURGED, PATH, PATH.removesuffix(".md"), PATH.upper(), KEY, f" {KEY} "),
    *(f"[[{KEY}]]", f"[[{PATH}]]", f"see [[{PURGED}]] and [[x]]", "[[payment-host]]"),
    *({"id": PURGED, "weight": 0.4}, {"weight": 1, "key": KEY}, [["x", {"a": PATH}]]),
)
"""What a front matter may hold to name the purged memory."""


@pytest.fixture
def log(tmp_path: Path) -> Iterator[ChangeLog]:
    state = StateFile(str(tmp_path / "state.db"))
    yield ChangeLog(state)
    state.close()


def change(number: int, kind: str = SAVE, **values: object) -> Change:
    """Return a change with an id of its own."""
    made: dict[str, object] = {"items": (OTHER,), **values}
    return Change(
        id=f"change-{number}", kind=kind, at="2026-03-01", actor="cli", **made
    )


def raw(tmp_path: Path) -> str:
    """Return all that the table holds."""
    rows = apsw.Connection(str(tmp_path / "state.db")).execute("SELECT * FROM changes")
    return repr(rows.fetchall())


def test_of_one_change_to_two_memories_the_purged_one_goes(
    log: ChangeLog, tmp_path: Path
) -> None:
    """`hm forget a b` is one change; what it did to b can still be undone."""
    log.add(change(1, items=(OTHER, ITEM), others=(ITEM, OTHER)))

    assert log.drop(NAMES) == 1

    [kept] = log.newest()
    assert (kept.items, kept.others) == ((OTHER,), (OTHER,))
    assert PURGED not in raw(tmp_path)
    assert PATH not in raw(tmp_path)


@pytest.mark.parametrize("side", ["before", "after"])
@pytest.mark.parametrize("form", FORMS, ids=repr)
def test_a_link_that_names_a_purged_memory_goes(
    form: object, side: str, log: ChangeLog, tmp_path: Path
) -> None:
    """In any form that a person may have written."""
    log.add(change(1, LINK, field="related", **{side: ("first", form)}))
    log.add(change(2, LINK, field="related", **{side: ("first", "payment-hosts")}))

    assert log.drop(NAMES) == 1
    assert [kept.id for kept in log.newest()] == ["change-2"]
    assert PURGED not in raw(tmp_path)


def test_a_link_in_a_note_that_the_caller_does_not_see_goes_by_id_alone(
    log: ChangeLog,
) -> None:
    """A key there means another memory, and is not counted."""
    log.add(change(1, LINK, items=(UNSEEN,), field="related", after=(KEY,)))
    log.add(change(2, LINK, items=(UNSEEN,), field="related", after=(PURGED,)))

    assert log.drop(NAMES) == 0
    assert [kept.id for kept in log.newest()] == ["change-1"]


def test_a_change_of_a_field_goes_with_its_memory(log: ChangeLog) -> None:
    """It can't be undone for the rest of its items."""
    log.add(change(1, LINK, items=(ITEM, OTHER), field="related", after=("x",)))

    assert log.drop(NAMES) == 1
    assert log.newest() == []


ITEMS = st.lists(st.sampled_from([ITEM, OTHER, UNSEEN]), min_size=1, max_size=3)


@settings(max_examples=examples(25), deadline=None)
@given(histories=st.lists(st.tuples(ITEMS, ITEMS), min_size=4, max_size=12))
def test_no_history_keeps_a_name_of_what_is_purged(
    histories: list[tuple[list[ChangedItem], list[ChangedItem]]],
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """And none loses another item of a change that keeps one."""
    folder = tmp_path_factory.mktemp("history")
    state = StateFile(str(folder / "state.db"))
    log = ChangeLog(state)
    for number, (items, others) in enumerate(histories):
        log.add(change(number, items=tuple(items), others=tuple(others)))

    log.drop(NAMES)

    expected = [
        (
            tuple(item for item in items if item is not ITEM),
            tuple(item for item in others if item is not ITEM),
        )
        for items, others in reversed(histories)
        if any(item is not ITEM for item in items)
    ]
    assert [(kept.items, kept.others) for kept in log.newest()] == expected
    assert PURGED not in raw(folder)
    assert PATH not in raw(folder)
    state.close()
