"""Links to folders: named in the status, read when a person lists them, never written.

Real folders, real links, a real index.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from hivemind_memory.errors import HivemindError, UsageError
from hivemind_memory.files import descriptors
from hivemind_memory.files.folder import NotesFolder
from hivemind_memory.memory.memory import Memory
from hivemind_memory.model.curation import MemorySelector, NewMemory
from hivemind_memory.model.note_path import NotePath
from hivemind_memory.watch.change_detector import (
    ChangeDetector,
    ChangeDetectorSettings,
)
from tests.support.sandbox import Sandbox, ask, paths
from tests.watch.fakes import FakeSource

OUTSIDE = "The wombat of the team deploys on Mondays.\n"
MEMORY = "---\nid: 01ARZ3NDEKTSV4RRFFQ69G5FAV\ntype: fact\nkey: wombat\n---\n" + OUTSIDE


@pytest.fixture(params=["descriptors", "paths"], autouse=True)
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both ways of walking: with descriptors, and as on Windows."""
    monkeypatch.setattr(descriptors, "_HAS_DESCRIPTORS", request.param == "descriptors")


@pytest.fixture
def team(tmp_path: Path) -> Path:
    """A folder of notes elsewhere."""
    folder = tmp_path.resolve() / "elsewhere" / "team"
    (folder / "sub").mkdir(parents=True)
    (folder / "t.md").write_text(OUTSIDE)
    (folder / "sub" / "s.md").write_text("A quokka below.\n")
    return folder


@pytest.fixture
def sandbox(tmp_path: Path, team: Path) -> Sandbox:
    """A home with a link to that folder, listed by a person."""
    made = Sandbox(tmp_path / "home", flags={"followed_links": {"team": str(team)}})
    made.save("a.md", "A note of one's own.\n")
    (made.notes / "team").symlink_to(team)
    return made


def reasons(sandbox: Sandbox, links: dict[str, str]) -> dict[str, str]:
    """What a scan passes over, and why."""
    snapshot = NotesFolder(str(sandbox.notes), links=links).snapshot()
    return {one.path: one.reason for one in snapshot.skipped}


def test_a_link_to_a_folder_is_named_with_the_command_that_lists_it(
    sandbox: Sandbox, team: Path
) -> None:
    """A person who made it looks there for what is missing."""
    (sandbox.notes / "v1.2 notes").symlink_to(team)

    found = reasons(sandbox, {})

    assert f"`hm config set followed_links.team {team}`" in found["team"]
    assert f"set 'followed_links.v1.2 notes' {team}`" in found["v1.2 notes"]
    assert ask(sandbox.memory(followed_links={}), "wombat").hits == ()


def test_a_listed_link_is_read_with_all_that_is_below_it(sandbox: Sandbox) -> None:
    """Under the name of the link, as if the notes lay there."""
    with sandbox.memory() as memory:
        assert paths(ask(memory, "wombat")) == ["team/t.md"]
        assert paths(ask(memory, "quokka")) == ["team/sub/s.md"]
        assert memory.read("team/t.md").text == OUTSIDE.rstrip()
        assert [note.path for note in memory.list()][1:] == [
            "team/sub/s.md",
            "team/t.md",
        ]


@pytest.mark.parametrize("change", ["edit", "add", "delete", "repoint"])
def test_a_change_behind_a_link_is_seen_by_the_next_search(
    sandbox: Sandbox, team: Path, change: str
) -> None:
    """A process that is asked again and again trusts no watch of the notes folder."""
    changes: dict[str, Callable[[], object]] = {
        "edit": lambda: (team / "t.md").write_text("A numbat instead.\n"),
        "add": lambda: (team / "sub" / "n.md").write_text("A numbat as well.\n"),
        "delete": (team / "t.md").unlink,
        "repoint": (sandbox.notes / "team").unlink,
    }
    with sandbox.memory() as memory:
        for _ in range(3):
            ask(memory, "wombat")
        changes[change]()

        answer = ask(memory, "wombat numbat")

        assert answer.report.is_fresh
        found = " ".join(hit.snippet for hit in answer.hits)
        assert ("numbat" in found) is (change in {"edit", "add"})
        assert ("wombat" in found) is (change == "add")


def test_a_link_that_leads_elsewhere_than_listed_is_not_followed(
    sandbox: Sandbox, team: Path, tmp_path: Path
) -> None:
    """Who can write in the notes folder could else have any file searched."""
    secret = tmp_path.resolve() / "secret"
    secret.mkdir()
    (secret / "t.md").write_text("A wombat that is nobody's business.\n")
    link = sandbox.notes / "team"
    link.unlink()
    link.symlink_to(secret)

    assert "lists" in reasons(sandbox, {"team": str(team)})["team"]
    with sandbox.memory() as memory:
        assert ask(memory, "wombat").hits == ()
        with pytest.raises(HivemindError):
            memory.read("team/t.md")


def test_a_listed_folder_that_became_a_link_is_not_followed(
    sandbox: Sandbox, team: Path, tmp_path: Path
) -> None:
    """A repository may replace its folder with a link in any pull."""
    secret = tmp_path.resolve() / "secret"
    secret.mkdir()
    (secret / "x.md").write_text("wombat\n")
    team.rename(team.with_name("old"))
    team.symlink_to(secret)

    with sandbox.memory() as memory:
        assert ask(memory, "wombat").hits == ()


def test_links_inside_a_followed_folder_are_followed_only_if_listed(
    sandbox: Sandbox, team: Path, tmp_path: Path
) -> None:
    """One list says all that is read."""
    other = tmp_path.resolve() / "other"
    other.mkdir()
    (other / "o.md").write_text("A bilby.\n")
    (team / "sub" / "other").symlink_to(other)
    (team / "up").symlink_to("..")
    (team / "file.md").symlink_to(other / "o.md")
    more = {"team": str(team), "team/sub/other": str(other)}

    with sandbox.memory() as memory:
        assert ask(memory, "bilby").hits == ()
    with sandbox.memory(followed_links=more) as memory:
        assert paths(ask(memory, "bilby")) == ["team/sub/other/o.md"]


@pytest.mark.parametrize(
    ("links", "reason"),
    [
        ({"round": "memory"}, "lie in one another"),
        ({"round": "memory/deep"}, "lie in one another"),
        ({"round": "."}, "lie in one another"),
        ({"one": "../elsewhere", "two": "../elsewhere/team"}, "read as one already"),
        ({"gone": "../nothing"}, "there is no folder"),
    ],
)
def test_no_link_leads_in_a_circle_or_twice_to_one_note(
    sandbox: Sandbox, links: dict[str, str], reason: str
) -> None:
    """A note has one name, and a scan an end."""
    (sandbox.notes / "deep").mkdir()
    home = sandbox.home.resolve()
    listed = {}
    for name, target in links.items():
        (sandbox.notes / name).symlink_to(home / target)
        listed[name] = str((home / target).resolve())

    found = reasons(sandbox, listed)

    assert reason in found[list(links)[-1]]


@pytest.mark.parametrize("way_in", ["write", "forget", "replace", "purge"])
def test_nothing_is_written_behind_a_link(
    sandbox: Sandbox, team: Path, way_in: str
) -> None:
    """The folder belongs to others; a person edits it where it lies."""
    (team / "wombat.md").write_text(MEMORY)
    before = {file: file.read_bytes() for file in team.rglob("*.md")}

    def change(memory: Memory) -> None:
        curation = memory.curation
        if way_in == "write":
            memory.write("A numbat.", file="team/t.md")
        elif way_in == "forget":
            curation.forget(MemorySelector(name="wombat"))
        elif way_in == "replace":
            memory.folder.replace(NotePath("team/new.md"), b"x", expected=None)
        else:
            curation.purge(MemorySelector(name="wombat"))

    with sandbox.memory() as memory:
        with pytest.raises(HivemindError, match="where nothing is written"):
            change(memory)
        assert paths(ask(memory, "wombat"))[:1] != []

    assert {
        file: file.read_bytes() for file in team.rglob("*") if file.is_file()
    } == before


def test_an_error_about_a_link_says_that_nothing_was_changed(sandbox: Sandbox) -> None:
    """A person need not look whether half of it was done."""
    with (
        sandbox.memory() as memory,
        pytest.raises(HivemindError, match="Nothing was changed there"),
    ):
        memory.write("A numbat.", file="team/t.md")


def test_a_memory_behind_a_link_leaves_its_key_free(
    sandbox: Sandbox, team: Path
) -> None:
    """A save makes one in the folder itself, and the key then means that one."""
    (team / "wombat.md").write_text(MEMORY)
    wombat = MemorySelector(name="wombat")
    with sandbox.memory() as memory:
        curation = memory.curation
        saved = curation.save(NewMemory(key="wombat", content="It moved.", reason="r"))

        assert saved.path == "wombat.md"
        assert any("team/wombat.md" in one for one in saved.warnings)
        again = curation.save(
            NewMemory(key="wombat", content="It is back.", reason="s")
        )
        assert again.superseded == saved.id
        hidden = curation.forget(wombat)
        assert "wombat.md" in [one.path for one in hidden.memories]
        assert hidden.failed == ()
        curation.purge(wombat)
        assert not (sandbox.notes / "wombat.md").exists()

    assert (team / "wombat.md").read_text() == MEMORY


def test_a_link_in_the_folder_of_a_scope_belongs_to_the_scope(
    sandbox: Sandbox, team: Path
) -> None:
    """Who may read the scope may read what is behind the link, and no one else."""
    (sandbox.notes / "team").unlink()
    (sandbox.notes / "projects" / "shop").mkdir(parents=True)
    (sandbox.notes / "projects" / "shop" / "docs").symlink_to(team)

    with sandbox.memory(followed_links={"projects/shop/docs": str(team)}) as memory:
        [hit] = ask(memory, "wombat").hits

    assert (hit.path, hit.scope) == ("projects/shop/docs/t.md", "projects/shop")


@pytest.mark.parametrize(
    "links",
    [
        {"projects/shop": "/srv"},
        {"Teams": "/srv"},
        {"inbox": "/srv"},
        {"projects/shop/superseded": "/srv"},
        {"../out": "/srv"},
        {".index": "/srv"},
        {"team": "srv"},
        {"team": "/srv/../etc"},
        {"team": 3},
    ],
)
def test_a_link_that_cannot_be_followed_is_refused_when_it_is_listed(
    sandbox: Sandbox, links: dict[str, object]
) -> None:
    """Memories are written in the folders of scopes, so these are folders."""
    with pytest.raises(UsageError):
        sandbox.memory(followed_links=links)


def test_a_watcher_scans_where_links_are_followed(tmp_path: Path) -> None:
    """No event tells of a change behind a link."""
    source = FakeSource()
    settings = ChangeDetectorSettings(has_links=True)
    detector = ChangeDetector(
        str(tmp_path), open_source=lambda *_: source, settings=settings
    )
    detector.open(lambda **_: None, 0.0)
    source.spoke = True

    assert detector.check(settings.poll_s)
    assert "behind links" in detector.state.reason
