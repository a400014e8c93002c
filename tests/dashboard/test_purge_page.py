"""The page of a purge says in words what goes."""

from __future__ import annotations

import re
import threading
from pathlib import Path
from unittest.mock import MagicMock

import pytest

import hivemind_memory
from hivemind_memory.dashboard import purge_pages
from hivemind_memory.dashboard.page import Page, PageCall, Redirect
from hivemind_memory.dashboard.purge_words import PLACES, place_text
from hivemind_memory.dashboard.removals import Removals
from hivemind_memory.errors import NotSavedError
from hivemind_memory.http_api.callers import Client
from hivemind_memory.model.curation import MemorySelector, PurgeCount
from tests.dashboard.reader import Reader
from tests.http_api.served import Served, add_token, save

_PLACES = (
    r'(?:add_count\(|_report\(report, |PurgeCount\(name=)"([^"]+)"',
    r'_KINDS = \{ENTRY: "([^"]+)", MEMORY: "([^"]+)", NOTE: "([^"]+)"\}',
)


def test_each_place_of_a_purge_has_words() -> None:
    """What a purge counts is found in its code."""
    folder = Path(hivemind_memory.__file__).parent / "curation"
    code = "\n".join(file.read_text("utf-8") for file in folder.glob("purge*.py"))
    found: set[str] = set()
    for pattern in _PLACES:
        for names in re.findall(pattern, code):
            found.update([names] if isinstance(names, str) else names)
    assert found == set(PLACES)


def test_the_page_of_a_purge_is_in_words(reader: Reader) -> None:
    """`pages of the index: 1` is no sentence."""
    save("deploy-day", "We deploy on Tuesdays.", type="decision")
    known = save("deploy-day", "We deploy on Mondays.", type="decision", reason="rota")

    page = reader.page(f"/{known}/purge").text

    places = page.partition('data-part="places"')[2].partition("</ul>")[0]
    assert "<li>2 memories</li><li>1 of them an earlier version</li>" in places
    assert "<li>2 chunks in the index</li>" in places
    notes = page.partition('data-part="notes"')[2].partition("</ul>")[0]
    assert notes.count("an earlier version") == 1
    shown = page.partition('name="shown" value="')[2].partition('"')[0]
    fields = {"key": "deploy-day", "shown": shown}
    answer = reader.send(f"/{known}/purge", on=f"/{known}/purge", **fields)
    done = reader.receipt(answer).text
    assert "<li>2 texts that will be refused from now on</li>" in done


def test_the_question_says_how_many_memories_go(reader: Reader) -> None:
    """One key was typed, and thirteen others with the same text went with it."""
    known = save("mailer", "Send it again.", type="lesson")
    alone = reader.page(f"/{known}/purge").text
    assert "<h1>Remove mailer for good?</h1>" in alone
    assert ">Remove for good</button>" in alone
    for scope in ("projects/shop", "projects/bank"):
        save("sender", "Send it again.", scope, type="lesson")

    page = reader.page(f"/{known}/purge").text

    assert "<h1>Remove 3 memories for good?</h1>" in page
    assert "mailer is one of 3" in page
    assert "to remove all 3 <input" in page
    assert ">Remove 3 memories for good</button>" in page
    assert "the same text is refused from then on" in page


def test_a_forgotten_memory_has_a_page_to_restore_and_remove_it(
    reader: Reader,
) -> None:
    """Only `hm restore` was named; to be removed it had to be restored first."""
    known = save("mailer", "Send it again.", type="lesson")
    reader.press(reader.page(f"/{known}").text, f"/memory/{known}/forget")
    listed = reader.page("?status=forgotten").text
    assert f'<a class="open" href="/memory/{known}">' in listed

    page = reader.page(f"/{known}")
    assert (page.status_code, "Send it again." in page.text) == (200, True)
    reader.press(page.text, f"/memory/{known}/restore")
    again = reader.page(f"/{known}").text
    reader.press(again, f"/memory/{known}/forget")
    asked = reader.page(f"/{known}/purge").text
    answer = reader.press(asked, f"/memory/{known}/purge", key="mailer")

    assert "<h1>Removed</h1>" in reader.receipt(answer).text
    assert reader.page(f"/{known}").status_code == 404


def test_a_receipt_has_an_address_that_only_its_reader_may_read(
    reader: Reader, served: Served
) -> None:
    """So going back to it asks for no form to be sent again."""
    known = save("mailer", "Send it again.", type="lesson")
    page = reader.page(f"/{known}/purge").text
    answer = reader.press(page, f"/memory/{known}/purge", key="mailer")

    assert [sent.status_code for sent in answer.history] == [303]
    done = reader.receipt(answer)
    assert "<h1>Removed</h1>" in done.text
    address = str(answer.url)
    assert "<h1>Removed</h1>" in reader.client.get(address).text
    with Reader(served) as other:
        other.log_in(add_token("ci"))
        assert other.client.get(address).status_code == 404


def test_a_purge_that_takes_longer_says_that_it_goes_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It told nothing for seconds; and what then fails is told, too."""
    goes_on = threading.Event()

    class Busy(MagicMock):
        def purge(self, *_: object, **__: object) -> None:
            assert goes_on.wait(10)
            raise NotSavedError("The disk is full.")

    begun, person = Removals(), Client(is_person=True)
    monkeypatch.setattr(purge_pages, "_REMOVALS", begun)
    monkeypatch.setattr(purge_pages, "_LOOK_S", 0.01)
    removal = begun.begin(MagicMock(curation=Busy()), person, MemorySelector(), [])

    def receipt() -> Page | Redirect:
        query = {"purge": removal.name}
        parts = {"path": {}, "form": {}, "query": query, "session": ""}
        return purge_pages.purged(
            PageCall(memory=MagicMock(), client=person, **parts)  # type: ignore[arg-type]
        )

    page = receipt()
    assert isinstance(page, Page)
    assert page.template == "purging.html"
    assert page.refresh == f"/memory/purged?purge={removal.name}"
    goes_on.set()
    monkeypatch.setattr(purge_pages, "_LOOK_S", 10)
    with pytest.raises(NotSavedError, match="The disk is full"):
        receipt()


def test_an_unknown_place_keeps_its_name() -> None:
    """Nothing that a purge reports is left out."""
    place = PurgeCount(name="attic", count=1_200, unit="boxes")
    assert place_text(place) == "attic: 1,200 boxes"
    edited = PurgeCount(name="skills", count=2, unit="files, 1 edited by hand")
    assert place_text(edited) == "2 files of skills, 1 edited by hand"
