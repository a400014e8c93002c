"""What is typed is kept until it is saved, and many tabs are open at once."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Page, expect

from hivemind_memory import opening
from hivemind_memory.model.curation import MemorySelector
from tests.browser.conftest import OpenPage
from tests.http_api.served import Served, save, serving

TEXT = "We deploy on Saturdays."


def log_in(page: Page, served: Served) -> None:
    """Log in as ``hm dashboard`` does."""
    code = served.ask("POST", "/memory/link").json()["code"]
    page.goto(f"/memory/login?code={code}")


def test_a_text_that_was_not_saved_outlives_the_page_of_a_memory(
    open_page: OpenPage, served: Served, home: Path
) -> None:
    """A new server takes it, though pages of memories are read in between.

    The script took the next page of any memory for a sign that it was saved.
    """
    save("deploy-day", "We deploy on Mondays.", type="decision")
    save("rollback", "Run rollback.sh.", type="lesson")
    page = open_page()
    page.goto("/memory/deploy-day/edit")
    page.get_by_role("textbox", name="Text").fill(TEXT)
    port = served.url.rpartition(":")[2]
    served.process.kill()
    served.process.wait()
    with serving("--port", port) as again:
        page.get_by_role("button", name="Save").click()
        expect(page.locator("#failure")).to_contain_text("no longer logged in")
        expect(page.get_by_label("What you typed")).to_have_value(TEXT)
        log_in(page, again)
        page.goto("/memory/rollback")
        page.goto("/memory/deploy-day")
        page.get_by_role("link", name="Edit").click()
        page.get_by_role("button", name="Use it").click()
        page.get_by_role("button", name="Save").click()
        expect(page.locator("#memory-show .prose")).to_contain_text("Saturdays")
        assert page.evaluate("sessionStorage.length") == 0
    [saved] = (home / "memory").rglob("deploy-day.md")
    assert "Saturdays" in saved.read_text()


def test_a_claim_that_was_saved_has_no_draft(open_page: OpenPage) -> None:
    """It leads to the inbox, where the draft was kept, and offered as not saved."""
    claim = save("port", "The prot is 1.", type="fact", source="external")
    page = open_page()
    page.goto(f"/memory/inbox/edit?ref={claim}")
    page.get_by_role("textbox", name="Text").fill("The port is 1. ")
    page.get_by_role("button", name="Save").click()
    expect(page.locator("#main")).to_contain_text("it still waits for you")
    assert page.evaluate("sessionStorage.length") == 0


def test_what_disputes_a_memory_is_kept_too(open_page: OpenPage) -> None:
    """Its field was the only large one whose text was lost."""
    save("port", "The port is 5432.", type="fact")
    page = open_page()
    page.goto("/memory/port")
    page.get_by_text("Dispute it").click()
    page.get_by_label("What is true instead").fill("The port is 5433.")
    page.goto("/memory/log")
    page.goto("/memory/port")
    page.get_by_role("button", name="Use it").click()
    page.get_by_role("button", name="Dispute", exact=True).click()
    expect(page.locator("#main")).to_contain_text("Disputed")
    assert page.evaluate("sessionStorage.length") == 0


def test_who_logs_out_leaves_no_draft(open_page: OpenPage) -> None:
    """In this tab or another one: the next person at the machine was offered it."""
    save("port", "The port is 5432.", type="fact")
    page = open_page()
    other = page.context.new_page()
    for tab in (other, page):
        tab.goto("/memory/port/edit")
        tab.get_by_role("textbox", name="Text").fill("The port is 5433.")
        assert tab.evaluate("sessionStorage.length") == 1
    page.get_by_role("button", name="Log out").click()
    expect(page.get_by_role("heading", name="Log in")).to_be_visible()
    assert page.evaluate("sessionStorage.length") == 0
    other.wait_for_function("sessionStorage.length === 0")


def test_what_is_purged_stays_on_no_open_page(open_page: OpenPage) -> None:
    """Only its note was told of, which no page listened to; the tab kept the draft."""
    save("port", "The port is 5432.", type="fact")
    save("gate", "The gate is 7.", type="fact")
    listing = open_page()
    shown = listing.context.new_page()
    shown.goto("/memory/port")
    with opening.open_memory() as memory:
        memory.curation.purge(MemorySelector(name="port"))
    expect(listing.locator("#results")).not_to_contain_text("5432")
    expect(shown.locator("#changed")).to_be_visible()

    shown.goto("/memory/gate/edit")
    shown.get_by_role("textbox", name="Text").fill("The gate is 8.")
    shown.goto("/memory/gate/purge")
    shown.get_by_label("Type its key").fill("gate")
    shown.get_by_role("button", name="for good").click()
    expect(shown.get_by_role("heading", name="What was removed")).to_be_visible()
    assert shown.evaluate("sessionStorage.length") == 0


def test_ten_tabs_can_be_open(open_page: OpenPage) -> None:
    """Each kept a connection, of which a browser has six: the seventh never came."""
    save("deploy-day", "We deploy on Mondays.", type="decision")
    first = open_page()
    tabs = [first]
    for _ in range(9):
        tab = first.context.new_page()
        tab.goto("/memory", timeout=20_000)
        tabs.append(tab)
    tab.goto("/memory/log", timeout=20_000)

    save("new-one", "Just learned.")

    for tab in tabs[:-1]:
        expect(tab.locator("#results")).to_contain_text("new-one")
    # The one that listened is closed, and another one takes over.
    first.close()
    save("newer-one", "Learned later.")
    for tab in tabs[1:-1]:
        expect(tab.locator("#results")).to_contain_text("newer-one")


def test_a_memory_is_said_to_have_changed_only_if_it_has(open_page: OpenPage) -> None:
    """Any change of any memory was told on the page of each."""
    known = save("deploy-day", "We deploy on Mondays.", type="decision")
    listening = open_page()
    page = listening.context.new_page()
    page.goto("/memory/deploy-day")
    changed = page.locator("#changed")
    save("other", "Nothing of this.")
    expect(listening.locator("#results")).to_contain_text("2 memories")
    expect(listening.locator("select[name=type]")).to_contain_text("context (1)")
    expect(changed).to_be_hidden()

    page.get_by_role("button", name="Pin").click()
    expect(page.get_by_role("button", name="Unpin")).to_be_visible()
    expect(listening.locator("#results")).to_contain_text("pinned")
    expect(changed).to_be_hidden()

    with opening.open_memory() as memory:
        memory.curation.forget(MemorySelector(name="deploy-day"))
    expect(changed).to_be_visible()
    assert known


def test_a_search_after_the_session_asks_for_a_login(open_page: OpenPage) -> None:
    """The field was dead: nothing came, and nothing said why."""
    save("deploy-day", "We deploy on Mondays.", type="decision")
    page = open_page()
    page.context.clear_cookies()
    # Not typed: the page may be left at any moment, and typing would wait for it.
    page.evaluate(
        "() => { const q = document.getElementById('q'); q.value = 'deploy';"
        " q.dispatchEvent(new Event('input', { bubbles: true })); }"
    )
    expect(page.get_by_role("heading", name="Log in")).to_be_visible()


def test_how_many_results_there_are_is_said(open_page: OpenPage) -> None:
    """To a person who does not see them appear."""
    save("deploy-day", "We deploy on Mondays.", type="decision")
    page = open_page()
    page.get_by_label("Search").press_sequentially("deploy")
    expect(page.locator("#found")).to_have_text("1 result")
