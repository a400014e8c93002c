"""A briefing that the language model wrote, at the head of an injected section."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from hivemind_memory.access.rules import Caller
from hivemind_memory.context import briefing as briefings
from hivemind_memory.inject import injection_record, past_injections
from hivemind_memory.inject.session_hook import session_start_section
from hivemind_memory.jobs.refresh import refresh_briefing
from hivemind_memory.memory.memory import Memory
from hivemind_memory.model.chat import ChatMessage
from hivemind_memory.model.curation import MemorySelector, NewMemory
from hivemind_memory.model.injection import InjectionResult
from hivemind_memory.opening import open_injector
from hivemind_memory.state.injection_log import InjectionLog
from tests.inject.repos import make_repo
from tests.support.model_home import ModelHome
from tests.support.sandbox import Sandbox

SAID = (
    "Whoever steps onto the scaffold waits for a second pair of eyes, and paint is"
    " mixed in the yard behind the house, never inside, because fumes linger for days."
)
FACTS = {
    "eyes": "Nobody climbs alone.",
    "yard": "Mixing happens outdoors.",
    "fumes": "Vapors stay until the weekend.",
}
HEAD = "written by a language model"


class PaintShop(ModelHome):
    """A project with three facts, and a model that writes its briefing."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.sandbox.flags |= {"inject_bulletin": True, "startup_inject_count": 0}
        self.chat.reply = self._reply
        self.text = SAID

    def _reply(self, messages: Sequence[ChatMessage]) -> dict[str, object]:
        told = json.loads(messages[-1].text)
        return {"briefing": self.text} if "entries" in told else {"relations": []}

    def save_in(self, scope: str, key: str, text: str, **more: str) -> None:
        """Save a memory as an agent of a scope."""
        new = NewMemory(key=key, content=text, **{"type": "fact", **more})
        with (
            self.sandbox.memory() as memory,
            memory.as_caller(Caller(project=scope)) as seen,
        ):
            seen.save(new)

    def write(self, scope: str) -> None:
        """Let the model write the briefing of a scope."""

        def refresh(memory: Memory) -> None:
            refresh_briefing(memory, scope, open_chat=lambda _: self.chat)
            assert briefings.find_briefing(memory, scope).is_model

        self.with_memory(refresh)

    def inject(self, worktree: Path, **options: bool) -> InjectionResult:
        return self.with_memory(
            lambda memory: open_injector(memory).inject(str(worktree), **options)
        )


@pytest.fixture
def shop(tmp_path: Path) -> PaintShop:
    made = PaintShop(Sandbox(tmp_path / "home"))
    (made.sandbox.notes / "projects" / "shop").mkdir(parents=True)
    for key, text in FACTS.items():
        made.save_in("projects/shop", key, text)
    made.write("projects/shop")
    return made


@pytest.fixture
def worktree(tmp_path: Path) -> Path:
    return make_repo(tmp_path / "shop")


def section_of(worktree: Path) -> str:
    return (worktree / "CLAUDE.md").read_text(encoding="utf-8")


def test_it_stands_first_and_counts_toward_the_budget(
    shop: PaintShop, worktree: Path
) -> None:
    with_it = shop.inject(worktree)
    text = section_of(worktree)
    shop.sandbox.flags |= {"inject_bulletin": False}
    without = shop.inject(worktree)

    head = "> Briefing of `projects/shop` ("
    assert head in text
    assert f"{HEAD}\n> {SAID}" in text
    quotes = [line for line in text.split("\n") if line.startswith("> ")]
    assert quotes[0].startswith(head)
    assert without.planned.tokens < with_it.planned.tokens <= 1_500
    assert HEAD not in section_of(worktree)


def test_it_is_off_unless_asked_for(tmp_path: Path, worktree: Path) -> None:
    made = PaintShop(Sandbox(tmp_path / "home"))
    del made.sandbox.flags["inject_bulletin"]
    (made.sandbox.notes / "projects" / "shop").mkdir(parents=True)
    for key, text in FACTS.items():
        made.save_in("projects/shop", key, text)
    made.write("projects/shop")

    made.inject(worktree)

    assert HEAD not in section_of(worktree)


def test_one_that_leaves_too_little_room_is_not_shown(
    shop: PaintShop, worktree: Path
) -> None:
    shop.sandbox.flags |= {"inject_budget_tokens": 340}

    done = shop.inject(worktree)

    assert HEAD not in section_of(worktree)
    assert [why for why in done.planned.warnings if "the briefing takes" in why]
    assert done.planned.tokens <= 340


def test_a_worktree_is_told_of_its_own_project_else_of_the_whole_machine(
    shop: PaintShop, tmp_path: Path
) -> None:
    for key in ("one", "two", "three"):
        shop.save(key, f"The number {key} is lucky.", type="fact")
    shop.text = "Numbers are lucky here: one, two and three are what counts " * 2
    shop.write("global")
    other, own = make_repo(tmp_path / "other"), make_repo(tmp_path / "shop")

    shop.inject(other)
    shop.inject(own)

    assert "Briefing of `global`" in section_of(other)
    assert "scaffold" not in section_of(other)
    assert "Briefing of `projects/shop`" in section_of(own)


def test_a_private_memory_keeps_the_briefing_out(
    shop: PaintShop, worktree: Path
) -> None:
    """It became private after the model had read it."""
    note = next(shop.sandbox.notes.rglob("eyes*.md"))
    text = note.read_text(encoding="utf-8")
    changed = text.replace("---\n", "---\nvisibility: private\n", 1)
    shop.sandbox.save_over(str(note.relative_to(shop.sandbox.notes)), changed)

    shop.inject(worktree)

    assert HEAD not in section_of(worktree)


def test_a_briefing_can_only_be_read(shop: PaintShop, worktree: Path) -> None:
    """What a model says in it can neither load a file nor close the section."""
    fact = "Ask @carol, or read @docs/yard.md <-- first."
    shop.save_in("projects/shop", "ask", fact)
    shop.text = f"{SAID} Ask @carol; read @docs/yard.md\n- first\n- [x](y) of nothing"
    shop.write("projects/shop")

    shop.inject(worktree)

    text = section_of(worktree)
    assert "Ask \\@carol; read \\@docs/yard.md\n> - first\n> - [x](y)" in text


def test_it_goes_from_every_section_when_a_memory_is_forgotten(
    shop: PaintShop, worktree: Path, tmp_path: Path
) -> None:
    second = tmp_path / "linked"
    make_linked(worktree, second)
    shop.inject(worktree)
    shop.inject(second)
    assert HEAD in section_of(second)

    with shop.sandbox.memory() as memory:
        memory.curation.forget(MemorySelector(name="yard"))

    assert "scaffold" not in section_of(worktree) + section_of(second)


def test_a_save_that_is_undone_goes_from_the_section(
    shop: PaintShop, worktree: Path
) -> None:
    def save(memory: Memory) -> None:
        text = "A rope of twelve meters is tied to the gutter first."
        new = NewMemory(key="rope", content=text, type="fact", scope="projects/shop")
        memory.save(new)

    shop.with_memory(save)
    shop.text = f"{SAID} Ropes come first."
    shop.write("projects/shop")
    shop.inject(worktree)
    assert "Ropes come first" in section_of(worktree)

    with shop.sandbox.memory() as memory:
        memory.curation.undo("", is_dry_run=True)
        assert "Ropes come first" in section_of(worktree)
        undone = memory.curation.undo("")

    assert [item.key for item in undone.forgotten] == ["rope"]
    assert "Ropes come first" not in section_of(worktree)


def make_linked(worktree: Path, folder: Path) -> None:
    """Make another worktree of a repository."""
    from tests.inject.repos import git

    git(worktree, "worktree", "add", "-q", str(folder))


def purge(shop: PaintShop, key: str) -> None:
    with shop.sandbox.memory() as memory:
        memory.curation.purge(MemorySelector(name=key))


@pytest.mark.parametrize("is_planted", [False, True])
def test_a_purge_finds_every_copy_of_an_injected_briefing(
    shop: PaintShop,
    worktree: Path,
    monkeypatch: pytest.MonkeyPatch,
    *,
    is_planted: bool,
) -> None:
    """The log names the memories that a briefing was made from.

    What was left out is not looked at here: that names them too, in so small a scope.
    With the planted fault the log is not asked for those of briefings either: then
    the text stays, and this test sees it.
    """
    shop.inject(worktree)
    copy = worktree / "docs.md"
    copy.write_text(section_of(worktree), encoding="utf-8")
    lists = ("memories",) if is_planted else ("memories", "briefing")
    monkeypatch.setattr(past_injections, "MEMORY_LISTS", lists)

    purge(shop, "yard")

    left = section_of(worktree) + copy.read_text(encoding="utf-8")
    assert ("scaffold" in left) is is_planted


def test_a_copy_elsewhere_in_the_worktree_is_reported(
    shop: PaintShop, worktree: Path
) -> None:
    """A sentence of it that a person pasted into a file says what was purged."""
    shop.inject(worktree)
    (worktree / "plan.md").write_text(f"# Plan\n\n{SAID}\n", encoding="utf-8")

    with shop.sandbox.memory() as memory:
        done = memory.curation.purge(MemorySelector(name="yard"))

    assert [item for item in done.out_of_reach if item.what.endswith("plan.md")]


def test_a_briefing_that_goes_while_it_is_injected_is_not_written(
    shop: PaintShop, worktree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A forget finds no record yet, so the injection has to look again."""
    real = injection_record.InjectionEntry.begin
    forgotten: list[bool] = []

    def begin(self: injection_record.InjectionEntry, record: dict[str, object]) -> None:
        if not forgotten:
            forgotten.append(True)
            with shop.sandbox.memory() as memory:
                memory.curation.forget(MemorySelector(name="yard"))
        real(self, record)

    monkeypatch.setattr(injection_record.InjectionEntry, "begin", begin)

    shop.inject(worktree)

    assert forgotten
    assert HEAD not in section_of(worktree)


def test_the_log_names_the_memories_and_no_text(
    shop: PaintShop, worktree: Path
) -> None:
    shop.inject(worktree)

    record = shop.with_memory(lambda memory: open_injector(memory).why(str(worktree)))

    assert record is not None
    assert sorted(source["path"] for source in record["briefing"]) == [
        f"projects/shop/{key}.md" for key in sorted(FACTS)
    ]
    assert "scaffold" not in json.dumps(record)


def test_a_session_that_is_told_by_a_hook_is_told_the_briefing_too(
    shop: PaintShop, worktree: Path
) -> None:
    def told(memory: Memory) -> str:
        log = InjectionLog(memory.state())
        injector = open_injector(memory)
        return session_start_section(injector, str(worktree), "codex", log)

    assert SAID in shop.with_memory(told)


@pytest.mark.parametrize("is_injected_again", [False, True])
@pytest.mark.parametrize("is_purge", [False, True])
def test_a_source_that_moved_is_found_in_the_section(
    shop: PaintShop, worktree: Path, *, is_injected_again: bool, is_purge: bool
) -> None:
    """The record named the path that it had, also after the section was looked at."""
    shop.inject(worktree)
    note = next(shop.sandbox.notes.rglob("eyes*.md"))
    folder = note.parent / "safety"
    folder.mkdir()
    note.rename(folder / note.name)
    shop.with_memory(lambda memory: memory.sync())
    if is_injected_again:
        shop.inject(worktree)
    assert SAID in section_of(worktree)

    with shop.sandbox.memory() as memory:
        [known] = [row.memory_id for row in memory.memories() if row.key == "eyes"]
        remove = memory.curation.purge if is_purge else memory.curation.forget
        remove(MemorySelector(name=known))
        records = InjectionLog(memory.state()).records()

    assert SAID not in section_of(worktree)
    # The log named what was purged by its id.
    assert (known in json.dumps(records)) == (not is_purge)
