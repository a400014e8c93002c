"""The page of a note, and what leads from one memory to another."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from hivemind_memory import opening
from tests.dashboard.reader import Reader
from tests.http_api.served import save

_SECTION = re.compile(
    r'<li class="depth(\d)"><a href="([^"]+)">([^<]+)</a>([^\n]*)</li>'
)


def test_a_note_has_an_outline_and_its_chunks(reader: Reader, home: Path) -> None:
    """As they are indexed; each section leads to its first line."""
    lines = "\n\n".join(f"Host {at} is behind the proxy." for at in range(80))
    text = f"# Servers\n\n## Mail <b>\n\nOld relay.\n\n# Web\n\n{lines}\n"
    (home / "memory" / "servers.md").write_text(text, encoding="utf-8")
    with opening.open_memory() as memory:
        memory.sync()
        [listed] = [each for each in memory.lists.notes() if each.path == "servers.md"]

    page = reader.page("/notes/servers.md").text

    sections = _SECTION.findall(page)
    assert [(depth, title) for depth, _, title, _ in sections] == [
        ("1", "Servers"),
        ("2", "Mail &lt;b&gt;"),
        ("1", "Web"),
    ]
    at = "/memory/notes/servers.md?view=source#L"
    assert [link for _, link, _, _ in sections] == [f"{at}1", f"{at}3", f"{at}7"]
    assert f"3 sections, {listed.chunk_count} chunks" in page
    assert f"{listed.chunk_count - 2} chunks" in sections[2][3]
    source = reader.page("/notes/servers.md?view=source").text
    marked = re.findall(r'<tr id="L(\d+)" class="chunk">', source)
    assert len(marked) == listed.chunk_count - 1
    assert marked[:2] == ["3", "7"]


def test_the_lines_of_a_long_note_keep_their_numbers_in_the_outline(
    reader: Reader, home: Path
) -> None:
    """Also on its second page."""
    text = "x\n" * 2_009 + "\n# Late\n\nText.\n"
    (home / "memory" / "long.md").write_text(text, encoding="utf-8")

    page = reader.page("/notes/long.md?view=source&from=2001").text

    [(_, link, title, _)] = _SECTION.findall(page)
    assert (link, title) == (
        "/memory/notes/long.md?view=source&amp;from=2001#L2011",
        "Late",
    )
    assert 'id="L2011"' in page


def test_a_link_between_brackets_leads_to_its_memory(reader: Reader) -> None:
    """It was text; one to nothing still is, and so is code."""
    disk = save("disk-space", "Check the disk.", type="lesson")
    text = "See [[disk-space|the disk]], [[nothing]] and `[[disk-space]]`."
    day = save("deploy-day", text, type="decision")

    page = reader.page(f"/{day}").text

    assert f'See <a href="/memory/{disk}">the disk</a>, [[nothing]] and' in page
    assert "<code>[[disk-space]]</code>" in page


def test_why_nothing_was_found_is_a_sentence(reader: Reader) -> None:
    """It began with a small letter and had no full stop."""
    save("port", "The port is 5432.", type="fact")

    page = reader.page("?q=zzyzx").text

    assert '<p class="empty">No note contains a word of the query. <a' in page


@pytest.mark.parametrize(("importance", "is_shown"), [(0.5, False), (0.8, True)])
def test_a_list_shows_what_is_more_important_than_usual(
    reader: Reader, importance: float, *, is_shown: bool
) -> None:
    """The usual importance says nothing."""
    save("port", "The port is 5432.", type="fact", importance=importance)

    assert ("importance 80 %" in reader.page("").text) is is_shown
