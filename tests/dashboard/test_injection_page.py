"""The page of what each worktree was told: the same as `hm why` says."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from hivemind_memory import opening
from hivemind_memory.model.curation import MemorySelector
from hivemind_memory.model.injection_words import LEFT_OUT_WORDS
from tests.dashboard.reader import Elements, Reader
from tests.http_api.served import Served, add_token, save, serving
from tests.inject.repos import GIT_OF_NOBODY, git, make_repo


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A worktree of the project shop, and what its agents were told."""
    for name, value in GIT_OF_NOBODY.items():
        monkeypatch.setenv(name, value)
    made = make_repo(tmp_path / "shop")
    git(made, "remote", "add", "origin", "git@github.com:acme/shop.git")
    return made


SCOPE = "project/github.com--acme--shop"


def tell(worktree: Path) -> None:
    """Inject into a worktree."""
    with opening.open_memory() as memory:
        opening.open_injector(memory).inject(str(worktree), agent="claude")


def test_it_shows_what_was_told_what_was_left_out_and_why(
    reader: Reader, shop: Path
) -> None:
    """Each memory with its reason, its tokens and a link to its page."""
    told = save("deploy-day", "We deploy the shop on Mondays.", SCOPE, type="lesson")
    copy = "We deploy the shop on Mondays, always."
    save("same-day", copy, SCOPE, type="lesson")
    tell(shop)

    listed = reader.page("/injection").text
    links = [
        a["href"] for tag, a in Elements(listed).found if tag == "a" and "href" in a
    ]
    [address] = [link for link in links if "worktree=" in link]
    page = reader.page(address.removeprefix("/memory")).text

    with opening.open_memory() as memory:
        record = opening.open_injector(memory).why(str(shop))
    assert record is not None
    assert f"{len(record['memories'])} memor" in listed
    assert f"about {record['tokens']:,} of {record['budget_tokens']:,} tokens" in page
    for one in record["left_out"]:
        assert LEFT_OUT_WORDS[one["why"]] in page
    assert f'href="/memory/{told}"' in page
    assert "a lesson" in page
    assert "no longer in" not in page


def test_a_section_that_is_gone_and_a_folder_that_is_gone(
    reader: Reader, shop: Path
) -> None:
    """The page says so, and shows what was in it."""
    save("deploy-day", "We deploy the shop on Mondays.", SCOPE, type="lesson")
    tell(shop)
    address = f"/injection?worktree={shop}"
    with opening.open_memory() as memory:
        opening.open_injector(memory).eject(str(shop))
    assert "no longer in CLAUDE.md" in reader.page(address).text
    shutil.rmtree(shop)
    gone = reader.page(address)
    assert (gone.status_code, "deploy-day" in gone.text) == (200, True)


def test_a_purge_takes_the_text_out_of_the_worktrees_that_were_told_it(
    reader: Reader, shop: Path
) -> None:
    """As `hm forget --purge` does, and the page says so before and after."""
    known = save("tapirs", "Tapirs may enter on Mondays.", SCOPE, type="lesson")
    save("zebras", "Zebras may never enter.", SCOPE, type="lesson")
    tell(shop)
    assert "Tapirs" in (shop / "CLAUDE.md").read_text("utf-8")

    asked = reader.page(f"/{known}/purge").text
    answer = reader.press(asked, f"/memory/{known}/purge", key="tapirs")
    done = reader.receipt(answer).text

    for page in (asked, done):
        assert "1 section in a worktree" in page
        assert "1 record of what agents were told" in page
    left = (shop / "CLAUDE.md").read_text("utf-8")
    assert "Tapirs" not in left
    assert "Zebras" in left


@pytest.mark.parametrize("is_person", [True, False])
def test_what_is_forgotten_over_http_leaves_the_sections_at_once(
    reader: Reader, served: Served, shop: Path, is_person: bool
) -> None:
    """A person in the dashboard and a program with the server's token, as `hm` does."""
    known = save("tapirs", "Tapirs may enter on Mondays.", SCOPE, type="lesson")
    save("zebras", "Zebras may never enter.", SCOPE, type="lesson")
    tell(shop)
    if is_person:
        reader.press(reader.page(f"/{known}").text, f"/memory/{known}/forget")
    else:
        assert served.ask("DELETE", f"/api/v1/memories/{known}").status_code == 200
    left = (shop / "CLAUDE.md").read_text("utf-8")
    assert ("Tapirs" in left, "Zebras" in left) == (False, True)


def test_a_purged_memory_has_no_name_there(reader: Reader, shop: Path) -> None:
    """The section is written again; what is left of the record names nothing."""
    save("zebra-plan", "The zebra moves the shop.", SCOPE, type="lesson")
    tell(shop)
    with opening.open_memory() as memory:
        memory.curation.purge(MemorySelector(name="zebra-plan"))
    page = reader.page(f"/injection?worktree={shop}").text
    assert "zebra" not in page


def test_only_what_was_injected_into_is_looked_at(reader: Reader, shop: Path) -> None:
    """Another folder gets the answer of one that does not exist."""
    save("deploy-day", "We deploy the shop on Mondays.", SCOPE, type="lesson")
    tell(shop)
    answers = {
        reader.page(f"/injection?worktree={folder}").status_code
        for folder in ("/", "/nowhere", str(shop.parent), "%00", "..")
    }
    assert answers == {404}


def test_who_may_read_it(served: Served, shop: Path) -> None:
    """A token whose scopes hold all that the agents saw; no visitor."""
    save("deploy-day", "We deploy the shop on Mondays.", SCOPE, type="lesson")
    tell(shop)
    address = f"/injection?worktree={shop}"
    name = SCOPE.partition("/")[2]
    with Reader(served) as own, Reader(served) as other:
        own.log_in(add_token("own", project=name))
        other.log_in(add_token("other", project="other"))
        assert "deploy-day" in own.page(address).text
        assert str(shop) in own.page("/injection").text
        assert other.page(address).status_code == 404
        assert str(shop) not in other.page("/injection").text
    with serving("--public") as public, Reader(public) as visitor:
        assert visitor.page("/injection").status_code == 404
        assert visitor.page(address).status_code == 404
        assert "/memory/injection" not in visitor.page("").text
