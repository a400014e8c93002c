"""The page says which draft is saved; the rest of it, the script does."""

from __future__ import annotations

import re

from tests.dashboard.reader import Reader
from tests.http_api.served import save

_DRAFT = re.compile(r'data-draft="([^"]*)"')
_SAVED = re.compile(r'data-saved="([^"]*)"')


def drafts(reader: Reader, path: str) -> list[str]:
    """Return the names of the drafts of the forms of a page."""
    return _DRAFT.findall(reader.page(path).text)


def test_two_memories_of_one_key_have_two_drafts(reader: Reader) -> None:
    """The text of one project was offered for the memory of another."""
    one = save("rota", "Ann, everywhere.", type="fact")
    other = save("rota", "Ben, of the shop.", "projects/shop", type="fact")
    odd = save("new", "It is called new.", type="fact")
    paths = (f"/{one}/edit", f"/{other}/edit", f"/{odd}/edit", "/new")
    names = [name for path in paths for name in drafts(reader, path)]
    assert len(set(names)) == len(names) == 4


def test_what_is_saved_is_named_and_nothing_else(reader: Reader) -> None:
    """The next page of any memory ended the draft, even if nothing was saved."""
    known = save("rota", "Ann.", type="fact")
    claim = save("port", "The prot is 1.", type="fact", source="external")
    ways = (
        ("/new", "/new", {"key": "tea", "content": "Tea."}),
        (f"/{known}/dispute", f"/{known}", {"content": "Ben."}),
        (f"/{known}/edit", f"/{known}/edit", {"content": "Cem.", "type": "fact"}),
        (f"/inbox/edit?ref={claim}", f"/inbox/edit?ref={claim}", {"ref": claim}),
    )
    for path, on, fields in ways:
        [draft] = drafts(reader, on)
        filled = {"content": "The port is 1.", **fields}
        to = path.partition("?")[0]
        failed = reader.send(to, on=on, **{**filled, "content": " "})
        assert failed.status_code == 400, path
        assert not _SAVED.search(failed.text)
        assert not _SAVED.search(reader.page(f"/{known}").text)
        done = reader.send(to, on=on, **filled)
        assert _SAVED.findall(done.text) == [draft], path
        assert not _SAVED.search(reader.page("").text)
