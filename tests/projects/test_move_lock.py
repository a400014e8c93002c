"""A project that gets another name while its agents write keeps all they wrote."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from hivemind_memory.access.rules import Caller
from hivemind_memory.environment import agent_scope_request
from hivemind_memory.errors import HivemindError, NotSavedError, ScopeError
from hivemind_memory.memory import memory as memory_module
from hivemind_memory.model.curation import MemorySelector, NewMemory
from hivemind_memory.opening import open_memory
from hivemind_memory.projects import lookup as lookup_module
from hivemind_memory.projects import move_lock, record_file
from hivemind_memory.projects.folders import ProjectFolder
from hivemind_memory.projects.lookup import ProjectLookup
from hivemind_memory.projects.move_lock import moves_lock, no_moves
from tests.inject.repos import git, make_repo
from tests.support.sandbox import Sandbox

WRITERS = 32
WRITES = 4
SAVED = "Nothing was saved"
ORIGIN = "git@github.com:acme/shop.git"


def make_shop(tmp_path: Path) -> Path:
    """Return a new repository whose project is called shop."""
    repo = make_repo(tmp_path / "shop")
    git(repo, "remote", "add", "origin", ORIGIN)
    return repo


@pytest.fixture
def short_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits long for a lock that is not let go."""
    monkeypatch.setattr(move_lock, "LOCK_WAIT_S", 0.05)


@pytest.mark.usefixtures("short_wait")
@pytest.mark.parametrize("way", ["write", "save"])
def test_no_project_moves_between_the_scope_and_the_note(
    sandbox: Sandbox, way: str
) -> None:
    """The old folder was made again, and another repository of its name found it."""
    agent = Caller(project="projects/shop", is_agent=True)
    sandbox.save("projects/shop/n.md", "# Shop\n")
    owner = sandbox.memory()
    find = memory_module.Memory.find_scope
    refused = []

    def find_then_move(memory: memory_module.Memory, name: str = "") -> str:
        scope = find(memory, name)
        try:
            owner.curation.projects.move("shop", "store", is_merge=False)
        except NotSavedError as error:
            refused.append(str(error))
        return scope

    with (
        sandbox.memory().as_caller(agent) as memory,
        mock.patch.object(memory_module.Memory, "find_scope", find_then_move),
    ):
        if way == "write":
            memory.write("The harbour is blue.")
        else:
            memory.save(NewMemory(key="harbour", content="The harbour is blue."))

    assert refused
    owner.curation.projects.move("shop", "store", is_merge=False)
    assert not (sandbox.notes / "projects" / "shop").exists()
    texts = [file.read_text() for file in sandbox.notes.rglob("*.md")]
    assert any("The harbour is blue." in text for text in texts)
    owner.close()


@pytest.mark.usefixtures("short_wait")
def test_writers_share_and_a_move_waits_for_all_of_them(tmp_path: Path) -> None:
    """And no write begins while a project moves."""
    locks = str(tmp_path / "locks")

    with no_moves(locks, SAVED), no_moves(locks, SAVED):
        with pytest.raises(NotSavedError, match="held the lock"), moves_lock(locks):
            pass
        with no_moves(locks, SAVED):
            pass
    with (
        moves_lock(locks),
        pytest.raises(NotSavedError, match="turn") as error,
        no_moves(locks, SAVED),
    ):
        pass

    assert "Nothing was saved" in str(error.value)
    with moves_lock(locks), pytest.raises(NotSavedError), moves_lock(locks):
        pass


@pytest.mark.usefixtures("short_wait")
def test_two_homes_with_the_same_notes_wait_for_each_other(tmp_path: Path) -> None:
    """Each had a lock of its own, so a write in one crossed a move in the other."""
    notes = tmp_path / "notes"
    (notes / "projects" / "shop").mkdir(parents=True)
    (notes / "projects" / "shop" / "n.md").write_text("# Shop\n")
    with (
        open_memory(home=str(tmp_path / "one"), memory_dir=str(notes)) as one,
        open_memory(home=str(tmp_path / "two"), memory_dir=str(notes)) as two,
        two.curation._context.changing(),
        pytest.raises(NotSavedError, match="Nothing was moved"),
    ):
        one.curation.projects.move("shop", "store", is_merge=False)

    assert os.listdir(notes / "projects") == ["shop"]


@pytest.mark.usefixtures("short_wait")
@pytest.mark.parametrize(
    ("change", "effect"),
    [
        (lambda memory: memory.save(NewMemory(key="a", content="x")), "saved"),
        (lambda memory: memory.write("x"), "saved"),
        (
            lambda memory: memory.curation.forget(MemorySelector(name="a")),
            "changed",
        ),
        (lambda memory: memory.curation.restore(MemorySelector(name="a")), "changed"),
        (lambda memory: memory.curation.undo(""), "changed"),
        (lambda memory: memory.curation.accept("a"), "changed"),
        (lambda memory: memory.curation.link("a", "b", "related_to"), "linked"),
        (lambda memory: memory.curation.unlink("a", "b", "related_to"), "changed"),
        (
            lambda memory: memory.curation.purge(MemorySelector(name="a")),
            "purged",
        ),
        (
            lambda memory: memory.curation.projects.move("a", "b", is_merge=False),
            "moved",
        ),
    ],
)
def test_a_change_that_a_move_refuses_says_what_it_did_not_do(
    sandbox: Sandbox, change: Callable[[memory_module.Memory], object], effect: str
) -> None:
    """A forget said that nothing was saved."""
    with (
        sandbox.memory() as memory,
        moves_lock(memory.places.shared_locks),
        pytest.raises(NotSavedError) as error,
    ):
        change(memory)

    assert error.value.effect == f"Nothing was {effect}"


def test_a_look_that_a_rename_overtakes_is_not_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next write made the old folder again."""
    repo = make_shop(tmp_path)
    notes = tmp_path / "notes"
    notes.mkdir()
    found = ProjectLookup(str(repo), {}, str(notes), {})
    find, above = lookup_module.find_project, notes / "projects"

    def find_then_rename(*args: Any, **kwargs: Any) -> ProjectFolder:
        answer = find(*args, **kwargs)
        if (above / "shop").is_dir():
            (above / "shop").rename(above / "store")
        return answer

    monkeypatch.setattr(lookup_module, "find_project", find_then_rename)

    assert found.find().slug == "shop"
    assert found.find(is_write=True).slug == "store"
    assert found.find(is_write=True).slug == "store"


def test_a_project_renamed_while_the_records_are_read_gets_no_second_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its old name was listed, its new one was not, so it was taken for a new one."""
    repo = make_shop(tmp_path)
    notes = tmp_path / "notes"
    notes.mkdir()
    assert ProjectLookup(str(repo), {}, str(notes), {}).find().slug == "shop"
    listed, above = record_file.listed_projects, notes / "projects"

    def list_then_rename(folder: str) -> list[str]:
        names = listed(folder)
        if (above / "shop").is_dir():
            (above / "shop").rename(above / "store")
        return names

    monkeypatch.setattr(record_file, "listed_projects", list_then_rename)

    assert ProjectLookup(str(repo), {}, str(notes), {}).find().slug == "store"
    assert listed(str(above)) == ["store"]


@pytest.mark.parametrize(
    "where", [{"scope": "project"}, {"file": "projects/shop/n.md"}]
)
def test_a_named_write_does_not_make_the_old_folder_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: dict[str, str]
) -> None:
    """The project got another name after the agent's memory was opened."""
    repo = make_shop(tmp_path)
    monkeypatch.chdir(repo)
    home = tmp_path / "home"
    (home / "memory").mkdir(parents=True)
    with (
        open_memory(home=str(home), scope_request=agent_scope_request()) as agent,
        open_memory(home=str(home)) as owner,
    ):
        agent.write("first")
        owner.curation.projects.move("shop", "store", is_merge=False)

        with pytest.raises(ScopeError, match="is projects/store now"):
            agent.write("second", **where)

    assert os.listdir(home / "memory" / "projects") == ["store"]


@pytest.mark.thorough
def test_all_that_thirty_two_agents_write_follows_their_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Renamed again and again meanwhile; nothing acknowledged stays behind."""
    repo = make_shop(tmp_path)
    monkeypatch.chdir(repo)
    home = tmp_path / "home"
    (home / "memory").mkdir(parents=True)
    with open_memory(home=str(home)) as memory:
        memory.write("first")
    told, tell = os.pipe()
    children = [_start_agent(home, number, tell) for number in range(WRITERS)]
    os.close(tell)
    name = "shop"
    with open_memory(home=str(home)) as owner:
        for number in range(4):
            owner.curation.projects.move(name, f"store{number}", is_merge=False)
            name = f"store{number}"
    with os.fdopen(told) as lines:
        acknowledged = lines.read().split()
    for child in children:
        assert os.waitpid(child, 0)[1] == 0

    assert len(acknowledged) > WRITERS
    above = home / "memory" / "projects"
    assert [folder.name for folder in above.iterdir()] == [name]
    written = "".join(file.read_text() for file in above.rglob("*.md"))
    assert [word for word in acknowledged if word not in written] == []


def _start_agent(home: Path, number: int, tell: int) -> int:
    """Fork an agent that writes and tells what was acknowledged; return its id."""
    child = os.fork()
    if child:
        return child
    code = 1
    try:
        for turn in range(WRITES):
            word = f"agent{number}turn{turn}x"
            request = agent_scope_request()
            with (
                open_memory(home=str(home), scope_request=request) as memory,
                suppress(HivemindError),
            ):
                memory.write(word)
                os.write(tell, f"{word}\n".encode())
        code = 0
    finally:
        os._exit(code)
