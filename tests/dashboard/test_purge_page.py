"""The page of a purge says in words what goes."""

from __future__ import annotations

import re
from pathlib import Path

import hivemind_memory
from hivemind_memory.dashboard.purge_words import PLACES, place_text
from hivemind_memory.model.curation import PurgeCount
from tests.dashboard.reader import Reader
from tests.http_api.served import save

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
    done = reader.send(f"/{known}/purge", on=f"/{known}/purge", **fields).text
    assert "<li>2 texts that will be refused from now on</li>" in done


def test_an_unknown_place_keeps_its_name() -> None:
    """Nothing that a purge reports is left out."""
    place = PurgeCount(name="attic", count=1_200, unit="boxes")
    assert place_text(place) == "attic: 1,200 boxes"
    edited = PurgeCount(name="skills", count=2, unit="files, 1 edited by hand")
    assert place_text(edited) == "2 files of skills, 1 edited by hand"
