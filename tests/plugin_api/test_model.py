"""Namespaces and their memories, after any history, are those of a dictionary."""

from __future__ import annotations

import shutil
import tempfile
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)

from hivemind_memory.errors import HivemindError
from hivemind_memory.model.curation import NewMemory
from hivemind_memory.plugin_api.memories import (
    forget_row,
    question_in,
    search_rows,
    write_row,
)
from hivemind_memory.plugin_api.names import kind_of_name
from hivemind_memory.plugin_api.namespaces import (
    delete_namespace,
    patch_namespace,
    put_namespace,
    readable,
)
from hivemind_memory.plugin_api.refusal import NO_MEMORY, NO_NAMESPACE, refusal_of
from hivemind_memory.plugin_api.rows import KINDS, SOURCES, NewRow, uuid_of_ulid
from tests.plugin_api.homes import frozen_home
from tests.support.tiers import examples

NAMES = ("workspace:web", "workspace:Web", "team:red", "org:acme-corp", "custom:web")
WORDS = ("kiwi", "plum", "fig", "lemon", "cherry")
IDS = [str(uuid.UUID(int=number, version=4)) for number in range(5)]
ENDS = st.sampled_from([None, 3.0, 30.0, 90_000.0])

names = st.sampled_from(NAMES)
contents = st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join)


@dataclass
class Known:
    """A memory, as the model knows it."""

    name: str
    row: NewRow
    number: int
    """In the order in which they were made."""

    is_plugins: bool = True


class Platform(RuleBasedStateMachine):
    """A platform that writes, searches and forgets, and a dictionary beside it."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.mkdtemp()
        self.home = frozen_home(Path(self.folder))
        self.memory = self.home.memory()
        self.ends: dict[str, float | None] = {}
        self.rows: dict[str, Known] = {}
        self.number = 0

    def teardown(self) -> None:
        self.memory.close()
        shutil.rmtree(self.folder)

    def end_of(self, seconds: float | None) -> float | None:
        """Return a moment so many seconds from now."""
        return None if seconds is None else self.home.now_s + seconds

    def is_over(self, end_s: float | None) -> bool:
        return end_s is not None and end_s <= self.home.now_s

    def forget_ended(self) -> None:
        """Forget the namespaces that have ended, and what the platform put there."""
        for name in [name for name, end_s in self.ends.items() if self.is_over(end_s)]:
            self.drop(name)

    def drop(self, name: str) -> None:
        del self.ends[name]
        for own in [own for own, known in self.rows.items() if known.name == name]:
            if self.rows[own].is_plugins:
                del self.rows[own]

    @initialize()
    def start(self) -> None:
        self.put("workspace:web", None)

    @rule(name=names, seconds=ENDS)
    def put(self, name: str, seconds: float | None) -> None:
        self.home.now_s += 1
        self.forget_ended()
        end_s = self.end_of(seconds)
        put_namespace(self.memory, name, kind=kind_of_name(name), expires_at=end_s)
        self.ends[name] = end_s

    @rule(name=names, seconds=st.sampled_from([2.0, 40.0]))
    def patch(self, name: str, seconds: float) -> None:
        self.forget_ended()
        end_s = self.home.now_s + seconds
        refused = refusal(lambda: patch_namespace(self.memory, name, expires_at=end_s))
        assert refused == ("" if name in self.ends else NO_NAMESPACE)
        if not refused:
            self.ends[name] = end_s

    @rule(name=names)
    def delete(self, name: str) -> None:
        self.forget_ended()
        refused = refusal(lambda: delete_namespace(self.memory, name))
        assert refused == ("" if name in self.ends else NO_NAMESPACE)
        if not refused:
            self.drop(name)

    @rule(
        name=names,
        own=st.sampled_from(["", *IDS]),
        content=contents,
        kind=st.sampled_from(KINDS),
        source=st.sampled_from(SOURCES),
        seconds=ENDS,
        is_pinned=st.booleans(),
        propagation=st.sampled_from(["", '{"hops":[1,2.5]}', '"x"']),
    )
    def write(self, name: str, seconds: float | None, **fields: object) -> None:
        self.home.now_s += 1
        self.forget_ended()
        own = str(fields.pop("own"))
        row = NewRow(id=own, expires_at=self.end_of(seconds), **fields)
        known = self.rows.get(own)
        written: list[str] = []
        refused = refusal(lambda: written.append(write_row(self.memory, name, row)))
        if name not in self.ends:
            assert refused == NO_NAMESPACE
            return
        if known is not None and known.name != name:
            assert refused == NO_MEMORY
            return
        assert refused == ""
        assert written == [own or written[0]]
        self.number += known is None
        number = self.number if known is None else known.number
        self.rows[written[0]] = Known(name, row, number)

    @rule(content=contents)
    def save_by_hand(self, content: str) -> None:
        """A person saves a fact in the scope of a namespace."""
        self.home.now_s += 1
        self.number += 1
        saved = self.memory.save(
            NewMemory(
                key=f"by-hand-{self.number}",
                content=content,
                type="fact",
                scope="workspace/web",
                source="human",
            )
        )
        row = NewRow(content=content, source="user")
        self.rows[saved.id] = Known("workspace:web", row, self.number, is_plugins=False)

    @precondition(lambda self: self.rows)
    @rule(data=st.data(), name=names)
    def forget(self, data: st.DataObject, name: str) -> None:
        own = data.draw(st.sampled_from(sorted(self.rows)))
        known = self.rows[own]
        if not known.is_plugins:
            return
        refused = refusal(lambda: forget_row(self.memory, own, requested_by=name))
        is_there = known.name == name and not self.is_over(self.ends.get(name, 0.0))
        assert refused == ("" if is_there else NO_MEMORY)
        if is_there:
            del self.rows[own]

    @rule(seconds=st.sampled_from([1, 5, 60, 90_000]))
    def wait(self, seconds: int) -> None:
        self.home.now_s += seconds

    @rule(
        wanted=st.lists(names, min_size=1, max_size=4),
        word=st.sampled_from(["", *WORDS]),
        kinds=st.lists(st.sampled_from(KINDS), max_size=2),
        limit=st.sampled_from([0, 1, 3, 100]),
    )
    def search(
        self, wanted: list[str], word: str, kinds: list[str], limit: int
    ) -> None:
        question = question_in(self.memory, wanted, text=word, kinds=kinds, limit=limit)
        found = search_rows(self.memory, question)
        fitting = {
            own: known
            for own, known in self.rows.items()
            if known.name in wanted
            and known.name in self.ends
            and not self.is_over(self.ends[known.name])
            and not self.is_over(known.row.expires_at)
            and known.row.kind in (kinds or KINDS)
            and word in known.row.content
        }
        most = limit or 20
        assert len(found) == min(most, len(fitting))
        pins = [row.is_pinned for row in found]
        assert pins == sorted(pins, reverse=True)
        pinned = sum(known.row.is_pinned for known in fitting.values())
        assert sum(pins) == min(most, pinned)
        by_number = {known.number: known for known in fitting.values()}
        got = [self.number_of(row.id, row.content) for row in found]
        assert set(got) <= by_number.keys()
        if not word:
            order = sorted(
                by_number,
                key=lambda number: (-by_number[number].row.is_pinned, -number),
            )
            assert got == order[:most]
        for row, number in zip(found, got, strict=True):
            known = by_number[number]
            assert (row.namespace, row.content) == (known.name, known.row.content)
            assert (row.kind, row.source) == (known.row.kind, known.row.source)
            assert row.expires_at == known.row.expires_at
            assert row.propagation == known.row.propagation
            assert (row.score is not None) == bool(word)

    def number_of(self, own: str, content: str) -> int:
        """Return which memory of the model has an id of the real one."""
        if own in self.rows:
            return self.rows[own].number
        [number] = [
            known.number
            for name, known in self.rows.items()
            if not known.is_plugins and uuid_of_ulid(name) == own
        ]
        assert content
        return number

    @invariant()
    def namespaces_are_those_of_the_model(self) -> None:
        alive = {name for name, end_s in self.ends.items() if not self.is_over(end_s)}
        assert readable(self.memory).keys() == alive


def refusal(call: Callable[[], object]) -> str:
    """Return why a call is refused; empty: it is not."""
    try:
        call()
    except HivemindError as error:
        return str(refusal_of(error))
    return ""


Platform.TestCase.settings = settings(
    max_examples=examples(25),
    stateful_step_count=25,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
TestPlatform = Platform.TestCase
