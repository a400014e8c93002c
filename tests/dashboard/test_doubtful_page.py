"""The page of what is doubtful, and the two clicks that put each of it right."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from hivemind_memory import opening
from hivemind_memory.memory.doubts import (
    CloseLook,
    Doubts,
    begin_look,
    look_on,
    near_copies,
)
from hivemind_memory.model.memories import MemoryRow
from hivemind_memory.model.query import Query
from hivemind_memory.search.similarity import NEAR_DUPLICATE, similarity, words_in
from tests.dashboard.reader import Reader
from tests.http_api.served import Served, add_token, save, serving

LOOK = "/doubtful?look=1"


def put(home: Path, name: str, text: str, **front: str) -> None:
    """Write a memory as it may be in a folder that is years old."""
    head = "".join(f"{key}: {value}\n" for key, value in front.items())
    (home / "memory" / f"{name}.md").write_text(
        f"---\nkey: {name}\n{head}---\n{text}\n", encoding="utf-8"
    )


def active(key: str) -> str:
    """Return the status of a memory, or that it is gone."""
    with opening.open_memory() as memory:
        rows = [row for row in memory.memories() if row.key == key]
        return "active" if any(row.status == 0 for row in rows) else "hidden"


def test_a_dispute_is_ended_by_one_button(reader: Reader) -> None:
    """Both are right; or one is forgotten, which can be undone."""
    old = save("port", "The port is 5432.", type="fact")
    new = save("new-port", "The port is 5433.", type="fact", contradicts=("port",))
    page = reader.page("/doubtful").text
    assert 'id="disputed"' in page
    assert page.index(new) < page.index(old)

    fields = {"other": old, "kind": "contradicts"}
    done = reader.send(f"/{new}/unlink", on="/doubtful", **fields)
    assert "Link removed." in done.text
    assert 'id="disputed"' not in done.text
    assert "Nothing here is doubtful." in done.text


def test_a_memory_is_disputed_from_its_page(reader: Reader) -> None:
    """What is true instead is a memory of its own; both stay."""
    old = save("port", "The port is 5432.", type="fact")
    assert "Dispute it" in reader.page(f"/{old}").text
    reader.send(f"/{old}/dispute", on=f"/{old}", content="The port is 5433.")
    page = reader.page("/doubtful").text
    assert 'id="disputed"' in page
    assert active("port") == active("port disputed") == "active"
    empty = reader.send(f"/{old}/dispute", on=f"/{old}", content=" ")
    assert (empty.status_code, "Nothing was saved" in empty.text) == (400, True)


def test_a_second_dispute_replaces_no_first_one(reader: Reader) -> None:
    """It took the key of the first, which searches no longer showed."""
    old = save("port", "The port is 5432.", type="fact")
    long = save("k" * 199, "The host is db1.", type="fact")

    for said in ("The port is 5433.", "The port is 5434.", "The port is 5433."):
        answer = reader.send(f"/{old}/dispute", on=f"/{old}", content=said)
        assert "searches show both" in answer.text
    reader.send(f"/{long}/dispute", on=f"/{long}", content="The host is db2.")

    assert active("port disputed") == active("port disputed 2") == "active"
    assert active(f"{'k' * 191} disputed") == "active"
    with opening.open_memory() as memory:
        disputed = {edge.key for edge in memory.curation.show("port").edges}
    assert disputed == {"port disputed", "port disputed 2"}


def test_a_pin_writes_nothing_but_the_pin(reader: Reader, home: Path) -> None:
    """It wrote down the importance of the type, which then no longer followed it."""
    known = save("port", "The port is 5432.", type="lesson")

    reader.send(f"/{known}/pin", on=f"/{known}")

    text = (home / "memory" / "port.md").read_text(encoding="utf-8")
    assert "pinned: true" in text
    assert "importance" not in text


def test_what_expires_is_kept_or_forgotten(reader: Reader, home: Path) -> None:
    """Keeping it takes the day away and leaves the rest as it was."""
    fields = {"type": "todo", "expires": "2020-01-01", "tags": "[ops]"}
    put(home, "renew", "Renew the certificate.", id="01K" + "A" * 23, **fields)
    assert 'id="expired"' in reader.page("/doubtful").text
    known = "01K" + "A" * 23
    reader.send(f"/{known}/keep", on="/doubtful")
    assert 'id="expired"' not in reader.page("/doubtful").text
    with opening.open_memory() as memory:
        shown = memory.curation.show("renew").memory
    assert (shown.text, shown.tags, shown.expires) == (
        "Renew the certificate.",
        ("ops",),
        "",
    )


def test_what_is_old_and_unused_is_pinned_or_forgotten(
    reader: Reader, home: Path
) -> None:
    """A pinned memory is not stale; the pin is taken off on its page."""
    day = "2020-01-01T10:00:00+00:00"
    put(home, "ports", "Ports.", id="01K" + "B" * 23, type="fact", created=day)
    page = reader.page("/doubtful").text
    assert 'id="stale"' in page
    pinned = reader.send(f"/01K{'B' * 23}/pin", on="/doubtful")
    assert "Pinned: every agent sees it at startup." in pinned.text
    assert ">Unpin<" in pinned.text
    assert 'id="stale"' not in reader.page("/doubtful").text
    known = str(pinned.url).rpartition("/")[2]
    unpinned = reader.send(f"/{known}/pin", on=f"/{known}", end="1")
    assert ">Pin<" in unpinned.text


def test_a_closer_look_reads_the_texts(reader: Reader, home: Path) -> None:
    """Near copies, secrets and links to nothing."""
    save("one", "The payment service answers within 8 seconds, or never.", type="fact")
    copy = "The payment service answers within 8 seconds or never!"
    save("two", copy, type="fact")
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    put(home, "token", f"It is {secret}.", id="01K" + "C" * 23, type="fact")
    put(home, "lost", "See.", id="01K" + "D" * 23, type="fact", related="[nowhere]")
    assert 'id="copies"' not in reader.page("/doubtful").text

    page = reader.page(LOOK).text

    for name in ("copies", "secrets", "dead-links"):
        assert f'id="{name}"' in page, name
    assert secret not in page
    assert "Checked 4 memories." in page
    fields = {"other": "nowhere", "kind": "related_to"}
    reader.send(f"/01K{'D' * 23}/unlink", on=LOOK, **fields)
    assert 'id="dead-links"' not in reader.page(LOOK).text
    shown = reader.page("/one").text
    assert 'data-part="copies"' in shown


def test_near_copies_show_what_differs(reader: Reader) -> None:
    """Both texts were cut at the same length, before they differed."""
    text = "The payment service of the shop answers a request of any client within 8"
    save("one", f"{text} seconds, or never does.", type="fact")
    save("two", f"{text} minutes, or never does.", type="fact")

    page = reader.page(LOOK).text.partition('id="copies"')[2].partition("</section>")[0]

    assert "<del>minutes</del><ins>seconds</ins>" in page
    assert "The payment service" not in page, "what both say is cut"


def test_near_copies_that_differ_are_listed_no_more(reader: Reader) -> None:
    """There was no way to say so. A link remembers it, so a later look knows, too."""
    text = "The payment service of the shop answers a request of any client within"
    one = save("one", f"{text} 8 seconds, or never does.", type="fact")
    save("two", f"{text} 9 seconds, or never does.", type="fact")
    page = reader.page(LOOK).text

    [action] = re.findall(r'action="([^"]*/both)"', page)
    done = reader.press(page, action)

    assert "Both stay, and are linked." in done.text
    for shown in (done.text, reader.page(LOOK).text):
        assert 'id="copies"' not in shown
    assert f'href="/memory/{one}"' in reader.page("/two").text
    assert active("one") == active("two") == "active"


def test_a_long_list_of_doubts_is_read_to_its_end(reader: Reader, home: Path) -> None:
    """It said how many more there are, and led nowhere."""
    for at in range(55):
        day = {"expires": "2020-01-01", "id": f"01K{'A' * 21}{at:02}"}
        put(home, f"todo{at}", f"Task {at}.", type="todo", **day)
    first = reader.page("/doubtful").text
    link = '<a href="/memory/doubtful?only=expired&amp;page=2">And 5 more</a>'
    assert link in first

    second = reader.page("/doubtful?only=expired&page=2").text

    names = set(re.findall(r">todo\d+</a>", first + second))
    assert len(names) == 55
    assert len(re.findall(r">todo\d+</a>", second)) == 5
    assert 'rel="prev"' in second
    assert 'rel="next"' not in second


def test_who_saves_again_does_not_vouch_for_text_from_outside(
    reader: Reader,
) -> None:
    """It would be told to agents afterwards as a person's own."""
    claim = save("claim", "The port is 1.", type="fact", source="external")
    reader.send("/inbox/accept", on="/inbox", ref=claim)
    assert ">Pin<" not in reader.page("/claim").text
    for what in ("pin", "keep"):
        assert reader.send(f"/{claim}/{what}", on="/claim").status_code == 409


def links_of(key: str) -> set[tuple[str, str, float]]:
    """Return kind, other key and weight of the links that begin at a memory."""
    with opening.open_memory() as memory:
        edges = memory.curation.show(key).edges
    return {
        (edge.kind, edge.key, edge.weight)
        for edge in edges
        if edge.is_outgoing and edge.key != key
    }


@pytest.mark.parametrize("what", ["pin", "keep"])
def test_a_dispute_does_not_end_by_pinning(reader: Reader, what: str) -> None:
    """The links of a memory whose text stays stay too, however often."""
    save("port", "The port is 5432.", type="fact")
    save("host", "The host is db1.", type="fact")
    known = save("new-port", "The port is 5433.", type="fact", contradicts=("port",))
    with opening.open_memory() as memory:
        memory.curation.link(known, "host", "updates", weight=0.5)
    before = links_of("new-port")
    assert len(before) == 2

    for fields in ({}, {"end": "1"}):
        with opening.open_memory() as memory:
            known = memory.curation.show("new-port").memory.id
        answer = reader.send(f"/{known}/{what}", on=f"/{known}", **fields)
        assert answer.status_code == 200, answer.text
        assert links_of("new-port") == before
    assert 'id="disputed"' in reader.page("/doubtful").text


@pytest.mark.parametrize("kind", ["updates", "contradicts"])
def test_what_another_memory_updates_is_not_pinned(reader: Reader, kind: str) -> None:
    """A link that updates is with a version, so it would end; a dispute does not."""
    known = save("port", "The port is 5432.", type="fact")
    save("new-port", "The port is 5433.", type="fact")
    with opening.open_memory() as memory:
        memory.curation.link("new-port", "port", kind)

    answer = reader.send(f"/{known}/pin", on=f"/{known}")

    is_dispute = kind == "contradicts"
    assert ('id="disputed"' in reader.page("/doubtful").text) is is_dispute
    assert answer.status_code == (200 if is_dispute else 409)
    assert ("Another memory updates it" in answer.text) is not is_dispute


def test_a_page_says_that_another_memory_replaced_this_one(reader: Reader) -> None:
    """Lists call it superseded, and the page called it nothing."""
    known = save("port", "The port is 5432.", type="fact")
    save("new-port", "The port is 5433.", type="fact")
    assert "superseded" not in reader.page(f"/{known}").text
    with opening.open_memory() as memory:
        memory.curation.link("new-port", "port", "updates")

    page = reader.page(f"/{known}").text

    assert '<span class="mark-word">superseded</span>' in page
    link = '<a href="/memory/new-port.md">replaced by another memory</a>'
    assert link in page
    assert reader.page("/new-port.md").status_code == 200


def test_no_new_text_ends_a_dispute_that_no_person_has_decided(reader: Reader) -> None:
    """An agent saved a new version of either side, and nothing was marked any more."""
    save("port", "The port is 5432.", type="fact")
    save("new-port", "The port is 5433.", type="fact", contradicts=("port",))

    for key in ("port", "new-port", "port"):
        save(key, f"The port is 543{len(key)}, says {key}.", reason="found out")
        assert 'id="disputed"' in reader.page("/doubtful").text
    page = reader.page("/port").text
    links = page.partition('data-part="edges"')[2].partition("</section>")[0]
    assert links.count("← contradicts") == 1
    with opening.open_memory() as memory:
        hits = memory.search(Query(text="port")).hits
        assert sum(bool(hit.disputed_by) for hit in hits) == 1
        memory.curation.link("new-port", "port", "contradicts")
        [edge] = [
            edge
            for edge in memory.curation.show("new-port").edges
            if edge.kind == "contradicts"
        ]
        assert edge.path == "port.md"
        memory.curation.unlink("new-port", "port", "contradicts")
    assert 'id="disputed"' not in reader.page("/doubtful").text


def test_undoing_a_new_version_keeps_the_dispute(reader: Reader) -> None:
    """It is with the version before again."""
    save("port", "The port is 5432.", type="fact")
    save("new-port", "The port is 5433.", type="fact", contradicts=("port",))
    save("port", "The port is 5434.", reason="found out")
    with opening.open_memory() as memory:
        memory.curation.undo("")
        assert memory.curation.show("port").memory.text == "The port is 5432."
    assert 'id="disputed"' in reader.page("/doubtful").text


def test_who_sees_what_is_doubtful(served: Served, home: Path) -> None:
    """A token of its scopes; a visitor nothing; a token that reads has no buttons."""
    day = "2020-01-01T10:00:00+00:00"
    save("here", "Here.", "project/shop", type="fact")
    (home / "memory/projects/other").mkdir(parents=True)
    for scope in ("shop", "other"):
        name = f"projects/{scope}/old-{scope}"
        put(
            home,
            name,
            "Old.",
            id=f"01K{scope.upper():F<23}"[:26],
            type="fact",
            created=day,
        )
    token = add_token("ci", project="shop", is_read_only=True)
    with Reader(served) as ci:
        ci.log_in(token)
        page = ci.page("/doubtful").text
        assert "old-shop" in page
        assert "old-other" not in page
        assert "<button>Forget" not in page
    with serving("--public") as public, Reader(public) as visitor:
        assert visitor.page("/doubtful").status_code == 404


def test_a_link_to_nothing_does_not_tell_a_limited_caller_what_is_hidden(
    served: Served, home: Path, reader: Reader
) -> None:
    """A link that was not listed led to a note: whoever may save could ask for any.

    Nor is a limited caller offered to remove a link into a scope that it does not see.
    """
    other = save("other", "Over there.", "project/other", type="fact")
    forgotten = save("gone", "Gone.", "project/other", type="fact")
    related = (other, forgotten)
    here = save("here", "Here.", "project/shop", type="fact", related=related)
    with opening.open_memory() as memory:
        memory.curation.stored.hide([memory.curation.show("gone").memory.path])
    lost = save("lost", "See.", "project/shop", type="fact", related=(here,))
    with opening.open_memory() as memory:
        path = home / "memory" / memory.curation.show(lost).memory.path
    path.write_text(path.read_text().replace(here, "nowhere"))
    with Reader(served) as ci:
        ci.log_in(add_token("ci", project="shop"))
        limited = ci.page(LOOK).text

    assert 'id="dead-links"' not in limited
    assert not any(name in limited for name in ("nowhere", other, forgotten))
    whole = reader.page(LOOK).text
    assert "nowhere" in whole
    assert other not in whole


def test_every_pair_of_near_copies_is_found() -> None:
    """As by comparing each text with each other one."""
    import random

    chance = random.Random(4)
    texts = []
    for at in range(400):
        words = [f"w{chance.randrange(40)}" for _ in range(chance.randrange(3, 14))]
        row = MemoryRow(f"{at}", "", "", "", "", 0, 0, "", "", "", False, None, None)
        texts.append((row, words_in(" ".join(words))))
        if chance.random() < 0.2:
            texts.append((row._replace(path=f"{at}b"), words_in(" ".join(words[:-1]))))
    slow = {
        row.path
        for at, (row, words) in enumerate(texts)
        if len(words) > 3
        and any(
            similarity(words, theirs) >= NEAR_DUPLICATE and len(theirs) > 3
            for _, theirs in texts[:at]
        )
    }
    assert slow
    assert {old.path for _, old in near_copies(texts)} == slow


@pytest.mark.parametrize("kind", ["", "updates; drop", "supersedes"])
def test_a_link_of_another_kind_is_refused(reader: Reader, kind: str) -> None:
    known = save("port", "The port is 5432.", type="fact")
    answer = reader.send(f"/{known}/unlink", on=f"/{known}", other="x", kind=kind)
    assert (answer.status_code, "The kind of a link must be" in answer.text) == (
        400,
        True,
    )


def test_a_close_look_goes_on_in_parts(reader: Reader, home: Path) -> None:
    """Each part says how far it is; all of them find what one would."""
    with opening.open_memory() as memory:
        for at in range(120):
            put(home, f"m{at}", f"Number {at} of w{at} x{at} y{at} z{at}.", type="fact")
        put(home, "copy", "Number 7 of w7 x7 y7 z7!", type="fact")
        memory.sync()
        look = begin_look(memory)
        shares = []
        while not look.is_done:
            look_on(memory, look, budget_s=1e-9)
            shares.append(look.share)
    assert shares == sorted(shares)
    assert len(shares) > 100
    assert shares[-1] == 1.0
    assert look.looked_at == look.total == 121
    names = {look.copies[0].row.path, look.copies[0].other.path}  # type: ignore[union-attr]
    assert (len(look.copies), names) == (1, {"m7.md", "copy.md"})
    page = reader.page("/doubtful?look=1")
    assert "refresh" not in page.headers
    assert "Checked 121 memories." in page.text


def test_a_long_look_is_shown_while_it_goes_on() -> None:
    """A browser reads the next part by itself, with or without a script."""
    from hivemind_memory.dashboard.render import Renderer

    look = CloseLook(rows=[None] * 400, looked_at=100)  # type: ignore[list-item]
    values = {"found": Doubts(), "look": look, "most": 50, "total": 0, "today": 0}
    values |= {"only": "", "number": 1, "begin": 0, "diffs": {}, "titles": {}}
    frame = {
        "theme": "",
        "here": "",
        "address": "",
        "event": "",
        "reader": "",
        "notice": None,
        "form_secret": "",
    }
    roles = dict.fromkeys(
        ("is_member", "is_person", "may_change", "is_logged_in"), True
    )
    page = Renderer().page("doubtful.html", {**frame, **roles, **values})
    assert "19 %: checked 100 of 400 memories." in page
    assert "Nothing here is doubtful" not in page


def test_no_button_on_doubtful_is_sure_to_fail(reader: Reader, home: Path) -> None:
    """What is done is not in doubt; what is untrusted cannot be kept or pinned."""
    old = {"created": "2020-01-01T10:00:00+00:00", "id": "01K" + "A" * 23}
    over = {"type": "todo", "expires": "2020-01-01", "done": "2019-12-01"}
    put(home, "renew", "Renew the certificate.", **{**old, **over})
    assert "Nothing here is doubtful." in reader.page("/doubtful").text

    put(home, "moon", "The moon is cheese.", type="fact", source="external", **old)
    (home / "memory" / "renew.md").unlink()
    page = reader.page("/doubtful").text
    assert 'id="stale"' in page
    assert "/forget" in page
    assert "/pin" not in page


def test_a_dispute_says_what_became_of_its_text(reader: Reader) -> None:
    """That a secret in it was hidden, for one: nobody was told."""
    old = save("token", "The token is in the vault.", type="fact")
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    said = reader.send(f"/{old}/dispute", on=f"/{old}", content=f"It is {secret}.")
    assert "Disputed" in said.text
    notice = said.text.partition('role="status"')[2].partition("</div>")[0]
    assert "secret" in notice or "redacted" in notice, notice
