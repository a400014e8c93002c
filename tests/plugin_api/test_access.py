"""A search of namespaces gives what the access model gives, and nothing of others."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest

from hivemind_memory.access.rules import OWNER, Caller, may_read, may_write
from hivemind_memory.errors import HivemindError
from hivemind_memory.memory.memory import Memory
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
from hivemind_memory.plugin_api.refusal import RefusedError, refusal_of
from hivemind_memory.plugin_api.rows import NewRow
from hivemind_memory.plugin_api.workspace import find_rows, list_scopes, recall_facts
from tests.plugin_api.homes import FrozenHome, frozen_home
from tests.support.tiers import mostly_thorough

SCOPES = {
    "workspace:web": "workspaces/web",
    "workspace:ops": "workspaces/ops",
    "team:red": "teams/red",
    "team:blue": "teams/blue",
    "project:shop": "projects/shop",
    "org:acme": "",
}
CALLERS = {
    "owner": OWNER,
    "child": Caller(workspace="workspaces/web", teams=("teams/red",), is_root=False),
    "root": Caller(workspace="workspaces/ops", teams=("teams/red", "teams/blue")),
    "project": Caller(project="projects/shop", is_agent=True, is_root=False),
    "reader": Caller(workspace="workspaces/web", is_read_only=True),
    "visitor": Caller(is_root=False, is_member=False, is_read_only=True),
}
OWN = "5b1f0c1e-7c1e-4f43-9d4d-0f9f7f1d2a10"


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> FrozenHome:
    """A home with two memories in each namespace, one of them pinned."""
    home = frozen_home(Path(tmp_path_factory.mktemp("access")))
    with home.memory() as memory:
        for name, scope in SCOPES.items():
            put_namespace(memory, name, kind=kind_of_name(name))
            for is_pinned in (False, True):
                text = f"kiwi of {scope or 'all'} {'pinned' if is_pinned else 'plain'}"
                write_row(memory, name, NewRow(content=text, is_pinned=is_pinned))
    return home


@pytest.fixture(params=CALLERS)
def seen(request: pytest.FixtureRequest, full: FrozenHome) -> Iterator[Memory]:
    """The memory as each of the callers sees it."""
    with full.seen_by(CALLERS[request.param]) as memory:
        yield memory


def allowed(memory: Memory, names: tuple[str, ...]) -> set[str]:
    """Return the texts that the model of access lets a caller see."""
    return {
        f"kiwi of {SCOPES[name] or 'all'} {word}"
        for name in names
        for word in ("plain", "pinned")
        if memory.caller.is_member and may_read(memory.caller, f"{SCOPES[name]}/a.md")
    }


@pytest.mark.parametrize(
    "text", mostly_thorough(["", "kiwi", "pinned kiwi of teams"], every=3)
)
def test_every_choice_of_namespaces_gives_what_the_caller_may_read(
    seen: Memory, text: str
) -> None:
    """Whatever else is asked for beside them."""
    for count in (1, 2, 3, len(SCOPES)):
        for names in itertools.combinations(SCOPES, count):
            question = question_in(seen, names, text=text, limit=100)
            found = search_rows(seen, question)

            contents = {row.content for row in found}
            if " " in text:
                # What has one of three words only is too weak an answer.
                assert contents <= allowed(seen, names)
            else:
                assert contents == allowed(seen, names)
            assert all(row.content.startswith("kiwi of ") for row in found)
            assert all(
                SCOPES[row.namespace] in row.content or not SCOPES[row.namespace]
                for row in found
            )


def test_what_may_not_be_seen_answers_like_what_is_not_there(seen: Memory) -> None:
    """To each operation, word for word."""

    def said(name: str) -> list[str]:
        answers = []
        for call in (
            lambda: write_row(seen, name, NewRow(content="x", id=OWN)),
            lambda: patch_namespace(seen, name, metadata="{}"),
            lambda: delete_namespace(seen, name),
            lambda: forget_row(seen, OWN, requested_by=name),
        ):
            with pytest.raises(HivemindError) as caught:
                call()
            answers.append(str(refusal_of(caught.value)).replace(name, "NAME"))
        return answers

    absent = said("workspace:nobody")
    for name, scope in SCOPES.items():
        if name not in readable(seen):
            assert said(name) == absent, scope


def test_only_who_may_write_there_writes_or_names_a_scope(
    seen: Memory, full: FrozenHome
) -> None:
    """And nothing is left of what was refused."""
    before = sorted(full.notes.rglob("*.md"))
    for name, scope in SCOPES.items():
        caller = seen.caller
        path = f"{scope}/a.md".lstrip("/")
        may = may_write(caller, path) and not caller.is_read_only
        if may:
            put_namespace(seen, name, kind=kind_of_name(name))
            continue
        for call in (
            lambda name=name: put_namespace(seen, name, kind=kind_of_name(name)),
            lambda name=name: write_row(seen, name, NewRow(content="x")),
        ):
            with pytest.raises(HivemindError):
                call()
    assert sorted(full.notes.rglob("*.md")) == before


def test_a_workspace_recalls_its_own_its_teams_and_everyones(seen: Memory) -> None:
    """And of its project only by the name of the namespace."""
    caller = seen.caller
    if caller.is_owner or not caller.is_member:
        return
    own = {caller.workspace, *caller.teams, ""}
    names = tuple(name for name, scope in SCOPES.items() if scope in own)

    for text in ("", "kiwi"):
        facts = recall_facts(seen, text, limit=100)
        assert {row.content for row in facts} == allowed(seen, names)
        for name in (*SCOPES, "workspace:nobody"):
            rows = find_rows(seen, name, text, limit=100)
            is_own = any(one.name == name for one in list_scopes(seen))
            expected = allowed(seen, (name,)) if is_own else set()
            assert {row.content for row in rows} == expected


def test_a_key_that_looks_like_an_id_keeps_no_program_from_its_memory(
    tmp_path: Path,
) -> None:
    """An agent of another workspace saves under it first; it may know the id."""
    home = frozen_home(tmp_path)
    with home.memory() as memory:
        put_namespace(memory, "workspace:ops", kind="workspace")
    with home.seen_by(CALLERS["child"]) as squatter:
        squatter.save(NewMemory(key=f"uuid-{OWN}", content="mine"))

    with home.memory() as memory:
        write_row(memory, "workspace:ops", NewRow(id=OWN, content="of the program"))
        write_row(memory, "workspace:ops", NewRow(id=OWN, content="written again"))
        question = question_in(memory, ("workspace:ops",))
        found = search_rows(memory, question)

    assert [row.content for row in found] == ["written again"]


@pytest.mark.parametrize("caller", ["root", "project"])
def test_only_the_owner_ends_what_is_everyones(tmp_path: Path, caller: str) -> None:
    """A deletion would hide what every other program wrote for all."""
    home = frozen_home(tmp_path)
    with home.memory() as memory:
        put_namespace(memory, "org:acme", kind="org")
        write_row(memory, "org:acme", NewRow(content="kiwi for all"))
    with home.seen_by(CALLERS[caller]) as memory:
        for end in (
            lambda: delete_namespace(memory, "org:acme"),
            lambda: patch_namespace(memory, "org:acme", expires_at=1.0),
            lambda: put_namespace(memory, "org:acme", kind="org", expires_at=1.0),
        ):
            with pytest.raises(RefusedError):
                end()

    with home.memory() as memory:
        assert list(readable(memory)) == ["org:acme"]
        delete_namespace(memory, "org:acme")
        assert not readable(memory)
