"""One way to name a memory or an entry, in every command; and which keys are equal."""

from __future__ import annotations

import re
import string
import unicodedata
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hivemind_memory.errors import KeyTakenError, UsageError
from hivemind_memory.memory.memory import Memory
from hivemind_memory.model.curation import NewMemory
from hivemind_memory.model.keys import folded_key, near_key
from tests.cli.conftest import Hm, hm, home  # noqa: F401 - fixtures
from tests.support.sandbox import Sandbox

COMMANDS = {
    "get": ("get", "NAME"),
    "show": ("show", "NAME"),
    "history": ("history", "NAME"),
    "link": ("link", "NAME", "other"),
    "link to": ("link", "other", "NAME"),
    "forget": ("forget", "NAME"),
    "restore": ("restore", "NAME"),
    "purge": ("forget", "NAME", "--purge", "--yes"),
}


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Sandbox(tmp_path / "home").memory() as opened:
        yield opened


@pytest.mark.parametrize(
    "form", ["key", "other spelling", "id", "path", "bare", "place"]
)
@pytest.mark.parametrize("command", COMMANDS)
def test_a_memory_is_named_as_it_is_printed(hm: Hm, command: str, form: str) -> None:  # noqa: F811
    """Whatever a command prints, every other command takes."""
    hm("save", "other", "Quite another thing")
    saved = hm("save", "deploy-day", "We deploy on Tuesdays.").out
    place, key, memory_id = re.fullmatch(
        r"saved (\S+) as context (\S+) \((\w+)\)\n", saved
    ).groups()  # type: ignore[union-attr]
    name = {
        "key": key,
        "other spelling": "Deploy_Day",
        "id": memory_id,
        "path": "deploy-day.md",
        "bare": "deploy-day",
        "place": place,
    }[form]
    if command == "restore":
        hm("forget", key)

    ran = hm(*(name if word == "NAME" else word for word in COMMANDS[command]))

    assert (ran.code, "error" in ran.err) == (0, False), ran.err
    assert "deploy" in ran.out.lower()


@pytest.mark.parametrize("form", ["id", "place", "line", "bare place"])
@pytest.mark.parametrize(
    "command", ["get", "show", "history", "forget", "restore", "purge"]
)
def test_an_entry_is_named_as_it_is_printed(hm: Hm, command: str, form: str) -> None:  # noqa: F811
    """An entry has no key, and the note that it is in has others."""
    hm("write", "The walrus is staging.")
    saved = hm("write", "The seal is live.").out
    place, entry_id = re.fullmatch(r"saved (\S+) \((\w+)\)\n", saved).groups()  # type: ignore[union-attr]
    name = {
        "id": entry_id,
        "place": place,
        "line": place.rpartition("-")[0],
        "bare place": place.replace(".md", ""),
    }[form]
    if command == "restore":
        hm("forget", entry_id)

    ran = hm(*(name if word == "NAME" else word for word in COMMANDS[command]))

    assert ran.code == 0, ran.err
    assert "walrus" not in ran.out
    found = hm("search", "--json", "seal walrus").out
    assert ("The seal" in found) == (command not in {"forget", "purge"})
    assert "The walrus" in found


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
    [("résumé", "resume"), ("login", "log-in"), ("чёрный", "черный")],
)
def test_a_key_that_is_too_near_names_the_other(
    memory: Memory, first: str, second: str
) -> None:
    """It may be another word, so whoever saves decides."""
    memory.save(NewMemory(key=first, content="The first text"))

    with pytest.raises(UsageError, match=re.escape(repr(first))):
        memory.save(NewMemory(key=second, content="The second text"))


@pytest.mark.parametrize(
    ("first", "second"), [("v1-1", "v11"), ("कि", "का"), ("か", "が"), ("a", "b")]
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
