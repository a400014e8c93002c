"""`hm kv`: whose keys, which values, and what a purge does with them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hivemind_memory.cli import main
from tests.cli.conftest import Hm


def test_a_key_is_set_read_listed_and_deleted(hm: Hm) -> None:
    """Texts as they are, all else as JSON; versions go on after a deletion."""
    assert hm("kv", "set", "day", "2026-11-21").out == "day: version 1\n"
    assert hm("kv", "set", "--json", "n", "5").out == '{"key": "n", "version": 1}\n'
    hm("kv", "set", "o", stdin=b'{"a": [1, null, "\xc3\xbc"]}\n')
    hm("kv", "set", "t", "two", "words")

    assert hm("kv", "get", "day").out == "2026-11-21\n"
    assert hm("kv", "get", "o").out == '{"a": [1, null, "ü"]}\n'
    assert hm("kv", "get", "t").out == "two words\n"
    row = json.loads(hm("kv", "get", "--json", "n").out)
    assert (row["value"], row["version"], row["expires_at"]) == (5, 1, None)
    assert [one["key"] for one in json.loads(hm("kv", "--json").out)] == [
        *("day", "n", "o", "t")
    ]
    assert hm("kv", "delete", "n").code == 0
    gone = hm("kv", "get", "n")
    assert (gone.code, gone.out) == (1, "")
    assert "There is no key 'n'." in gone.err
    assert hm("kv", "set", "--if-version", "0", "n", "6").out == "n: version 2\n"


def test_an_empty_input_changes_no_value(hm: Hm) -> None:
    """`hm kv set KEY $UNSET` in a script emptied the value."""
    hm("kv", "set", "day", "2026-11-21")

    refused = hm("kv", "set", "day", stdin=b"")

    assert refused.code == 2
    assert "No value was given, and standard input is empty." in refused.err
    assert "`hm kv set day ''` sets an empty text." in refused.err
    assert hm("kv", "get", "day").out == "2026-11-21\n"
    assert hm("kv", "set", "day", "-", stdin=b"").code == 0
    assert hm("kv", "set", "day", "").code == 0


@pytest.mark.parametrize(
    ("words", "code", "error"),
    [
        (("set", "k" * 257, "1"), 2, "A key has 1 to 256 characters"),
        (("set", "a\tb", "1"), 2, "A key has 1 to 256 characters"),
        (("set", "a", "{"), 2, "begins like JSON, but is not valid"),
        (("set", "a", "[" * 100_000), 2, "not valid: it is nested too deeply."),
        (("set", "a", '{"a": NaN}'), 2, "not valid: JSON has no NaN."),
        (("set", "a", f"[{'1' * 5_000}]"), 2, "valid: a number has too many digits."),
        (("set", "--if-version", str(2**60), "a", "1"), 2, "`--if-version`"),
        (("set", "a", "x" * 262_143), 2, "the limit is 262,144"),
        (("set", "--ttl", "0", "a", "1"), 2, "`--ttl` takes a duration of at least 1"),
        (("set", "--if-version", "-1", "a", "1"), 2, "`--if-version`"),
        (("set", "--if-version", "3", "a", "1"), 1, "There is no key 'a'."),
        (
            ("set", "--if-version", "0", "there", "1"),
            1,
            "The key already exists, in version 1.",
        ),
        (("set", "--if-version", "9", "there", "1"), 1, "version 9 was expected"),
        (("delete", "a"), 1, "There is no key 'a'."),
        (("set", "--workspace", "w", "--scope", "global", "a", "1"), 2, "be combined"),
        (("set", "--workspace", "../w", "a", "1"), 2, "cannot be the name"),
    ],
)
def test_bad_input_changes_nothing(
    hm: Hm, words: tuple[str, ...], code: int, error: str
) -> None:
    """And says what is wrong."""
    hm("kv", "set", "there", "1")

    said = hm("kv", *words)

    assert said.code == code
    assert error in said.err
    assert [one["key"] for one in json.loads(hm("kv", "list", "--json").out)] == [
        "there"
    ]


@pytest.mark.parametrize(
    ("words", "value"),
    [
        (("2", "--if-version", "1"), 2),
        (("--if-version", "1", "2"), 2),
        (("two", "words"), "two words"),
        (("npm test --json", "--if-version=1"), "npm test --json"),
        (("--ttl", "1h", "two", "words"), "two words"),
        (("--", "npm", "test", "--json"), "npm test --json"),
        (("- milk", "--json"), "- milk"),
        (("-5",), -5),
        (("-1.5e3", "--json"), -1500.0),
    ],
)
def test_an_option_behind_a_value_is_an_option(
    hm: Hm, words: tuple[str, ...], value: object
) -> None:
    """`hm kv set a 2 --if-version 7` stored `2 --if-version 7`."""
    hm("kv", "set", "a", "1")

    assert hm("kv", "set", "a", *words).code == 0

    assert json.loads(hm("kv", "get", "--json", "a").out)["value"] == value
    assert hm("kv", "set", "a", "2", "--if-version", "7").code == 1
    assert json.loads(hm("kv", "get", "--json", "a").out)["value"] == value


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (("npm", "test", "--json"), "`--json` may be an option or a part of the value"),
        (("a", "--ttl", "5", "b"), "`--ttl` may be an option or a part of the value"),
        (("npm", "test", "--silent"), "has no option --silent"),
        (("2", "--if-versoin", "7"), "Did you mean --if-version?"),
        (("--all",), "goes after `--`"),
    ],
)
def test_words_that_may_be_options_or_a_value_store_nothing(
    hm: Hm, words: tuple[str, ...], error: str
) -> None:
    """Neither a part of the value is lost nor an option stored."""
    refused = hm("kv", "set", "a", *words)

    assert refused.code == 2
    assert error in refused.err
    assert "Nothing was saved." in refused.err
    assert hm("kv", "list", "--json").json == []


def test_no_number_is_nan_and_any_text_is_kept(hm: Hm) -> None:
    """Half a surrogate pair and a very long number are JSON."""
    for text, shown in (
        ("NaN", "NaN"),
        ('"\\ud800"', "\\ud800"),
        ("1e400", None),
        ("9" * 4_000, "9" * 4_000),
        ('"\\u0000\\u001b[31m"', "\\x00\\x1b[31m"),
    ):
        done = hm("kv", "set", "a", text)
        if shown is None:
            assert done.code == 2
            continue
        assert done.code == 0, done.err
        assert hm("kv", "get", "a").out.strip() == shown


def test_a_key_belongs_to_a_scope(hm: Hm, monkeypatch: pytest.MonkeyPatch) -> None:
    """That of a note that names none: whoever sees another one finds nothing."""
    hm("kv", "set", "a", "of all")
    hm("kv", "set", "--workspace", "web", "a", "of web")
    hm("kv", "set", "--scope", "project/shop", "a", "of shop")

    assert hm("kv", "get", "a").out == "of all\n"
    assert hm("kv", "get", "--workspace", "web", "a").out == "of web\n"
    monkeypatch.setenv("HIVEMIND_WORKSPACE", "web")
    assert hm("kv", "get", "a").out == "of web\n"
    for words in (("get", "a"), ("list",), ("set", "a", "1"), ("delete", "a")):
        refused = hm("kv", words[0], "--scope", "project/shop", *words[1:])
        assert refused.code == 2
        assert "of shop" not in refused.out + refused.err
    monkeypatch.setenv("HIVEMIND_WORKSPACE", "")
    monkeypatch.setenv("HIVEMIND_PROJECT", "shop")
    monkeypatch.setenv("CLAUDECODE", "1")
    assert hm("kv", "get", "a").out == "of shop\n"
    assert hm("kv", "get", "--scope", "global", "a").out == "of all\n"


def test_a_child_workspace_cannot_write_to_the_global_keys(
    hm: Hm, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As with notes."""
    hm("config", "set", "workspaces", '{"root": {}, "web": {"parent": "root"}}')
    monkeypatch.setenv("HIVEMIND_WORKSPACE", "web")

    refused = hm("kv", "set", "--scope", "global", "a", "1")

    assert refused.code == 1
    assert "you cannot write to the global memory" in refused.err.lower()
    assert hm("kv", "set", "a", "1").code == 0


def test_a_memory_that_is_off_keeps_no_value(hm: Hm) -> None:
    """Nothing is saved then."""
    hm("config", "set", "enabled", "false")

    assert hm("kv", "set", "a", "1").code == 2
    assert hm("kv", "list", "--json").out == "[]\n"


def test_a_renamed_project_keeps_its_keys(hm: Hm) -> None:
    """And the project that takes the old name has none of them."""
    hm("write", "--scope", "project/shop", "A note.")
    hm("kv", "set", "--scope", "project/shop", "a", "1")

    assert hm("project", "rename", "shop", "store").code == 0

    assert hm("kv", "get", "--scope", "project/store", "a").out == "1\n"
    assert hm("kv", "list", "--scope", "project/shop", "--json").out == "[]\n"


def test_a_purge_reaches_values_and_keys_that_hold_the_text(hm: Hm, home: Path) -> None:
    """In every form that is on the disk; other keys stay."""
    text = 'The "harbour" gate opens at nine.'
    hm("save", "gate", text)
    hm("kv", "set", "copy", json.dumps({"note": text}))
    hm("kv", "set", text, "1")
    hm("kv", "set", "other", "kept")

    counted = json.loads(hm("forget", "--purge", "--dry-run", "--json", "gate").out)
    done = hm("forget", "--purge", "--yes", "gate")

    [found] = [one for one in counted["places"] if one["name"] == "key-value store"]
    assert found["count"] == 2
    assert done.code == 0
    assert [one["key"] for one in json.loads(hm("kv", "--json").out)] == ["other"]
    for path in home.rglob("*"):
        assert not path.is_file() or b"gate opens" not in path.read_bytes(), path
    assert hm("kv", "set", "copy", "new").out == "copy: version 2\n"


def test_a_purge_reaches_values_with_quotes_and_umlauts(hm: Hm) -> None:
    """JSON escapes the first and not the second: neither form alone was found."""
    text = 'Das "Küstentor" öffnet um neun.'
    hm("save", "gate", text)
    hm("kv", "set", "copy", json.dumps({"note": text}))
    hm("kv", "set", "half", json.dumps([text, "\ud800"]))

    assert hm("forget", "--purge", "--yes", "gate").code == 0

    assert hm("kv", "list", "--json").out == "[]\n"


def test_hm_kv_opens_no_index(hm: Hm, home: Path) -> None:
    """A program may call it often."""
    assert main.main(("kv", "set", "a", "1")) == 0

    assert not (home / "memory/.index/memory.db").exists()


@pytest.mark.parametrize("given", ["90", "30s", "10m", "2h", "7d", "2W"])
def test_a_time_to_live_is_a_duration_with_a_unit(hm: Hm, given: str) -> None:
    """A number alone means seconds."""
    ran = hm("kv", "set", "--ttl", given, "lock", "ci")

    assert (ran.code, ran.out) == (0, "lock: version 1\n")
    assert json.loads(hm("kv", "get", "--json", "lock").out)["expires_at"]


@pytest.mark.parametrize(
    "given", ["0", "0m", "-1", "10x", "m", "1.5h", "11y", "9999999d"]
)
def test_what_is_no_duration_is_refused(hm: Hm, given: str) -> None:
    """With what one looks like, and nothing is set."""
    ran = hm("kv", "set", "--ttl", given, "lock", "ci")

    assert ran.code == 2
    assert "30s, 10m, 2h" in ran.err
    assert hm("kv", "get", "lock").code == 1
