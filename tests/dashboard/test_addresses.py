"""Links of lists lead to what they name."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from hivemind_memory import opening
from tests.dashboard.reader import Elements, Reader
from tests.http_api.served import save


@pytest.mark.parametrize("path", ["?q=zebra", "/log"])
def test_a_hit_far_down_in_a_note_leads_to_its_line(
    reader: Reader, home: Path, path: str
) -> None:
    """On the rendered note, without the comment line of the entry.

    The page showed the first 2,000 lines, and the anchor was on none of them.
    """
    entry = f"<!-- hm id=01K{'E' * 23} source=tool at=2026-11-21T14:03:11+01:00 -->"
    text = "x\n\n" * 1_500 + f"\n{entry}\nThe zebra is here.\n"
    (home / "memory" / "long.md").write_text(text, encoding="utf-8")
    with opening.open_memory() as memory:
        memory.sync()

    found = Elements(reader.page(path).text).found

    links = [at["href"] for tag, at in found if at.get("class") == "open"]
    places = [
        link
        for link in links
        if (line := re.search(r"line=(\d+)#", link)) and int(line[1]) > 2_000
    ]
    assert places, links
    for link in places:
        address, _, place = link.partition("#")
        page = reader.page(address.removeprefix("/memory")).text
        assert f'id="{place}"' in page, link
        assert "source=tool" not in page
        assert "The zebra is here." in page.partition(f'id="{place}"')[2]


def test_a_long_note_is_read_backwards_too(reader: Reader, home: Path) -> None:
    """It had links to the next lines only."""
    text = "".join(f"line {at}\n" for at in range(1, 4_501))
    (home / "memory" / "long.md").write_text(text, encoding="utf-8")
    page = reader.page("/notes/long.md?view=source").text
    assert "Previous lines" not in page
    for start in (2_001, 4_001):
        page = reader.page(f"/notes/long.md?view=source&from={start}").text
        link = re.search(r'href="([^"]+)">Previous lines', page)
        assert link
        before = link[1].replace("&amp;", "&").removeprefix("/memory")
        assert f'id="L{start - 1}"' in reader.page(before).text


def test_a_memory_without_an_id_is_restored(reader: Reader, home: Path) -> None:
    """In a folder, its path was taken for several parts of the address."""
    folder = home / "memory" / "projects" / "shop"
    folder.mkdir(parents=True)
    head = "type: fact\nkey: tea\nforgotten: 2026-11-21T14:03:11+01:00\n"
    (folder / "tea.md").write_text(f"---\n{head}---\nTea.\n", encoding="utf-8")

    page = reader.page("?status=forgotten").text
    done = reader.press(page, "/memory/projects%2Fshop%2Ftea.md/restore")

    assert (done.status_code, "Restored." in done.text) == (200, True)
    assert "forgotten" not in (folder / "tea.md").read_text(encoding="utf-8")


def test_a_search_field_keeps_what_was_typed(reader: Reader) -> None:
    """A hidden letter became six others, which the next search looked for."""
    save("port", "The port is 5432.", type="fact")
    page = reader.client.get("/memory", params={"q": "po\u00adrt"}).text
    assert 'value="po\u00adrt"' in page


def test_no_page_after_the_last_says_that_nothing_fits(
    reader: Reader, home: Path
) -> None:
    """Of a list, or of a folder."""
    save("day", "We deploy on Mondays.", type="decision")
    for path in ("?page=99", "/notes?folder=&page=99"):
        page = reader.page(path).text
        assert "There is no page 99." in page, path
        assert "No memory fits these filters." not in page
        assert "page=1" in page


def test_an_id_of_a_person_is_one_part_of_each_address(
    reader: Reader, home: Path
) -> None:
    """Its slash led to no page, and its question mark to another one."""
    head = "id: plan/2026?\ntype: fact\nkey: tea\ncontradicts: [rota]\n"
    (home / "memory" / "tea.md").write_text(f"---\n{head}---\nTea.\n", encoding="utf-8")
    save("rota", "Ann.", type="fact")
    base = "/memory/plan%2F2026%3F"
    for path in ("", "?q=tea", "/log", "/doubtful", "/rota"):
        found = Elements(reader.page(path).text).found
        assert base in {at.get("href") for _, at in found}, path

    page = reader.page(base.removeprefix("/memory"))
    assert page.status_code == 200
    assert reader.press(page.text, f"{base}/pin").status_code == 200
    (home / "memory" / "tea.md").write_text(f"---\n{head}---\nTea.\n", encoding="utf-8")
    edit = reader.page(f"{base}/edit".removeprefix("/memory")).text
    assert f'href="{base}">Cancel' in edit
    saved = reader.press(edit, f"{base}/edit", content="More tea.")
    assert (saved.status_code, "More tea." in saved.text) == (200, True)
