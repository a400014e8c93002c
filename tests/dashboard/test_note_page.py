"""The page of a note, and what leads from one memory to another."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from hivemind_memory import opening
from hivemind_memory.model.query import Query
from hivemind_memory.model.results import ListedNote
from tests.dashboard.reader import Reader
from tests.http_api.served import Served, add_token, save

_SECTION = re.compile(
    r'<li class="depth(\d)"><a href="([^"]+)">([^<]+)</a>([^\n]*)</li>'
)


def test_a_comment_in_front_matter_is_no_part_of_the_value_above_it(
    reader: Reader, home: Path
) -> None:
    """It reads like one of two lines of that value."""
    text = "---\ntype: fact\n# importance: unsure\nkey: relay\n---\nOld relay.\n"
    (home / "memory" / "relay.md").write_text(text, encoding="utf-8")

    page = reader.page("/notes/relay.md").text

    assert "unsure" not in page
    assert "relay" in page


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


def test_a_link_in_a_note_leads_to_what_it_means(reader: Reader, home: Path) -> None:
    """On the page of the note, it was text; on that of a memory it was a link."""
    disk = save("disk-space", "Check the disk.", type="lesson")
    notes = home / "memory"
    (notes / "mail.md").write_text("# Mail\n", encoding="utf-8")
    text = "See [[disk-space|the disk]], [[mail]], [[servers]], [[none]].\n"
    (notes / "servers.md").write_text(f"# Servers\n\n{text}", encoding="utf-8")

    page = reader.page("/notes/servers.md").text

    assert f'See <a href="/memory/{disk}">the disk</a>' in page
    assert '<a href="/memory/notes/mail.md">mail</a>' in page
    assert "[[servers]], [[none]]." in page
    source = reader.page("/notes/servers.md?view=source").text
    assert "[[mail]]" in source


def test_a_link_in_a_note_leads_to_nothing_hidden(served: Served, home: Path) -> None:
    """To a reader of one project, a memory of another is not there."""
    save("zebra", "The zebra.", "project/other", type="fact")
    folder = home / "memory" / "projects" / "shop"
    folder.mkdir(parents=True)
    (folder / "plan.md").write_text("# Plan\n\nSee [[zebra]].\n", encoding="utf-8")
    with Reader(served) as ci:
        ci.log_in(add_token("ci", project="shop"))

        page = ci.page("/notes/projects/shop/plan.md").text

    assert "See [[zebra]]." in page


def test_the_note_of_a_memory_has_its_front_matter_apart(reader: Reader) -> None:
    """It was the first heading of the text; and the memory was a search away."""
    port = save("port", "The port is 5432.", type="fact", tags=("net", "db"))
    [path] = [note.path for note in _notes() if "port" in note.path]

    page = reader.page(f"/notes/{path}").text

    table = page.partition('data-part="front-matter"')[2].partition("</details>")[0]
    assert '<th scope="row">key</th><td>port</td>' in table
    prose = page.partition('<div class="prose">')[2].partition("</div>")[0]
    assert "key: port" not in prose
    assert "The port is 5432." in prose
    assert f'<a class="button" href="/memory/{port}">Memory</a>' in page


def _notes() -> list[ListedNote]:
    """Return all notes."""
    with opening.open_memory() as memory:
        return memory.lists.notes()


def test_a_list_shows_words_and_no_signs(reader: Reader) -> None:
    """`**` and backticks were shown as they are written."""
    text = "We **deploy** with `make`:\n\n- build\n- [[push]]\n"
    save("deploy-day", text, type="decision")

    for path in ("", "?q=deploy", "/log"):
        page = reader.page(path).text.partition('class="briefing"')
        shown = re.sub(r"</?mark>", "", page[2].partition("</section>")[2] or page[0])

        assert "We deploy with make:" in shown, path
        assert "• build" in shown, path
        assert "**" not in shown, path


@pytest.mark.parametrize("named_by", ["new-port", "port"])
def test_a_list_marks_the_older_of_two_that_contradict_each_other(
    reader: Reader, named_by: str
) -> None:
    """As a search does; the newer one is not marked, whichever names the other."""
    save("port", "The port is 5432.", type="fact")
    save("new-port", "The port is 5433.", type="fact")
    [named] = {"port", "new-port"} - {named_by}
    with opening.open_memory() as memory:
        memory.curation.link(named_by, named, "contradicts")
        found = memory.search(Query(text="port"))
    by_key = {hit.key: bool(hit.disputed_by) for hit in found.hits}
    assert by_key == {"port": True, "new-port": False}

    rows = reader.page("").text.split('data-part="row"')[1:]

    disputed = ">disputed</span>"
    marked = {
        row.partition("</a>")[0].rpartition(">")[2]: disputed in row for row in rows
    }
    assert marked == {"port": True, "new-port": False}
    assert (
        '<a class="mark-word" href="#edges">disputed</a>' in reader.page("/port").text
    )
    assert ">disputed</a>" not in reader.page("/new-port").text


def test_a_calendar_names_its_days_and_months(reader: Reader) -> None:
    """Which row is which day had to be counted."""
    save("deploy-day", "We deploy on Mondays.", type="fact")
    reader.page("?q=when+do+we+deploy")

    page = reader.page("/figures").text

    calendar = page.partition('class="calendar"')[2].partition("</svg>")[0]
    assert re.findall(r">(\w+)</text>", calendar)[-4:] == ["Mon", "Wed", "Fri", "Sun"]
    months = re.findall(r'y="9">(\w+)</text>', calendar)
    assert 2 <= len(months) <= 4
