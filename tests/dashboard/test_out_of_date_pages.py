"""A page that was opened before something changed: its buttons do what it says."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest

from hivemind_memory import opening
from tests.dashboard.reader import Reader
from tests.http_api.served import Served, add_token, save


def found(text: str) -> bool:
    """Return whether the list of active memories shows a text."""
    with opening.open_memory() as memory:
        rows = memory.memories()
        shown = [memory.curation.show(row.memory_id).memory for row in rows]
    return any(one.text == text and one.status == "active" for one in shown)


def test_forget_on_a_page_of_an_older_version_hides_nothing(reader: Reader) -> None:
    """It hid the older one, and said that nobody gets the memory any more."""
    old = save("rota", "Ann is on call.", type="fact")
    page = reader.page(f"/{old}").text
    save("rota", "Ben is on call.", type="fact", reason="holidays")

    told = reader.press(page, f"/memory/{old}/forget")

    assert "It has changed since you opened the page" in told.text
    assert "Searches and agents no longer see it" not in told.text
    assert "replaced by a newer version" in told.text
    assert found("Ben is on call.")
    with opening.open_memory() as memory:
        assert len(memory.curation.history("rota").memories) == 2


def test_pin_on_a_page_of_an_older_version_shows_what_changed(reader: Reader) -> None:
    """It said only that a superseded memory cannot be edited."""
    old = save("rota", "Ann is on call.", type="fact")
    page = reader.page(f"/{old}").text
    save("rota", "Ben is on call.", type="fact", reason="holidays")

    told = reader.press(page, f"/memory/{old}/pin")

    assert told.status_code == 200
    assert "It has changed since you opened the page. Nothing was saved." in told.text
    assert "replaced by a newer version" in told.text
    with opening.open_memory() as memory:
        assert not memory.curation.show("rota").memory.is_pinned


def test_the_form_of_an_older_version_is_that_of_the_newest(reader: Reader) -> None:
    """A bookmark of it led to an error."""
    old = save("rota", "Ann is on call.", type="fact")
    save("rota", "Ben is on call.", type="fact", reason="holidays")
    new = save("rota", "Cem is on call.", type="fact", reason="holidays")

    form = reader.page(f"/{old}/edit")

    assert (form.status_code, form.url.path) == (200, f"/memory/{new}/edit")
    assert "Cem is on call." in form.text
    assert "This is the newest one." in form.text


def test_forget_on_doubtful_hides_no_older_version(reader: Reader) -> None:
    """The list says nothing of the text, but that it is active."""
    save("port", "The port is 5432.", type="fact")
    new = save("new-port", "The port is 5433.", type="fact", contradicts=("port",))
    page = reader.page("/doubtful").text
    save("new-port", "The port is 5434.", type="fact", reason="moved")

    told = reader.press(page, f"/memory/{new}/forget")

    assert "It has changed since you opened the page" in told.text
    assert found("The port is 5434.")


@pytest.mark.parametrize("does", ["forget", "pin"])
def test_a_text_that_was_edited_by_hand_is_looked_at_first(
    reader: Reader, home: object, does: str
) -> None:
    """It keeps its id, so only its text says that it is another."""
    known = save("rota", "Ann is on call.", type="fact")
    page = reader.page(f"/{known}").text
    with opening.open_memory() as memory:
        note = f"{memory.places.notes}/{memory.curation.show(known).memory.path}"
    with open(note, encoding="utf-8") as file:
        text = file.read()
    with open(note, "w", encoding="utf-8") as file:
        file.write(text.replace("Ann", "Cem"))

    told = reader.press(page, f"/memory/{known}/{does}")

    assert "It has changed since you opened the page" in told.text
    assert found("Cem is on call.")
    with opening.open_memory() as memory:
        assert not memory.curation.show("rota").memory.is_pinned
    again = reader.press(reader.page(f"/{known}").text, f"/memory/{known}/{does}")
    assert "It has changed" not in again.text


def test_what_is_forgotten_twice_says_so(reader: Reader) -> None:
    """As in two tabs."""
    known = save("rota", "Ann is on call.", type="fact")
    page = reader.page(f"/{known}").text
    assert "Forgotten. " in reader.press(page, f"/memory/{known}/forget").text
    again = reader.press(page, f"/memory/{known}/forget")
    assert "It was forgotten before." in again.text


def test_an_entry_that_was_changed_meanwhile_is_not_accepted_unread(
    reader: Reader, home: Path
) -> None:
    """As a claim with a note of its own is not."""
    entry = f"<!-- hm id=01K{'E' * 23} source=tool at=2026-11-21T14:03:11+01:00 -->"
    note = home / "memory" / "inbox" / "day.md"
    note.parent.mkdir()
    note.write_text(f"{entry}\nThe port is 5433.\n", encoding="utf-8")
    page = reader.page("/inbox").text
    note.write_text(note.read_text().replace("5433", "6666"), encoding="utf-8")

    refused = reader.press(page, "/memory/inbox/accept")

    assert refused.status_code == 409
    assert "6666" in note.read_text()
    done = reader.press(refused.text, "/memory/inbox/accept")
    assert "Accepted." in done.text


def notice_of(page: httpx.Response) -> bool:
    """Return whether a page has a notice with a way back."""
    return 'action="/memory/undo"' in page.text


@pytest.mark.parametrize(
    ("path", "part"), [("", "changed"), ("?q=x", "typed"), ("/health", "changed")]
)
def test_a_script_does_not_take_the_notice_of_a_person(
    reader: Reader, path: str, part: str
) -> None:
    """The list in another tab asked for its results first, and the undo was gone."""
    known = save("rota", "Ann is on call.", type="fact")
    fields = reader_fields(reader, known)
    reader.client.post(f"/memory/{known}/forget", data=fields)

    reader.client.get(f"/memory{path}", headers={"Hivemind-Part": part})
    reader.client.head("/memory")

    assert notice_of(reader.page(""))
    assert not notice_of(reader.page(""))


def reader_fields(reader: Reader, known: str) -> dict[str, str]:
    """Return what the button that forgets a memory sends."""
    from tests.dashboard.reader import Forms

    forms = Forms(reader.page(f"/{known}").text).found
    [form] = [one for one in forms if one.action.endswith("/forget")]
    return form.fields


def test_what_is_forgotten_says_so(reader: Reader, served: Served) -> None:
    """It was "nothing here", as if it had never been; and so it was for a link."""
    known = save("rota", "Ann is on call.", type="fact")
    other = save("port", "The port is 1.", type="fact")
    reader.press(reader.page(f"/{known}").text, f"/memory/{known}/forget")

    page = reader.page(f"/{known}")
    linked = reader.send(f"/{other}/link", on=f"/{other}", other="rota")

    assert page.status_code == 200
    assert "was forgotten on" in page.text
    with Reader(served) as other:
        other.log_in(add_token("ci", is_read_only=True))
        seen = other.page(f"/{known}")
        assert seen.status_code == 404
        assert "Ann" not in seen.text
    assert "was forgotten on" in linked.text
    assert "Nothing was linked." in linked.text


def test_a_failed_form_leads_back_to_a_page(reader: Reader) -> None:
    """The theme led to the address of the form: "method not allowed"."""
    known = save("rota", "Ann is on call.", type="fact")
    failed = reader.client.post(f"/memory/{known}/forget", data={})
    assert failed.status_code == 403
    assert reader.press(failed.text, "/memory/theme").status_code == 200
