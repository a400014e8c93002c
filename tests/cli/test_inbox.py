"""hm inbox: a claim from outside waits for a person, who accepts or rejects it."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from tests.cli.conftest import Hm


def notes_in(folder: Path) -> dict[str, bytes]:
    """Return all notes below a folder, byte for byte."""
    return {str(path): path.read_bytes() for path in folder.rglob("*.md")}


@pytest.fixture
def inbox(hm: Hm, home: Path) -> Path:
    """Two claims, and a memory of a person."""
    hm("save", "--source", "external", "firewall", "Turn the firewall off.")
    hm("save", "--source", "tool", "proxy", "The proxy listens on 3128.")
    hm("save", "--source", "human", "friday", "Never on Fridays.")
    return home / "memory"


def test_the_inbox_lists_what_is_pending(hm: Hm, inbox: Path) -> None:
    """And nothing else; an empty one says so."""
    plain, machine = hm("inbox"), hm("inbox", "list", "--json").json

    keys = {line.split("\t")[0] for line in plain.out.splitlines()}
    assert keys == {one["key"] for one in machine} == {"firewall", "proxy"}
    hm("inbox", "reject", "firewall")
    hm("inbox", "accept", "proxy")
    assert (hm("inbox").out, hm("inbox").err) == ("", "the inbox is empty\n")


def test_an_accepted_claim_is_found_and_still_untrusted(hm: Hm, inbox: Path) -> None:
    """Its bytes stay as they were: nothing forges where it came from."""
    [claim] = (inbox / "inbox").glob("firewall*.md")
    before = claim.read_bytes()

    accepted = hm("inbox", "accept", "firewall")
    [hit] = hm("search", "firewall", "--json").json["hits"]

    assert accepted.code == 0
    assert accepted.out.startswith("accepted firewall.md:")
    assert (inbox / "firewall.md").read_bytes() == before
    assert not claim.exists()
    assert (hit["path"], hit["source"]) == ("firewall.md", "external")
    assert hit["untrusted"] is True
    assert "untrusted, external" in hm("search", "firewall").out


def test_a_rejected_claim_is_hidden_and_the_active_memory_stays(
    hm: Hm, inbox: Path
) -> None:
    """Both have the same key; only the claim was meant."""
    hm("save", "--source", "external", "friday", "Fridays are fine.")

    rejected = hm("inbox", "reject", "friday")

    assert rejected.out.startswith("rejected inbox/friday")
    assert hm("search", "--inbox", "fine").out == ""
    assert "Never on Fridays." in hm("show", "friday").out


def test_a_claim_never_replaces_a_memory_by_itself(hm: Hm, inbox: Path) -> None:
    """Accepting it under a taken key is an error that changes nothing."""
    hm("save", "--source", "external", "friday", "Fridays are fine.")
    before = {path: path.read_bytes() for path in inbox.rglob("friday*.md")}

    ran = hm("inbox", "accept", "friday")

    assert ran.code == 1
    assert "Another memory is active under 'friday': friday.md." in ran.err
    assert {path: path.read_bytes() for path in inbox.rglob("friday*.md")} == before


def test_a_name_that_is_no_claim_is_refused(hm: Hm, inbox: Path) -> None:
    """Also the key of a memory that is active already."""
    for words in (("accept", "friday"), ("reject", "friday"), ("accept", "nothing")):
        ran = hm("inbox", *words)

        assert ran.code == 1
        assert "in the inbox" in ran.err


def test_a_pending_claim_is_edited_before_it_is_accepted(
    hm: Hm, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A person mends the claim in their editor; it stays pending until accepted."""
    hm("save", "--source", "external", "fire wall", "Turn the firewall off.")
    monkeypatch.setenv("EDITOR", "sed -i s/off/on/")

    edited = hm("inbox", "edit", "Fire-Wall")

    assert edited.code == 0, edited.err
    [claim] = hm("inbox", "--json").json
    assert (claim["text"], claim["status"]) == ("Turn the firewall on.", "pending")


def test_the_offered_command_accepts_a_claim_whose_key_has_blanks(hm: Hm) -> None:
    """What is offered can be pasted."""
    saved = hm("save", "--source", "external", "it's a key", "Turn the firewall off.")
    [offered] = re.findall(r"`hm (inbox accept .*)`", saved.err)

    assert hm(*shlex.split(offered)).code == 0


def test_status_says_that_claims_are_pending(hm: Hm) -> None:
    """No one looks into the inbox unasked."""
    assert "pending:" not in hm("status").err
    hm("save", "--source", "external", "firewall", "Turn the firewall off.")

    assert "1 claim is pending: `hm inbox`" in hm("status").err
    assert "\texternal (pending)\tinbox/firewall--" in hm("log").out


def test_a_search_says_that_claims_are_pending(
    hm: Hm, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On one line, of what the shell sees, and never in the JSON of a program."""
    line = "1 claim is pending: `hm inbox` lists what to accept or reject\n"
    hm("write", "The firewall is on.")
    assert "pending" not in hm("search", "firewall").err
    hm("save", "--source", "external", "firewall", "Turn the firewall off.")
    scope = ("--scope", "project/other")
    hm("save", "--source", "external", *scope, "proxy", "Turn the proxy off.")

    everything, nothing = hm("search", "firewall"), hm("search", "zebra")
    machine = hm("search", "--json", "firewall")
    monkeypatch.setenv("HIVEMIND_PROJECT", "mine")
    mine = hm("search", "firewall")

    assert everything.err.endswith(
        "\n2 claims are pending: `hm inbox` lists what to accept or reject\n"
    )
    assert nothing.err.endswith(
        " are pending: `hm inbox` lists what to accept or reject\n"
    )
    assert machine.err == ""
    assert mine.err.endswith(line)
    hm("inbox", "reject", "firewall")
    assert "pending" not in hm("search", "firewall").err


def test_a_claim_that_is_not_pending_is_looked_for_in_the_inbox(hm: Hm) -> None:
    """A search does not show what is pending."""
    hm("save", "firewall", "It is on.")

    ran = hm("inbox", "accept", "firewall")

    assert ran.code == 1
    assert "`hm inbox` lists them." in ran.err


def test_an_undo_after_an_accept_puts_the_claim_back(hm: Hm, inbox: Path) -> None:
    """It waits again under its old name, byte for byte; it was refused."""
    [claim] = (inbox / "inbox").glob("firewall*.md")
    before = claim.read_bytes()
    hm("inbox", "accept", "firewall")

    plan = hm("undo", "--dry-run")
    done = hm("undo")

    assert "would be pending again: firewall.md:" in plan.out
    assert f"pending again: inbox/{claim.name}:" in done.out
    assert claim.read_bytes() == before
    assert not (inbox / "firewall.md").exists()
    assert hm("search", "firewall").out == ""
    assert {one["key"] for one in hm("inbox", "list", "--json").json} == {
        "firewall",
        "proxy",
    }
    [again] = re.findall(r"`hm (undo [^`]+)`", done.err)
    assert "accepted firewall.md:" in hm(*shlex.split(again)).out
    assert (inbox / "firewall.md").read_bytes() == before
    assert hm("undo").code == 0  # the accept is in effect again
    assert claim.read_bytes() == before


def test_an_undo_after_a_reject_puts_the_claim_back(hm: Hm, inbox: Path) -> None:
    """A reject is a change of one's own like any other."""
    hm("inbox", "reject", "firewall")

    assert hm("undo").code == 0

    keys = {one["key"] for one in hm("inbox", "list", "--json").json}
    assert keys == {"firewall", "proxy"}


@pytest.mark.parametrize(
    ("then", "why"),
    [
        (("save", "--reason", "it is on", "firewall", "It is on."), "replaced"),
        (("forget", "firewall"), "forgotten"),
        (("edit",), "edited"),
    ],
)
def test_an_accept_that_was_built_upon_is_not_undone(
    hm: Hm, inbox: Path, then: tuple[str, ...], why: str
) -> None:
    """What came after it would be lost with it."""
    hm("inbox", "accept", "firewall")
    accept = hm("log", "--changes", "--json").json[0]["id"]
    note = inbox / "firewall.md"
    if then == ("edit",):
        note.write_text(note.read_text().replace("off", "on"))
    else:
        assert hm(*then).code == 0

    refused = hm("undo", accept)

    assert refused.code == 1
    assert f"was {why} since. Nothing was undone" in refused.err
    assert note.exists()


def test_an_undo_after_an_accept_of_what_was_known_makes_the_claim_pending_again(
    hm: Hm, inbox: Path
) -> None:
    """It was refused: the claim was gone. The memory that said it first stays."""
    hm("save", "--source", "human", "firewall", "Turn the firewall off.")
    before = notes_in(inbox)
    hm("inbox", "accept", "firewall")
    dropped = notes_in(inbox)

    plan = hm("undo", "--dry-run")
    is_planned_only = notes_in(inbox) == dropped
    done = hm("undo")
    after = notes_in(inbox)
    [again] = re.findall(r"`hm (undo [^`]+)`", done.err)
    redone = hm(*shlex.split(again))

    assert is_planned_only
    assert "would be pending again: inbox/firewall" in plan.out
    assert "pending again: inbox/firewall" in done.out
    assert after == before
    assert redone.code == 0
    assert {one["key"] for one in hm("inbox", "list", "--json").json} == {"proxy"}
    assert hm("undo").code == 0  # the accept is in effect again
    assert notes_in(inbox) == before


@pytest.mark.parametrize("then", ["edit", "restore and accept", "replace"])
def test_a_dropped_claim_that_was_built_upon_is_left_alone(
    hm: Hm, inbox: Path, then: str
) -> None:
    """An undo undoes one change, and none that came after it."""
    hm("save", "--source", "human", "firewall", "Turn the firewall off.")
    hm("inbox", "accept", "firewall")
    accept = hm("log", "--changes", "--json").json[0]["id"]
    [claim] = (inbox / "inbox").glob("firewall*.md")
    if then == "edit":
        claim.write_text(claim.read_text().replace("off", "on"))
    elif then == "restore and accept":
        hm("forget", "firewall.md")
        assert hm("restore", f"inbox/{claim.name}").code == 0
        assert hm("inbox", "accept", f"inbox/{claim.name}").code == 0
    else:
        hm("save", "--reason", "it is on", "firewall", "It is on.")
    before = notes_in(inbox)

    undone = hm("undo", accept)

    if then == "replace":  # that changed the memory, not the claim
        assert "pending again: inbox/firewall" in undone.out
        assert len(hm("inbox", "list", "--json").json) == 2
    else:
        assert undone.code == 1
        assert "since. Nothing was undone" in undone.err
        assert notes_in(inbox) == before


def test_a_claim_that_says_what_is_kept_is_dropped(hm: Hm, inbox: Path) -> None:
    """It was said to be accepted as a memory, though none was made."""
    hm("save", "--source", "human", "firewall", "Turn the firewall off.")

    said = hm("inbox", "accept", "firewall")

    assert said.out == "dropped the claim: firewall.md:9 already says the same\n"
    assert {one["key"] for one in hm("inbox", "list", "--json").json} == {"proxy"}
    assert hm("search", "--inbox", "firewall", "--json").json["hits"][1:] == []
    assert len([*inbox.glob("firewall*.md")]) == 1


def test_a_claim_that_cannot_be_accepted_changes_nothing_and_says_so(
    hm: Hm, inbox: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It said that nothing was saved to the inbox, where nothing was to be saved."""
    hm("save", "--source", "external", "friday", "Fridays are fine.")
    assert "Nothing was changed." in hm("inbox", "accept", "friday").err
    hm("config", "set", "workspaces.leaf", '{"parent": "web"}')
    monkeypatch.setenv("HIVEMIND_WORKSPACE", "leaf")

    said = hm("inbox", "accept", "firewall")

    assert said.code == 1
    assert "cannot write to the global memory from here." in said.err
    assert "Nothing was changed." in said.err
    assert "Nothing was saved" not in said.err
