"""Every command, over real folders and a real index."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest

from hivemind_memory.cli.progress import ProgressDisplay
from hivemind_memory.config import options
from tests.cli.conftest import Hm
from tests.support.tiers import mostly_thorough


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_init_says_what_it_made_and_what_to_do_next(hm: Hm, home: Path) -> None:
    """The first minute decides whether there is a second."""
    ran = hm("init")

    assert ran.code == 0
    for name in ("memory", "memory/global.md", "config.json"):
        assert str(home / name) in ran.out
    assert "hm search" in ran.out
    assert mode(home) == mode(home / "memory") == 0o700
    assert mode(home / "config.json") == mode(home / "memory" / "global.md") == 0o600


def test_init_again_changes_nothing(hm: Hm, home: Path) -> None:
    """It is safe to repeat, also over what a person made."""
    hm("init")
    (home / "memory" / "global.md").write_text("mine\n")
    (home / "config.json").write_text('{"memory": {"max_results": 3}}')

    ran = hm("init")

    assert ran.code == 0
    assert (home / "memory" / "global.md").read_text() == "mine\n"
    assert (home / "config.json").read_text() == '{"memory": {"max_results": 3}}'


def test_init_takes_the_folder_that_is_named(hm: Hm, tmp_path: Path) -> None:
    """Notes may lie anywhere."""
    ran = hm("init", "--memory-dir", str(tmp_path / "elsewhere"))

    assert ran.code == 0
    assert (tmp_path / "elsewhere" / "global.md").exists()


def test_search_answers_in_the_shape_that_was_promised(hm: Hm, notes: Path) -> None:
    """Programs and agents read these keys."""
    ran = hm("search", "when", "do", "we", "deploy", "--json")

    best = ran.json["hits"][0]
    assert ran.code == 0
    assert (best["path"], best["start_line"], best["end_line"]) == ("deploy.md", 1, 7)
    assert 0.3 <= best["score"] <= 1
    assert "Tuesdays" in best["snippet"]
    assert ran.json["report"]["mode"] == "keyword"
    assert ran.json["report"]["is_fresh"] is True
    assert ran.err == ""


def test_words_of_a_question_are_joined(hm: Hm, notes: Path) -> None:
    """Nobody wants to type quotes."""
    joined = hm("search", "staging", "database", "--json")
    quoted = hm("search", "staging database", "--json")
    piped = hm("search", "-", "--json", stdin=b"staging database\n")

    assert joined.json["hits"]
    assert joined.json["hits"] == quoted.json["hits"] == piped.json["hits"]


def test_diacritics_do_not_matter(hm: Hm, notes: Path) -> None:
    """Keyboards differ."""
    ran = hm("search", "cafe", "pres", "gare", "--json")

    assert ran.json["hits"][0]["path"] == "cafés.md"


def test_a_change_is_seen_by_the_next_search(hm: Hm, notes: Path) -> None:
    """Without any sync in between."""
    before = hm("search", "wombat", "--json")
    (notes / "animals.md").write_text("The wombat digs.\n")
    after = hm("search", "wombat", "--json")

    assert before.json["hits"] == []
    assert after.json["hits"][0]["path"] == "animals.md"


def test_nothing_found_is_no_error_and_has_a_reason(hm: Hm, notes: Path) -> None:
    """Silence is ambiguous; a script decides with --fail-empty."""
    plain = hm("search", "xylophone")
    failing = hm("search", "xylophone", "--fail-empty")
    found = hm("search", "deploy", "--fail-empty")

    assert (plain.code, plain.out) == (0, "")
    assert plain.err.startswith("nothing found: ")
    assert (failing.code, found.code) == (1, 0)


def test_a_near_word_is_offered(hm: Hm, notes: Path) -> None:
    """Typing errors are the commonest reason for an empty answer."""
    ran = hm("search", "rolbackk")

    assert "did you mean: " in ran.err
    assert "rollback" in ran.err


def test_explained_parts_add_up_to_the_score(hm: Hm, notes: Path) -> None:
    """An explanation that does not add up explains nothing."""
    explained = hm("search", "deploy", "--json", "--explain").json["hits"]
    plain = hm("search", "deploy", "--json").json["hits"]
    shown = hm("search", "deploy", "--explain").out

    for hit in explained:
        total = sum(part["value"] for part in hit["parts"])
        assert total == pytest.approx(hit["score"])
    assert "parts" not in plain[0]
    assert "words" in shown


def test_options_limit_the_answer(hm: Hm, notes: Path) -> None:
    """The number, and the relevance."""
    for number in range(15):
        (notes / f"deploy-{number}.md").write_text(f"How we deploy service {number}.\n")

    usual = hm("search", "deploy", "--json").json["hits"]
    two = hm("search", "deploy", "-n", "2", "--json").json["hits"]
    perfect = hm("search", "deploy wombat", "--min-score", "1", "--json")
    hm("config", "set", "max_results", "4")
    configured = hm("search", "deploy", "--json").json["hits"]

    assert [len(usual), len(two), len(configured)] == [10, 2, 4]
    assert perfect.json["hits"] == []
    assert perfect.json["report"]["cut"]["below_min_score"] > 0


def test_nothing_is_wrapped_or_cut_in_a_pipe(hm: Hm, notes: Path) -> None:
    """grep and agents want the lines as they stand."""
    line = "wombat " + "x" * 3_000
    (notes / "long.md").write_text(f"{line}\n")

    ran = hm("search", "wombat")

    assert "\x1b" not in ran.out
    assert ran.out.splitlines()[0].startswith("long.md:1  ")


def test_a_hostile_note_does_not_steer_the_terminal(hm: Hm, notes: Path) -> None:
    """Notes come from anywhere."""
    (notes / "evil.md").write_text("wombat \x1b[2J\x9b \u202eevil\n", encoding="utf-8")

    plain = hm("search", "wombat")
    machine = hm("search", "wombat", "--json")

    assert "\\x1b[2J\\x9b" in plain.out
    assert not set("\x1b\x9b\u202e") & set(machine.out)
    assert machine.json["hits"][0]["snippet"].startswith("wombat \x1b[2J\x9b \u202e")


def test_get_prints_lines_as_they_stand(hm: Hm, notes: Path) -> None:
    """By options, and by a place as a search prints it."""
    whole = hm("get", "deploy.md")
    lines = hm("get", "deploy.md", "--from", "3", "--lines", "1")
    place = hm("get", "deploy.md:5-7")
    one = hm("get", "deploy.md:3")
    machine = hm("get", "deploy.md:3", "--json")

    assert whole.out == (notes / "deploy.md").read_text()
    assert lines.out == one.out == "We deploy on Tuesdays only.\n"
    assert place.out.splitlines()[0] == "## Rollback"
    assert machine.json["path"] == "deploy.md"
    assert (machine.json["start_line"], machine.json["end_line"]) == (3, 3)
    assert "Tuesdays" in machine.json["text"]


def test_lines_that_a_note_does_not_have_are_named(hm: Hm, notes: Path) -> None:
    """An empty answer looks like an empty note, and like success."""
    beyond = hm("get", "deploy.md:999")
    option = hm("get", "deploy.md", "--from", "8", "--json")
    end = hm("get", "deploy.md:7-99")
    none = hm("get", "global.md", "--lines", "0")

    for ran in (beyond, option):
        assert (ran.code, ran.out) == (1, "")
        assert ran.err.startswith("error: deploy.md has 7 lines; there is no line ")
    assert (end.code, end.out.count("\n")) == (0, 1)
    assert end.err == "deploy.md has only 7 lines\n"
    assert (none.code, none.out, none.err) == (0, "", "")


def test_an_empty_note_says_so(hm: Hm, notes: Path) -> None:
    """It can be read, and has no line to name."""
    (notes / "empty.md").write_text("")

    whole = hm("get", "empty.md")
    line = hm("get", "empty.md:2")

    assert (whole.code, whole.out, whole.err) == (0, "", "empty.md is empty\n")
    assert line.code == 1
    assert "empty.md is empty; there is no line 2" in line.err


@pytest.mark.parametrize(
    "command",
    ["get", "show", "why", "done", "forget", "restore", "edit", "inbox accept"],
)
@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ("0", "error: There is no line 0: lines are counted from 1.\n"),
        ("0-3", "error: There is no line 0: lines are counted from 1.\n"),
        ("3-2", "error: deploy.md:3-2 ends before it starts.\n"),
        ("3-", "error: `3-` is neither a line nor a range of lines.\n"),
        ("L3", "error: `L3` is neither a line nor a range of lines.\n"),
    ],
)
def test_lines_that_no_note_can_have_are_named_as_what_they_are(
    hm: Hm, notes: Path, command: str, lines: str, said: str
) -> None:
    """A range the wrong way around was "no memory" or "line numbers start at 1"."""
    ran = hm(*command.split(), f"deploy.md:{lines}")

    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith(said)


def test_a_range_the_wrong_way_around_is_offered_the_right_way_around(
    hm: Hm, notes: Path
) -> None:
    """The hint can be pasted."""
    ran = hm("get", "deploy.md:3-2")

    assert ran.err.endswith("hint: Name the lines in order: deploy.md:2-3.\n")


@pytest.mark.parametrize("lines", ["3-2", "99", "x"])
def test_a_link_to_lines_that_do_not_exist_says_that_nothing_was_linked(
    hm: Hm, notes: Path, lines: str
) -> None:
    """Whatever is wrong with the end, the start is unchanged."""
    hm("save", "crane", "Cranes are leased.")

    ran = hm("link", "crane", f"deploy.md:{lines}")

    assert (ran.code, ran.out) == (1 if lines == "99" else 2, "")
    assert "Nothing was linked." in ran.err
    assert "There is no memory" not in ran.err


@pytest.mark.parametrize(
    ("filters", "found"),
    [
        (["--type", "decision"], ["b", "a"]),
        (["--type", "choice,lesson", "-n", "1"], ["b"]),
        (["--source-ref", "specs/"], ["c"]),
        (["--scope", "project/shop"], ["c"]),
        (["--since", "today", "--type", "lesson"], []),
        (["--until", "2020-01-01"], []),
    ],
)
def test_a_search_without_a_question_lists_what_fits_the_filters(
    hm: Hm, notes: Path, filters: list[str], found: list[str]
) -> None:
    """As memory_search does with an empty query: the newest first."""
    hm("save", "--type", "decision", "a", "Cranes are leased.")
    hm("save", "--type", "decision", "b", "Trucks are bought.")
    scope = ["--scope", "project/shop", "--source-ref", "specs/ios.md"]
    hm("save", "--type", "fact", *scope, "c", "Ships are blue.")

    ran = hm("search", *filters, "--json")

    assert ran.code == 0
    assert ran.json["report"]["mode"] == "list"
    assert [hit["key"] for hit in ran.json["hits"]] == found


@pytest.mark.parametrize("words", [[], ["--expired"], ["-n", "3"], ["--inbox"]])
def test_a_search_for_nothing_says_what_to_give(hm: Hm, words: list[str]) -> None:
    """An option that narrows nothing does not say what to list."""
    ran = hm("search", *words)

    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("error: `hm search` needs a query.\nhint: ")
    assert "QUERY" not in ran.err
    assert ("hm inbox" in ran.err) is ("--inbox" in words)


def test_days_narrow_a_search(hm: Hm, notes: Path) -> None:
    """Counted back from today, in words or in ISO form."""
    (notes / "2020-01-01.md").write_text("The wombat digs.\n")
    hm("write", "the wombat sleeps")

    recent = hm("search", "--since", "7d", "--json", "wombat").json["hits"]
    old = hm("search", "--until", "yesterday", "--json", "wombat").json["hits"]

    assert ["sleeps" in hit["snippet"] for hit in recent] == [True]
    assert [hit["path"] for hit in old] == ["2020-01-01.md"]


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["get", "nowhere.md"], 1),
        (["get", "../config.json"], 2),
        (["get", "/etc/passwd.md"], 2),
        (["get", "deploy.md:9-3"], 2),
        (["get", "deploy.md:3", "--lines", "1"], 2),
        (["get", "deploy.md", "--from", "0"], 2),
        (["write", ""], 2),
        (["write", "--file", "../x.md", "x"], 2),
        (["nonsense"], 2),
        (["config", "get", "min_scor"], 2),
        (["config", "set", "min_score", "7"], 2),
        (["list", "--memory-dir", "/nowhere/at/all"], 1),
    ],
)
def test_a_mistake_is_one_sentence_and_a_hint(
    hm: Hm, notes: Path, words: list[str], code: int
) -> None:
    """Never a traceback."""
    ran = hm(*words)

    assert ran.code == code
    assert ran.out == ""
    assert ran.err.startswith("error: ")
    assert "\nhint: " in ran.err
    assert "Traceback" not in ran.err


def test_list_prints_one_line_for_each_note(hm: Hm, notes: Path) -> None:
    """For people, for cut and awk, for programs."""
    plain = hm("list")
    machine = hm("list", "--json")

    by_path = {entry["path"]: entry for entry in machine.json}
    assert list(by_path["deploy.md"]) == [
        "path",
        "size_bytes",
        "updated_at",
        "chunk_count",
        "title",
    ]
    assert by_path["deploy.md"]["size_bytes"] == (notes / "deploy.md").stat().st_size
    assert by_path["deploy.md"]["chunk_count"] == 2
    rows = [line.split("\t") for line in plain.out.splitlines()]
    assert [row[0] for row in rows] == list(by_path)
    assert all(len(row) == 4 for row in rows)


def test_write_is_found_at_once(hm: Hm, notes: Path) -> None:
    """From the command line, and from a pipe."""
    said = hm("write", "the", "wombat", "digs")
    piped = hm("write", "--file", "animals.md", "--json", stdin="Der Käfer\n".encode())

    found = hm("search", "wombat", "--json").json["hits"]
    assert said.out.startswith("saved ")
    assert f"{found[0]['path']}:" in said.out
    assert piped.json["path"] == "animals.md"
    assert piped.json["is_indexed"] is True
    assert hm("search", "kafer", "--json").json["hits"][0]["path"] == "animals.md"
    assert mode(notes / "animals.md") == 0o600


def test_sync_and_rebuild_tell_what_they_did(hm: Hm, notes: Path) -> None:
    """So that a script can see whether there was anything to do."""
    first = hm("sync")
    again = hm("sync", "--json")
    rebuilt = hm("rebuild", "--json")

    assert "added" in first.out
    assert (again.json["added"], again.json["unchanged"]) == (0, 4)
    assert rebuilt.code == 0
    assert hm("search", "deploy", "--json").json["hits"]


def test_status_and_doctor_tell_how_it_stands(hm: Hm, notes: Path) -> None:
    """The first thing that a bug report should hold."""
    hm("sync")

    status, doctor = hm("status", "--json"), hm("doctor", "--json")

    assert status.json["notes"] == 4
    assert status.json["memory_dir"] == str(notes)
    assert str(notes) in hm("status").out
    assert doctor.json["is_healthy"] is True
    assert doctor.code == hm("doctor").code == 0


def test_doctor_ends_with_1_when_something_is_wrong(hm: Hm, notes: Path) -> None:
    """A script can watch over it."""
    hm("sync")
    [index] = notes.rglob("memory.db")
    index.write_bytes(b"no database at all" * 100)

    ran = hm("doctor")

    assert ran.code == 1
    assert "problem\t" in ran.out


@pytest.mark.skipif(os.name != "posix", reason="the editor is a shell script")
def test_edit_opens_the_editor_and_indexes(
    hm: Hm, notes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A new note is for its owner's eyes, whatever the editor does."""
    editor = tmp_path / "my editor"
    editor.write_text('#!/bin/sh\necho "The $1 wombat" >> "$2"\n')
    editor.chmod(0o755)
    monkeypatch.setenv("EDITOR", f"'{editor}' brown")

    new = hm("edit", "zoo/animals.md")
    usual = hm("edit")

    assert (new.code, usual.code) == (0, 0)
    assert (notes / "zoo" / "animals.md").read_text() == "The brown wombat\n"
    assert mode(notes / "zoo" / "animals.md") == 0o600
    assert mode(notes / "zoo") == 0o700
    assert "wombat" in (notes / "global.md").read_text()
    assert len(hm("search", "wombat", "--json").json["hits"]) == 2


def test_an_editor_that_is_not_there_is_an_error_with_a_hint(
    hm: Hm, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also one whose name cannot be read."""
    monkeypatch.setenv("VISUAL", "/nowhere/editor")
    missing = hm("edit")
    monkeypatch.setenv("VISUAL", "'unclosed")
    unreadable = hm("edit")

    assert (missing.code, unreadable.code) == (1, 1)
    assert "hint: " in missing.err
    assert "hint: " in unreadable.err


def test_config_sets_shows_and_takes_out(hm: Hm, home: Path) -> None:
    """Without an editor, and with a word where the value is from."""
    set_it = hm("config", "set", "min_score", "0.2")
    shown = hm("config", "get", "memory.min_score")
    machine = hm("config", "list", "--json").json
    taken = hm("config", "unset", "min_score")

    by_name = {entry["name"]: entry for entry in machine["options"]}
    assert set_it.code == taken.code == 0
    assert shown.out == "0.2\n"
    assert (by_name["min_score"]["value"], by_name["min_score"]["origin"]) == (
        0.2,
        "file",
    )
    assert hm("config", "get", "min_score").out == "0.3\n"
    assert hm("config", "path").out == f"{home / 'config.json'}\n"
    assert hm("config", "path", "--json").json == {"path": str(home / "config.json")}
    assert hm("config").out == hm("config", "list").out
    assert mode(home / "config.json") == 0o600


def test_config_sets_shows_and_takes_out_a_part_of_an_object(
    hm: Hm, home: Path
) -> None:
    """Nobody types JSON for one agent."""
    hm("config", "set", "agents.quick", "claude --model haiku")
    hm("config", "set", "memory.agents.my.pi", '["pi", "a b"]')
    bad = hm("config", "set", "agents.bad", "it's")
    odd = hm("config", "set", "agents.bad", "[it")
    whole = hm("config", "get", "agents", "--json").json
    part = hm("config", "get", "agents.my.pi")
    taken = hm("config", "unset", "agents.quick")
    again = hm("config", "unset", "agents.quick")

    agents = {"quick": "claude --model haiku", "my.pi": ["pi", "a b"]}
    assert (whole["value"], whole["origin"]) == (agents, "file")
    assert part.out == '["pi", "a b"]\n'
    assert (bad.code, odd.code) == (2, 2)
    assert 'The command of "bad" has an unclosed quote.' in bad.err
    assert "The value begins like JSON, but is not valid" in odd.err
    assert "agents.quick is no longer set" in taken.err
    assert "agents.quick was not set" in again.err
    assert hm("config", "set", "agents", '{"x": ["y"]}').code == 0
    assert hm("config", "get", "agents").out == '{"x": ["y"]}\n'


def test_an_agent_that_cannot_be_is_taken_out_again(hm: Hm, home: Path) -> None:
    """The file does not pass any more, and this is the way out."""
    home.mkdir()
    (home / "config.json").write_text('{"memory": {"agents": {"x": 3}}}')

    broken = hm("config", "get", "agents")
    mended = hm("config", "unset", "agents.x")

    assert "hm config unset agents" in broken.err
    assert mended.code == 0
    assert hm("config", "get", "agents").out == "{}\n"


def test_a_key_is_never_shown(hm: Hm, home: Path) -> None:
    """Not when it is set, not when it is listed, not in JSON."""
    ran = [
        hm("config", "set", "openai_api_key", "-", stdin=b"sk-very-secret\n"),
        hm("config", "get", "openai_api_key"),
        hm("config", "list"),
        hm("config", "list", "--json"),
        hm("status"),
        hm("doctor", "--json"),
    ]

    assert json.loads((home / "config.json").read_text()) == {
        "memory": {"openai_api_key": "sk-very-secret"}
    }
    assert ran[1].out == "set\n"
    assert "sk-very-secret" not in "".join(one.out + one.err for one in ran)


def test_a_mistyped_option_is_answered_with_the_near_one(hm: Hm) -> None:
    """People remember the half of a name."""
    ran = hm("config", "set", "max-result", "3")

    assert ran.code == 2
    assert "max_results" in ran.err


def test_config_names_what_it_does_not_know_and_what_wins(
    hm: Hm, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two surprises that cost an hour otherwise."""
    hm("init")
    (home / "config.json").write_text('{"memory": {"from_the_future": 5}}')
    monkeypatch.setenv("HIVEMIND_MIN_SCORE", "0.4")

    listed = hm("config")
    set_it = hm("config", "set", "min_score", "0.1")

    assert "from_the_future" in listed.err
    assert "HIVEMIND_MIN_SCORE" in set_it.err
    assert hm("config", "unset", "from_the_future").code == 0
    assert "startup" not in (home / "config.json").read_text()


def test_a_bad_option_blinds_nobody(hm: Hm, notes: Path, home: Path) -> None:
    """The answer comes, says what is wrong once, and how to put it right."""
    (home / "config.json").write_text('{"memory": {"min_score": 7}}')

    broken = hm("search", "deploy")
    hm("config", "unset", "min_score")
    mended = hm("search", "deploy")

    assert (broken.code, mended.code) == (0, 0)
    assert broken.out == mended.out
    assert broken.err.count("hm config unset min_score") == 1
    assert "min_score" not in mended.err


def test_a_defect_of_ours_is_a_sentence_and_a_traceback_only_on_demand(
    hm: Hm, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A person cannot mend it; we want to."""
    from hivemind_memory import opening

    def explode(**_: object) -> None:
        raise ZeroDivisionError("oh")

    monkeypatch.setattr(opening, "open_memory", explode)
    quiet = hm("list")
    monkeypatch.setenv("HIVEMIND_DEBUG", "1")
    loud = hm("list")

    assert quiet.code == loud.code == 1
    assert quiet.err.startswith("error: Unexpected ZeroDivisionError: oh\nhint: ")
    assert "Traceback" in loud.err


WRONG_VALUE = {"bool": "perhaps", "int": "many", "float": [], "str": 7, "dict": [1]}
WRONG_VALUE["list"] = ["no-such"]
READING = (
    ("search", "deploy"),
    ("list",),
    ("get", "global.md"),
    ("log",),
    ("status",),
    ("config", "list"),
)


@pytest.mark.parametrize("name", mostly_thorough(options(), every=4))
def test_every_option_may_be_wrong_and_reading_goes_on(
    hm: Hm, notes: Path, home: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each reading command answers and says why; none ends in a traceback."""
    hm("write", "--file", "global.md", "We deploy on Tuesdays.")
    for variable in options()[name].env:  # it would win over the file
        monkeypatch.delenv(variable, raising=False)
    kind = options()[name].kind.partition(" ")[0]
    document = {"memory": {name: WRONG_VALUE[kind]}}
    (home / "config.json").write_text(json.dumps(document))

    for words in READING:
        ran = hm(*words)

        assert ran.code == 0, (words, ran.err)
        assert ran.out, words
        assert f"memory.{name} " in ran.err, (words, ran.err)
        assert "Traceback" not in ran.err
    assert hm("doctor").code == 1


@pytest.mark.parametrize(
    "document",
    [
        "{ oh",
        "[]",
        '{"memory": {"enabled": "no"}}',
        '{"enabled": false}',
        '{"memory": {"projects": {"a": {"visibility": "secret"}}}}',
        '{"memory": {"workspaces": {"a": 3}}}',
        '{"memory": {"default_scope": "here"}}',
        '{"memory": {"types": {"A B": {}}}}',
    ],
)
def test_nothing_is_saved_or_told_while_it_is_unknown_who_may_see_it(
    hm: Hm, notes: Path, home: Path, tmp_path: Path, document: str
) -> None:
    """The defaults of these options could put a memory into a wrong place."""
    before = {path: path.read_bytes() for path in notes.rglob("*.md")}
    (home / "config.json").write_text(document)
    worktree = tmp_path / "worktree"
    worktree.mkdir()

    for words in (("write", "x"), ("save", "k", "v"), ("learn", "k", "v")):
        ran = hm(*words)
        assert ran.code == 2, (words, ran)
        assert "Nothing was saved." in ran.err
        assert "config.json" in ran.err
    assert hm("inject", str(worktree)).code == 1
    assert {path: path.read_bytes() for path in notes.rglob("*.md")} == before
    assert list(worktree.iterdir()) == []


def test_a_change_that_contradicts_another_option_is_refused(
    hm: Hm, notes: Path, home: Path
) -> None:
    """Each value is allowed; together they are not."""
    refused = hm("config", "set", "chunk_overlap_chars", "1600")

    assert refused.code == 1
    assert "the overlap must be smaller" in refused.err
    assert hm("config", "get", "chunk_overlap_chars").out == "0\n"


def test_a_provider_without_embeddings_is_named(
    hm: Hm, notes: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who writes anthropic expects something of it."""
    monkeypatch.delenv("HIVEMIND_EMBEDDING_PROVIDER", raising=False)
    (home / "config.json").write_text('{"memory": {"embedding_provider": "anthropic"}}')

    said = hm("search", "deploy").err

    assert "Anthropic, which has no embeddings" in said
    refused = hm("config", "set", "embedding_provider", "anthropic")
    assert refused.code == 2
    assert refused.err.startswith(
        "error: Anthropic has no embeddings.\nhint: Set it to"
    )


@pytest.mark.parametrize(
    ("command", "kept"),
    [
        ("rebuild", "the old index still answers"),
        ("sync", "indexed so far is kept"),
    ],
)
def test_ctrl_c_while_indexing_says_what_is_kept(
    hm: Hm, notes: Path, monkeypatch: pytest.MonkeyPatch, command: str, kept: str
) -> None:
    """Who stops it fears that something is half done."""
    hm("sync")
    (notes / "new.md").write_text("The wombat is new.\n")
    with monkeypatch.context() as patched:

        def stop(*_: object) -> None:
            raise KeyboardInterrupt

        patched.setattr(ProgressDisplay, "__call__", stop)
        ran = hm(command)

    assert (ran.code, ran.out) == (130, "")
    assert "stopped: no note was changed" in ran.err
    assert kept in ran.err
    assert hm("search", "--json", "wombat").json["hits"][0]["path"] == "new.md"
    assert hm("search", "--json", "deploy").json["hits"][0]["path"] == "deploy.md"


@pytest.mark.parametrize("name", ["projects/site", "projects/site:1", "deploy"])
def test_a_note_is_found_without_its_suffix(hm: Hm, notes: Path, name: str) -> None:
    """In a folder as at the top."""
    ran = hm("get", name, "--json")

    assert ran.code == 0
    assert ran.json["path"] == f"{name.partition(':')[0]}.md"


@pytest.mark.parametrize("words", [("sync",), ("rebuild",)])
def test_a_sync_says_why_the_chosen_provider_makes_no_vectors(
    hm: Hm, notes: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    """Whoever chose one waits for its vectors, and silence looks like success."""
    monkeypatch.setenv("HIVEMIND_EMBEDDING_PROVIDER", "openai")
    chosen = hm(*words)
    monkeypatch.setenv("HIVEMIND_EMBEDDING_PROVIDER", "none")
    off = hm(*words)

    assert (chosen.code, off.code, off.err) == (0, 0, "")
    assert chosen.err == (
        "no vectors: embedding_provider is openai, but there is no key: set"
        " OPENAI_API_KEY, or `hm config set openai_api_key`."
        " `hm config set embedding_provider local` needs none.\n"
    )


def test_a_file_with_another_ending_is_called_skipped(hm: Hm, notes: Path) -> None:
    """It can be read very well; ``hm sync`` and ``hm status`` call it skipped, too."""
    (notes / "plan.markdown").write_text("wombat\n")

    ran = hm("search", "wombat")

    assert "1 file skipped; `hm status` says why" in ran.err


@pytest.mark.parametrize("command", ["get", "show", "why"])
def test_the_path_of_a_file_in_the_notes_folder_is_that_of_its_note(
    hm: Hm, notes: Path, command: str
) -> None:
    """`hm init` prints it, and a shell completes it."""
    by_file = hm(command, str(notes / "deploy.md"))
    by_name = hm(command, "deploy.md")

    assert (by_file.code, by_file.out) == (by_name.code, by_name.out)
    assert "must be relative" not in by_file.err


def test_a_path_outside_the_notes_folder_is_named_as_it_was_typed(
    hm: Hm, notes: Path
) -> None:
    """Its name was shown with `.md` behind it."""
    assert notes.is_dir()

    ran = hm("get", "/etc/passwd")

    assert (ran.code, ran.out) == (2, "")
    assert "'/etc/passwd' cannot be a note" in ran.err


def test_a_rebuild_without_its_notes_folder_is_refused_and_makes_none(
    hm: Hm, notes: Path
) -> None:
    """It reported 0 notes and made the folder, which hides that a drive is missing."""
    away = notes.with_name("unmounted")
    notes.rename(away)

    ran = hm("rebuild")

    assert (ran.code, ran.out) == (1, "")
    assert f"error: There is no notes folder {notes}." in ran.err
    assert not notes.exists()
