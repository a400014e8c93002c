"""One way to name a memory or an entry, in every command; and which keys are equal."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import string
import unicodedata
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hivemind_memory.cli.table import all_commands
from hivemind_memory.errors import KeyTakenError, UsageError
from hivemind_memory.memory.memory import Memory
from hivemind_memory.model.curation import NewMemory
from hivemind_memory.model.keys import folded_key, near_key
from tests.cli.conftest import Hm, Ran, hm, home  # noqa: F401 - fixtures
from tests.support.sandbox import Sandbox
from tests.support.tiers import mostly_thorough

COMMANDS = {
    "get": ("get", "NAME"),
    "show": ("show", "NAME"),
    "history": ("history", "NAME"),
    "edit": ("edit", "NAME"),
    "why": ("why", "NAME"),
    "link from": ("link", "NAME", "other"),
    "link to": ("link", "other", "NAME"),
    "unlink from": ("unlink", "NAME", "linked"),
    "unlink to": ("unlink", "linked", "NAME"),
    "related": ("save", "--related", "NAME", "third", "A third thing."),
    "contradicts": ("save", "--contradicts", "NAME", "third", "A third thing."),
    "forget": ("forget", "NAME"),
    "done": ("done", "NAME"),
    "used": ("used", "NAME"),
    "skill promote": ("skill", "promote", "NAME", "--user", "--dry-run"),
    "restore": ("restore", "NAME"),
    "purge": ("forget", "NAME", "--purge", "--yes"),
    "inbox accept": ("inbox", "accept", "NAME"),
    "inbox edit": ("inbox", "edit", "NAME"),
    "inbox reject": ("inbox", "reject", "NAME"),
}
"""Every way to name a memory on the command line."""

_LINKING = ("link", "unlink", "related", "contradicts")
MEMORY_FORMS = ("key", "other spelling", "id", "path", "bare", "place", "line")
ENTRY_FORMS = ("id", "place", "line", "bare place")


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Sandbox(tmp_path / "home").memory() as opened:
        yield opened


@pytest.fixture
def opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file in which an editor leaves the words that it was started with."""
    editor, words = tmp_path / "nano", tmp_path / "opened"
    editor.write_text(f"#!/bin/sh\necho \"$@\" > '{words}'\n")
    editor.chmod(0o755)
    monkeypatch.setenv("EDITOR", f"'{editor}'")
    return words


Begin = Callable[..., list[str]]
Begun = dict[tuple[tuple[str, ...], ...], tuple[Path, list[str]]]
"""Commands -> a home in which they ran, and what each printed."""


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Begun]:
    """The homes that tests of this file have begun with."""
    homes: Begun = {}
    yield homes
    for folder, _ in homes.values():
        shutil.rmtree(folder)


@pytest.fixture
def begin(
    hm: Hm,  # noqa: F811
    home: Path,  # noqa: F811
    begun: Begun,
    tmp_path_factory: pytest.TempPathFactory,
) -> Begin:
    """Return what runs commands in an empty home, or copies the home where it did."""

    def begin(*lines: tuple[str, ...]) -> list[str]:
        if lines in begun:
            shutil.copytree(begun[lines][0], home)
        else:
            printed = [hm(*line).out for line in lines]
            kept = tmp_path_factory.mktemp("begun") / "home"
            begun[lines] = (shutil.copytree(home, kept), printed)
        return begun[lines][1]

    return begin


def _run(hm: Hm, command: str, name: str) -> Ran:  # noqa: F811
    words = [name if word == "NAME" else word for word in COMMANDS[command]]
    return hm(*words)


def test_every_command_that_takes_a_name_is_in_the_table() -> None:
    """A new command takes names as they are printed, too."""
    kinds = {"names", "keys", "notes", "claims", "forgotten"}
    taking = set()
    for one in all_commands():
        named = [*one.arguments, *one.flags]
        # A key to save under is new, and the note to write to may be.
        known = [word for word in named if word.name not in {"key", "file"}]
        if kinds.intersection(word.completes for word in known):
            taking.add(one.name)

    assert taking == {
        " ".join(words[:2]) if words[0] in {"inbox", "skill"} else words[0]
        for words in COMMANDS.values()
    }


@pytest.mark.parametrize("name", ["port", "port.md", "PORT", "[[port]]", "port.md:1"])
@pytest.mark.parametrize("command", COMMANDS)
def test_a_file_of_another_folder_stands_for_no_name(
    hm: Hm,  # noqa: F811
    begin: Begin,
    home: Path,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
    command: str,
    name: str,
) -> None:
    """Neither a note in a folder nor one in a project, whatever the command."""
    monkeypatch.setenv("EDITOR", "false")
    begin(
        ("save", "other", "Quite another thing"),
        ("save", "linked", "Something linked"),
    )
    notes = home / "memory"
    text = "---\ntype: fact\nkey: harbour\n---\nThe wombat of the docs.\n"
    for folder in ("docs", "projects/shop", "docs/inbox"):
        (notes / folder).mkdir(parents=True)
        (notes / folder / "port.md").write_text(text)

    ran = _run(hm, command, name)

    assert "wombat" not in ran.out
    assert not re.search(r"^\w+ed:? \S+/port\.md", ran.out, re.MULTILINE)
    for folder in ("docs", "projects/shop", "docs/inbox"):
        assert (notes / folder / "port.md").read_text() == text
    assert "port.md" not in (notes / "other.md").read_text()


@pytest.mark.skipif(os.name != "posix", reason="the editor is a shell script")
@pytest.mark.parametrize("form", MEMORY_FORMS)
@pytest.mark.parametrize("command", mostly_thorough(COMMANDS, every=2))
def test_a_memory_is_named_as_it_is_printed(
    hm: Hm,  # noqa: F811
    begin: Begin,
    opened: Path,
    command: str,
    form: str,
) -> None:
    """Whatever a command prints, every other command takes."""
    source = ("--source", "external") if command.startswith("inbox") else ()
    _, saved, *_ = begin(
        ("save", "other", "Quite another thing"),
        ("save", *source, "deploy-day", "1. Is it Tuesday?\n2. We deploy."),
        ("save", "--related", "deploy-day", "linked", "Something linked"),
        ("link", "deploy-day", "linked"),
    )
    place, key, memory_id = re.fullmatch(
        r"(?:saved|pending) (\S+) as context (\S+) \((\w+)\)\n", saved
    ).groups()  # type: ignore[union-attr]
    path = place.partition(":")[0]
    lines = hm("get", path, "--json").json["end_line"]
    place = f"{path}:{lines}-{lines}"
    name = {
        "key": key,
        "other spelling": "Deploy_Day",
        "id": memory_id,
        "path": path,
        "bare": path.removesuffix(".md"),
        "place": place,
        "line": place.rpartition("-")[0],
    }[form]
    if command == "restore":
        hm("forget", key)

    ran = _run(hm, command, name)

    assert (ran.code, "error" in ran.err) == (0, False), ran.err
    if "edit" in command:
        assert opened.read_text().endswith(f"{path}\n")
    elif command in {"related", "contradicts"}:
        edges = hm("show", "third", "--json").json["edges"]
        assert [one["key"] for one in edges] == ["deploy-day"]
    else:
        assert "deploy" in ran.out.lower()
        assert "unchanged" not in ran.out


@pytest.mark.skipif(os.name != "posix", reason="the editor is a shell script")
@pytest.mark.parametrize("form", ENTRY_FORMS)
@pytest.mark.parametrize(
    "command", ["get", "show", "history", "edit", "why", "forget", "restore", "purge"]
)
def test_an_entry_is_named_as_it_is_printed(
    hm: Hm,  # noqa: F811
    opened: Path,
    command: str,
    form: str,
) -> None:
    """An entry has no key, and the note that it is in has others."""
    name, entry_id = _two_entries(hm, form)
    if command == "restore":
        hm("forget", entry_id)

    ran = _run(hm, command, name)

    assert ran.code == 0, ran.err
    assert "walrus" not in ran.out
    if command == "edit":
        assert re.fullmatch(r"\+5 \S+\.md\n", opened.read_text())
    found = hm("search", "--json", "seal walrus").out
    assert ("The seal" in found) == (command not in {"forget", "purge"})
    assert "The walrus" in found


@pytest.mark.parametrize("form", ENTRY_FORMS)
@pytest.mark.parametrize(
    "command", ["link from", "link to", "unlink from", "related", "contradicts"]
)
def test_a_link_to_an_entry_is_refused_in_one_sentence(
    hm: Hm,  # noqa: F811
    command: str,
    form: str,
) -> None:
    """A link joins whole notes; the note of the entry says other things as well."""
    hm("save", "other", "Quite another thing")
    hm("save", "linked", "Something linked")
    name, _ = _two_entries(hm, form)

    ran = _run(hm, command, name)

    assert (ran.code, ran.out) == (1, "")
    assert "is an entry of" in ran.err
    assert "links join memories and whole notes. Nothing was " in ran.err
    assert hm("show", "other", "--json").json["edges"] == []


def test_a_link_from_a_plain_note_says_that_it_keeps_none(hm: Hm, home: Path) -> None:  # noqa: F811
    """There is nothing to mend in such a note."""
    hm("save", "other", "Quite another thing")
    (home / "memory" / "plain.md").write_text("A plain note.\n")

    ran = hm("link", "plain", "other")

    assert ran.code == 1
    assert "it is a note without front matter" in ran.err
    assert "by hand" not in ran.err


@pytest.mark.parametrize("key", ["ci/cache", "ratio:12", "ratio:0", "v1.2"])
@pytest.mark.skipif(os.name != "posix", reason="the editor is a shell script")
def test_a_key_that_looks_like_a_path_or_a_place_is_a_key(
    hm: Hm,  # noqa: F811
    opened: Path,
    key: str,
) -> None:
    """A memory was found by such a key in some commands and not in others."""
    path = hm("save", key, "The heron nests.").out.split()[1].partition(":")[0]

    for command in ("get", "show", "history", "edit", "why", "forget"):
        ran = _run(hm, command, key)
        assert (command, ran.code, ran.err) == (command, 0, ran.err), ran.err

    assert opened.read_text().endswith(f"{path}\n")
    assert hm("restore", key).code == 0


def test_a_place_is_the_same_lines_with_and_without_the_suffix(hm: Hm) -> None:  # noqa: F811
    """Lines are what is asked for, not the entry around them."""
    hm("write", "The walrus is staging.")
    place = hm("write", "The seal is live.").out.split()[1]
    line = place.rpartition("-")[2]
    path = place.partition(":")[0]

    named = [hm("get", f"{one}:{line}").out for one in (path, path[:-3])]

    assert named == ["The seal is live.\n"] * 2


@pytest.mark.parametrize("name", ["deploy-day:99", "2026-11-21.md:99"])
def test_lines_behind_the_end_of_a_note_name_nothing(
    hm: Hm,  # noqa: F811
    home: Path,  # noqa: F811
    name: str,
) -> None:
    """`hm forget deploy-day:99` hid a memory of nine lines."""
    for key in ("deploy-day", "other", "linked"):
        hm("save", key, f"About {key} alone.")
    hm("write", "--file", "2026-11-21.md", "The seal is live.")

    refused = {
        command: _run(hm, command, name)
        for command in COMMANDS
        if not command.startswith(("inbox", "unlink to"))
    }

    path = name if name.endswith(".md:99") else "deploy-day.md:99"
    note = path.partition(":")[0]
    for command, ran in refused.items():
        assert (command, ran.code, ran.out) == (command, 1, "")
        assert f"error: {note} has " in ran.err
        assert "there is no line 99." in ran.err


def test_a_mistyped_path_is_answered_with_the_nearest(hm: Hm, opened: Path) -> None:  # noqa: F811
    """An editor is not opened on a new note by a slip."""
    hm("write", "--file", "deploy-day.md", "We deploy on Tuesdays.")

    read = hm("get", "deplo-day.md")
    edited = [hm("edit", one) for one in ("deplo-day", "new.md:3", "deploy-day.md:99")]

    assert "There is no note deplo-day.md. Did you mean deploy-day.md?" in read.err
    assert [one.code for one in edited] == [1, 1, 1]
    assert "A new note's name ends in .md." in edited[0].err
    assert "there is no line 99" in edited[2].err
    assert not opened.exists()


def _two_entries(hm: Hm, form: str) -> tuple[str, str]:  # noqa: F811
    """Write two entries; return a name of the second, and its id."""
    hm("write", "The walrus is staging.")
    saved = hm("write", "The seal is live.").out
    place, entry_id = re.fullmatch(r"saved (\S+) \((\w+)\)\n", saved).groups()  # type: ignore[union-attr]
    name = {
        "id": entry_id,
        "place": place,
        "line": place.rpartition("-")[0],
        "bare place": place.replace(".md", ""),
    }[form]
    return name, entry_id


def test_lines_that_hold_several_entries_are_refused(hm: Hm) -> None:  # noqa: F811
    """Forgetting one of them by chance would hide what was not meant."""
    first = hm("write", "The walrus is staging.").out.split(":")[0].split(" ")[1]
    hm("write", "The seal is live.")

    ran = hm("forget", f"{first}:1-9")

    assert ran.code == 2
    assert "2 entries are in" in ran.err
    assert "by its id" in ran.err


def test_a_mistyped_key_and_type_are_answered_with_the_nearest(hm: Hm) -> None:  # noqa: F811
    """The key is on the screen a line above, with one letter more."""
    hm("save", "deploy-day", "We deploy on Tuesdays.")

    assert "Did you mean 'deploy-day'?" in hm("show", "deploy-dya").err
    assert "Did you mean decision?" in hm("save", "--type", "decison", "k", "x").err


def test_the_topic_of_a_claim_names_its_key(hm: Hm) -> None:  # noqa: F811
    """The key ends in a hash, and a person remembers what was learned about."""
    hm("learn", "TLS clocks", "Handshakes fail when the clock is off.")

    assert "Did you mean 'learn:tls-clocks:" in hm("show", "TLS clocks").err
    assert "Did you mean 'learn:tls-clocks:" in hm("history", "tls-clocks").err


def test_a_key_in_another_spelling_is_the_same_key(memory: Memory) -> None:
    """Two agents that wrote it differently had two answers to one question."""
    memory.save(NewMemory(key="deploy-day", content="We deploy on Tuesdays."))

    with pytest.raises(KeyTakenError):
        memory.save(NewMemory(key="Deploy_Day", content="We deploy on Fridays."))
    saved = memory.save(
        NewMemory(key="DEPLOY DAY", content="We deploy on Fridays.", reason="new")
    )

    assert saved.key == "deploy-day"
    assert len(memory.curation.history("deploy day").memories) == 2


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("résumé", "resume"),
        ("login", "log-in"),
        ("чёрный", "черный"),
        ("test.cmd", "test-cmd"),
        ("test-cmd", "Test.Cmd"),
        ("testcmd", "test.cmd"),
        ("user:name", "user name"),
        ("v1.1", "v1-1"),
    ],
)
def test_a_key_that_is_too_near_names_the_other(
    memory: Memory, first: str, second: str
) -> None:
    """It may be another word, so whoever saves decides."""
    memory.save(NewMemory(key=first, content="The first text"))

    with pytest.raises(UsageError, match=re.escape(repr(first))):
        memory.save(NewMemory(key=second, content="The second text"))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("v1-1", "v11"),
        ("v1.1", "v11"),
        ("v1.1", "v1.10"),
        ("कि", "का"),
        ("か", "が"),
        ("a", "b"),
    ],
)
def test_keys_that_differ_in_more_are_two(
    memory: Memory, first: str, second: str
) -> None:
    """Digits on both sides of a dash are two numbers; some marks are letters."""
    for key in (first, second):
        memory.save(NewMemory(key=key, content=f"About {key} alone"))

    assert {row.key for row in memory.memories()} == {first, second}


WORDS = st.lists(
    st.text(string.ascii_lowercase + "äéñ", min_size=1, max_size=6),
    min_size=1,
    max_size=3,
)
GAPS = st.sampled_from(["-", "_", " ", "--", " - ", "\u2013", "\u00a0"])


# A busy machine draws slowly, and the check would take that for a costly strategy.
@settings(suppress_health_check=[HealthCheck.too_slow])
@given(words=WORDS, data=st.data())
def test_case_dashes_blanks_and_the_form_of_marks_make_no_key(
    words: list[str], data: st.DataObject
) -> None:
    """Any two spellings of one key have one folded form, and folding is final."""

    def spelled() -> str:
        text = words[0]
        for word in words[1:]:
            text += data.draw(GAPS) + word
        text = data.draw(st.sampled_from([text, text.upper(), text.title()]))
        form = data.draw(st.sampled_from(["NFC", "NFD"]))
        return unicodedata.normalize(form, text)  # type: ignore[arg-type]

    one, other = spelled(), spelled()

    assert folded_key(one) == folded_key(other)
    assert folded_key(folded_key(one)) == folded_key(one)
    assert near_key(one) == near_key(other)


@given(key=st.text(min_size=1, max_size=30))
def test_any_text_has_a_folded_key(key: str) -> None:
    """Folding is final for every text, and what is blank stays as it is."""
    assert folded_key(folded_key(key)) == folded_key(key)


def test_a_meant_name_with_quotes_can_be_pasted(hm: Hm) -> None:  # noqa: F811
    """A shell takes what is offered for one word, and that word is the key."""
    key = """it's the "odd" $HOME key"""
    assert hm("save", "--type", "fact", key, "A walrus.").code == 0

    said = hm("show", """its the "odd" $HOME key""").err

    offered = said.partition("Did you mean ")[2].partition("?\n")[0]
    assert shlex.split(offered) == [key]
    assert hm("show", *shlex.split(offered)).code == 0
