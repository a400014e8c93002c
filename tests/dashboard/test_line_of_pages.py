"""The line of pages: what waits in the inbox, and where the reader is."""

from __future__ import annotations

import re

from tests.dashboard.reader import Reader
from tests.http_api.served import Served, add_token, save

_WAITING = re.compile(r'class="badge">(\d+)<')


def test_every_page_says_how_much_waits(served: Served) -> None:
    """Nothing told of new claims; a reader of other scopes is not told of these."""
    with Reader(served) as owner:
        owner.follow_link()
        assert _WAITING.findall(owner.page("/notes").text) == []
        save("lion", "It sleeps.", "project/shop", source="external")
        save("zebra", "Its stripes.", "project/shop", source="external")
        for path in ("", "/notes", "/inbox", "/nothing"):
            found = _WAITING.findall(owner.page(path).text)
            assert found == ([] if path == "/nothing" else ["2"]), path
        page = owner.page("/inbox").text
        assert "cannot" not in page
        done = owner.press(page, "/memory/inbox/accept")
        assert _WAITING.findall(done.text) == ["1"]
    with Reader(served) as ci:
        ci.log_in(add_token("ci", project="site"))
        assert _WAITING.findall(ci.page("/notes").text) == []


def test_a_token_is_told_why_it_cannot_accept(served: Served) -> None:
    """The button was missing without a word."""
    save("lion", "It sleeps.", "project/shop", source="external")
    with Reader(served) as ci:
        ci.log_in(add_token("ci", project="shop"))
        page = ci.page("/inbox").text
    assert "lion" in page
    assert "Only the person whose machine it is accepts them" in page
    assert "/inbox/accept" not in page


def test_a_page_below_another_is_marked(reader: Reader) -> None:
    """A memory, a note and the form of a new memory had no place in the line."""
    save("tea", "It is green.", type="fact")
    places = {
        "": ("page", "Memories"),
        "/tea": ("true", "Memories"),
        "/new": ("true", "Memories"),
        "/notes/tea.md": ("true", "Notes"),
        "/health": ("page", "Health"),
    }
    for path, place in places.items():
        line = reader.page(path).text.partition("<nav")[2].partition("</nav>")[0]
        assert re.findall(r'aria-current="(\w+)">(\w+)', line) == [place], path


def test_a_failure_says_what_to_do(reader: Reader) -> None:
    """It was a headline and a link."""
    page = reader.page("/nothing")
    assert page.status_code == 404
    assert "It may have been moved, forgotten or removed for good" in page.text
    assert 'type="search"' in page.text


def test_a_folder_that_has_only_folders_is_not_empty(reader: Reader) -> None:
    """It said that it has no notes, above all of them."""
    save("tea", "It is green.", "project/shop", type="fact")
    for path in ("/notes", "/notes?folder=projects"):
        assert "There are no notes in this folder." not in reader.page(path).text
