"""A project's folder has a short name, and belongs to one repository alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hivemind_memory.projects import folders
from hivemind_memory.projects.folders import ProjectFolder, find_project
from hivemind_memory.projects.identity import (
    ProjectRecord,
    Resolution,
    SeenRepository,
    resolve,
)
from hivemind_memory.projects.known_project import IDENTITY_FILE
from hivemind_memory.projects.record_file import write_record

SHOP = "github.com/Acme/Shop"
OTHER = "gitlab.com/rival/shop"


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    (tmp_path / "memory").mkdir()
    return tmp_path / "memory"


def look(identity: str, notes: Path, **projects: object) -> ProjectFolder:
    """Look for the project of a repository without a mark, or of a plain folder."""
    if identity.endswith("/.git"):
        seen = SeenRepository(
            folder=identity.removesuffix("/.git"), git_folder=identity
        )
    elif identity.startswith("/"):
        seen = SeenRepository(folder=identity)
    else:
        seen = SeenRepository(folder="/x", git_folder="/x/.git", origin=identity)
    return find_project(seen, str(notes), projects)


def found(identity: str, notes: Path, **projects: object) -> str:
    return look(identity, notes, **projects).slug


def test_a_folder_is_called_what_a_person_would_call_it(notes: Path) -> None:
    """And stays the project's own from then on."""
    assert [found(SHOP, notes), found(SHOP, notes)] == ["shop", "shop"]
    assert (notes / "projects" / "shop" / IDENTITY_FILE).read_text() == f"{SHOP}\n"


def test_two_repositories_of_one_name_have_two_folders(notes: Path) -> None:
    """Else an agent in one would be told the facts of the other."""
    assert [found(SHOP, notes), found(OTHER, notes)] == ["shop", "rival-shop"]
    assert [found(OTHER, notes), found(SHOP, notes)] == ["rival-shop", "shop"]


def test_a_folder_that_was_made_by_hand_is_adopted(notes: Path) -> None:
    """Its name is the repository's, and it belongs to no other."""
    (notes / "projects" / "shop").mkdir(parents=True)
    (notes / "projects" / "shop" / "deploy.md").write_text("On Tuesdays.\n")

    adopted = look(SHOP, notes)

    assert (adopted.slug, adopted.why) == ("shop", "it has the repository's name")
    assert found(OTHER, notes) == "rival-shop"


def test_a_folder_that_was_renamed_by_hand_is_found(notes: Path) -> None:
    """Its identity went with it."""
    found(SHOP, notes)
    (notes / "projects" / "shop").rename(notes / "projects" / "store")

    assert found(SHOP, notes) == "store"
    assert found(OTHER, notes) == "shop"


@pytest.mark.parametrize("link", ["projects", "projects/shop"])
def test_nothing_is_put_into_a_folder_that_a_link_leads_to(
    notes: Path, tmp_path: Path, link: str
) -> None:
    """A write there is refused; a folder of the project was left behind."""
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    (notes / link).parent.mkdir(exist_ok=True)
    (notes / link).symlink_to(theirs)

    assert found(SHOP, notes)
    assert not write_record(str(notes / "projects"), ProjectRecord(slug="shop"))

    assert list(theirs.iterdir()) == []


def test_a_long_name_from_before_stays_in_use(notes: Path) -> None:
    """What is in it must not be lost."""
    (notes / "projects" / "github.com--acme--shop").mkdir(parents=True)

    assert found(SHOP, notes) == "github.com--acme--shop"


def test_the_configuration_decides_before_everything_else(notes: Path) -> None:
    """It is what the user said."""
    found(SHOP, notes)

    assert found(SHOP, notes, store={"identity": SHOP}) == "store"


def test_a_plain_folder_and_no_notes_folder_make_nothing(
    notes: Path, tmp_path: Path
) -> None:
    """An agent may be started anywhere."""
    assert found(str(tmp_path), notes).startswith(tmp_path.name.rstrip("_-")[:3])
    assert found(SHOP, tmp_path / "none") == "shop"
    assert list(notes.iterdir()) == []


def test_a_repository_without_a_remote_is_called_like_its_folder(
    notes: Path, tmp_path: Path
) -> None:
    """The git folder itself says nothing to a person."""
    (tmp_path / "My Shop" / ".git").mkdir(parents=True)
    (tmp_path / "My Shop" / ".git" / "HEAD").touch()

    assert found(str(tmp_path / "My Shop" / ".git"), notes) == "my-shop"


def test_what_a_person_merges_during_a_look_is_not_undone_by_what_the_look_learned(
    notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A search wrote the record as it was; the merged repository lost its memory."""
    found(SHOP, notes)
    record = notes / "projects" / "shop" / IDENTITY_FILE
    seen = SeenRepository(
        folder="/x", git_folder="/x/.git", origin=SHOP, mark="a clone"
    )

    def resolve_slowly(*given: Any) -> Resolution:
        decided = resolve(*given)
        record.write_text(f"{SHOP}\n{OTHER}\n")
        return decided

    with monkeypatch.context() as patched:
        patched.setattr(folders, "resolve", resolve_slowly)
        assert find_project(seen, str(notes), {}).slug == "shop"

    assert record.read_text() == f"{SHOP}\n{OTHER}\n"
    assert find_project(seen, str(notes), {}).slug == "shop"
    assert "a clone" in record.read_text()
    assert found(OTHER, notes) == "shop"
