"""Ways by keyboard alone, and names that no page expects, in a real browser."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Locator, Page, expect

from hivemind_memory import opening
from tests.browser.conftest import OpenPage
from tests.http_api.served import save
from tests.support.tiers import mostly_thorough

OUTSIDE = """(() => {
  const main = document.querySelector("main");
  const padding = parseFloat(getComputedStyle(main).paddingRight);
  const end = main.getBoundingClientRect().right - padding + 1;
  return [...main.querySelectorAll("td, th, li, p")]
    .filter(each => !each.querySelector("td, th, li, p, .hidden"))
    .filter(each => {
      const range = document.createRange();
      range.selectNodeContents(each);
      return range.getBoundingClientRect().right > end;
    })
    .map(each => each.textContent.trim());
})()"""
"""Texts that end in the margin of a page."""

STEPS = "How we release:\n\n1. Tag the commit.\n2. Push the tag.\n"
MAX_TABS = 80
LONG = "a" * 3_500
HOSTILE = (
    "<img src=x onerror=alert(1)>",
    "right\u202eto left",
    "bell\x07 and tab\t",
    "</title><script>alert(1)</script>",
    '" onfocus="alert(1)" autofocus="',
    "w" * 190,
)


@pytest.fixture
def home(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home whose skills go below the folder of the test."""
    monkeypatch.setenv("HOME", str(home.parent / "user"))
    (home.parent / "user").mkdir()
    return home


def reach(page: Page, target: Locator) -> None:
    """Press Tab until something has the focus, which must be seen to have it."""
    for _ in range(MAX_TABS):
        page.keyboard.press("Tab")
        if target.evaluate("one => one === document.activeElement"):
            outline = target.evaluate("one => getComputedStyle(one).outlineStyle")
            assert outline != "none"
            return
    raise AssertionError(f"{MAX_TABS} presses of Tab do not reach {target}")


def test_dispute_accept_and_purge_by_keyboard_alone(open_page: OpenPage) -> None:
    """Only Tab, Enter, Space and letters."""
    save("rollback", "Run `rollback.sh`.", type="lesson")
    save("port", "The port is 5433.", type="fact", source="external")
    page = open_page()
    press = page.keyboard.press
    page.goto("/memory/rollback")
    reach(page, page.locator("summary", has_text="Dispute it"))
    press("Enter")
    reach(page, page.get_by_label("What is true instead"))
    page.keyboard.type("Run rollback.py.")
    reach(page, page.get_by_role("button", name="Dispute"))
    with page.expect_navigation():
        press("Enter")
    expect(page.locator("#main")).to_contain_text("disputed")

    page.goto("/memory/inbox")
    reach(page, page.get_by_role("button", name="Accept"))
    press("Enter")
    expect(page.locator("#inbox")).to_contain_text("Nothing is waiting for you.")
    reach(page, page.get_by_role("button", name="Undo"))
    with page.expect_navigation():
        press("Space")
    page.goto("/memory/inbox")
    expect(page.locator("#inbox")).to_contain_text("The port is 5433.")

    page.goto("/memory/rollback")
    reach(page, page.get_by_role("link", name="Remove it for good"))
    press("Enter")
    reach(page, page.get_by_label("Type its key to confirm"))
    page.keyboard.type("rollback")
    press("Enter")
    expect(page.get_by_role("heading", name="Removed", exact=True)).to_be_visible()
    with opening.open_memory() as memory:
        assert memory.curation.pending()[0].key == "port"


def pages_of(memory_id: str, claim_id: str) -> tuple[str, ...]:
    """Return the pages that show a name: of a skill, a job, a claim and a briefing."""
    return (
        *("", "/inbox", "/skills", "/jobs", "/doubtful", "/figures", "/log"),
        *(f"/{memory_id}", f"/{memory_id}/promote", f"/{memory_id}/edit"),
        f"/inbox/edit?ref={quote(claim_id)}",
    )


@pytest.mark.parametrize("theme", mostly_thorough(["dark", "light"], every=2))
def test_skills_jobs_and_claims_are_accessible_and_fit(
    open_page: OpenPage, home: Path, theme: str
) -> None:
    """With a skill, its page, and a claim that is edited; also at 360 px."""
    release = save("release", STEPS, type="lesson")
    claim = save("port", "The port is 5433.", type="fact", source="external")
    page = open_page(color_scheme=theme, viewport={"width": 360, "height": 800})
    page.goto(f"/memory/{release}/promote")
    page.get_by_label("Where").select_option("user")
    page.get_by_role("button", name="Make it a skill").click()
    expect(page.locator(".notice").first).to_contain_text("Written: ")
    for path in (*pages_of(release, claim), "/skills/show?name=release"):
        for width in (360, 1200):
            page.set_viewport_size({"width": width, "height": 800})
            page.goto(f"/memory{path}")
            found = Axe().run(page).response["violations"]
            assert [(one["id"], one["nodes"][0]["html"]) for one in found] == [], path
            assert fits(page), (path, width)


def test_no_table_ends_outside_its_page_on_a_phone(open_page: OpenPage) -> None:
    """That of agents did, in the margin, where no screen has to scroll to show it."""
    agents = ("a-long-name-of-an-agent", "claude")
    for at, agent in enumerate(agents):
        key = "w" * 70 + str(at)
        save(key, f"{key} x", type="fact", by=agent, source="agent")
    save("long", "A sentence that no line can hold. " * 4, type="fact")
    page = open_page(viewport={"width": 360, "height": 800})
    page.goto("/memory?q=x")
    paths = ("/figures", "/health?check=1", f"/{'w' * 70}0/purge", "/log", "/doubtful")
    for path in paths:
        page.goto(f"/memory{path}")

        assert page.evaluate(OUTSIDE) == [], path


def test_no_line_of_the_tree_of_notes_ends_outside_the_page(
    open_page: OpenPage,
) -> None:
    """Ages stood in the margin, beside long first lines."""
    save("long", "A sentence that no line can hold. " * 4, type="fact")
    page = open_page(viewport={"width": 1200, "height": 800})
    page.goto("/memory/notes")

    ends = page.evaluate("""(() => {
      const end = each => document.querySelector(each).getBoundingClientRect().right;
      return [end("#notes .day"), end("#notes h1")];
    })()""")

    assert ends[0] <= ends[1] + 1


def fits(page: Page) -> bool:
    """Return whether nothing is wider than the screen."""
    return bool(
        page.evaluate(
            "document.documentElement.scrollWidth"
            " <= document.documentElement.clientWidth"
        )
    )


def test_hostile_names_are_text_on_every_page(open_page: OpenPage, home: Path) -> None:
    """HTML, letters that turn or ring, and words longer than any screen."""
    page = open_page(viewport={"width": 360, "height": 800})
    opened: list[str] = []
    page.on("dialog", lambda dialog: (opened.append(dialog.message), dialog.dismiss()))
    for at, name in enumerate(HOSTILE):
        key = f"{name} {at}".replace("\t", " ").replace("\x07", "")
        memory_id = save(key, f"{name}\n{STEPS}\n{LONG}", type="lesson", reason=name)
        claim = save(f"claim {key}"[:190], f"{name} {LONG}", source="external")
        for path in pages_of(memory_id, claim):
            page.goto(f"/memory{path}")
            assert page.locator("main").count() == 1, path
            assert page.locator("main img, main script, main iframe").count() == 0
            # The field that is edited has the text as it is.
            assert "\u202e" not in page.locator("main").inner_text(), path
            assert fits(page), (path, name)
    heading = "b" * 10_000
    note = home / "memory" / "long.md"
    note.write_text(f"# {heading}\n\nA zebra.\n", encoding="utf-8")
    for path in ("/notes", "/notes/long.md", "/log", "?q=zebra"):
        page.goto(f"/memory{path}")
        assert fits(page), path
    assert opened == []
