"""A purge beside an injection: one of the two sees the other."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hivemind_memory.curation import purge
from hivemind_memory.errors import NotInjectedError
from hivemind_memory.inject import injector as injector_module
from hivemind_memory.inject.injector import Injector
from hivemind_memory.inject.past_injections import InjectionTraces
from hivemind_memory.inject.place_section import place_section
from hivemind_memory.inject.word_file import count_words
from hivemind_memory.model.injection import InjectionResult
from hivemind_memory.opening import open_injector
from hivemind_memory.state.injection_log import InjectionLog
from tests.support.after_first import after_first
from tests.support.purge_rig import Bench
from tests.support.sandbox import Sandbox

CENSUS = (
    "The census of the harbour counts forty cormorants, seven herons and an osprey that"
    " nobody has ever seen leave the old lighthouse before noon on a working day."
)
SECRET = "Zanzibarquux is the flimmerkeks of the vault."


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    folder = tmp_path / "shop"
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    return folder


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    with (sandbox := Sandbox(tmp_path / "home")).memory() as memory:
        bench = Bench(sandbox, memory)
        bench.save("vault", SECRET, type="lesson")
        bench.save("weather", "The shop is open in any weather.", type="lesson")
        yield bench


@pytest.fixture
def injector(bench: Bench) -> Injector:
    injector = open_injector(bench.memory)
    bench.injected = InjectionTraces(InjectionLog(bench.state), injector)
    return injector


def test_an_injection_that_was_planned_before_a_purge(
    bench: Bench, injector: Injector, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The purge found no worktree, and the section quoted the memory for good."""
    receipts = []
    plan = after_first(
        injector_module.plan_section, lambda: receipts.append(bench.purge("vault"))
    )
    monkeypatch.setattr(injector_module, "plan_section", plan)

    injector.inject(str(shop))

    assert receipts[0].is_complete
    assert "flimmerkeks" not in (shop / "CLAUDE.md").read_text()
    assert "any weather" in (shop / "CLAUDE.md").read_text()


def test_an_entry_that_is_purged_while_an_injection_is_planned_is_not_quoted(
    bench: Bench, injector: Injector, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its note is still there, and only the id of the entry says that it is gone."""
    kept = bench.memory.write("Everyone drinks tea at four.", file="global.md")
    written = bench.memory.write(f"Nobody knows: {SECRET}", file="global.md")
    receipts = []
    plan = after_first(
        injector_module.plan_section,
        lambda: receipts.append(bench.purge(written.id)),
    )
    monkeypatch.setattr(injector_module, "plan_section", plan)

    injector.inject(str(shop))

    section = (shop / "CLAUDE.md").read_text()
    assert receipts[0].is_complete
    assert kept.path == written.path == "global.md"
    assert "drinks tea" in section
    assert "Nobody knows" not in section


@pytest.mark.parametrize("type_name", ["lesson", "preference", "identity"])
def test_a_section_is_found_though_its_memory_was_renamed(
    bench: Bench, injector: Injector, shop: Path, type_name: str
) -> None:
    """The record named no id, so a purge found no worktree and the text stayed."""
    bench.save("kettle", "The zanzibarkettle is never descaled.", type=type_name)
    injector.inject(str(shop))
    assert "zanzibarkettle" in (shop / "CLAUDE.md").read_text()
    [path] = [row.path for row in bench.memory.memories() if row.key == "kettle"]
    there = bench.sandbox.notes / path
    there.rename(there.with_name("renamed-by-hand.md"))
    bench.memory.sync()

    receipt = bench.purge("kettle")

    assert receipt.worktrees == (str(shop),)
    assert "zanzibarkettle" not in (shop / "CLAUDE.md").read_text()


def test_a_purge_finds_a_section_that_is_being_written(
    bench: Bench, injector: Injector, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its record came after it: the receipt was complete, and CLAUDE.md quoted it."""
    [path] = [row.path for row in bench.memory.memories() if row.key == "vault"]
    found = []

    def place(*arguments: Any) -> InjectionResult:
        done = place_section(*arguments)
        traces = InjectionTraces(InjectionLog(bench.state), injector)
        found.append(traces.count_quoting([path]))
        return done

    monkeypatch.setattr(injector_module, "place_section", place)
    injector.inject(str(shop))
    monkeypatch.undo()

    assert found == [{str(shop): 1}]
    assert len(InjectionLog(bench.state).records()) == 1
    assert bench.purge("vault").worktrees == (str(shop),)


@pytest.mark.parametrize("is_written", [False, True])
def test_an_injection_that_is_killed(
    bench: Bench,
    injector: Injector,
    shop: Path,
    monkeypatch: pytest.MonkeyPatch,
    *,
    is_written: bool,
) -> None:
    """A purge finds what it wrote; `hm why` claims nothing that may be wrong."""

    def killed(*arguments: Any) -> InjectionResult:
        if is_written:
            place_section(*arguments)
        raise KeyboardInterrupt

    def kill_one() -> None:
        with monkeypatch.context() as patch:
            patch.setattr(injector_module, "place_section", killed)
            with pytest.raises(KeyboardInterrupt):
                injector.inject(str(shop))

    def quoted(record: dict[str, Any] | None) -> set[str]:
        return {memory["path"] for memory in record["memories"]} if record else set()

    kill_one()
    told = injector.why(str(shop))
    assert quoted(told) == ({"vault.md", "weather.md"} if is_written else set())
    assert told is None or told["begun_at"]

    injector.inject(str(shop))
    first = injector.why(str(shop))
    assert first is not None
    assert not first["begun_at"]
    bench.save("roof", "The roof of the shop is flat.", type="lesson")
    kill_one()
    second = injector.why(str(shop))
    assert second is not None
    assert second["begun_at"]
    assert second["is_there"]
    assert quoted(second) == quoted(first)

    assert bench.purge("roof").worktrees == (str(shop),)
    assert "roof" not in (shop / "CLAUDE.md").read_text()
    third = injector.why(str(shop))
    assert third is not None
    assert not third["begun_at"]


def test_a_purge_that_began_before_an_injection(
    bench: Bench, injector: Injector, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The worktrees were counted before the notes were changed."""
    measure = after_first(purge.PurgeReport.measure, lambda: injector.inject(str(shop)))
    monkeypatch.setattr(
        purge.PurgeReport,
        "measure",
        lambda self, *, is_shown: measure(self, is_shown=is_shown),
    )

    receipt = bench.purge("vault")

    assert receipt.worktrees == (str(shop),)
    assert "flimmerkeks" not in (shop / "CLAUDE.md").read_text()


def count_hashed(bench: Bench, shop: Path) -> int:
    """Return of how many memories of the census the repository keeps hashes."""
    notes = str(bench.sandbox.notes)
    return count_words(str(shop / ".git"), notes, ["census.md"], [CENSUS])


def test_an_injection_that_could_not_write_quotes_nothing(
    bench: Bench, injector: Injector, shop: Path
) -> None:
    """A purge removes its hashes, and does not wait for the section to be writable."""
    bench.save("census", CENSUS, type="lesson")
    (shop / "CLAUDE.md").write_text("<!-- hivemind:begin v1 -->\nhalf of it\n")
    with pytest.raises(NotInjectedError):
        injector.inject(str(shop))
    hashed = count_hashed(bench, shop)

    receipt = bench.purge("census")

    assert hashed == 1
    assert receipt.is_complete
    assert receipt.worktrees == ()
    assert not count_hashed(bench, shop)
