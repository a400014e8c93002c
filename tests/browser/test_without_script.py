"""Each form of the pages without JavaScript; and that its test notices when it breaks.

A form is broken in the browser, right before its button is pressed: it then leads to
nowhere, as after a wrong address in its template.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Error, Page, expect

from hivemind_memory import opening
from hivemind_memory.state.jobs import Jobs
from tests.browser.conftest import OpenPage
from tests.http_api.served import add_token, save

BREAK = """(button, end) => {
  const { form } = button;
  const path = form ? new URL(form.action).pathname : "";
  if (path.endsWith(end)) form.setAttribute("action", "/memory/nowhere");
  return path.endsWith(end);
}"""
STEPS = "How we release:\n\n1. Tag the commit.\n2. Push the tag.\n"
USUAL_MS, SHORT_MS = 5_000, 500


class Person:
    """Someone in front of a page."""

    def __init__(self, page: Page, broken: str = "") -> None:
        """Sit down; *broken* is the end of the address of a form that leads nowhere."""
        self.page = page
        self.broken = broken
        self.has_met_broken = False

    def open(self, path: str) -> None:
        """Go to a page."""
        self.page.goto(f"/memory{path}")

    def press(self, name: str) -> None:
        """Press a button, which sends its form."""
        button = self.page.get_by_role("button", name=name, exact=True).first
        if self.broken:
            self.has_met_broken |= button.evaluate(BREAK, self.broken)
        button.click()

    def fill(self, label: str, text: str) -> None:
        """Fill in a field."""
        self.page.get_by_label(label).first.fill(text)

    def sees(self, text: str) -> None:
        """Check that the page shows a text."""
        expect(self.page.locator("#main")).to_contain_text(text)

    def does_not_see(self, text: str) -> None:
        """Check that it does not, once it is there."""
        expect(self.page.locator("#main")).to_be_visible()
        expect(self.page.locator("#main")).not_to_contain_text(text)


def search(person: Person) -> None:
    """The parts of the scores are there at once: no script fetches them."""
    person.open("?status=all")
    person.fill("Search", "when do we deploy")
    person.press("Search")
    expect(person.page.locator("mark").first).to_be_visible()
    person.page.locator("summary", has_text="Score").first.click()
    expect(person.page.locator("details[open] table")).to_contain_text("words")


def narrow(person: Person) -> None:
    """By a filter."""
    person.open("/new")
    person.page.get_by_role("link", name="Memories").click()
    person.page.get_by_label("Type").select_option("lesson")
    person.press("Search")
    person.sees("1 memory")
    person.does_not_see("deploy-day")


def write(person: Person) -> None:
    """A new memory."""
    person.open("/new")
    person.fill("Key", "lunch")
    person.fill("Text", "We eat at noon.")
    person.press("Save")
    person.sees("Saved.")
    person.sees("We eat at noon.")


def edit(person: Person) -> None:
    """A new version."""
    person.open("/deploy-day/edit")
    person.fill("Text", "We deploy on Fridays.")
    person.press("Save")
    person.sees("Saved; the previous version is kept.")


def pin(person: Person) -> None:
    """And it says so."""
    person.open("/pear")
    person.press("Pin")
    person.sees("Pinned: every agent sees it at startup.")


def link(person: Person) -> None:
    """By its key."""
    person.open("/pear")
    person.fill("Key or id of the other memory", "deploy-day")
    person.press("Link")
    person.sees("Linked.")


def dispute(person: Person) -> None:
    """Below a summary, which opens by itself."""
    person.open("/rollback")
    person.page.get_by_text("Dispute it").click()
    person.fill("What is true instead", "Run rollback.py.")
    person.press("Dispute")
    person.sees("Disputed: searches show both, marked.")


def settle(person: Person) -> None:
    """Of two that contradict each other, both are right."""
    person.open("/doubtful")
    person.press("Both are right other")
    person.sees("Link removed.")


def keep(person: Person) -> None:
    """What expires soon."""
    person.open("/doubtful")
    person.press("Keep offer")
    person.sees("Kept: it no longer expires.")


def forget(person: Person) -> None:
    """It can be undone at once."""
    person.open("/tea")
    person.press("Forget")
    person.sees("Forgotten. Searches and agents no longer see it.")


def undo(person: Person) -> None:
    """From the notice."""
    person.open("/bread")
    person.press("Forget")
    person.press("Undo")
    person.sees("Undone.")


def restore(person: Person) -> None:
    """From the list of what is forgotten."""
    person.open("/salt")
    person.press("Forget")
    person.open("?status=forgotten")
    person.press("Restore salt")
    person.sees("Restored.")


def accept(person: Person) -> None:
    """A claim."""
    person.open("/inbox")
    person.press("Accept port")
    person.sees("Accepted.")


def reject(person: Person) -> None:
    """A claim."""
    person.open("/inbox")
    person.press("Reject host")
    person.sees("Rejected.")


def edit_claim(person: Person) -> None:
    """It stays in the inbox."""
    person.open("/inbox")
    person.page.get_by_role("link", name="Edit").first.click()
    person.fill("Text", "The port is 5434.")
    person.press("Save")
    person.sees("Saved; it still waits for you.")


def purge(person: Person) -> None:
    """After its key was typed."""
    person.open("/rollback/purge")
    person.fill("Type its key to confirm", "rollback")
    person.press("Remove for good")
    expect(person.page.locator("h1")).to_have_text("Removed")


def promote(person: Person) -> None:
    """Make a skill of steps."""
    person.open("/release/promote")
    person.page.get_by_label("Where").select_option("user")
    person.press("Make it a skill")
    person.sees("Written: ")


def demote(person: Person) -> None:
    """And remove it again."""
    promote(person)
    person.page.get_by_role("link", name="release").click()
    person.press("Remove the skill")
    person.sees("The memory stays.")


def run_again(person: Person) -> None:
    """A job that failed."""
    person.open("/jobs")
    person.press("Run again other")
    person.sees("1 job will run again.")


def change_theme(person: Person) -> None:
    """By one button after the other."""
    person.open("/log")
    person.press("Theme: system")
    expect(person.page.locator("html")).to_have_attribute("data-theme", "dark")


def log_out(person: Person) -> None:
    """And the pages are closed."""
    person.open("/log")
    person.press("Log out")
    expect(person.page.locator("h1")).to_have_text("Log in")
    person.open("/log")
    expect(person.page.locator("h1")).to_have_text("Log in")


def log_in(person: Person) -> None:
    """With a token, and back to the page that was asked for."""
    token = add_token("visitor")
    person.page.context.clear_cookies()
    person.open("/log")
    person.fill("Token", token)
    person.press("Log in")
    expect(person.page.locator("h1")).to_have_text("Log")


FORMS: dict[Callable[[Person], None], str] = {
    search: "/memory",
    narrow: "/memory",
    write: "/new",
    pin: "/pin",
    link: "/link",
    dispute: "/dispute",
    settle: "/unlink",
    keep: "/keep",
    edit: "/edit",
    restore: "/restore",
    forget: "/forget",
    undo: "/undo",
    edit_claim: "/inbox/edit",
    accept: "/inbox/accept",
    reject: "/inbox/reject",
    purge: "/purge",
    demote: "/skills/demote",
    promote: "/promote",
    run_again: "/jobs/retry",
    change_theme: "/theme",
    log_out: "/logout",
    log_in: "/login",
}
"""What a person does, one after the other -> the end of the address of its form."""

KEYS = ("tea", "bread", "salt", "pear")


@pytest.fixture
def home(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with something to do in it; its skills go below the folder of the test."""
    monkeypatch.setenv("HOME", str(home.parent / "user"))
    (home.parent / "user").mkdir()
    save("deploy-day", "We deploy on **Mondays**.", type="decision")
    save("rollback", "Run `rollback.sh`.", type="lesson")
    save("release", STEPS, type="fact")
    other = save("other", "It is not true.", type="fact", contradicts=("deploy-day",))
    for key in KEYS:
        save(key, f"There is {key}.", type="context")
    for key in ("port", "host"):
        save(key, f"The {key} is 5433.", type="fact", source="external")
    with opening.open_memory() as memory:
        jobs = Jobs(memory.state())
        jobs.add("links", [other], now_s=1.0)
        job = jobs.take("me", now_s=2.0)
        assert job is not None
        jobs.end(job, "me", problem="the server said 500")
        today = memory.clocks.local_iso(memory.clocks.now() + 3 * 86_400)[:10]
    save("offer", "The offer ends soon.", type="fact", expires=today)
    return home


@pytest.fixture
def impatient() -> Iterator[None]:
    """Waits end soon: what is waited for never comes."""
    expect.set_options(timeout=SHORT_MS)
    yield
    expect.set_options(timeout=USUAL_MS)


def test_every_form_works_without_a_script(open_page: OpenPage) -> None:
    """Each thing that a person can do is a form."""
    person = Person(open_page(java_script_enabled=False))
    for way in FORMS:
        way(person)


@pytest.mark.usefixtures("impatient")
@pytest.mark.thorough
@pytest.mark.parametrize("way", FORMS, ids=[way.__name__ for way in FORMS])
def test_a_broken_form_is_noticed(
    open_page: OpenPage, way: Callable[[Person], None]
) -> None:
    """The test above fails if the form leads nowhere."""
    person = Person(open_page(java_script_enabled=False), broken=FORMS[way])
    person.page.set_default_timeout(4 * SHORT_MS)

    with pytest.raises((AssertionError, Error)):
        way(person)

    assert person.has_met_broken


@pytest.mark.parametrize("action", ["/edit", "/inbox/accept"])
def test_a_form_that_leads_nowhere_fails_its_way(
    open_page: OpenPage, impatient: None, action: str
) -> None:
    """Two of them, of another kind each: what the test above does with all."""
    assert impatient is None
    [way] = [way for way, end in FORMS.items() if end == action]
    person = Person(open_page(java_script_enabled=False), broken=action)

    with pytest.raises(AssertionError):
        way(person)

    assert person.has_met_broken


def test_a_page_without_a_script_has_none(open_page: OpenPage) -> None:
    """What a script would do is not done: else the tests above would show nothing."""
    page = open_page(java_script_enabled=False)
    page.keyboard.press("?")
    expect(page.locator("#help")).to_be_hidden()
    page.get_by_label("Search").press_sequentially("rollback")
    page.wait_for_timeout(1_000)
    assert "q=" not in page.url
    expect(page.locator("#results mark")).to_have_count(0)
    other = open_page()
    other.keyboard.press("?")
    expect(other.locator("#help")).to_be_visible()
