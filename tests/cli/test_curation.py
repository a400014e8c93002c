"""What the commands that curate print, and how they end."""

from __future__ import annotations

import datetime as dt
import re
from pathlib import Path

import pytest

from hivemind_memory.cli import confirm
from hivemind_memory.cli.commands import forget
from tests.cli.conftest import Hm

DAY = dt.date.today().isoformat()
TUESDAY = ("deploy-day", "--type", "decision", "We deploy on Tuesdays.")
PINS = ("pip", "Pins need hashes.")
FRIDAY = ("deploy-day", "--reason", "a new team", "Any day but Friday.")


@pytest.fixture
def replaced(hm: Hm, home: Path) -> Path:
    """A notes folder in which one memory has replaced another."""
    assert hm("save", *TUESDAY).code == hm("save", *FRIDAY).code == 0
    return home / "memory"


def test_the_first_save_of_a_home_makes_its_folder(hm: Hm, home: Path) -> None:
    """As the first hm write does: nobody has to know of hm init."""
    ran = hm("save", *TUESDAY)

    assert (ran.code, ran.err) == (0, "")
    assert re.fullmatch(
        r"saved deploy-day\.md:\d+ as decision deploy-day \([0-9A-Z]{26}\)\n",
        ran.out,
    )
    assert (home / "memory" / "deploy-day.md").exists()


def test_a_taken_key_says_what_is_there_and_how_to_replace_it(
    hm: Hm, home: Path
) -> None:
    """The error names the option that a shell has for it."""
    hm("save", *TUESDAY)

    ran = hm("save", "deploy-day", "Any day.")

    assert (ran.code, ran.out) == (1, "")
    assert "is already saved" in ran.err
    assert "--reason" in ran.err
    assert "We deploy on Tuesdays." in ran.err
    assert ran.err.count("\n") == 2


def test_a_replacing_save_says_where_the_old_text_is(hm: Hm, replaced: Path) -> None:
    """Somebody may want it back."""
    ran = hm("save", "deploy-day", "--reason", "newer", "Any day.")

    kept = re.search(
        r"^kept the previous version as (superseded/\S+)$", ran.out, re.MULTILINE
    )
    assert kept is not None
    assert "Any day but Friday." in (replaced / kept[1]).read_text()


def test_saving_the_same_again_says_so_once(hm: Hm, replaced: Path) -> None:
    """Twice would sound like a problem."""
    ran = hm("save", "deploy-day", "Any day but Friday.")

    assert ran.out.startswith("unchanged: deploy-day.md:")
    assert ran.err == ""


def test_history_says_when_each_version_was_written(hm: Hm, replaced: Path) -> None:
    """The day on which it was saved, as the note has it."""
    stored = re.findall(r"^created: (\d{4}-\d\d-\d\d)", _texts(replaced), re.MULTILINE)

    ran = hm("history", "deploy-day")

    heads = [line[:10] for line in ran.out.splitlines() if line[:1].isdigit()]
    assert len(heads) == 2
    assert set(heads) == set(stored)


def test_history_shows_the_id_of_each_version(hm: Hm, replaced: Path) -> None:
    """So that one of them can be named; the path of an older version has its id."""
    ids = re.findall(r"^id: (\w{26})$", _texts(replaced), re.MULTILINE)

    out = hm("history", "deploy-day").out

    assert len(ids) == 2
    assert [out.count(each) for each in ids] == [1, 1]


def _texts(folder: Path) -> str:
    """Return the text of all notes of a folder."""
    return "\n".join(note.read_text(encoding="utf-8") for note in folder.rglob("*.md"))


def test_history_has_no_line_that_is_wide_by_itself(hm: Hm, replaced: Path) -> None:
    """A terminal is often 80 columns; only a person's own words may be longer."""
    ran = hm("history", "deploy-day")

    heads = [line for line in ran.out.splitlines() if not line.startswith("    ")]
    assert [line.split("  ")[1] for line in heads if line[0].isdigit()] == [
        "active: a new team",
        "superseded",
    ]
    assert max(map(len, heads)) <= 80


def test_show_prints_facts_and_then_the_text(hm: Hm, replaced: Path) -> None:
    """A person reads the last lines first."""
    ran = hm("show", "deploy-day")

    facts, _, text = ran.out.partition("\n\n")
    assert text == "Any day but Friday.\n"
    for fact in ("type: decision", "reason: a new team", "recalled: 0 times"):
        assert f"\n  {fact}\n" in facts
    assert re.search(r"^  updates: superseded/\S+$", facts, re.MULTILINE)


def test_link_and_unlink_say_which_they_did(hm: Hm, replaced: Path) -> None:
    """The two would read alike otherwise."""
    hm("save", "friday", "Fridays are fine.")
    words = ("friday", "deploy-day", "--kind", "contradicts")

    said = [hm(verb, *words).out for verb in ("link", "link", "unlink")]

    assert said == [
        "linked friday.md contradicts deploy-day.md\n",
        "unchanged: they were already linked\n",
        "unlinked friday.md contradicts deploy-day.md\n",
    ]


def test_unlink_never_says_that_a_link_is_gone_which_is_there(
    hm: Hm, replaced: Path
) -> None:
    """Without a kind it goes; with another kind, the answer names it."""
    hm("save", "friday", "Fridays are fine.")
    hm("link", "friday", "deploy-day", "--kind", "updates")

    kept = hm("unlink", "friday", "deploy-day", "--kind", "related_to")
    gone = hm("unlink", "deploy-day", "friday")

    assert kept.out == "unchanged: no such link could be removed\n"
    assert "`hm unlink --kind updates friday.md deploy-day.md` removes it" in kept.err
    assert gone.out == "unlinked friday.md updates deploy-day.md\n"
    assert gone.err == ""


def test_a_receipt_names_each_place_and_counts_what_was_there(
    hm: Hm, replaced: Path
) -> None:
    """Nothing there is also an answer, in one line; and one of a thing is no things."""
    hm("save", "friday", "Fridays are fine.")

    ran = hm("forget", "friday", "--purge", "--yes")

    assert ran.code == 0
    *_, empty = ran.out.splitlines()
    assert empty.startswith("  nothing in: ")
    empties = empty.removeprefix("  nothing in: ").split(", ")
    rows = dict(re.findall(r"^  (\S.*?) {2,}(\S.*)$", ran.out, re.MULTILINE))
    assert rows["typed memories"] == "1 file"
    assert rows["index"] == "1 chunk with its postings"
    assert rows["tombstones"].startswith("1 made")
    assert list(rows) == ["tombstones", "typed memories", "index", "log of changes"]
    assert {"journal", "entries in notes", "vectors"} <= set(empties)
    assert ran.out.startswith("purged friday.md:")


def test_a_purge_removes_nothing_that_it_did_not_show(
    hm: Hm, replaced: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An agent replaces the memory while the person reads the question."""
    newer = "We deploy on Sundays."

    def read_and_agree(*_: object, **__: object) -> bool:
        hm("save", "deploy-day", "--reason", "a new rota", newer)
        return True

    monkeypatch.setattr(forget, "is_sure", read_and_agree)

    ran = hm("forget", "deploy-day", "--purge")

    assert ran.code == 1
    assert "deploy-day.md was not there when you were asked" in ran.err
    assert newer in (replaced / "deploy-day.md").read_text()
    assert hm("forget", "deploy-day", "--purge", "--yes").code == 0


def test_an_unasked_purge_changes_nothing_and_keeps_to_json(
    hm: Hm, replaced: Path
) -> None:
    """Nobody can answer a question through a pipe; a program still reads JSON."""
    before = (replaced / "deploy-day.md").read_bytes()

    ran = hm("forget", "deploy-day", "--purge", "--json")

    assert ran.code == 1
    assert ran.json["is_dry_run"] is True
    assert "Nothing was purged" in ran.err
    assert (replaced / "deploy-day.md").read_bytes() == before


def test_a_purge_of_a_whole_note_is_refused_before_it_asks(hm: Hm, notes: Path) -> None:
    """It used to ask first, then refuse, and named an option that there is not."""
    for words in (("--dry-run",), ("--yes",), ()):
        ran = hm("forget", "deploy", "--purge", *words)

        assert (ran.code, ran.out) == (2, "")
        assert ran.err.startswith("error: deploy.md would be removed as a whole")
        assert "Nothing was purged." in ran.err
        assert "`hm forget --purge deploy.md`" in ran.err
        assert (notes / "deploy.md").exists()

    assert hm("forget", "deploy.md", "--purge", "--yes").code == 0
    assert not (notes / "deploy.md").exists()


def test_what_is_in_force_again_is_told_with_its_lines(hm: Hm, replaced: Path) -> None:
    """The place is one that hm get takes, as all places are."""
    hm("save", "deploy-day", "--session", "s1", "--reason", "poison", "Whenever.")

    ran = hm("forget", "--session", "s1", "--yes")

    place = re.search(r"^active again: (\S+) ", ran.out, re.MULTILINE)
    assert place is not None
    assert hm("get", place[1]).out == "Any day but Friday.\n"


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ("", "is empty"),
        ("r" * 501, "source_ref has 501 characters; the limit is 500"),
        ("a\nb", "source_ref must be one line without control characters"),
        ("a\x01b", "source_ref must be one line without control characters"),
    ],
)
def test_a_source_ref_is_one_line_of_500_characters(
    hm: Hm, home: Path, given: str, problem: str
) -> None:
    """Others are refused, and nothing is saved."""
    ran = hm("save", "ios", "--source-ref", given, "Swift.")

    assert ran.code
    assert problem in ran.err
    assert "Nothing was saved." in ran.err
    assert not (home / "memory" / "ios.md").exists()


@pytest.mark.parametrize("option", ["--by", "--session"])
@pytest.mark.parametrize(
    "given", ["x\nsource: human", "x\x1b[0m", "ann\u202enna", "a\u2066b"]
)
@pytest.mark.parametrize("words", [("save", "ios"), ("write", "--file", "ios.md")])
def test_the_name_of_a_writer_is_one_line_without_control_characters(
    hm: Hm, home: Path, option: str, given: str, words: tuple[str, ...]
) -> None:
    """A sign that turns the direction lets a name read as another."""
    ran = hm(*words, option, given, "Swift.")

    assert ran.code
    assert (
        f"{option[2:].capitalize()} must be one line without control characters"
        in ran.err
    )
    assert "Nothing was saved." in ran.err
    assert not (home / "memory" / "ios.md").exists()


@pytest.mark.parametrize("file", ["projects/alpha/recovered.md", "Recovered.md"])
def test_nothing_is_written_where_removed_entries_are_restored(
    hm: Hm, home: Path, file: str
) -> None:
    """`hm doctor` and a backup take what is there for restored entries."""
    ran = hm("write", "--file", file, "Swift.")

    assert ran.code
    assert "is kept for entries that another program removed" in ran.err
    assert not [*(home / "memory").rglob("*ecovered.md")]


def test_a_source_ref_is_carried_over_and_found_by_its_beginning(hm: Hm) -> None:
    """Unless the new version has one of its own."""
    hm("save", "ios", "--source-ref", "specs/ios.md", "Swift.")
    hm("save", "ios", "--reason", "newer", "Swift 6.")
    kept = hm("show", "ios", "--json").json["memory"]["source_ref"]
    hm("save", "ios", "--reason", "moved", "--source-ref", "docs/ios.md", "Swift 7.")

    assert kept == "specs/ios.md"
    assert "Swift 7" in hm("search", "swift", "--source-ref", "docs/").out
    assert "Swift 7" not in hm("search", "swift", "--source-ref", "specs/").out


def test_a_kind_of_scope_without_a_name_is_asked_for_at_a_shell(hm: Hm) -> None:
    """The owner has all of them, so none is meant by the kind alone."""
    ran = hm("save", "a", "--scope", "project", "text")

    assert ran.code == 2
    assert (
        ran.err
        == "error: There is no project here.\nhint: Name one, as in project/NAME.\n"
    )


def test_a_claim_is_saved_with_a_type_and_a_source(hm: Hm, home: Path) -> None:
    """As ``hm save`` takes them."""
    refused = hm("learn", "--type", "facts", *PINS)
    ran = hm("learn", "--type", "fact", "--source-ref", "docs/pip.md#L4", *PINS)

    [hit] = hm("search", "pins", "--json").json["hits"]
    assert refused.code == 2
    assert ran.code == 0
    assert (hit["type"], hit["source_ref"]) == ("fact", "docs/pip.md#L4")


def test_an_answer_that_was_narrowed_says_so_when_it_is_empty(
    hm: Hm, replaced: Path
) -> None:
    """That no note holds the word would be wrong."""
    ran = hm("search", "--type", "goal", "friday")

    assert "no note that matches the filters contains a word" in ran.err


@pytest.mark.parametrize(
    "words",
    [
        ("--session", "s1"),
        ("--source", "agent"),
        ("--day", "the day they were saved"),
        ("--scope", "team/red"),
    ],
)
def test_a_bulk_forget_hides_nothing_unasked(
    hm: Hm, home: Path, words: tuple[str, ...]
) -> None:
    """One command never hides what was not meant; a script says --yes."""
    for key in ("one", "two"):
        hm("save", "--session", "s1", "--scope", "team/red", key, f"Text {key}.")
    place = "teams/red/one.md"
    if words[0] == "--day":
        header = (home / "memory" / place).read_text()
        words = ("--day", header.partition("created: ")[2][:10].strip("'\""))

    dry = hm("forget", *words, "--dry-run")
    unasked = hm("forget", *words)
    machine = hm("forget", *words, "--json")
    before = (home / "memory" / place).read_text()
    done = hm("forget", *words, "--yes")

    assert (dry.code, unasked.code, machine.code, done.code) == (0, 1, 1, 0)
    assert dry.out == unasked.out
    assert dry.out.count("would forget teams/red/") == 2
    assert (
        "Nothing was forgotten: without a terminal, confirm with --yes" in unasked.err
    )
    assert machine.json["is_dry_run"] is True
    assert "with --json, confirm with --yes" in machine.err
    assert "forgotten" not in before
    assert done.out.count("forgot teams/red/") == 2


@pytest.mark.parametrize(("answer", "code"), [("y\n", 0), ("\n", 1), ("no\n", 1)])
def test_a_bulk_forget_asks_a_person(
    hm: Hm,
    home: Path,
    monkeypatch: pytest.MonkeyPatch,
    answer: str,
    code: int,
) -> None:
    """Only a yes is a yes."""
    hm("save", "--session", "s1", "deploy-day", "We deploy on Tuesdays.")
    monkeypatch.setattr(confirm, "is_terminal", lambda _: True)

    ran = hm("forget", "--session", "s1", stdin=answer.encode())

    is_hidden = "forgotten:" in (home / "memory" / "deploy-day.md").read_text()
    assert ran.code == code
    assert "Forget 1 memory? [y/N] " in ran.err
    assert is_hidden == (code == 0)


def test_a_dry_run_works_for_one_memory_too(hm: Hm, replaced: Path) -> None:
    """It shows the older versions that go with it, and changes nothing."""
    before = (replaced / "deploy-day.md").read_bytes()

    ran = hm("forget", "deploy-day", "--dry-run")

    assert ran.code == 0
    assert ran.out.count("would forget ") == 2
    assert (replaced / "deploy-day.md").read_bytes() == before


def test_a_claim_shows_how_certain_it_is_and_a_memory_its_origin(hm: Hm) -> None:
    """They were in the file, and no command showed them."""
    hm(
        "learn",
        "--confidence",
        "high",
        "--domains",
        "sqlite.org",
        "sqlite",
        "WAL is on",
    )
    key = hm("list", "--type", "reference", "--json").json[0]["key"]
    hm("save", "--source-ref", "specs/ios.md#L40", "ios", "The app needs iOS 17")

    assert "confidence: high" in hm("show", key).out
    assert hm("show", "--json", key).json["memory"]["claim"]["domains"] == "sqlite.org"
    assert "derived from: specs/ios.md#L40" in hm("show", "ios").out


def test_a_text_that_looks_like_state_gets_a_hint(hm: Hm) -> None:
    """A long JSON object, or the twentieth version, is the state of a program."""
    data = "{" + ", ".join(f'"key{n}": {n}' for n in range(80)) + "}"
    said = hm("save", "settings", data).err
    assert "looks like state, not knowledge: `hm kv` keeps such values" in said
    assert "`hm vault` secrets" in said
    saved = [
        hm("save", "--reason", "it went on", "counter", f"The count is {n}")
        for n in range(20)
    ]

    assert "looks like state" not in saved[17].err
    assert "looks like state" in saved[19].err


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (("--type", "event"), "type event is never injected"),
        (("--source", "external"), "it is pending"),
        (("--expires", "tomorrow"), "nothing has been injected here yet"),
    ],
)
def test_why_says_what_keeps_a_memory_out_of_a_section(
    hm: Hm, options: tuple[str, ...], reason: str
) -> None:
    """The list of what was injected does not name what was never a candidate."""
    hm("save", *options, "walrus", "The walrus is staging.")

    said = hm("why", "--json", "Walrus").json
    shown = hm("why", "walrus")

    assert (said["is_injected"], shown.code) == (False, 0)
    assert reason in said["reason"] + shown.out


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        ("forget deploy-dy", "deploy-day"),
        ("restore gonee", "gone"),
        ("show deploy-dya", "deploy-day"),
        ("inbox accept firewal", "firewall"),
        ("inbox reject fierwall", "firewall"),
        ("list --agent Anne", "--agent Ann"),
        ("log --agent Anne", "--agent Ann"),
    ],
)
def test_a_mistyped_name_is_answered_with_the_one_that_was_meant(
    hm: Hm, home: Path, words: str, meant: str
) -> None:
    """In every command that takes one, and only what that command could take."""
    hm("save", "--by", "Ann", *TUESDAY)
    hm("save", "--source", "external", "firewall", "Turn it off.")
    hm("save", "gone", "Soon forgotten.")
    hm("forget", "gone")

    ran = hm(*words.split())

    assert f"id you mean {meant}?" in ran.err.replace("'", "")


def test_a_key_written_otherwise_is_said_to_be_the_same(hm: Hm) -> None:
    """The error would claim that a key exists that no list shows."""
    hm("save", "db-port", "It is 5433.")

    ran = hm("save", "DB_port", "It is 5434.")

    assert ran.code == 1
    assert ran.err == (
        'error: "DB_port" is the same key as "db-port", which is already saved.'
        " Nothing was changed.\n"
        "hint: --reason WHY replaces it and keeps this version."
        " db-port.md says: It is 5433.\n"
    )


def test_an_undo_takes_the_yes_of_other_commands(hm: Hm) -> None:
    """A script gives it to every command that changes something."""
    hm("save", "tea", "Green tea.")

    undone = hm("undo", "--yes")

    assert undone.code == 0
    assert undone.out.startswith("undid the save")


def test_a_restore_of_what_is_visible_says_that_there_is_nothing_to_do(hm: Hm) -> None:
    """By key, and by the id of a forget that was restored before."""
    hm("save", "tea", "Green tea.")
    visible = hm("restore", "tea")
    [forget_id] = re.findall(r"`hm restore (\w+)`", hm("forget", "tea").err)
    assert hm("restore", forget_id).out.startswith("restored tea.md")

    again = hm("restore", forget_id)

    assert (visible.code, visible.out) == (0, "")
    assert visible.err == "tea is not forgotten: nothing to restore.\n"
    assert (again.code, again.out) == (0, "")
    assert again.err == f"{forget_id} was restored before: nothing to restore.\n"
