"""What an edit keeps: links, the entries below, and how far a text is trusted."""

from __future__ import annotations

from pathlib import Path

import pytest

from hivemind_memory import opening
from hivemind_memory.context.told_memories import ToldMemories
from hivemind_memory.model.query import Query
from tests.dashboard.reader import Reader
from tests.dashboard.test_doubtful_page import links_of
from tests.http_api.served import save

ENTRY = f"<!-- hm id=01K{'E' * 23} source=external at=2026-11-21T14:03:11+01:00 -->"


def edit(reader: Reader, key: str, text: str, **fields: str) -> str:
    """Edit a memory as its page does; return the page that answers."""
    form = reader.page(f"/{key}/edit").text
    version = form.partition('name="version" value="')[2].partition('"')[0]
    fields = {"content": text, "type": "fact", "version": version, **fields}
    answer = reader.send(f"/{key}/edit", on=f"/{key}/edit", **fields)
    assert answer.status_code == 200, answer.text
    return answer.text


def told() -> set[str]:
    """Return the keys of the memories that agents are told unasked."""
    with opening.open_memory() as memory:
        today = memory.clocks.today()
        return {row.key for row in ToldMemories(memory, None, today).told}


def source_of(key: str) -> str:
    """Return the source of the active memory of a key."""
    with opening.open_memory() as memory:
        return memory.curation.show(key).memory.source


def test_an_edit_keeps_what_a_memory_updates_and_contradicts(reader: Reader) -> None:
    """A typing error was mended, and the dispute was gone."""
    save("port", "The port is 5432.", type="fact")
    save("host", "The host is db1.", type="fact")
    save("new-port", "The prot is 5433.", type="fact", contradicts=("port",))
    with opening.open_memory() as memory:
        memory.curation.link("new-port", "host", "updates", weight=0.5)
    before = links_of("new-port")
    assert len(before) == 2

    for text in ("The port is 5433.", "The port is 5433 now."):
        edit(reader, "new-port", text)
        assert links_of("new-port") == before
    assert 'id="disputed"' in reader.page("/doubtful").text
    with opening.open_memory() as memory:
        versions = memory.curation.history("new-port").memories
    texts = [version.text for version in versions if version.key == "new-port"]
    assert len(texts) == 3


@pytest.mark.parametrize("settled", ["", "1"])
def test_what_contradicts_a_memory_contradicts_its_next_version(
    reader: Reader, settled: str
) -> None:
    """Unless the person says that the edit settles it."""
    save("port", "The port is 5432.", type="fact")
    save("new-port", "The port is 5433.", type="fact", contradicts=("port",))
    form = reader.page("/port/edit").text
    assert "new-port no longer contradicts it" in " ".join(form.split())

    edit(reader, "port", "The port is 5433.", settled=settled)

    disputed = 'id="disputed"' in reader.page("/doubtful").text
    assert disputed is not bool(settled)


def test_an_edit_does_not_vouch_for_text_from_outside(reader: Reader) -> None:
    """One letter was changed, and agents were told a stranger's words as a person's."""
    claim = save("claim", "The prot is 1.", type="fact", source="external")
    reader.send("/inbox/accept", on="/inbox", ref=claim)

    edit(reader, "claim", "The port is 1.")

    assert source_of("claim") == "external"
    assert "untrusted" in reader.page("/claim").text
    assert "claim" not in told()


def test_a_person_may_vouch_for_what_they_have_checked(reader: Reader) -> None:
    """Even if not a letter is changed; its history says who it came from."""
    claim = save("claim", "The port is 1.", type="fact", source="external")
    reader.send("/inbox/accept", on="/inbox", ref=claim)

    edit(reader, "claim", "The port is 1.", vouch="1")

    assert source_of("claim") == "human"
    assert "claim" in told()
    with opening.open_memory() as memory:
        sources = [m.source for m in memory.curation.history("claim").memories]
    assert sources == ["human", "external"]


def fields_of(key: str) -> tuple[tuple[str, ...], str, float]:
    """Return the tags, the last day and the importance of a memory."""
    with opening.open_memory() as memory:
        found = memory.curation.show(key).memory
    return found.tags, found.expires, found.importance


def test_tags_expiry_and_importance_are_in_the_forms(reader: Reader) -> None:
    """What is left alone stays, what is emptied goes, and a wrong one saves nothing."""
    given = {"tags": " ops, staging,", "expires": "2090-01-31", "importance": "0.9"}
    reader.send("/new", key="port", content="It is 5432.", type="fact", **given)
    assert fields_of("port") == (("ops", "staging"), "2090-01-31", 0.9)

    form = reader.page("/port/edit").text
    for shown in ("ops, staging", "2090-01-31", "0.9"):
        assert f'value="{shown}"' in form
    edit(reader, "port", "It is 5433.")  # a form that has no such fields
    edit(reader, "port", "It is 5434.", **{**given, "tags": "ops, staging"})
    assert fields_of("port") == (("ops", "staging"), "2090-01-31", 0.9)
    edit(reader, "port", "It is 5434.", tags="db", expires="2091-02-28")
    assert fields_of("port") == (("db",), "2091-02-28", 0.9)
    edit(reader, "port", "It is 5434.", tags="", expires="", importance="")
    plain = fields_of("port")
    assert plain[:2] == ((), "")
    assert plain[2] != 0.9

    for wrong in ({"expires": "someday"}, {"importance": "high"}, {"importance": "2"}):
        (name,) = wrong
        answer = reader.send("/new", key="other", content="Text.", **wrong)
        assert answer.status_code == 400
        assert f"{name} cannot be" in answer.text.lower()
        assert "Text." in answer.text


@pytest.mark.parametrize("way", ["edit", "pin"])
def test_entries_below_stay_as_they_are(reader: Reader, home: Path, way: str) -> None:
    """Their comments became text, and a stranger's words a part of a person's."""
    save("port", "The prot is 5432.", type="fact")
    path = home / "memory" / "port.md"
    entry = f"{ENTRY}\nThe port is 1."
    path.write_text(f"{path.read_text()}\n\n{entry}\n", encoding="utf-8")
    form = reader.page("/port/edit").text
    assert "The port is 1." not in form
    assert "1 entry below it in its note stays as it is." in form

    if way == "edit":
        edit(reader, "port", "The port is 5432.")
    else:
        assert reader.send("/port/pin", on="/port").status_code == 200

    text = path.read_text(encoding="utf-8")
    assert text.endswith(f"{entry}\n")
    assert text.count("<!-- hm ") == 1
    assert ("The port is 5432." in text) is (way == "edit")
    with opening.open_memory() as memory:
        hits = memory.search(Query(text="port is 1")).hits
        assert {hit.source for hit in hits if "is 1" in hit.snippet} == {"external"}


def test_a_note_of_no_known_type_has_no_form_that_cannot_be_saved(
    reader: Reader, home: Path
) -> None:
    """Its form had another type chosen, and ended with "The key is blank"."""
    with opening.open_memory() as memory:
        entry = memory.write("The staging database is walrus.", file="n.md").id
    known = f"01K{'A' * 23}"
    head = f"---\nid: {known}\nkey: tea\ntype: gizmo\n---\n"
    (home / "memory" / "tea.md").write_text(f"{head}Tea.\n", encoding="utf-8")
    (home / "memory" / "no.md").write_text("---\nkey: no\ntype: fact\n---\nNo.\n")

    page = reader.page(f"/{known}").text
    assert "/edit" not in page
    assert "/pin" not in page
    assert "/forget" in page
    for name in (entry, known, "no"):
        refused = reader.page(f"/{name}/edit")
        assert refused.status_code == 409
        assert "no id or no known type" in refused.text
        assert "This memory is active" not in refused.text


def test_a_form_names_what_its_field_does_not_show(reader: Reader) -> None:
    """A text that turns around looked like another one; it stays as it is."""
    text = "Pay \u202e001\u202c to the\u200b shop \U0001f469\u200d\U0001f52c."
    known = save("pay", text, type="fact")
    claim = save("claim", text, type="fact", source="external")
    for path in (f"/{known}/edit", f"/inbox/edit?ref={claim}"):
        form = reader.page(path).text
        assert "U+202E RIGHT-TO-LEFT OVERRIDE, U+202C POP DIRECTIONAL" in form
        assert "FORMATTING, U+200B ZERO WIDTH SPACE. They stay" in form
        assert 'aria-describedby="hidden-in"' in form
        assert f"{text}</textarea>" in form
    assert "hidden-in" not in reader.page("/new").text
    edit(reader, "pay", f"{text} Twice.")
    with opening.open_memory() as memory:
        assert memory.curation.show("pay").memory.text == f"{text} Twice."
