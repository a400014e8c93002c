"""The pages over HTTP, without a script: what they show, and what their forms do."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from hivemind_memory import opening
from hivemind_memory.curation.access_tokens import AccessTokens
from hivemind_memory.dashboard.render import Renderer
from hivemind_memory.model.query import Query
from hivemind_memory.model.text_version import text_version
from hivemind_memory.redaction import mask
from hivemind_memory.state.model_links import LinkProposal, ModelLinks
from tests.dashboard.reader import Elements, Reader
from tests.http_api.served import Served, add_token, save, serving
from tests.support.hostile_texts import XSS_TEXTS
from tests.support.tiers import part

PAGES = (
    *("", "?q=deploy", "/deploy-day", "/deploy-day/edit", "/new", "/notes"),
    *("/notes/deploy-day.md", "/notes/deploy-day.md?view=source", "/inbox", "/log"),
    *("/injection", "/doubtful", "/doubtful?look=1", "/sessions", "/skills", "/jobs"),
    *("/figures", "/health", "/health?check=1", "/deploy-day/purge", "/nothing"),
)


def test_every_page_is_there_and_loads_nothing_from_elsewhere(reader: Reader) -> None:
    """Each says what a browser may load: nothing inline, nothing of others."""
    save("deploy-day", "We deploy on Tuesdays. ![x](https://evil.example/i.png)")

    for path in PAGES:
        page = reader.page(path)

        assert page.status_code == (404 if path == "/nothing" else 200), path
        policy = page.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert page.headers["cache-control"] == "no-store"
        for tag, attributes in Elements(page.text).found:
            assert tag != "img"
            assert "style" not in attributes
            assert not any(name.startswith("on") for name in attributes)
            if tag in {"script", "link"}:
                address = attributes.get("src", attributes.get("href", ""))
                assert address.startswith("/memory/static/")
                assert reader.client.get(address).status_code == 200


@pytest.mark.sampled
def test_text_of_notes_is_never_html(reader: Reader) -> None:
    """Two hundred hostile texts, each as key, text, reason and note."""
    texts = part(XSS_TEXTS, 0)
    for at, text in enumerate(texts):
        key = f"{text[:150]} {at}".replace("\n", " ")
        save(key, f"{text}\n\nmemory {at}", type="decision")
    paths = ["", "?page=2", "?page=3", "?page=4", "?q=memory+alert+script", "/log"]
    paths += ["/notes", "/figures", "/inbox", "/doubtful?look=1", "/sessions"]
    with opening.open_memory() as memory:
        rows = memory.memories()
        assert len(rows) == len(texts)
        paths += [f"/{row.memory_id}" for row in rows[::3][:60]]
        paths += [f"/{row.memory_id}/edit" for row in rows[1::3][:20]]
        paths += [f"/notes/{row.path}" for row in rows[2::3][:30]]
    for path in paths:
        page = reader.page(path)

        assert page.status_code in {200, 409}, path  # 409: it holds a secret
        scripts = [tag for tag, _ in Elements(page.text).found if tag == "script"]
        assert scripts == ["script"], path
        for tag, attributes in Elements(page.text).found:
            assert tag not in {"img", "iframe", "object", "embed", "base", "style"}
            assert not any(name.startswith("on") for name in attributes), path
            address = attributes.get("href", "")
            assert not address.lower().startswith(("javascript:", "data:", "//")), path
        assert "\u202e" not in page.text


def test_a_memory_is_saved_edited_linked_forgotten_and_taken_back(
    reader: Reader,
) -> None:
    """The way of a person, with forms alone."""
    saved = reader.send("/new", key="deploy-day", content="On Tuesdays.", type="fact")
    assert "On Tuesdays." in saved.text
    assert "Saved." in saved.text
    first = str(saved.url).rpartition("/")[2]

    edited = reader.send(
        f"/{first}/edit",
        on=f"/{first}/edit",
        content="On Mondays.",
        type="fact",
        reason="a new rota",
        version=first,
    )
    assert "Reason: a new rota" in edited.text
    assert "<del>Tuesdays</del>" in edited.text
    assert "<ins>Mondays</ins>" in edited.text
    second = str(edited.url).rpartition("/")[2]

    save("rollback", "Run rollback.sh.")
    linked = reader.send(f"/{second}/link", kind="contradicts", other="rollback")
    assert "contradicts" in linked.text

    forgotten = reader.send(f"/{second}/forget")
    assert "Forgotten" in forgotten.text
    assert 'action="/memory/undo"' in forgotten.text
    change = forgotten.text.partition('name="change" value="')[2].partition('"')[0]
    back = reader.send("/undo", change=change, next=f"/memory/{second}")
    assert "Undone." in back.text
    with opening.open_memory() as memory:
        shown = memory.curation.show("deploy-day").memory
    assert (shown.text, shown.status, shown.source) == (
        "On Mondays.",
        "active",
        "human",
    )


ODD_NAMES = ("a#b.md", "what?.md", "a b&c.md", "größe.md", 'q"q.md')


def test_notes_with_odd_names_open_from_every_list(reader: Reader, home: Path) -> None:
    """The list of notes, a search and the log: each link leads to its note."""
    words = ("amber", "birch", "cedar", "dune", "ember")
    for name, word in zip(ODD_NAMES, words, strict=True):
        text = f"# Zebra of {word}\n\n" + f"{word} walks. " * 9
        (home / "memory" / name).write_text(text, encoding="utf-8")
    for path in ("/notes", "?q=zebra", "/log"):
        found = [attributes for _, attributes in Elements(reader.page(path).text).found]
        links = {attributes.get("href", "") for attributes in found}
        notes = {link for link in links if link.startswith("/memory/notes/")}
        assert len(notes) == len(ODD_NAMES), path
        for link in notes:
            shown = reader.page(link.removeprefix("/memory"))
            assert (shown.status_code, "Zebra of" in shown.text) == (200, True), link


def test_an_undo_names_its_change(reader: Reader) -> None:
    """Without one it would undo the newest, whosever it is."""
    save("deploy-day", "On Tuesdays.")
    refused = reader.send("/undo")
    assert (refused.status_code, "names no change" in refused.text) == (400, True)
    assert reader.page("/deploy-day").status_code == 200


def test_a_form_with_too_many_fields_is_refused(reader: Reader) -> None:
    """With a sentence, as any bad input."""
    refused = reader.send("/new", **{f"field{at}": "x" for at in range(101)})
    assert (refused.status_code, "more than 100 fields" in refused.text) == (400, True)


def test_a_key_with_any_letter_is_in_the_address_as_it_should_be(
    reader: Reader,
) -> None:
    """A link of such a memory leads back to it."""
    save("straße", "A road.")
    save("other", "Another.")
    linked = reader.send("/stra%C3%9Fe/link", kind="related", other="other")
    assert (linked.status_code, "Linked." in linked.text) == (200, True)
    assert "A road." in linked.text


def test_of_two_people_who_edit_one_memory_nobody_loses_a_text(reader: Reader) -> None:
    """The later one sees both texts, and may save then."""
    begun = save("deploy-day", "On Tuesdays.")
    save("deploy-day", "On Mondays.", reason="meanwhile")

    fields = {"content": "On Fridays.", "type": "context", "version": begun}
    conflict = reader.send("/deploy-day/edit", **fields)

    assert conflict.status_code == 409
    assert "On Mondays." in conflict.text
    assert "On Fridays.</textarea>" in conflict.text
    now = conflict.text.partition('name="version" value="')[2].partition('"')[0]
    assert now != begun
    saved = reader.send("/deploy-day/edit", **{**fields, "version": now})
    assert saved.status_code == 200
    with opening.open_memory() as memory:
        texts = [m.text for m in memory.curation.history("deploy-day").memories]
    assert texts == ["On Fridays.", "On Mondays.", "On Tuesdays."]


def test_a_form_that_names_no_version_saves_nothing(reader: Reader) -> None:
    """The version of the moment was replaced, or accepted, that no page had shown."""
    known = save("deploy-day", "On Tuesdays.", type="fact")
    claim = save("port", "The port is 1.", type="fact", source="external")
    for path in (f"/{known}/edit", "/inbox/accept", "/inbox/edit"):
        fields = {"content": "On Fridays.", "type": "fact", "ref": claim}
        refused = reader.send(path, version="", **fields)
        assert refused.status_code == 400, path
        assert "does not say which version it began with" in refused.text
        assert "On Fridays.</textarea>" in refused.text
    with opening.open_memory() as memory:
        assert memory.curation.show(known).memory.text == "On Tuesdays."
        assert [row.text for row in memory.curation.pending()] == ["The port is 1."]


def test_an_edit_by_hand_while_a_form_is_open_is_a_conflict(
    reader: Reader, home: Path
) -> None:
    """The id of the note stayed the same, so the older text became active."""
    save("deploy-day", "On Tuesdays.")
    form = reader.page("/deploy-day/edit").text
    begun = form.partition('name="version" value="')[2].partition('"')[0]
    (note,) = (home / "memory").rglob("deploy-day*.md")
    note.write_text(note.read_text().replace("Tuesdays", "Sundays"))

    fields = {"content": "On Fridays.", "type": "context", "version": begun}
    conflict = reader.send("/deploy-day/edit", **fields)

    assert conflict.status_code == 409
    assert "On Sundays." in conflict.text
    assert "On Fridays.</textarea>" in conflict.text
    with opening.open_memory() as memory:
        assert memory.curation.show("deploy-day").memory.text == "On Sundays."


def test_a_taken_key_keeps_what_was_typed(reader: Reader) -> None:
    """And names the memory that has it."""
    save("deploy-day", "On Tuesdays.")

    refused = reader.send("/new", key="deploy-day", content="A long new text.")

    assert refused.status_code == 409
    assert "A long new text.</textarea>" in refused.text
    assert "already saved" in refused.text


def shown_on(page: str) -> str:
    """Return the hidden field that says which memories a page lists."""
    found = re.search(r'name="shown" value="([^"]+)"', page)
    assert found
    return found[1]


def test_a_purge_removes_only_what_its_page_has_listed(reader: Reader) -> None:
    """An entry with the same text was written after the page was opened."""
    known = save("deploy-day", "We deploy on Tuesdays.")
    path = f"/{known}/purge"
    page = reader.page(path).text
    copy = save("deploy-rota", "We deploy on Tuesdays.")

    late = reader.send(path, on=path, key="deploy-day", shown=shown_on(page))

    assert late.status_code == 400
    assert "This list has changed" in late.text
    assert "deploy-rota.md" in late.text
    for memory in (known, copy):
        assert reader.page(f"/{memory}").status_code == 200
    fields = {"key": "deploy-day", "shown": shown_on(late.text)}
    done = reader.receipt(reader.send(path, on=path, **fields))
    assert "<h1>Removed</h1>" in done.text


def test_a_purge_needs_the_key(reader: Reader) -> None:
    """It shows first what would go; a wrong key removes nothing."""
    known = save("deploy-day", "We deploy on Tuesdays.")
    path = f"/{known}/purge"
    page = reader.page(path).text
    assert "Type its key" in page

    wrong = reader.send(path, on=path, key="rollback", shown=shown_on(page))
    assert (wrong.status_code, "Nothing was removed" in wrong.text) == (400, True)
    assert reader.page(f"/{known}").status_code == 200

    fields = {"key": "deploy-day", "shown": shown_on(page)}
    done = reader.receipt(reader.send(path, on=path, **fields))
    assert "<h1>Removed</h1>" in done.text
    assert reader.page(f"/{known}").status_code == 404


def test_a_purge_of_an_entry_needs_its_id(reader: Reader) -> None:
    """It has no key: a form without one removed it, and none could confirm it."""
    with opening.open_memory() as memory:
        known = memory.write("The staging database is walrus.", file="n.md").id
    path = f"/{known}/purge"
    page = reader.page(path).text
    assert f"Type its id, {known}, to confirm" in page

    for fields in ({}, {"key": " "}, {"key": "walrus"}):
        wrong = reader.send(path, on=path, shown=shown_on(page), **fields)
        assert (wrong.status_code, "That is not the id" in wrong.text) == (400, True)
    done = reader.receipt(reader.send(path, on=path, key=known, shown=shown_on(page)))

    assert "<h1>Removed</h1>" in done.text
    assert reader.page(f"/{known}").status_code == 404


def test_a_conflict_shows_the_text_of_the_same_scope(reader: Reader) -> None:
    """Of two scopes with the key, the other one's text was shown as the newer one."""
    save("rota", "Ann, everywhere.", type="fact")
    begun = save("rota", "Ben, of the shop.", "projects/shop", type="fact")
    form = reader.page(f"/{begun}/edit").text
    version = form.partition('name="version" value="')[2].partition('"')[0]
    newer = save("rota", "Cem, of the shop.", "projects/shop", reason="holidays")

    fields = {"content": "Dan, of the shop.", "type": "fact", "version": version}
    conflict = reader.send(f"/{newer}/edit", **fields)

    assert conflict.status_code == 409
    assert "Cem, of the shop." in conflict.text
    assert "Ann" not in conflict.text
    assert f'name="version" value="{newer} ' in conflict.text


def test_a_claim_is_accepted_by_a_person_only(reader: Reader) -> None:
    """A token may reject it; accepting is for the one who opened the page.

    Who tried in a browser was told of an agent's shell.
    """
    claim = save("port", "The port is 5433.", type="fact", source="external")
    with Reader(reader.served) as other:
        other.log_in(reader.served.token)
        assert "/inbox/accept" not in other.page("/inbox").text
        known = save("tea", "Drink tea.", type="fact")
        for path in ("/inbox/accept", f"/{known}/purge"):
            refused = other.send(path, ref=claim, version="any")
            assert refused.status_code == 403
            assert "is for a person to decide" in refused.text
            assert "<code>hm dashboard</code> opens" in refused.text
            assert "CLAUDECODE" not in refused.text

    accepted = reader.send("/inbox/accept", on="/inbox", ref=claim)
    assert "Accepted." in accepted.text
    assert "Nothing is waiting" in accepted.text


def test_a_proposed_link_is_refused_once_a_memory_was_edited(
    reader: Reader, home: Path
) -> None:
    """What the page showed of it is the same, and the person had read no more."""
    long = "We deploy on Tuesdays. " * 10
    older = save("day", long, type="fact")
    newer = save("time", "We deploy on Thursdays.", type="fact")
    with opening.open_memory() as memory:
        proposal = LinkProposal(
            id="01KB5Z0000000000000000000A",
            from_ref=newer,
            to_ref=older,
            kind="updates",
            weight=1.0,
            model="m",
            at="2026-11-28T10:00:00+00:00",
            to_hash=memory.state().hash_of(text_version(long.strip())),
        )
        ModelLinks(memory.state()).propose(proposal)
    page = reader.page("/inbox").text
    assert "edited" not in page
    (note,) = (home / "memory").rglob("day*.md")
    note.write_text(f"{note.read_text()}\nNever on Mondays.\n")

    refused = reader.send("/inbox/accept", on="/inbox", ref=proposal.id)

    assert refused.status_code == 409
    assert "Since this link was proposed, day was edited." in refused.text
    assert "hm link --kind updates" in refused.text


def test_a_claim_that_has_changed_since_the_page_was_loaded_is_not_accepted(
    reader: Reader, home: Path
) -> None:
    """A text from outside got in that no person had seen."""
    claim = save("port", "The port is 1.", type="fact", source="external")
    page = reader.page("/inbox").text
    [version] = re.findall(r'name="version" value="(\w+)"', page)
    (note,) = (home / "memory").rglob("port*.md")
    note.write_text(note.read_text().replace("port is 1", "port is 2 at night"))

    fields = {"ref": claim, "version": version}
    refused = reader.send("/inbox/accept", on="/inbox", **fields)

    assert refused.status_code == 409
    assert "It has changed since the page was loaded" in refused.text
    assert "The port is 2 at night." in refused.text
    [newer] = re.findall(r'name="version" value="(\w+)"', refused.text)
    done = reader.send("/inbox/accept", on="/inbox", ref=claim, version=newer)
    assert "Accepted." in done.text


def test_the_version_of_a_claim_tells_nothing_of_its_secrets(reader: Reader) -> None:
    """It was the hash of the whole text, by which a short secret can be guessed."""
    text = "The pin of the door: password = 'x9!kfT2#pa'"
    claim = save("pin", text, type="fact", source="external")
    page = reader.page("/inbox").text
    [version] = re.findall(r'name="version" value="(\w+)"', page)

    assert version == text_version(mask(text)) != text_version(text)
    done = reader.send("/inbox/accept", on="/inbox", ref=claim, version=version)
    assert "Accepted." in done.text


@pytest.mark.parametrize("how", ["header", "address"])
def test_a_page_whose_stream_was_cut_is_told_what_it_missed(
    reader: Reader, how: str
) -> None:
    """A browser names the last event in a header; a page that takes over can not."""

    def begin(after: str) -> Iterator[str]:
        given = {"headers": {"Last-Event-ID": after}} if how == "header" else {}
        query = f"?after={after}" if how == "address" else ""
        with reader.client.stream("GET", f"/memory/events{query}", **given) as stream:
            yield from stream.iter_lines()

    known = next(line for line in begin("") if line.startswith("id: "))[4:]
    save("deploy-day", "We deploy on Mondays.", type="fact")

    assert next(line for line in begin(known) if "event" in line) == "event: saved"
    assert next(line for line in begin("0" * 48) if "event" in line) == "event: reset"


@pytest.mark.parametrize(
    ("fields", "headers", "status"),
    [
        ({}, {}, 403),
        ({"form_secret": "0" * 32}, {}, 403),
        ({"form_secret": "ä"}, {}, 403),
        ({}, {"Origin": "http://evil.example"}, 403),
        ({}, {"Origin": "null"}, 403),
    ],
)
def test_a_form_of_another_page_changes_nothing(
    reader: Reader, fields: dict[str, str], headers: dict[str, str], status: int
) -> None:
    """Its secret is missing, wrong, or it comes from another origin."""
    known = save("deploy-day", "On Tuesdays.")
    for path in (f"/{known}/forget", f"/{known}/purge", f"/{known}/edit", "/new"):
        data = {"key": "deploy-day", "content": "x", **fields}
        answer = reader.client.post(f"/memory{path}", data=data, headers=headers)

        assert answer.status_code == status
    with opening.open_memory() as memory:
        assert memory.curation.show("deploy-day").memory.text == "On Tuesdays."
        assert len(memory.memories()) == 1


def test_what_was_typed_is_shown_when_the_session_is_over(served: Served) -> None:
    """As when the server was restarted meanwhile."""
    with Reader(served) as stranger:
        data = {"content": "A long text.", "key": "tea-time", "scope": "projects/shop"}
        answer = stranger.client.post("/memory/new", data=data)

    assert answer.status_code == 401
    assert "A long text.</textarea>" in answer.text
    assert "<td>tea-time</td>" in answer.text
    assert "<td>projects/shop</td>" in answer.text
    assert "Nothing was saved" in answer.text


def test_a_link_begins_one_session(served: Served) -> None:
    """Not a second one; and nobody gets one without the server's own token."""
    code = served.ask("POST", "/memory/link").json()["code"]
    with Reader(served) as one, Reader(served) as other:
        assert one.client.get(f"/memory/login?code={code}").status_code == 303
        assert one.page("").status_code == 200
        again = other.client.get(f"/memory/login?code={code}")
        assert (again.status_code, "no longer valid" in again.text) == (403, True)
    named = add_token("ci")
    for token, status in ((named, 403), (None, 403), ("wrong", 401)):
        answer = served.ask("POST", "/memory/link", token=token)
        assert answer.status_code == status
    assert served.ask("GET", "/memory/link").status_code == 403


@pytest.mark.skipif(os.name != "posix" or os.getuid() != 0, reason="root starts it")
def test_a_link_begins_no_session_of_another_user(served: Served) -> None:
    """Whoever read the command line of the browser first had the owner's session."""
    code = served.ask("POST", "/memory/link").json()["code"]
    port = served.url.rpartition(":")[2]
    follow = f"""
import os, socket, encodings.idna
os.setuid(65534)
with socket.create_connection(("127.0.0.1", {port})) as server:
    server.sendall(b"GET /memory/login?code={code} HTTP/1.0\\r\\n"
        b"Host: 127.0.0.1:{port}\\r\\n\\r\\n")
    with server.makefile("rb") as answer:
        print(answer.read().decode())
"""
    other = subprocess.run(
        [sys.executable, "-I", "-c", follow],
        capture_output=True,
        text=True,
        check=True,
    )
    assert " 403 " in other.stdout.partition("\n")[0]
    assert "another user" in other.stdout
    with Reader(served) as owner:
        assert owner.client.get(f"/memory/login?code={code}").status_code == 303


def test_nobody_sees_a_page_without_a_session(served: Served) -> None:
    """They are asked to log in, and come back to the page."""
    save("deploy-day", "On Tuesdays.")
    with Reader(served) as stranger:
        for path in PAGES:
            answer = stranger.client.get(f"/memory{path}")
            assert answer.status_code == 303, path
            assert answer.headers["location"].startswith("/memory/login?next=%2Fmemory")
        assert stranger.client.get("/memory/events").status_code == 401
        for method in ("PUT", "DELETE", "TRACE", "OPTIONS"):
            answer = stranger.client.request(method, "/memory/log")
            assert answer.status_code == 405
            assert answer.headers["allow"] == "GET, HEAD"
        for wrong in ("", "wrong", "hm_wrong", "ä"):
            assert stranger.log_in(wrong).status_code == 403
        outside = {"token": served.token, "next": "https://evil.example/"}
        answer = stranger.client.post("/memory/login", data=outside)
        assert answer.headers["location"] == "/memory"


def test_a_token_decides_what_its_reader_sees_and_does(served: Served) -> None:
    """One of a project sees that one and global; one that reads changes nothing."""
    hidden = save("secret-plan", "the zebra moves in May", scope="project/other")
    save("shop-plan", "the lion stays", scope="project/shop")
    token = add_token("ci", project="shop", is_read_only=True)
    with Reader(served) as ci:
        assert ci.log_in(token).status_code == 303
        assert "shop-plan" in ci.page("").text
        unknown = ci.page("/01KAJ7Q0XW5T3M8Z2V9C4D6E1F")
        forbidden = ci.page(f"/{hidden}")
        assert forbidden.status_code == unknown.status_code == 404
        names = rf'{hidden}|01KAJ7Q0XW5T3M8Z2V9C4D6E1F|data-event="[0-9a-f]*"'
        same = {re.sub(names, "", page.text) for page in (forbidden, unknown)}
        assert len(same) == 1
        paths = ("", "?q=zebra", "?status=all", "/notes", "/log", "/figures")
        for path in (*paths, "/inbox", "/health"):
            text = ci.page(path).text
            assert "zebra moves" not in text, path
            assert "secret-plan" not in text
            assert "other" not in text.replace("another", ""), path
        assert "New memory</a>" not in ci.page("").text
        answer = ci.send("/new", on="", key="x", content="y")
        assert (answer.status_code, "read-only" in answer.text) == (403, True)

        with opening.open_memory() as memory:
            AccessTokens(memory.state(), memory.clocks, memory.caller).revoke("ci")
        assert ci.client.get("/memory").status_code == 303


def test_a_token_pins_nothing(served: Served) -> None:
    """An agent's pinned a text of every project, so each session began with it."""
    known = save("tea", "Drink tea.", type="fact")
    with Reader(served) as ci:
        ci.log_in(add_token("ci", project="shop"))
        assert f"/memory/{known}/pin" not in ci.page(f"/{known}").text
        for end in ("", "1"):
            told = ci.send(f"/{known}/pin", end=end)
            assert told.status_code == 403
            assert "Pinning a memory is for a person to decide" in told.text


def test_a_visitor_sees_what_is_public(home: object) -> None:
    """Without buttons, and without what is private."""
    assert home
    save("open", "the lion is public")
    hidden = save("closed", "the zebra is private", visibility="private")
    with serving("--public") as public, Reader(public) as visitor:
        for path in ("", "?q=lion+zebra", "?q=zebra", "/notes", "/log", "/figures"):
            page = visitor.page(path)
            assert page.status_code == 200
            assert "is private" not in page.text
            assert "closed" not in page.text
        assert "the lion is public" in visitor.page("").text
        assert visitor.page(f"/{hidden}").status_code == 404
        assert visitor.page("/health").status_code == 404
        assert "Forget" not in visitor.page("/open").text
        assert 'og:title" content="open"' in visitor.page("/open").text


def test_a_visitor_is_led_to_no_note(home: Path) -> None:
    """Whole notes are for members: the log and each memory led to pages not found."""
    save("open", "The lion is public.")
    (home / "memory" / "plain.md").write_text("# Zoo\n\nThe lion roars.\n")
    with serving("--public") as public, Reader(public) as visitor:
        pages = [visitor.page(path) for path in ("/log", "/open")]
        links = [
            given.get("href", "")
            for page in pages
            for _, given in Elements(page.text).found
        ]
    assert "plain.md" in pages[0].text
    assert "open.md" in pages[1].text
    assert [link for link in links if link.startswith("/memory/notes/")] == []


def test_a_private_memory_has_no_title_for_others(reader: Reader) -> None:
    """Whoever unfurls a link gets the name of the product."""
    save("closed", "the zebra is private", visibility="private")

    page = reader.page("/closed").text

    assert 'property="og:title" content="Hivemind Memory"' in page
    assert "og:description" not in page


def test_secrets_are_hidden_and_not_edited(reader: Reader) -> None:
    """Of a note that a person wrote; its file stays as it is."""
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    with opening.open_memory() as memory:
        notes = memory.places.notes
    with open(f"{notes}/token.md", "w", encoding="utf-8") as file:
        file.write(f"---\ntype: fact\nkey: token\n---\nThe token is {secret}.\n")
    for path in ("", "?q=token", "/token", "/notes/token.md", "/log", "/token/edit"):
        page = reader.page(path)
        assert secret not in page.text
    assert reader.page("/token/edit").status_code == 409


@pytest.mark.parametrize("is_own", [True, False])
def test_a_text_is_not_edited_by_a_reader_who_sees_it_masked(
    served: Served, is_own: bool
) -> None:
    """What is saved would have the mask in place of the secret."""
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    with opening.open_memory() as memory:
        notes = Path(memory.places.notes)
    head = "---\ntype: fact\nkey: {0}\nid: {1}\nsource: external\n---\n"
    text = f"The token is {secret}.\n"
    ids = [f"01K{letter * 23}" for letter in "AB"]
    (notes / "inbox").mkdir()
    for note, key, own_id in zip(("a", "inbox/b"), "ab", ids, strict=True):
        (notes / f"{note}.md").write_text(f"{head.format(key, own_id)}{text}")

    with Reader(served) as reader:
        reader.log_in(served.token if is_own else add_token("laptop"))
        pages = [
            reader.page(path)
            for path in (f"/{ids[0]}/edit", f"/inbox/edit?ref={ids[1]}")
        ]

    assert [page.status_code for page in pages] == [409, 409]
    assert not any(secret in page.text for page in pages)


def test_files_of_pages_are_kept_by_browsers_and_compressed(served: Served) -> None:
    """Their address changes with them."""
    page = served.ask("GET", "/memory/login", token=None)
    assert page.headers["content-encoding"] == "gzip"
    for tag, attributes in Elements(page.text).found:
        if tag in {"script", "link"}:
            address = attributes.get("src", attributes.get("href", ""))
            reply = served.ask("GET", address, token=None)
            assert "immutable" in reply.headers["cache-control"]
            old = served.ask("GET", f"{address[:-1]}x", token=None)
            assert (old.status_code, old.content) == (200, reply.content)
            assert old.headers["cache-control"] == "no-store"
    for name in ("..%2fapp.py", "app.py", "", "dashboard.css/x"):
        assert served.ask("GET", f"/memory/static/{name}").status_code == 404


def test_a_theme_is_kept(reader: Reader) -> None:
    """In a cookie; another value is none."""
    data = {"theme": "dark", "next": "/memory/log"}
    answer = reader.client.post("/memory/theme", data=data)
    assert answer.headers["location"] == "/memory/log"
    assert 'data-theme="dark"' in reader.page("").text
    reader.client.post("/memory/theme", data={"theme": '"><script>'})
    assert "data-theme" not in reader.page("").text


def test_the_end_of_a_session_is_its_end(reader: Reader) -> None:
    """A copy of its cookie opens nothing any more."""
    cookies = dict(reader.client.cookies)
    reader.send("/logout")
    with Reader(reader.served) as other:
        other.client.cookies.update(cookies)
        answer = other.client.get("/memory")
    assert answer.status_code == 303


def test_a_page_with_thousands_of_digits_is_none(reader: Reader) -> None:
    """It was an error of the server: Python reads no such number."""
    save("day", "We deploy on Mondays.", type="decision")

    pages = [reader.page(f"?page={digits}") for digits in ("9" * 5_000, "99")]

    assert [page.status_code for page in pages] == [200, 200]
    assert not any("We deploy on Mondays." in page.text for page in pages)


def test_the_briefing_stands_above_the_list(reader: Reader) -> None:
    """Of the chosen scope, else of that in which something was saved last."""
    save("day", "We deploy on Mondays. Never later.", type="decision")
    shop = save(
        "tea", "The shop sells tea. And no coffee.", "project/shop", type="fact"
    )

    page = reader.page("").text
    assert 'data-part="bulletin"' in page
    assert f'<a href="/memory/{shop}">The shop sells tea.</a>' in page
    assert "We deploy on Mondays.</a>" not in page
    assert "We deploy on Mondays.</a>" in reader.page("?scope=global").text
    for path in ("?q=deploy", "?type=fact", "?status=all", "?page=2"):
        assert 'data-part="bulletin"' not in reader.page(path).text, path

    reader.send(f"/{shop}/forget")
    assert "sells tea" not in reader.page("").text


def test_who_sees_which_briefing(served: Served) -> None:
    """A token of its own scopes; a visitor, who reads no whole notes, none."""
    save("lion", "The lion is told. Always.", "project/shop", type="decision")
    save("zebra", "The zebra is not. Ever.", "project/other", type="decision")
    with Reader(served) as ci:
        ci.log_in(add_token("ci", project="shop"))
        assert "The lion is told.</a>" in ci.page("").text
        refused = ci.page("?scope=project/other")
        unknown = ci.page("?scope=project/nothing")
        assert refused.status_code == unknown.status_code != 200
    with serving("--public") as public, Reader(public) as visitor:
        assert 'data-part="bulletin"' not in visitor.page("").text


def test_figures_show_what_is_in_use(reader: Reader) -> None:
    """What was never recalled is counted apart."""
    save("deploy-day", "We deploy on Mondays.", type="fact")
    save("other", "Nothing of this.", type="fact")
    page = reader.page("/figures").text
    assert 'class="heat"' in page
    assert "shade5" not in page
    reader.page("?q=when+do+we+deploy")
    page = reader.page("/figures").text
    assert '<td class="shade5" title="1">' in page
    assert "Recalled, by type" in page


def test_what_is_over_or_replaced_is_not_active(reader: Reader) -> None:
    """Neither in figures nor in a list, in which a link replaced nothing."""
    empty = reader.page("/figures").text
    assert ("nothing to show yet" in empty, "<svg" in empty) == (True, False)
    save("deploy-day", "We deploy on Mondays.", type="fact")
    save("old", "We deployed on Sundays.", type="decision", expires="2020-01-01")
    save("older", "We deployed on Fridays.", type="lesson")
    with opening.open_memory() as memory:
        memory.curation.link("deploy-day", "older", "updates")
    page = reader.page("/figures").text

    assert "1 active memory; 3 with" in page
    by_type = page.partition('id="by-type"')[2].partition("</section>")[0]
    assert "decision" not in by_type
    assert "lesson" not in by_type
    listed = reader.page("").text
    assert [name in listed for name in ("/older", "(1)", "lesson (", "decision (")] == [
        *(False, True, False, False)
    ]
    assert "deployed on Fridays" in reader.page("?status=superseded").text
    rows = reader.served.ask("GET", "/api/v1/memories?status=superseded").json()
    assert [row["key"] for row in rows["data"]] == ["older"]


def test_an_agent_of_two_names_is_one_row_of_figures(reader: Reader) -> None:
    """`claude` and `claude-code` were two agents with half of the recalls each."""
    save("deploy-day", "We deploy on Mondays.", type="fact")
    with opening.open_memory() as memory:
        for name in ("claude", "claude-code", "Claude-Code"):
            answer = memory.search(Query(text="when do we deploy"))
            memory.record_recall(answer, name)

    page = reader.page("/figures").text

    rows = page.partition('data-part="agents"')[2].partition("</section>")[0]
    assert '<th scope="row">claude</th><td class="number">3</td>' in rows
    assert "claude-code" not in rows.casefold()


def test_the_owner_sees_the_size_and_how_far_long_work_is(
    served: Served, home: Path
) -> None:
    """Sizes are of all notes, so a token of one project is told none."""
    save("deploy-day", "We deploy on Mondays.", scope="projects/shop")
    with Reader(served) as owner:
        owner.follow_link()
        page = owner.page("/figures").text
        assert '<tr><th scope="row">Notes</th><td>1</td></tr>' in page
    with Reader(served) as program:
        program.log_in(add_token("shop-only", project="shop"))
        assert 'data-part="size"' not in program.page("/figures").text
    status = SimpleNamespace(notes=200, stale_notes=50, memory_dir=str(home), chunks=1)
    status.index_bytes, status.leader, status.skipped = 1, "", ()
    status.provider, status.vectors_problem = "ollama", ""
    status.vectors, status.pending_vectors = 30, 70
    frame = {
        "theme": "",
        "here": "",
        "address": "",
        "event": "",
        "reader": "",
        "notice": None,
        "form_secret": "",
    }
    names = ("is_member", "is_person", "may_change", "is_logged_in")
    model = SimpleNamespace(name="none", jobs={})
    values = {"status": status, "findings": None, "model": model}
    values |= {**frame, **dict.fromkeys(names, True)}
    health = Renderer().page("health.html", values)
    assert "50 notes not indexed yet (75 % done)" in health
    assert "30 made, 70 pending (30 % done)" in health


def test_sessions_are_joined_to_the_memories_they_left(
    served: Served, home: Path
) -> None:
    """Also one whose transcript is not read; each reader sees its own scopes."""
    save("lion", "The lion.", "project/shop", type="fact", session="5e55a")
    save("zebra", "The zebra.", "project/other", type="fact", session="5e55b")
    with Reader(served) as owner:
        owner.follow_link()
        listed = owner.page("/sessions").text
        assert "lion" in listed
        assert "zebra" in listed
        shown = owner.page("/sessions?session=5e55a").text
        assert ">lion</a>" in shown
        assert "zebra" not in shown
        assert owner.page("/sessions?session=nothing").status_code == 404
        assert "in this session" in owner.page("/lion").text
    with Reader(served) as ci:
        ci.log_in(add_token("ci", project="shop"))
        assert "zebra" not in ci.page("/sessions").text
        hidden = ci.page("/sessions?session=5e55b")
        unknown = ci.page("/sessions?session=5e55c")
        assert hidden.status_code == unknown.status_code == 404
    with serving("--public") as public, Reader(public) as visitor:
        assert visitor.page("/sessions").status_code == 404
