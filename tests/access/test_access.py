"""What a caller may not see is not there: in no answer, count, score or error text."""

from __future__ import annotations

import os
import random
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from hivemind_memory.access.rules import OWNER, Caller, access_of, may_read
from hivemind_memory.errors import HivemindError, NotSavedError
from hivemind_memory.memory.memory import Memory
from hivemind_memory.model.filters import SearchFilter, holds
from hivemind_memory.model.query import Query
from hivemind_memory.model.value import fields_of, replaced
from hivemind_memory.testing import FakeEmbedder
from tests.support.fake_provider import FakeProvider
from tests.support.sandbox import Sandbox
from tests.support.tiers import mostly_thorough

WORDS = (
    *("harbour", "harbours", "deploy", "deployed", "staging", "postgres", "invoice"),
    *("lighthouse", "light", "kettle", "kettles", "migration", "broker", "xylophone"),
    *("port_5433", "Café", "東京の会議", "ключ", "auth-token"),
)
SCOPES = ("", "projects/shop", "projects/site", "teams/red", "workspaces/web")
CALLERS = (
    Caller(),
    Caller(project="projects/shop"),
    Caller(project="projects/site", teams=("teams/red",)),
    Caller(workspace="workspaces/web", is_root=False),
    Caller(project="projects/nowhere"),
)
QUESTIONS = (
    *WORDS,
    "harbor",  # a slip: near words are suggested
    "kettl",  # a part: longer words are looked up
    "house",
    "how do we deploy the staging postgres",
    "xylophone migration 5433",
    "",
)
TYPES = ("lesson", "fact", "todo", "identity", "reference")
_DAY_NS = 86_400 * 10**9


@dataclass
class Twins:
    """The same memory twice: whole, and without what a caller may not see."""

    whole: Memory
    visible: Memory


def random_note(chance: random.Random, number: int) -> str:
    """Return a note: free text or typed, with edges to others."""
    text = " ".join(chance.choices(WORDS, k=chance.randint(2, 12)))
    if chance.random() < 0.4:
        return f"# {chance.choice(WORDS)}\n\n{text}\n\n- {chance.choice(WORDS)}\n"
    lines = [f"type: {chance.choice(TYPES)}", f"key: key-{chance.randint(0, 5)}"]
    lines += [f'id: "{number:026d}"', f"importance: {chance.random():.2f}"]
    for kind in ("supersedes", "contradicts", "related"):
        if chance.random() < 0.4:
            lines.append(f'{kind}: ["{chance.randint(0, 30):026d}"]')
    if chance.random() < 0.4:
        lines.append(f"reason: {' '.join(chance.choices(WORDS, k=3))}")
    if chance.random() < 0.2:
        lines.append("forgotten: 2026-01-01")
    if chance.random() < 0.2:
        lines.append("expires: 2020-01-01")
    return "\n".join(["---", *lines, "---", text, ""])


def fill(sandbox: Sandbox, notes: dict[str, str]) -> None:
    """Save notes, all of one moment, so that they are of one age."""
    for path, text in notes.items():
        file = sandbox.save(path, text)
        os.utime(file, ns=(20_000 * _DAY_NS, 20_000 * _DAY_NS))


def random_notes(chance: random.Random) -> dict[str, str]:
    """Return some notes in every scope, names that clash among them."""
    notes = {}
    for number in range(30):
        scope = chance.choice(SCOPES)
        room = chance.choice(("", "", "", "superseded/", "inbox/"))
        folder = f"{scope}/" if scope else ""
        name = f"{folder}{room}note-{chance.randint(0, 9)}.md"
        notes[name] = random_note(chance, number)
    return notes


def twins(
    tmp_path: Path, notes: dict[str, str], caller: Caller, *, is_hybrid: bool
) -> Twins:
    """Return both memories, opened by the caller."""
    seen = {path: text for path, text in notes.items() if may_read(caller, path)}
    memories = []
    for name, some in (("whole", notes), ("visible", seen)):
        sandbox = Sandbox(tmp_path / name)
        if is_hybrid:
            sandbox.provider = FakeProvider(FakeEmbedder())
        fill(sandbox, some)
        with sandbox.memory() as owner:
            owner.sync()
            owner.embed_pending()
            memories.append(owner.as_caller(caller))
    return Twins(*memories)


def told(value: Any, home: str) -> Any:
    """Return all that an answer says, its time and its folder apart."""
    if names := fields_of(value):
        return {
            # A confidence is steep: it makes a difference of scores much larger.
            name: round(field, 4)
            if isinstance(field, float) and name == "confidence"
            else told(field, home)
            for name in names
            if name != "took_ms"
            for field in (getattr(value, name),)
        }
    if isinstance(value, tuple | list):
        return [told(one, home) for one in value]
    if isinstance(value, float):
        # A row's product is rounded by its place in the matrix.
        return round(value, 6)
    if isinstance(value, str):
        # What a model knows of a script is asked of the model, for all callers once.
        return "" if value.endswith(" script") else value.replace(home, "")
    return value


def outcome(memory: Memory, call: str, *args: Any, **options: Any) -> Any:
    """Return what a call says, an error by its kind and words."""
    home = memory.places.home
    try:
        return told(getattr(memory, call)(*args, **options), home)
    except HivemindError as error:
        return (type(error), str(error).replace(home, ""), error.hint)


@pytest.mark.parametrize("seed", mostly_thorough(range(12), every=3))
@pytest.mark.parametrize("is_hybrid", [False, True], ids=["keyword", "hybrid"])
def test_every_answer_is_that_of_a_memory_without_what_is_hidden(
    tmp_path: Path, seed: int, is_hybrid: bool
) -> None:
    """Scores, counts, suggestions and errors tell of nothing that is not theirs."""
    chance = random.Random(seed)
    notes = random_notes(chance)
    caller = CALLERS[seed % len(CALLERS)]
    pair = twins(tmp_path, notes, caller, is_hybrid=is_hybrid)

    with pair.whole, pair.visible:
        for question in QUESTIONS:
            search_filter = SearchFilter(
                has_pending=chance.random() < 0.5, has_expired=chance.random() < 0.3
            )
            query = Query(
                text=question,
                min_score=chance.choice((0.0, 0.3)),
                max_results=chance.choice((2, 10)),
                should_explain=True,
                search_filter=search_filter,
            )
            answers = [
                outcome(memory, "search", query)
                for memory in (pair.whole, pair.visible)
            ]
            assert answers[0] == answers[1], question
        for path in (*notes, "projects/shop/none.md", "teams/none/x.md"):
            reads = [
                outcome(memory, "read", path) for memory in (pair.whole, pair.visible)
            ]
            assert reads[0] == reads[1]
            assert may_read(caller, path) or reads[0][0].__name__ == "NoteNotFoundError"
        lists = [
            [note.path for note in memory.list()]
            for memory in (pair.whole, pair.visible)
        ]
        assert lists[0] == lists[1]


@pytest.mark.parametrize("caller", CALLERS)
def test_nothing_is_written_across_a_boundary(sandbox: Sandbox, caller: Caller) -> None:
    """Whether the other scope is there or not, the refusal is the same."""
    sandbox.save("teams/red/plans.md", "secret\n")
    sandbox.save("projects/shop/plans.md", "secret\n")
    outside = [
        path
        for path in ("teams/red/plans.md", "projects/shop/plans.md", "teams/no/a.md")
        if not may_read(caller, path)
    ]

    with sandbox.memory().as_caller(caller) as memory:
        refusals = {
            path: outcome(memory, "write", "text", file=path) for path in outside
        }

    for path, (kind, message, _) in refusals.items():
        assert issubclass(kind, NotSavedError)
        assert path in message
    assert not (sandbox.notes / "teams/no").exists()
    assert (sandbox.notes / "teams/red/plans.md").read_text() == "secret\n"


def test_a_scope_by_another_spelling_is_the_same_scope(sandbox: Sandbox) -> None:
    """A disk that does not tell Teams from teams would open one by the other."""
    sandbox.save("Teams/Red/plans.md", "xylophone\n")
    sandbox.save("PROJECTS/shop/plans.md", "xylophone\n")

    with sandbox.memory() as owner, owner.as_caller(Caller()) as memory:
        answer = memory.search(Query(text="xylophone"))

    assert [hit.path for hit in answer.hits] == []


def test_the_global_memory_is_written_from_the_root_side_only(sandbox: Sandbox) -> None:
    """A workspace below another must not speak to all."""
    below = Caller(workspace="workspaces/web", is_root=False)

    with sandbox.memory() as owner, owner.as_caller(below) as memory:
        refused = outcome(memory, "write", "text", file="global.md")
        named = memory.write("text", file="workspaces/web/a.md")
        unnamed = memory.write("text")

    assert issubclass(refused[0], NotSavedError)
    assert named.path == "workspaces/web/a.md"
    assert unnamed.path.startswith("workspaces/web/")


def test_a_visitor_finds_what_is_public_only(sandbox: Sandbox) -> None:
    """The explicit word counts first, then that of the project, then public."""
    sandbox.flags["projects"] = {"shop": {"visibility": "private"}}
    sandbox.save("open.md", "xylophone\n")
    sandbox.save("closed.md", "---\nvisibility: private\n---\nxylophone\n")
    sandbox.save("projects/shop/inherits.md", "xylophone\n")
    sandbox.save("projects/shop/says.md", "---\nvisibility: public\n---\nxylophone\n")
    visitor = Caller(project="projects/shop", is_member=False)

    with sandbox.memory() as owner, owner.as_caller(visitor) as memory:
        answer = memory.search(Query(text="xylophone", min_score=0))
        read = outcome(memory, "read", "open.md")
        refused = outcome(memory, "write", "text")

    # All four say the same: the closed ones are neither named nor counted.
    [hit] = answer.hits
    assert hit.path == "projects/shop/says.md"
    assert hit.also_in == ("open.md:1",)
    assert answer.report.cut.same_text == 1
    assert read[0].__name__ == "NoteNotFoundError"
    assert issubclass(refused[0], NotSavedError)


@pytest.mark.parametrize("is_member", [True, False], ids=["member", "visitor"])
@pytest.mark.parametrize("caller", [*CALLERS, OWNER])
def test_the_query_finds_what_the_rule_says(
    sandbox: Sandbox, caller: Caller, is_member: bool
) -> None:
    """The index makes its SQL from the condition; here both are said once more."""
    projects = {"shop": {"visibility": "private"}, "site": {"visibility": "public"}}
    sandbox.flags["projects"] = projects
    private = frozenset({"projects/shop"})
    notes = {}
    for scope in SCOPES:
        for visibility in ("", "public", "private"):
            path = f"{scope}/{visibility}n.md" if scope else f"{visibility}n.md"
            header = f"---\nvisibility: {visibility}\n---\n" if visibility else ""
            sandbox.save(path, f"{header}xylophone {scope} {visibility}\n")
            notes[path] = (scope, visibility)
    whoever = replaced(caller, is_member=is_member)

    with sandbox.memory() as owner, owner.as_caller(whoever) as memory:
        answer = memory.search(Query(text="xylophone", min_score=0, max_results=100))

    def is_visible(scope: str, visibility: str) -> bool:
        if whoever.scopes is not None and scope not in whoever.scopes:
            return False
        inherited = "private" if scope in private else "public"
        return is_member or (visibility or inherited) == "public"

    condition = access_of(whoever, private).condition
    visible = {path for path, (scope, said) in notes.items() if is_visible(scope, said)}
    assert {hit.path for hit in answer.hits} == visible
    assert visible == {
        path
        for path, (scope, said) in notes.items()
        if holds(condition, scope=scope, visibility=said)
    }


def test_the_owner_sees_every_scope(sandbox: Sandbox) -> None:
    """It is their machine, and their files."""
    sandbox.save("teams/red/a.md", "xylophone\n")
    sandbox.save("projects/shop/b.md", "xylophone\n")

    with sandbox.memory() as memory:
        answer = memory.search(Query(text="xylophone"))

    assert memory.caller == OWNER
    [hit] = answer.hits
    assert hit.path == "projects/shop/b.md"
    assert hit.also_in == ("teams/red/a.md:1",)


def test_what_was_forgotten_is_blank_for_an_agent_that_reads_the_note(
    sandbox: Sandbox,
) -> None:
    """Out of the search and readable all the same would be half forgotten."""
    sandbox.save("day.md", "kept above\n")
    with sandbox.memory() as owner:
        first = owner.write("to be forgotten", file="day.md")
        owner.write("kept below", file="day.md")
        text = (sandbox.notes / "day.md").read_text()
        marked = text.replace(f"id={first.id} ", f"id={first.id} forgotten=2026-01-01 ")
        sandbox.save("day.md", marked)
        sandbox.save("gone.md", "---\ntype: fact\nforgotten: 2026-01-01\n---\ntext\n")
        with owner.as_caller(Caller()) as agent:
            seen = agent.read("day.md").text
            refused = outcome(agent, "read", "gone.md")
            missing = outcome(agent, "read", "missing.md")
            listed = [note.path for note in agent.list()]

    assert "to be forgotten" not in seen
    assert len(seen.split("\n")) == len(marked.rstrip("\n").split("\n"))
    assert "kept below" in seen
    assert "kept above" in seen
    assert refused[1] == missing[1].replace("missing.md", "gone.md")
    assert listed == ["day.md"]


def test_replacing_a_key_hides_no_memory_of_that_name_elsewhere(
    sandbox: Sandbox,
) -> None:
    """A name that several answer to means one: here the one in the same project."""
    sandbox.save("k.md", "---\ntype: fact\nkey: k\n---\nThe xylophone is old.\n")
    sandbox.save(
        "projects/shop/other.md",
        "---\ntype: fact\nkey: k\n---\nA kettle of the shop.\n",
    )
    sandbox.save(
        "projects/shop/new.md",
        "---\ntype: fact\nkey: n\nsupersedes: k\n---\nThe xylophone is new.\n",
    )

    with sandbox.memory() as memory:
        answer = memory.search(Query(text="xylophone", min_score=0.0))

    # What it replaces is not among the answers, so nothing leaves.
    assert {hit.path for hit in answer.hits} == {"k.md", "projects/shop/new.md"}


def test_no_count_tells_whether_there_are_hidden_notes(tmp_path: Path) -> None:
    """More candidates are read where some are hidden; no more of them are counted."""
    cuts = []
    for hidden in (0, 30):
        sandbox = Sandbox(tmp_path / f"home-{hidden}")
        notes = {
            f"projects/shop/{n:02}.md": f"# Note {n}\n\nkettle {'steam ' * (n % 7)}\n"
            for n in range(60)
        }
        notes |= {
            f"projects/site/{n:02}.md": f"# Note {n}\n\nkettle kettle {n}\n"
            for n in range(hidden)
        }
        fill(sandbox, notes)
        with sandbox.memory() as owner, owner.as_caller(CALLERS[1]) as memory:
            answer = memory.search(Query(text="kettle", min_score=0, max_results=5))
        cuts.append((answer.report.cut, [hit.score for hit in answer.hits]))

    assert cuts[0] == cuts[1]
