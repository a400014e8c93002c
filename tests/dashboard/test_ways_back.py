"""After a button was pressed, a person is where they were."""

from __future__ import annotations

import re
from pathlib import Path

from hivemind_memory import opening
from hivemind_memory.model.curation import MemorySelector
from tests.dashboard.reader import Elements, Reader
from tests.http_api.served import save


def test_a_button_on_doubtful_leads_back_there(reader: Reader) -> None:
    """It led to the list of memories, away from the other doubts."""
    save("port", "The port is 5432.", type="fact")
    new = save("new-port", "The port is 5433.", type="fact", contradicts=("port",))

    for does in ("forget", "pin"):
        back = "/memory/doubtful?look=more"
        done = reader.send(f"/{new}/{does}", on="/doubtful", next=back)
        assert str(done.url).endswith(back)
        undo = done.text.partition('name="change" value="')[2].partition('"')[0]
        if does == "forget":
            reader.send("/undo", change=undo, next="/memory")

    other = "//evil.example/memory/"
    done = reader.send(f"/{new}/forget", on="/doubtful", next=other)
    assert done.url.path == "/memory"


def test_a_close_look_goes_on_after_a_copy_was_forgotten(reader: Reader) -> None:
    """It began again, which takes seconds; what was forgotten is no longer listed."""
    text = "The payment service answers within 8 seconds{}"
    first, _ = (save(f"copy-{at}", text.format(at), type="fact") for at in "!.")
    looked = reader.page("/doubtful?look=1").text
    assert 'id="copies"' in looked
    assert 'name="next" value="/memory/doubtful?look=more"' in looked

    done = reader.send(
        f"/{first}/forget", on="/doubtful", next="/memory/doubtful?look=more"
    )

    assert "Checked 2 memories." in done.text
    assert 'id="copies"' not in done.text


def test_a_link_to_nothing_says_so_on_the_page(reader: Reader) -> None:
    """It was a page that says that nothing is here."""
    port = save("port", "The port is 5432.", type="fact")

    page = reader.send(f"/{port}/link", on=f"/{port}", other="no-such", kind="related")

    assert page.status_code == 200
    assert "There is no memory" in page.text
    assert "The port is 5432." in page.text
    assert reader.send("/nothing/link", on=f"/{port}", other="port").status_code == 404


def test_a_link_is_removed_where_it_is_listed(reader: Reader) -> None:
    """One in the text says that it is there."""
    disk = save("disk", "Check the disk.", type="lesson")
    day = save("day", "See [[disk]].", type="decision")
    save("port", "The port is 5432.", type="fact", related=(day,))
    port = reader.page("/port")
    assert f'value="{day}"><button class="link">Remove' in port.text

    removed = reader.send(
        "/port/link", on="/port", other=day, end="1", kind="related_to"
    )
    kept = reader.send(
        f"/{day}/link", on="/port", other=disk, end="1", kind="related_to"
    )

    assert "Link removed." in removed.text
    assert f'value="{day}"><button class="link">Remove' not in removed.text
    assert "The link is part of the text." in kept.text


def test_the_theme_keeps_the_search(reader: Reader) -> None:
    """It led to the list without the words and the filters."""
    page = reader.page("?q=deploy&type=fact").text
    fields = [
        attributes["value"]
        for tag, attributes in Elements(page).found
        if tag == "input" and attributes.get("name") == "next"
    ]
    assert fields == ["/memory?q=deploy&type=fact"]


def test_a_link_that_was_removed_meanwhile_is_not_said_to_be_in_the_text(
    reader: Reader,
) -> None:
    """As in two tabs; and a button on Doubtful says what one on the page says."""
    day = save("day", "We deploy on Mondays.", type="decision")
    known = save("port", "The port is 5432.", type="fact", related=(day,))
    text = save("text", "See [[nowhere]].", type="fact")
    fields = {"other": day, "end": "1", "kind": "related_to"}
    told = [reader.send(f"/{known}/link", on="/port", **fields).text for _ in range(2)]
    assert "Link removed." in told[0]
    assert "There is no such link any more." in told[1]

    fields = {"other": "nowhere", "kind": "related_to"}
    kept = reader.send(f"/{text}/unlink", on="/port", **fields).text
    assert "Link removed." not in kept
    assert "The link is part of the text." in kept


def test_what_was_put_right_is_no_longer_listed(reader: Reader, home: Path) -> None:
    """The button led back to the same look, which still had it."""
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    folder = home / "memory"
    for letter, name, text, more in (
        ("A", "token", f"It is {secret}.", ""),
        ("B", "lost", "See.", "related: [nowhere]\n"),
        ("C", "one", "The payment service answers within 8 seconds, or never.", ""),
        ("D", "two", "The payment service answers within 8 seconds or never!", ""),
    ):
        head = f"id: 01K{letter * 23}\nkey: {name}\ntype: fact\n{more}"
        (folder / f"{name}.md").write_text(f"---\n{head}---\n{text}\n")
    page = reader.page("/doubtful?look=1").text
    for name in ("copies", "secrets", "dead-links"):
        assert f'id="{name}"' in page, name

    done = reader.press(page, f"/memory/01K{'B' * 23}/unlink")
    for name, text in (("token", "It is gone."), ("two", "Another one entirely.")):
        note = folder / f"{name}.md"
        note.write_text(note.read_text().rpartition("---\n")[0] + f"---\n{text}\n")
    after = reader.page("/doubtful?look=more").text

    assert "Link removed." in done.text
    assert 'id="dead-links"' not in done.text
    for name in ("copies", "secrets", "dead-links"):
        assert f'id="{name}"' not in after, name
    assert "Checked 4 memories." in after


def test_a_forgotten_memory_shows_its_history(reader: Reader) -> None:
    """As far as it is there; and of several, what was forgotten last comes first."""
    save("day", "We deploy on Mondays.", type="fact")
    save("day", "We deploy on Tuesdays.", type="fact", reason="a new rota")
    save("other", "The port is 5432.", type="fact")
    with opening.open_memory() as memory:
        known = memory.curation.show("day").memory.id
        for key in ("other", "day"):
            memory.curation.forget(MemorySelector(name=key))

    page = reader.page(f"/{known}").text
    history = page.partition('id="chain"')[2]
    assert "Reason: a new rota" in history
    assert "<del>Mondays" in history
    assert history.count("<li>") == 2
    assert 'id="chain"' not in reader.page("/other").text
    listed = reader.page("?status=forgotten").text
    names = re.findall(r'class="open" href="[^"]*">(\w+)<', listed)
    assert names[-1] == "other"
    assert set(names[:-1]) == {"day"}
