"""The ways of a person through the pages, in a real browser."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, Route, expect

from hivemind_memory import opening
from hivemind_memory.model.curation import NewMemory
from tests.browser.conftest import OpenPage
from tests.http_api.served import Served, save
from tests.inject.repos import GIT_OF_NOBODY
from tests.support.hostile_texts import XSS_TEXTS
from tests.support.planted_rows import inject_into, plant
from tests.support.tiers import mostly_thorough, part

PATHS = (
    *("", "?q=deploy", "/deploy-day", "/deploy-day/edit", "/new", "/notes", "/inbox"),
    *("/notes/deploy-day.md?view=source", "/log", "/figures", "/health?check=1"),
    *("/injection", "/doubtful?look=1", "/sessions", "/sessions?session=5e55"),
    *("/skills", "/jobs", "/port/promote", "/rollback/edit"),
    *("/rollback/purge", "/nothing", "/login"),
)
PLANTED = "name" * 100
FOLLOWED = ("/injection", "/sessions", "/skills")
"""Each entry of these lists is opened, too."""


def fill_memory() -> None:
    """Save what the pages are about."""
    save("deploy-day", "We deploy on **Tuesdays**.", type="decision")
    save("deploy-day", "We deploy on **Mondays**.", type="decision", reason="new rota")
    save("rollback", "Run `rollback.sh`.", type="lesson", related=("deploy-day",))
    save("port", "The port is 5433.", type="fact", source="external")


@pytest.mark.parametrize("theme", mostly_thorough(["light", "dark"], every=2))
@pytest.mark.parametrize("width", mostly_thorough([360, 1200], every=2))
def test_pages_are_accessible_and_fit(
    open_page: OpenPage,
    theme: str,
    width: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """axe finds nothing, and nothing is wider than the screen.

    No link of the briefing was large enough for a finger. A long name of a session
    made its page wide.
    """
    for name, value in {**GIT_OF_NOBODY, "HOME": str(tmp_path)}.items():
        monkeypatch.setenv(name, value)
    fill_memory()
    plant(0, PLANTED)
    inject_into(tmp_path / PLANTED[:250])
    for key in ("way", "other-way"):
        save(key, "Run rollback.py and wait for it.", type="fact", session="5e55")
    save("third", "Do nothing at all.", type="fact", contradicts=("way",))
    for number in range(5):
        save(f"many-{number}", f"Text {number}.", type="fact")
    rules = {"rules": {"target-size": {"enabled": True}}}
    page = open_page(color_scheme=theme, viewport={"width": width, "height": 800})
    paths = list(PATHS)
    for path in paths:
        page.goto(f"/memory{path}")
        if path in FOLLOWED:
            links = page.locator("a.open").all()
            found = [each.get_attribute("href") or "" for each in links]
            paths += [link.removeprefix("/memory") for link in found]
        for summary in page.locator("summary:visible").all():
            summary.click()
        seen = Axe().run(page, options=rules).response["violations"]

        assert [(each["id"], each["nodes"][0]["html"]) for each in seen] == [], path
        assert page.evaluate(
            "document.documentElement.scrollWidth"
            " <= document.documentElement.clientWidth"
        ), path


@pytest.mark.parametrize("width", [360, 1200])
@pytest.mark.parametrize("has_script", [True, False])
def test_a_person_finds_corrects_forgets_and_takes_back(
    open_page: OpenPage, *, has_script: bool, width: int
) -> None:
    """With a script and without, on a phone and on a desk."""
    fill_memory()
    screen = {"width": width, "height": 800}
    page = open_page(java_script_enabled=has_script, viewport=screen)
    page.get_by_label("Search").fill("when do we deploy")
    page.get_by_label("Search").press("Enter")
    page.get_by_role("link", name="deploy-day").click()
    expect(page.locator("#memory-show .prose")).to_contain_text("Mondays")
    page.get_by_role("link", name="Edit").click()
    page.get_by_role("textbox", name="Text").fill("We deploy on Fridays.")
    page.get_by_role("textbox", name="Why").fill("the team asked")
    page.get_by_role("button", name="Save").click()
    expect(page.locator("#memory-show")).to_contain_text("Reason: the team asked")
    page.get_by_role("button", name="Forget").click()
    page.get_by_role("button", name="Undo").click()
    expect(page.locator("#main")).to_contain_text("Undone.")
    page.goto("/memory/deploy-day")
    page.get_by_role("button", name="Forget").click()
    page.goto("/memory?status=forgotten")
    page.get_by_role("button", name="Restore").click()
    expect(page.get_by_role("button", name="Forget")).to_be_visible()
    page.get_by_role("link", name="Inbox").click()
    page.get_by_role("button", name="Accept").click()
    expect(page.locator("#inbox")).to_contain_text("Nothing is waiting for you.")
    page.goto("/memory/rollback")
    page.get_by_role("link", name="Remove it for good").click()
    page.get_by_label("Type its key to confirm").fill("rollback")
    page.get_by_role("button", name="Remove for good").click()
    expect(page.get_by_role("heading", name="Removed", exact=True)).to_be_visible()
    with opening.open_memory() as memory:
        assert memory.curation.show("deploy-day").memory.text == "We deploy on Fridays."
        assert memory.curation.show("port").memory.status == "active"
        assert [row.key for row in memory.memories()].count("rollback") == 0


def test_the_keyboard_alone_is_enough(open_page: OpenPage) -> None:
    """Search, choose, open, edit, save."""
    fill_memory()
    page = open_page()
    page.keyboard.press("/")
    page.keyboard.type("deploy mondays")
    expect(page.locator("#results mark").first).to_be_visible()
    expect(page).to_have_url(re.compile(r"q=deploy\+mondays"))
    page.keyboard.press("Escape")
    expect(page.get_by_role("searchbox")).to_have_value("deploy mondays")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    expect(page.locator("#memory-show h1")).to_have_text("deploy-day")
    page.keyboard.press("e")
    page.get_by_role("textbox", name="Text").press("Control+a")
    page.keyboard.type("We deploy on Sundays.")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator("#memory-show .prose")).to_have_text("We deploy on Sundays.")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_be_visible()


def test_results_come_while_typing_and_the_address_keeps_them(
    open_page: OpenPage,
) -> None:
    """Nothing has to be sent; going back to the address shows the same."""
    fill_memory()
    page = open_page()
    page.get_by_label("Search").press_sequentially("rollback")
    expect(page.locator("#results .rows > li h2").first).to_have_text("rollback")
    page.wait_for_url("**q=rollback**")
    page.reload()
    expect(page.get_by_label("Search")).to_have_value("rollback")


def test_the_parts_of_a_score_come_when_they_are_opened(open_page: OpenPage) -> None:
    """Also of results that came while someone typed; and what is read stays."""
    fill_memory()
    page = open_page()
    page.get_by_label("Search").press_sequentially("rollback")
    expect(page.locator("#results mark").first).to_be_visible()
    page.locator("#results summary").first.click()
    parts = page.locator("#results details[open] table")
    expect(parts).to_contain_text("words")
    page.wait_for_timeout(1_500)
    expect(parts).to_contain_text("words")
    with opening.open_memory() as memory:
        assert memory.curation.show("rollback").recall.access_count == 1


def test_however_many_scores_are_opened_it_is_one_recall(open_page: OpenPage) -> None:
    """Each score that was opened counted another recall of all results."""
    fill_memory()
    save("rollback-drill", "We drill the rollback each month.")
    page = open_page()
    page.get_by_label("Search").press_sequentially("rollback")
    scores = page.locator("#results details[data-part=score] summary")
    expect(scores.nth(1)).to_be_visible()
    for number in range(2):
        scores.nth(number).click()
        parts = page.locator("#results details[open] table")
        expect(parts).to_have_count(number + 1)
    with opening.open_memory() as memory:
        assert memory.curation.show("rollback").recall.access_count == 1


def test_results_are_whole_when_the_typing_has_ended(open_page: OpenPage) -> None:
    """The same question is asked once more, with what could wait."""
    fill_memory()
    page = open_page()
    with page.expect_response(
        lambda reply: reply.request.headers.get("hivemind-part") == "settled"
    ):
        page.get_by_label("Search").press_sequentially("rollback")
    expect(page.locator("#results details table").first).to_be_attached()
    page.locator("#results summary").first.click()
    expect(page.locator("#results details[open] table")).to_contain_text("words")


def test_what_agents_save_appears_by_itself(open_page: OpenPage) -> None:
    """Without a reload."""
    fill_memory()
    page = open_page()
    expect(page.locator("#results")).to_contain_text("deploy-day")
    save("new-one", "Just learned.")
    expect(page.locator("#results")).to_contain_text("new-one")


def test_what_is_saved_before_a_page_listens_appears_too(open_page: OpenPage) -> None:
    """It came between the page and its stream, and was told to nobody."""
    fill_memory()
    page = open_page()
    expect(page.locator("#results")).to_contain_text("deploy-day")

    def save_first(route: Route) -> None:
        save("new-one", "Just learned.")
        route.continue_()

    page.route("**/memory/events*", save_first, times=1)
    page.reload()
    expect(page.locator("#results")).to_contain_text("new-one")


def test_health_keeps_itself_up_to_date(open_page: OpenPage) -> None:
    """By events; and what the check has found stays on the page."""
    fill_memory()
    page = open_page()
    page.goto("/memory/health?check=1")
    state = page.locator("#state")
    expect(state).to_contain_text("4 in")
    save("new-one", "Just learned.")
    expect(state).to_contain_text("5 in")
    expect(page.get_by_role("heading", name="Findings")).to_be_visible()


def test_other_pages_keep_themselves_up_to_date(open_page: OpenPage) -> None:
    """They were as old as their last reload. What is being read stays, with a line."""
    fill_memory()
    page = open_page(viewport={"width": 800, "height": 800})
    tabs = {}
    for name in ("log", "inbox", "sessions", "figures", "notes"):
        tabs[name] = page.context.new_page()
        tabs[name].goto(f"/memory/{name}")
    tabs["notes"].get_by_role("link", name="deploy-day.md").focus()
    save("learned", "Just learned.", session="5e55", source="external")
    save("known", "Known by now.", session="5e56")

    expect(tabs["log"].locator("#log")).to_contain_text("known")
    expect(tabs["inbox"].locator("#inbox")).to_contain_text("learned")
    expect(tabs["sessions"].locator("#sessions")).to_contain_text("known")
    expect(tabs["figures"].locator("#figures")).to_contain_text("3 active memories")
    expect(tabs["notes"].locator("#changed")).to_be_visible()
    expect(tabs["notes"].locator("#notes")).not_to_contain_text("known.md")
    for name in ("log", "inbox", "figures"):
        expect(tabs[name].locator("#changed")).to_be_hidden()


def test_a_memory_that_changed_while_its_stream_was_cut_says_so(
    open_page: OpenPage,
) -> None:
    """After a restart nobody knows what was missed: each page looks for itself."""
    fill_memory()
    page = open_page()
    other = page.context.new_page()
    is_cut = [True]

    def answer(route: Route) -> None:
        if is_cut[0]:
            kind = {"Content-Type": "text/event-stream"}
            route.fulfill(body="retry: 100\nid: 0\n\n", headers=kind)
        else:
            route.continue_()

    page.context.route("**/memory/events*", answer)
    page.goto("/memory/deploy-day")
    other.goto("/memory/rollback")
    save("deploy-day", "We deploy on Fridays.", type="decision", reason="new rota")
    with other.expect_response("**/memory/rollback"):
        is_cut[0] = False

    expect(page.locator("#changed")).to_be_visible()
    expect(other.locator("#changed")).to_be_hidden()


def test_single_keys_can_be_turned_off_for_good(open_page: OpenPage) -> None:
    """Who speaks to the machine sets them off; the list is opened by a button then."""
    fill_memory()
    page = open_page()
    page.goto("/memory/deploy-day")
    page.keyboard.press("?")
    page.get_by_label("Use these keys").uncheck()
    page.keyboard.press("Escape")
    page.reload()
    page.keyboard.press("?")
    page.keyboard.press("e")
    expect(page.get_by_role("dialog")).to_be_hidden()
    assert page.url.endswith("/memory/deploy-day")

    page.get_by_role("button", name="Keys").click()
    page.get_by_label("Use these keys").check()
    page.get_by_role("button", name="Close").click()
    page.keyboard.press("e")
    page.wait_for_url("**/edit")


def test_a_change_leaves_a_person_on_their_page_of_a_list(open_page: OpenPage) -> None:
    """What an agent saves moves the list, and not the person to its beginning."""
    with opening.open_memory() as memory:
        for at in range(60):
            memory.curation.save(
                NewMemory(key=f"memory-{at:02}", content=f"It is {at}.")
            )
    page = open_page()
    page.goto("/memory?page=2")
    results = page.locator("#results")
    expect(results.locator("h2")).to_have_count(10)
    save("new-one", "Just learned.")
    expect(results.locator("h2")).to_have_count(11)
    expect(results.locator("h2").last).to_have_text("memory-00")
    expect(results).to_contain_text("page 2 of 2")
    assert page.url.endswith("/memory?page=2")


def test_typed_text_survives_a_server_that_is_killed(
    open_page: OpenPage, served: Served
) -> None:
    """It is kept in the browser until it is saved."""
    fill_memory()
    page = open_page()
    page.goto("/memory/deploy-day/edit")
    page.get_by_role("textbox", name="Text").press_sequentially("A long thought. ")
    served.process.kill()
    served.process.wait()
    kept = page.evaluate("sessionStorage.getItem('draft:global deploy-day')")
    assert "A long thought." in kept
    assert "A long thought." in page.get_by_role("textbox", name="Text").input_value()


def test_a_draft_is_offered_again(open_page: OpenPage) -> None:
    """As after a page that was closed by mistake."""
    fill_memory()
    page = open_page()
    page.goto("/memory/deploy-day/edit")
    page.get_by_role("textbox", name="Text").fill("An unsaved text.")
    page.goto("/memory/rollback")
    page.goto("/memory/log")
    page.goto("/memory/deploy-day/edit")
    page.get_by_role("button", name="Use it").click()
    assert page.get_by_role("textbox", name="Text").input_value() == "An unsaved text."
    page.get_by_role("button", name="Save").click()
    expect(page.locator("#memory-show .prose")).to_have_text("An unsaved text.")
    assert page.evaluate("sessionStorage.length") == 0


def test_a_page_of_another_origin_can_neither_read_nor_write(
    open_page: OpenPage, served: Served, browser: Browser
) -> None:
    """Logged in or not: not the pages, not the REST API, not MCP."""
    fill_memory()
    page = open_page()
    other = page.context.new_page()
    # The same address under another name is another origin for a browser.
    evil = served.url.replace("127.0.0.1", "localhost")
    other.goto(f"{evil}/healthz")
    for path in ("/memory", "/memory/deploy-day", "/api/v1/memories", "/mcp"):
        for method in ("GET", "POST"):
            assert _fetched(other, served.url + path, method) == "refused"
    other.set_content(
        f'<form method="post" action="{served.url}/memory/new">'
        '<input name="key" value="evil"><input name="content" value="x"></form>'
    )
    other.evaluate("document.forms[0].submit()")
    other.wait_for_load_state()
    with opening.open_memory() as memory:
        assert "evil" not in [row.key for row in memory.memories()]


def _fetched(page: Page, address: str, method: str) -> str:
    """Return whether a script of a page may read an answer."""
    script = """async ([address, method]) => {
      try {
        const options = { method, credentials: "include" };
        const answer = await fetch(address, options);
        return answer.status + " " + await answer.text();
      } catch { return "refused"; }
    }"""
    return str(page.evaluate(script, [address, method]))


@pytest.mark.parametrize("has_script", [True, False])
def test_a_person_puts_right_what_is_doubtful(
    open_page: OpenPage, *, has_script: bool
) -> None:
    """Dispute a memory, forget the wrong side, pin the right one, end a copy."""
    fill_memory()
    save("copy-a", "The payment service answers within 8 seconds.", type="fact")
    save("copy-b", "The payment service answers within 8 seconds!", type="fact")
    page = open_page(java_script_enabled=has_script)
    page.goto("/memory/rollback")
    page.get_by_text("Dispute it").click()
    page.get_by_label("What is true instead").fill("Run rollback.py.")
    page.get_by_role("button", name="Dispute").click()
    page.get_by_role("link", name="Doubtful").click()
    expect(page.locator("h2#disputed")).to_be_visible()
    page.get_by_role("button", name="Forget the second rollback").click()
    page.goto("/memory/doubtful")
    expect(page.locator("#doubtful")).to_contain_text("Nothing here is doubtful.")
    page.get_by_role("link", name="Deep check").click()
    page.get_by_role("button", name="Forget the first").click()
    page.goto("/memory/doubtful?look=1")
    expect(page.locator("#doubtful")).to_contain_text("Nothing here is doubtful.")
    page.goto("/memory/deploy-day")
    page.get_by_role("button", name="Pin").click()
    expect(page.get_by_role("button", name="Unpin")).to_be_visible()


def test_a_person_reads_the_briefing_and_follows_it(open_page: OpenPage) -> None:
    """From its first sentence to the memory, by keyboard."""
    fill_memory()
    page = open_page()
    briefing = page.locator("[data-part=bulletin]")
    expect(briefing).to_contain_text("We deploy on Mondays.")
    briefing.get_by_role("link", name="We deploy on Mondays.").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#memory-show h1")).to_have_text("deploy-day")


def test_two_people_who_edit_one_memory_see_both_texts(open_page: OpenPage) -> None:
    """The later one decides, with both texts in view."""
    fill_memory()
    first, second = open_page(), open_page(java_script_enabled=False)
    for page in (first, second):
        page.goto("/memory/deploy-day/edit")
    first.get_by_role("textbox", name="Text").fill("We deploy on Thursdays.")
    first.get_by_role("button", name="Save").click()
    expect(first.locator("#memory-show .prose")).to_contain_text("Thursdays")
    second.get_by_role("textbox", name="Text").fill("We deploy on Fridays.")
    second.get_by_role("button", name="Save").click()
    alert = second.get_by_role("alert")
    expect(alert).to_contain_text("It has changed since you began.")
    expect(alert).to_contain_text("We deploy on Thursdays.")
    text = second.get_by_role("textbox", name="Text")
    expect(text).to_have_value("We deploy on Fridays.")
    second.get_by_role("button", name="Save").click()
    expect(second.locator("#memory-show .prose")).to_contain_text("Fridays")
    with opening.open_memory() as memory:
        texts = [m.text for m in memory.curation.history("deploy-day").memories]
    assert texts[:2] == ["We deploy on Fridays.", "We deploy on Thursdays."]


@pytest.mark.sampled
def test_hostile_notes_run_nothing(open_page: OpenPage) -> None:
    """Two hundred of them in lists and searches, and the pages of some.

    What the pages of all hold is looked at without a browser; see ``test_pages``.
    """
    with opening.open_memory() as memory:
        for at, text in enumerate(part(XSS_TEXTS, 0)):
            key = f"{text[:150]} {at}".replace("\n", " ")
            new = NewMemory(key=key, content=f"{text}\n\nnote {at}", type="decision")
            memory.curation.save(new)
        ids = [row.memory_id for row in memory.memories()]
    page = open_page()
    opened: list[str] = []
    page.on("dialog", lambda dialog: (opened.append(dialog.message), dialog.dismiss()))
    page.on("popup", lambda popup: opened.append(popup.url))
    page.add_init_script("window.alert = () => { document.title = 'ran' }")
    paths = [f"?page={number}" for number in range(1, 5)]
    paths += [
        "?q=script+alert",
        "/log",
        "/doubtful?look=1",
        *(f"/{ulid}" for ulid in ids[:: len(ids) // 20]),
    ]
    for path in paths:
        page.goto(f"/memory{path}")
        assert page.title() != "ran", path
        # Not asked of the page: one that looks closer loads itself again.
        assert "evil" not in page.url.split("/")[2]
    assert len(ids) == len(part(XSS_TEXTS, 0))
    assert len(XSS_TEXTS) >= 200
    assert opened == []


def test_nothing_moves_after_it_is_shown(open_page: OpenPage) -> None:
    """No layout shift on any page, and none when results come while typing."""
    fill_memory()
    page = open_page(viewport={"width": 1200, "height": 800})
    shifted = """new Promise(done => {
      let sum = 0;
      new PerformanceObserver(list => {
        for (const each of list.getEntries()) sum += each.value;
      }).observe({ type: 'layout-shift', buffered: true });
      setTimeout(() => done(sum), 150);
    })"""
    for path in ("", "?q=deploy", "/deploy-day", "/doubtful?look=1", "/figures"):
        page.goto(f"/memory{path}")
        assert page.evaluate(shifted) < 0.01, path


def test_a_page_of_a_session_that_is_over_says_so(open_page: OpenPage) -> None:
    """It showed what it had, as if that were new; the stream went on as well."""
    fill_memory()
    page = open_page()
    tabs = [page, page.context.new_page(), page.context.new_page()]
    for tab, path in zip(tabs, ("", "/log", "/deploy-day"), strict=True):
        tab.goto(f"/memory{path}")
        expect(tab.locator("#cut-off")).to_be_hidden()

    leaving = page.context.new_page()
    leaving.goto("/memory/figures")
    leaving.get_by_role("button", name="Log out").click()

    for tab in tabs:
        expect(tab.locator("#cut-off")).to_be_visible()
    tabs[1].get_by_role("link", name="Reload").click()
    expect(tabs[1].locator("h1")).to_have_text("Log in")
