"""A repository stays its project through its normal life, and no other gets in."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from hivemind_memory.errors import ProjectUnknownError
from hivemind_memory.projects.folders import ProjectFolder, find_project
from hivemind_memory.projects.identity import identity_key
from hivemind_memory.projects.lookup import ProjectLookup, seen_repository
from hivemind_memory.projects.record_file import (
    parse_record,
    read_record,
    read_records,
    render_record,
)
from tests.support.tiers import examples

ENVIRON = {
    "PATH": os.environ["PATH"],
    "HOME": "/nonexistent",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "LC_ALL": "C",
}
URL = "git@github.com:ann/shop.git"


def git(folder: Path, *words: str) -> None:
    subprocess.run(
        ["git", "-C", str(folder), *words], env=ENVIRON, check=True, capture_output=True
    )


def new(folder: Path, origin: str = "") -> Path:
    folder.mkdir(parents=True)
    git(folder, "init", "-q")
    if origin:
        git(folder, "remote", "add", "origin", origin)
    return folder


class World:
    """Repositories, and the notes folder that remembers them."""

    def __init__(self, root: Path) -> None:
        self.root = Path(os.path.realpath(root))
        self.notes = self.root / "memory"
        self.notes.mkdir()

    def look(self, folder: Path) -> ProjectFolder:
        seen = seen_repository(str(folder), ENVIRON)
        return find_project(seen, str(self.notes), {})

    def slug(self, folder: Path) -> str:
        return self.look(folder).slug


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def test_the_normal_life_of_a_repository_is_one_project(world: World) -> None:
    """From a plain folder to a new organisation: an agent keeps its memory."""
    shop = world.root / "shop"
    shop.mkdir()
    plain = world.slug(shop)
    (world.notes / "projects" / plain).mkdir(parents=True)  # something was written
    names = [plain]

    git(shop, "init", "-q")
    names.append(world.slug(shop))
    git(shop, "remote", "add", "origin", URL)
    names.append(world.slug(shop))
    git(shop, "remote", "set-url", "origin", "https://github.com/corp/shop/")
    names.append(world.slug(shop))
    shop = shop.rename(world.root / "store")
    names.append(world.slug(shop))

    assert set(names) == {plain}


def test_a_repository_without_an_origin_may_be_moved(world: World) -> None:
    """And a new one in its old place is another project, with a word about it."""
    pay = new(world.root / "pay")
    name = world.slug(pay)
    moved = pay.rename(world.root / "payments")
    again = new(pay)

    other = world.look(again)

    assert world.slug(moved) == name
    assert other.slug != name
    assert [one for one, _ in other.likely] == [name]
    assert f"`hm project adopt {name}`" in other.notice


@pytest.mark.parametrize(
    "url",
    [
        "https://github.com/zed/web",
        "https://GitHub.com/Zed/web/",
        "ssh://git@ssh.github.com:443/zed/Web.git",
        "https://www.github.com/zed/web.git/",
    ],
)
def test_spellings_of_one_origin_are_one_project(world: World, url: str) -> None:
    """GitHub answers to each of them."""
    first = new(world.root / "a", "git@github.com:zed/Web.git")
    second = new(world.root / "b", url)

    assert world.slug(first) == world.slug(second)


def test_case_counts_where_a_host_tells_it_apart() -> None:
    """Two cases may be two repositories there."""
    assert identity_key("git.example.com/A/b") != identity_key("git.example.com/a/b")


def test_two_clones_of_a_template_part_when_one_gets_an_origin(world: World) -> None:
    """A changed origin of one of two clones is no rename."""
    first = new(world.root / "one", "git@github.com:x/template")
    second = new(world.root / "two", "git@github.com:x/template")
    name = world.slug(first)
    assert world.slug(second) == name

    git(second, "remote", "set-url", "origin", "git@github.com:ann/mine")
    parted = world.look(second)

    assert parted.slug == "mine"
    assert parted.likely == ((name, "this git folder belonged to it"),)
    git(second, "remote", "set-url", "origin", "git@github.com:ann/renamed")
    assert world.slug(second) == "mine"


def test_a_former_origin_is_told_and_opens_nothing(world: World) -> None:
    """Else a new clone of a template would read what its first user wrote."""
    first = new(world.root / "one", "git@github.com:x/template")
    name = world.slug(first)
    git(first, "remote", "set-url", "origin", "git@github.com:ann/mine")
    assert world.slug(first) == name

    other = world.look(new(world.root / "two", "git@github.com:x/template"))

    assert other.slug != name
    assert other.likely == ((name, "its origin used to be github.com/x/template"),)


def test_a_copy_without_an_origin_is_another_project(world: World) -> None:
    """Whoever made it: its inode and its times are its own."""
    shop = new(world.root / "shop")
    name = world.slug(shop)

    subprocess.run(["cp", "-a", shop, world.root / "copy"], check=True)

    assert world.slug(world.root / "copy") != name
    assert world.slug(shop) == name


def test_a_local_path_as_origin_reaches_no_repository_of_that_place(
    world: World,
) -> None:
    """An archive may come with any origin, so with one that names a folder of yours."""
    bare = world.root / "plain"
    bare.mkdir()
    plain = world.slug(bare)
    (world.notes / "projects" / plain).mkdir(parents=True)
    shop = new(world.root / "shop")
    mine = {plain, world.slug(bare), world.slug(shop)}
    git(bare, "init", "-q")
    mine.add(world.slug(bare))

    for number, place in enumerate((bare, shop, shop / ".git", f"{shop}/")):
        forged = new(world.root / f"forged{number}", str(place))
        assert world.slug(forged) not in mine


def test_a_new_clone_in_the_place_of_another_repository_is_its_own(
    world: World,
) -> None:
    """Scratch folders are used again."""
    place = new(world.root / "work")
    name = world.slug(place)
    shutil.rmtree(place)

    clone = world.look(new(place, "git@github.com:eve/work"))

    assert clone.slug != name


def test_what_a_project_knows_is_read_as_it_was_written() -> None:
    """Folders have any name."""
    text = (
        "github.com/a/b\nwas\tgithub.com/a/c\nmaybe\td\nnot\te\n"
        "folder\t1-2\t/x%0Ay%09z%25/.git\tgithub.com/a/b\nfolder\t3-4\t/p/.git\n"
    )

    record = parse_record("b", text)

    assert record.folders[0].path == "/x\ny\tz%/.git"
    assert render_record(record) == text


def test_an_identity_from_before_is_understood(world: World) -> None:
    """It was the only line of the file."""
    folder = world.notes / "projects" / "store"
    folder.mkdir(parents=True)
    (folder / ".project").write_text("github.com/Ann/Shop\n")
    shop = new(world.root / "shop", URL)

    assert world.slug(shop) == "store"
    git(shop, "remote", "set-url", "origin", "git@github.com:corp/shop")
    assert world.slug(shop) == "store"
    record = read_record(str(world.notes / "projects"), "store")
    assert (record.identities, record.former) == (
        ("github.com/corp/shop",),
        ("github.com/ann/shop",),
    )


def test_a_server_follows_what_happens_to_its_project(world: World) -> None:
    """It starts before there are notes, and lives longer than a name."""
    shop = new(world.root / "shop", URL)
    world.notes.rmdir()
    lookup = ProjectLookup(str(shop), ENVIRON, str(world.notes), {})
    names = [lookup.find().slug]
    assert not world.notes.exists()

    names.append(lookup.find(is_write=True).slug)
    (world.notes / "projects" / "shop").rename(world.notes / "projects" / "store")
    names.append(lookup.find().slug)
    git(shop, "remote", "set-url", "origin", "git@github.com:corp/shop")
    names.append(lookup.find().slug)

    assert names == ["shop", "shop", "store", "store"]
    assert [one.slug for one in read_records(str(world.notes / "projects"))] == [
        "store"
    ]


def test_a_clone_that_is_seen_first_does_not_take_the_memory(world: World) -> None:
    """The original keeps its project; the origin, and a new clone, are the clone's."""
    shop = new(world.root / "shop")
    name = world.slug(shop)
    git(shop, "remote", "add", "origin", URL)
    clones = world.slug(new(world.root / "clone", URL))

    found = world.look(shop)

    assert (found.slug, clones) == (name, "ann-shop")
    assert found.likely == ((clones, "it also uses github.com/ann/shop"),)
    assert world.slug(shop) == name
    again = world.look(new(world.root / "again", URL))
    assert again.slug == clones
    assert again.likely == ((name, "it also uses github.com/ann/shop"),)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("git@github.com:ann/shop.git", "git@work-alias:ann/shop.git"),
        ("ssh://work-alias/ann/shop", "https://github.com/ann/shop"),
        ("git@home:ann/shop", "git@work:ann/shop"),
    ],
)
def test_an_alias_of_ssh_is_told_and_one_command_makes_it_one_project(
    world: World, first: str, second: str
) -> None:
    """Where an alias leads is known to ssh on one machine, and may change."""
    shop = world.slug(new(world.root / "shop", first))
    clone = new(world.root / "clone", second)

    other = world.look(clone)

    assert other.slug != shop
    [(name, why)] = other.likely
    assert name == shop
    assert "may be another name of" in why
    assert f"`hm project adopt {shop}`" in other.notice


@pytest.mark.parametrize(
    "origin", ["git@gitlab.com:ann/shop.git", "git@work-alias:bob/shop.git"]
)
def test_a_mirror_or_another_path_is_told_as_nothing(world: World, origin: str) -> None:
    """Two hosts with a dot are two hosts."""
    world.slug(new(world.root / "shop", URL))

    assert world.look(new(world.root / "clone", origin)).likely == ()


BROKEN = {
    "larger than 64 kB": b"github.com/x/y\n" * 5000,
    "binary": b"\x7fELF\0\0github.com/x/y\n",
    "a named pipe": None,
}


@pytest.mark.parametrize("why", BROKEN)
def test_what_a_project_knows_and_cannot_be_read_is_not_missing(
    world: World, why: str
) -> None:
    """The repository may belong to it; nothing is made or written over."""
    shop = new(world.root / "shop", URL)
    known = new(world.root / "known", "git@github.com:ann/known")
    assert world.slug(known) == "known"
    folder = world.notes / "projects" / world.slug(shop)
    file = folder / ".project"
    file.unlink()
    data = BROKEN[why]
    if data is None:
        os.mkfifo(file)
    else:
        file.write_bytes(data)

    for look in (world.look, world.look):
        with pytest.raises(ProjectUnknownError, match="cannot be read") as told:
            look(shop)

    assert "shop" not in str(told.value) + told.value.hint  # an agent may read it
    record = read_record(str(world.notes / "projects"), "shop")
    assert why in record.problem
    assert world.slug(known) == "known"
    assert {one.name for one in (world.notes / "projects").iterdir()} == {
        "known",
        "shop",
    }
    assert data is None or file.read_bytes() == data


STEP = st.tuples(
    st.sampled_from(["init", "clone", "add", "url", "mv", "copy", "worktree", "fork"]),
    st.integers(0, 7),
    st.booleans(),
)


MANY = [("init", 0, False)] * 6
"""Then the next folder comes before an older one when all are looked at."""


@settings(max_examples=examples(25), deadline=None)
@given(st.lists(STEP, min_size=4, max_size=14))
@example(
    [*MANY, ("init", 0, True), ("mv", 0, False), ("add", 0, False), ("clone", 0, True)]
).via("a clone is seen before its moved original")
@example(
    [*MANY, ("init", 1, True), ("mv", 1, False), ("add", 1, False), ("clone", 1, True)]
)
@example(
    [
        *MANY,
        ("init", 0, True),
        ("init", 0, False),
        ("url", 1, False),
        ("clone", 1, True),
    ]
)
@example(
    [
        *MANY,
        ("fork", 0, True),
        ("init", 0, False),
        ("url", 1, False),
        ("clone", 1, True),
    ]
)
def test_no_history_mixes_two_repositories_or_loses_one(
    steps: list[tuple[str, int, bool]],
) -> None:
    """Of two git folders with different origins, or one without, none is shared.

    And a folder that is alone in its project keeps it, whatever happens to it; one that
    is not is told which project it was in.
    """
    with tempfile.TemporaryDirectory() as root:
        history = History(World(Path(root)))
        for step in steps:
            history.apply(*step)


class History:
    """Random steps in the life of some repositories, checked after each."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.origins: dict[Path, str] = {}
        self.projects: dict[Path, str] = {}
        """Of the folders that were looked at since their last change."""

        self.count = 0

    def apply(self, step: str, choice: int, is_looked_at: bool) -> None:
        self.count += 1
        place = self.world.root / f"repo{self.count}"
        repositories = sorted(self.origins)
        old = repositories[choice % len(repositories)] if repositories else None
        if old is None or step == "init":
            self.origins[new(place)] = ""
        elif step in {"clone", "fork"}:
            origin = self.origins[old] if step == "clone" else self.fresh_url()
            self.origins[new(place, origin)] = origin
        elif step == "copy":
            subprocess.run(["cp", "-a", old, place], check=True)
            self.origins[place] = self.origins[old]
        elif step == "mv":
            old.rename(place)
            self.origins[place] = self.origins.pop(old)
            if old in self.projects:
                self.projects[place] = self.projects.pop(old)
        elif step == "worktree":
            who = ("-c", "user.name=Ann", "-c", "user.email=ann@example.com")
            git(old, *who, "commit", "-q", "--allow-empty", "-m", "work")
            git(old, "worktree", "add", "-q", "--detach", str(place))
            assert self.look(old) == self.world.slug(place)
            git(old, "worktree", "remove", "--force", str(place))
        else:
            self.change_origin(old)
            place = old
        if is_looked_at:
            for origin in sorted(self.origins):
                self.look(origin)
            self.check_apart()

    def fresh_url(self) -> str:
        return f"https://github.com/ann{self.count}/r"

    def change_origin(self, repository: Path) -> None:
        before = self.origins[repository]
        url = self.fresh_url()
        verb = "set-url" if before else "add"
        git(repository, "remote", verb, "origin", url)
        self.origins[repository] = url

    def look(self, repository: Path) -> str:
        found = self.world.look(repository)
        old = self.projects.get(repository, found.slug)
        is_alone = list(self.projects.values()).count(old) <= 1
        # With another clone, that one may have been seen first: then it is told.
        is_told = old in {name for name, _ in found.likely}
        assert found.slug == old or (is_told and not is_alone), (old, found)
        self.projects[repository] = found.slug
        return found.slug

    def check_apart(self) -> None:
        for one, name in self.projects.items():
            for other, others_name in self.projects.items():
                if one != other and name == others_name:
                    assert self.origins[one], (one, other)
                    assert self.origins[one] == self.origins[other], (one, other)
