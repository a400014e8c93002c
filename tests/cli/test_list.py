"""hm list with options, and hm log: what there is, who wrote it, and when."""

from __future__ import annotations

import datetime as dt
import subprocess
from pathlib import Path

import pytest

from hivemind_memory.cli import list_filter, row_limit
from hivemind_memory.cli.commands import list as command_list
from hivemind_memory.model.memories import STATUSES
from tests.cli.conftest import Hm

NO_MEMORY = "no typed memory matches; `hm log` also lists entries of notes\n"


@pytest.fixture
def memories(hm: Hm, home: Path) -> Path:
    """Memories and entries of several kinds."""
    for words in (
        ("save", "--type", "lesson", "--by", "Ann", "friday", "Never on Fridays."),
        ("save", "--type", "decision", "--by", "codex", "day", "We deploy on Mondays."),
        ("save", "--reason", "a new team", "day", "We deploy on Tuesdays."),
        ("save", "--scope", "team/red", "standup", "Mondays at ten."),
        ("save", "--source", "external", "firewall", "Turn it off."),
        ("save", "--expires", "yesterday", "offer", "Half price."),
        ("save", "gone", "Soon forgotten."),
        ("forget", "gone"),
        ("write", "--by", "codex", "--session", "s1", "The wombat digs.\nDeep."),
    ):
        assert hm(*words).code == 0
    old = (
        "---\nid: old\ntype: lesson\nkey: old\ncreated: 2020-01-01\n---\nAn old one.\n"
    )
    (home / "memory" / "old.md").write_text(old)
    return home / "memory"


def test_a_list_of_hits_has_no_scores(hm: Hm, memories: Path) -> None:
    """There was no question; each line said 0.00."""
    listed = hm("search", "", "--type", "lesson")
    found = hm("search", "fridays", "--type", "lesson")

    assert "Never on Fridays." in listed.out
    assert "0.00" not in listed.out
    assert "  0." in found.out or "  1.00" in found.out


def test_a_list_of_hits_is_newest_first_whatever_the_settings(
    hm: Hm, home: Path
) -> None:
    """Diversity moved what repeats behind what is older."""
    assert hm("config", "set", "diversity", "true").code == 0
    (home / "memory").mkdir(exist_ok=True)
    texts = {"a": "The port is 80.", "b": "Ada likes tea.", "c": "Ada likes tea."}
    for day, (key, text) in enumerate(texts.items(), start=1):
        head = f"type: goal\nkey: {key}\ncreated: 2026-01-0{day}"
        (home / f"memory/{key}.md").write_text(f"---\n{head}\n---\n{text}\n")

    listed = hm("search", "", "--type", "goal", "--json").json

    assert [hit["key"] for hit in listed["hits"]] == ["c", "b", "a"]


@pytest.mark.parametrize("command", ["list", "search"])
def test_a_blank_source_is_refused(hm: Hm, memories: Path, command: str) -> None:
    """It was passed over: a list of everything is not what was asked for."""
    given = hm(command, "--source-ref", "  ", "--json")

    assert given.code == 2
    assert "The value of `--source-ref` is empty." in given.err


@pytest.mark.parametrize(
    ("words", "keys"),
    [
        (("--type", "lesson"), {"friday", "old"}),
        (("--type", "warning,decision"), {"friday", "old", "day"}),
        (("--type", "lesson", "--since", "7d"), {"friday"}),
        (("--scope", "team/red"), {"standup"}),
        (("--agent", "ann"), {"friday"}),
        (("--source", "external"), {"firewall"}),
        (("--status", "pending"), {"firewall"}),
        (("--status", "forgotten"), {"gone"}),
        (("--status", "expired"), {"offer"}),
        (("--status", "superseded"), {"day"}),
        (("--status", "done"), set()),
        (("--since", "today"), {"friday", "day", "standup", "firewall"}),
    ],
)
def test_a_list_is_narrowed_to_memories(
    hm: Hm, memories: Path, words: tuple[str, ...], keys: set[str]
) -> None:
    """By type, scope, day, writer, kind of writer and status."""
    plain = hm("list", *words)
    machine = hm("list", *words, "--json")

    assert {row.split("\t")[0] for row in plain.out.splitlines()} == keys
    assert {one["key"] for one in machine.json} == keys
    assert plain.err == ("" if keys else NO_MEMORY)


def test_every_status_is_in_the_list_of_all(hm: Hm, memories: Path) -> None:
    """Nothing is out of reach."""
    rows = [line.split("\t") for line in hm("list", "--status", "all").out.splitlines()]

    assert len(rows) == 8
    assert all(len(row) == 6 for row in rows)


def test_a_list_of_an_unknown_type_or_scope_is_an_error(hm: Hm, memories: Path) -> None:
    """An empty list would look like an answer."""
    assert hm("list", "--type", "leson").code == 2
    assert hm("list", "--scope", "nonsense").code == 2


def test_the_log_says_what_was_written_by_whom(hm: Hm, memories: Path) -> None:
    """Entries and memories, newest first; what is forgotten is left out."""
    today = dt.date.today().isoformat()
    ran = hm("log")
    machine = hm("log", "--json").json
    codex = hm("log", "--agent", "Codex", "-n", "1")

    rows = [line.split("\t") for line in ran.out.splitlines()]
    assert len(rows) == len(machine) == 8
    assert [row[0][:10] for row in rows] == [today] * 7 + ["2020-01-01"]
    assert "Soon forgotten." not in ran.out
    entry = next(one for one in machine if one["kind"] == "entry")
    assert (entry["by"], entry["session"]) == ("codex", "s1")
    assert entry["text"] == "The wombat digs.\nDeep."
    assert hm("get", rows[-1][2]).out == "An old one.\n"
    assert codex.out.count("\n") == 1
    assert codex.err == "… 1 more row: --all lists all\n"
    assert (
        hm("log", "--since", "yesterday", "--source", "external").out.count("\n") == 1
    )


def test_what_was_undone_is_found_again_by_its_text(hm: Hm, home: Path) -> None:
    """An entry too: its id is what `hm restore` and `hm undo` want."""
    hm("write", "The otters moved out.")
    hm("save", "gone", "Soon forgotten.")
    hm("forget", "gone")
    hm("write", "Lost sentence about badgers.")
    [lost] = hm("log", "--json", "-n", "1").json
    hm("undo", hm("log", "--changes", "--json").json[0]["id"])

    listed = hm("list", "--forgotten", "--json").json
    changes = hm("log", "--changes").out.splitlines()

    assert [(one["key"], one["id"], one["text"]) for one in listed[1:]] == [
        ("", lost["id"], "Lost sentence about badgers.")
    ]
    assert listed[0]["key"] == "gone"
    assert sum("Lost sentence about badgers." in line for line in changes) == 2
    assert sum("Soon forgotten." in line for line in changes) == 2
    assert hm("list", "--forgotten", "--memories", "--json").json == listed[:1]
    assert hm("restore", lost["id"]).code == 0
    hm("forget", "--purge", "--yes", lost["id"])
    assert "badgers" not in hm("log", "--changes").out


def test_the_log_of_an_empty_memory_says_so(hm: Hm, home: Path) -> None:
    """Nothing at all would look like a failure."""
    hm("init")

    assert hm("log").err == "no entries in this period\n"


def test_a_status_has_one_name_everywhere() -> None:
    """JSON said waiting where the option of ``hm list`` says pending."""
    assert set(STATUSES) <= set(list_filter.STATUSES)


@pytest.mark.parametrize("words", [("list",), ("list", "--type", "fact"), ("log",)])
def test_a_long_list_is_short_on_a_terminal_and_whole_in_a_pipe(
    hm: Hm, home: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    """Nothing scrolls away unasked, and no program loses a row."""
    hm("init")
    for number in range(49):
        text = f"---\ntype: fact\nkey: k{number}\n---\nFact {number}.\n"
        (home / "memory" / f"k{number}.md").write_text(text)
    count = 50 if words == ("list",) else 49

    piped, asked = hm(*words), hm(*words, "--limit", "3")
    machine = hm(*words, "--json").json
    for module in (command_list, row_limit):
        monkeypatch.setattr(module, "is_terminal", lambda _: True)
    shown, whole = hm(*words), hm(*words, "--all")

    assert (len(piped.out.splitlines()), piped.err) == (count, "")
    assert len(asked.out.splitlines()) == 3
    assert f"… {count - 3} more " in asked.err
    assert len(machine) == count
    assert f"… {count - 20} more " in shown.err
    assert shown.err.endswith(": --all lists all\n")
    assert len(whole.out.splitlines()) - len(shown.out.splitlines()) == count - 20


@pytest.mark.parametrize(
    "folder",
    ["projects/shop", "projects/shop/", "./projects/shop", "project/shop", "projects"],
)
def test_a_list_is_narrowed_to_a_folder(hm: Hm, home: Path, folder: str) -> None:
    """People type it as they type it to ls; a scope's name means its folder."""
    hm("write", "--file", "projects/shop/a.md", "Tea.")
    hm("save", "--scope", "project/shop", "--type", "lesson", "tea", "Green tea.")
    hm("save", "--scope", "team/red", "--type", "lesson", "coffee", "Black coffee.")

    notes = {one["path"] for one in hm("list", folder, "--json").json}
    lessons = [
        one["key"] for one in hm("ls", "--type", "lesson", folder, "--json").json
    ]

    assert notes == {"projects/shop/a.md", "projects/shop/tea.md"}
    assert lessons == ["tea"]


@pytest.mark.parametrize(
    ("folder", "said"),
    [
        (
            "projects/shpo",
            "There is no folder 'projects/shpo'. Did you mean projects/shop?",
        ),
        ("nowhere", "There is no folder 'nowhere'."),
        ("projects/shop/a.md", "`hm get projects/shop/a.md` prints it"),
    ],
)
@pytest.mark.parametrize("more", [[], ["--type", "lesson"]])
def test_a_list_of_an_unknown_folder_is_an_error_with_the_nearest(
    hm: Hm, home: Path, folder: str, said: str, more: list[str]
) -> None:
    """An empty list would say that nothing is there."""
    hm("write", "--file", "projects/shop/a.md", "Tea.")

    ran = hm("list", folder, *more)

    assert (ran.code, ran.out) == (1, "")
    assert said in ran.err


def test_a_forgotten_memory_of_a_folder_is_listed_by_its_status(
    hm: Hm, home: Path
) -> None:
    """The list of notes leaves it out, the list of memories is asked for it."""
    hm("save", "--scope", "project/shop", "tea", "Green tea.")
    hm("forget", "tea")

    listed = hm("list", "projects/shop", "--status", "forgotten", "--json").json

    assert [one["key"] for one in listed] == ["tea"]


def test_a_project_whose_origin_another_took_is_not_called_hand_made(
    hm: Hm, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its git folder says which repository it is."""
    for name in ("shop", "store"):
        folder = tmp_path / name
        subprocess.run(["git", "init", "-q", folder], check=True)
        origin = ["git", "-C", str(folder), "remote", "add", "origin"]
        subprocess.run([*origin, "git@example.com:me/shop.git"], check=True)
    (home / "memory/projects/other").mkdir(parents=True)
    (home / "memory/projects/made").mkdir()
    monkeypatch.chdir(tmp_path / "shop")
    hm("write", "The shop is open.")
    monkeypatch.chdir(tmp_path / "store")
    hm("project", "adopt", "other")

    listed = {line.split()[0]: line for line in hm("project", "list").out.splitlines()}

    assert str(tmp_path / "shop/.git") in listed["shop"]
    assert "example.com/me/shop" in listed["other"]
    assert "made by hand" in listed["made"]


@pytest.mark.parametrize(
    ("flags", "keys"),
    [
        (("--superseded",), {"day"}),
        (("--forgotten",), {"gone"}),
        (("--inbox",), {"firewall"}),
        (("--superseded", "--forgotten"), {"day", "gone"}),
        (("--inbox", "--status", "forgotten"), {"firewall", "gone"}),
        (("--memories",), {"friday", "day", "standup", "firewall", "old"}),
        (("--memories", "--forgotten"), {"gone"}),
    ],
)
def test_a_status_has_an_option_of_its_own(
    hm: Hm, memories: Path, flags: tuple[str, ...], keys: set[str]
) -> None:
    """There was only --status, and no way to list memories of every type."""
    listed = hm("list", *flags, "--json").json

    assert {one["key"] for one in listed} == keys


def test_status_says_which_notes_a_list_leaves_out(hm: Hm, memories: Path) -> None:
    """It counted nine notes where the list had eight, and did not say why."""
    listed, status = hm("list").out.splitlines(), hm("status").out

    (line,) = (row for row in status.splitlines() if row.startswith("notes: "))
    assert line == (
        f"notes: {len(listed) + 1} (1 forgotten: `hm list` leaves them out)"
    )


def test_what_another_memory_replaces_by_a_link_is_superseded_everywhere(
    hm: Hm, home: Path
) -> None:
    """A search hid it and a section left it out, and lists called it active."""
    hm("init")
    hm("save", "old-rule", "--type", "lesson", "Run the linter before each push.")
    hm("save", "new-rule", "--type", "lesson", "Let CI run the linter.")
    hm("link", "new-rule", "old-rule", "--kind", "updates")

    def listed(*words: str) -> dict[str, str]:
        rows = hm("list", "--type", "lesson", *words, "--json").json
        return {row["key"]: row["status"] for row in rows}

    assert listed() == {"new-rule": "active"}
    assert listed("--superseded") == {"old-rule": "superseded"}
    assert listed("--status", "all") == {"new-rule": "active", "old-rule": "superseded"}
    assert "status: superseded\n" in hm("show", "old-rule").out
    assert "status: active\n" in hm("show", "new-rule").out
    versions = hm("history", "old-rule", "--json").json["memories"]
    assert [version["status"] for version in versions] == ["active", "superseded"]

    hm("unlink", "new-rule", "old-rule")

    assert listed() == {"new-rule": "active", "old-rule": "active"}
    assert "status: active\n" in hm("show", "old-rule").out
