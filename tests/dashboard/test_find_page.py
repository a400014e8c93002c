"""What the script asks for while someone types, and once they have ended."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from hivemind_memory import opening
from tests.dashboard.reader import Elements, Reader
from tests.http_api.served import save, serving


def results(reader: Reader, part: str, question: str = "q=deploy") -> str:
    """Return the results of a question as the script asks for them."""
    answer = reader.client.get(f"/memory?{question}", headers={"Hivemind-Part": part})
    assert answer.status_code == 200
    return answer.text


def recalls() -> int:
    """Return how often the memory was recalled."""
    with opening.open_memory() as memory:
        return memory.curation.show("deploy-day").recall.access_count


def test_results_that_come_while_typing_leave_out_what_can_wait(
    reader: Reader,
) -> None:
    """No page around them, no parts of scores; both come when the typing ends."""
    save("deploy-day", "We deploy on Tuesdays.")
    typed, settled = (results(reader, part) for part in ("typed", "settled"))
    whole = reader.page("?q=deploy").text

    for text in (typed, settled):
        assert text.startswith('<div id="results">')
        assert {"nav", "form", "script"}.isdisjoint(t for t, _ in Elements(text).found)
        assert "<mark>deploy</mark>" in text
    assert "Parts of the score" not in typed
    assert settled.strip() in whole
    assert len(typed) < len(whole) / 4


def test_a_word_that_is_half_typed_is_no_recall(reader: Reader) -> None:
    """Nor is a list that is shown again because an agent has saved something.

    Each letter counted as a question, and so did each change of any memory while
    results were shown.
    """
    save("deploy-day", "We deploy on Tuesdays.")
    for part in ("typed", "typed", "changed"):
        results(reader, part)
    assert recalls() == 0
    results(reader, "settled")
    assert recalls() == 1
    reader.page("?q=deploy")
    assert recalls() == 2


def test_an_emptied_field_shows_the_list_again(reader: Reader) -> None:
    """With the briefing above it, and a part that is not known is a whole page."""
    save("deploy-day", "We deploy on Tuesdays.", type="decision")
    assert 'data-part="bulletin"' in results(reader, "typed", "q=")
    assert "<!doctype html>" in results(reader, "other")


def test_a_web_clipping_is_untrusted_on_every_page(reader: Reader, home: Path) -> None:
    """Its source is an address: it had no mark, and a button to pin it."""
    head = f"---\nid: 01K{'E' * 23}\ntype: fact\nkey: cheese\n"
    text = f"{head}source: https://moon.example\n---\nThe moon is cheese.\n"
    (home / "memory" / "cheese.md").write_text(text, encoding="utf-8")

    page = reader.page("/cheese").text

    assert 'mark-word">untrusted' in page
    assert "/pin" not in page
    for question in ("", "?source=external", "?q=cheese", "?q=cheese&source=external"):
        assert 'mark-word">untrusted' in reader.page(question).text, question
    assert "cheese" not in results(reader, "settled", "source=human")


def test_the_form_itself_shows_the_briefing_of_a_scope(reader: Reader) -> None:
    """It sends the status that is chosen already, and then there was none."""
    save("day", "We deploy on Mondays. Never later.", type="decision")
    save("tea", "The shop sells tea.", "project/shop", type="fact")

    page = reader.press(reader.page("").text, "/memory", scope="global").text

    assert 'data-part="bulletin"' in page
    assert "We deploy on Mondays.</a>" in page


@pytest.mark.parametrize("status", ["superseded", "forgotten", "expired"])
def test_a_search_obeys_the_status(reader: Reader, status: str) -> None:
    """It found what is active, below a field that said otherwise."""
    save("rota", "The zebra of Ann.", type="fact")
    save("rota", "The zebra of Ben.", type="fact", reason="holidays")
    gone = save("gone", "The zebra of Cem.", type="fact")
    save("over", "The zebra of Dan.", type="fact", expires="2020-01-01")
    save("horse", "The horse of Eve.", type="fact", expires="2020-01-01")
    reader.send(f"/{gone}/forget", on="/new")
    names = {"superseded": "Ann", "forgotten": "Cem", "expired": "Dan"}

    page = reader.press(reader.page("").text, "/memory", q="zebra", status=status).text

    shown = page.replace("<mark>", "").replace("</mark>", "")
    found = {
        name for name in ("Ann", "Ben", "Cem", "Dan", "Eve") if f"of {name}" in shown
    }
    assert found == {names[status]}


def test_a_search_of_every_status_finds_what_is_over(reader: Reader) -> None:
    """And what waits in the inbox."""
    save("over", "The zebra of Dan.", type="fact", expires="2020-01-01")
    save("claim", "The zebra of Eve.", type="fact", source="external")

    def found(**fields: str) -> set[str]:
        page = reader.press(reader.page("").text, "/memory", q="zebra", **fields).text
        shown = page.replace("<mark>", "").replace("</mark>", "")
        return {name for name in ("Dan", "Eve") if f"of {name}" in shown}

    assert found() == set()
    assert found(status="all") == {"Dan", "Eve"}


def test_a_visitor_who_narrows_a_list_is_not_told_that_it_is_empty(home: Path) -> None:
    """Whoever sees what is public was told to connect an agent."""
    assert home
    save("open", "The lion is public.", type="fact")
    with serving("--public") as public, Reader(public) as visitor:
        page = visitor.page("?type=lesson").text
    assert "No memory fits these filters." in page
    assert "Nothing has been saved yet." not in page


def test_only_words_that_tell_something_are_marked(reader: Reader) -> None:
    """The "to" of a question was marked within "into", too."""
    save("day", "To copy it into the tree, release the deploys to db.", type="fact")

    page = reader.page("?q=how+to+deploy+db").text

    assert re.findall(r"<mark>(\w+)</mark>", page) == ["deploy", "db"]


def test_a_hit_in_a_note_names_its_place(reader: Reader, home: Path) -> None:
    """Several notes with the heading "Workspaces" looked the same."""
    text = "# Release\n\nWe tag it.\n\n# Zebras\n\nThe zebra is striped.\n"
    (home / "memory" / "animals.md").write_text(text, encoding="utf-8")
    save("lion", "The zebra fears it.", type="fact")

    page = reader.page("?q=zebra").text

    assert page.count('class="place"') == 1
    assert 'class="place">animals.md:5<' in page
    link = '/memory/notes/animals.md?line=5#at"'
    assert link in page
    note = reader.page("/notes/animals.md?line=5").text
    assert '<span id="at"></span><h3 id="h-zebras">' in note


def test_what_was_saved_before_is_not_saved_again(reader: Reader) -> None:
    """The page said that it was."""
    save("tea", "Tea.", type="fact")
    done = reader.send("/new", key="tea", content="Tea.", type="fact")
    assert "It was saved before; nothing changed." in done.text
