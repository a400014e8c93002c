"""Every command that takes text, through the real parser, to the files and back."""

from __future__ import annotations

import functools
import itertools
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from hivemind_memory.cli.reading import READING
from hivemind_memory.cli.table import all_commands
from hivemind_memory.model.display import escape_line
from tests.cli.conftest import Hm
from tests.support.tiers import examples

PIECES = st.sampled_from(
    ("-", "--", "--force", "-n", "--file=a", "- milk", "@a", "=", "k=v", "*.md", "[!x]")
) | st.text(
    st.sampled_from("-=@*?\"'`$!{}~%\\#:&|,;<> ab\u00e9\u4f60\U0001f41d"), max_size=6
)
TEXTS = st.lists(PIECES, min_size=1, max_size=5).map(" ".join)
LINES = st.lists(TEXTS, min_size=1, max_size=3).map("\n".join)
NUMBERS = itertools.count()
SLOW = settings(
    max_examples=examples(25),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


def _key() -> str:
    """A key that no other example has."""
    return f"k{next(NUMBERS)}"


def _write(hm: Hm, text: str) -> object:
    saved = hm("write", "--json", "--", text)
    assert saved.code == 0, saved.err
    lines = f"{saved.json['start_line'] + 1}-{saved.json['end_line']}"
    return hm("get", f"{saved.json['path']}:{lines}").out.removesuffix("\n")


def _save(hm: Hm, text: str) -> object:
    key = _key()
    assert hm("save", "--type", "fact", key, "--", text).code == 0
    return hm("show", key, "--json").json["memory"]["text"]


def _save_over_stdin(hm: Hm, text: str) -> object:
    key = _key()
    assert hm("save", "--type", "fact", key, stdin=text.encode()).code == 0
    return hm("show", key, "--json").json["memory"]["text"]


def _save_key(hm: Hm, text: str) -> object:
    word = next(NUMBERS)
    key = f"{text} {word}"
    assert hm("save", "--type", "fact", "--", key, f"text {word}").code == 0
    shown = hm("show", "--json", "--", key).json
    assert hm("history", "--", key).code == 0
    assert hm("forget", "--", key).code == 0
    assert hm("restore", "--", key).code == 0
    return shown["memory"]["key"].removesuffix(f" {word}")


def _link(hm: Hm, text: str) -> object:
    one, other = f"{text} {_key()}", _key()
    hm("save", "--type", "fact", "--", one, f"text of {other}")
    hm("save", "--type", "fact", other, f"other text of {other}")
    for kind in ((), ("--kind", "related_to")):
        assert hm("link", "--json", "--", one, other).json["is_changed"]
        assert hm("link", "--json", "--", other, one).json["is_changed"]
        # Without a kind, both go; with a kind, the one that starts here.
        done = hm("unlink", "--json", *kind, "--", one, other).json
        assert done["is_changed"]
        assert len(done["others"]) == (0 if kind else 1)
    assert hm("unlink", "--json", "--", other, one).json["is_changed"]
    return text


def _reason(hm: Hm, text: str) -> object:
    key = _key()
    hm("save", "--type", "fact", key, "before")
    assert hm("save", f"--reason={text}", key, "after").code == 0
    return hm("history", key, "--json").json["memories"][0]["reason"]


def _option(name: str, field: str) -> Callable[[Hm, str], object]:
    def read(hm: Hm, text: str) -> object:
        key = _key()
        saved = hm("save", "--type", "fact", f"--{name}={text}", key, f"text of {key}")
        assert saved.code == 0, saved.err
        return hm("show", key, "--json").json["memory"][field]

    return read


def _source_ref(hm: Hm, text: str) -> object:
    """One line is stored; what has more is refused, and nothing is saved."""
    if text.strip().isprintable():
        return _option("source-ref", "source_ref")(hm, text)
    key = _key()
    refused = hm("save", "--type", "fact", f"--source-ref={text}", key, "text")
    assert refused.code == 2
    assert "must be one line" in refused.err
    assert hm("show", key).code != 0
    return text


def _learn(hm: Hm, text: str) -> object:
    topic = _key()
    saved = hm("learn", "--json", topic, "--", text)
    assert saved.code == 0, saved.err
    return hm("show", saved.json["id"], "--json").json["memory"]["text"]


def _topic(hm: Hm, text: str) -> object:
    saved = hm("learn", "--json", "--", text, f"claim {_key()}")
    assert saved.code == 0, saved.err
    return text


def _search(hm: Hm, text: str) -> object:
    word = f"zq{next(NUMBERS)}x"
    hm("write", "--", f"{text} {word}")
    ways = (
        hm("search", "--json", "--", text, word),
        hm("search", "-", "--json", stdin=f"{text} {word}".encode()),
    )
    assert all(any(word in hit["snippet"] for hit in way.json["hits"]) for way in ways)
    return text


def _config(hm: Hm, text: str) -> object:
    assert hm("config", "set", "--", "ollama_model", text).code == 0
    return hm("config", "get", "ollama_model").out.removesuffix("\n")


WAYS: dict[tuple[str, str], Callable[[Hm, str], object]] = {
    ("write", "text"): _write,
    ("save", "text"): _save,
    ("save", "key"): _save_key,
    ("save", "reason"): _reason,
    ("save", "by"): _option("by", "by"),
    ("save", "session"): _option("session", "session"),
    ("save", "source_ref"): _source_ref,
    ("learn", "claim"): _learn,
    ("learn", "topic"): _topic,
    ("link", "from"): _link,
    ("search", "query"): _search,
    ("config set", "value"): _config,
}
"""Place of a text -> stores it and returns what comes back."""


@pytest.mark.parametrize("place", WAYS, ids=" ".join)
@SLOW
@given(text=TEXTS | LINES)
@example(text="- milk")
@example(text="--force")
@example(text="a --json --file=b")
@example(text="first\n--force second")
def test_a_text_comes_back_as_it_was_typed(
    hm: Hm, home: Path, place: tuple[str, str], text: str
) -> None:
    """Whatever it holds; blank edges are not part of it, and a lone dash is a pipe."""
    if text.strip() in ("", "-"):
        return
    if place[1] in ("by", "session") and escape_line(text.strip()) != text.strip():
        return  # refused: it could pass for another name

    back = WAYS[place](hm, text)

    assert str(back).strip() == text.strip()


@pytest.mark.parametrize("command", ["write", "save", "learn", "search", "config set"])
def test_bytes_that_are_no_text_are_refused_and_nothing_is_saved(
    hm: Hm, home: Path, command: str
) -> None:
    """Replaced silently, the one letter that mattered is gone for ever."""
    hm("init")
    places = {"save": ["k"], "learn": ["t"], "config set": ["ollama_model"]}
    words = [*command.split(), *places.get(command, [])]
    before = _files(home)

    piped = hm(*words, "-", stdin=b"fine\ncaf\xe9\n")
    typed = hm(*words, "caf\udce9")

    assert (piped.code, typed.code) == (2, 2)
    assert "error: Standard input is not UTF-8 text (line 2, byte 9)." in piped.err
    assert "error: `caf\\xe9` is not UTF-8 text." in typed.err
    if command in ("write", "save", "learn"):
        assert "Nothing was saved." in piped.err
        assert "Nothing was saved." in typed.err
    assert _files(home) == before


@pytest.mark.parametrize("words", [["write"], ["save", "k"], ["learn", "t", "-"]])
def test_a_nul_character_is_refused(hm: Hm, home: Path, words: list[str]) -> None:
    """One of them makes the note of a whole day binary for grep, git and editors."""
    hm("init")
    before = _files(home)

    ran = hm(*words, stdin=b"nul\0here")

    assert ran.code == 2
    assert "holds a NUL character, as binary files do. Nothing was saved." in ran.err
    assert _files(home) == before


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_a_byte_order_mark_names_the_encoding(hm: Hm, encoding: str) -> None:
    """PowerShell pipes UTF-16."""
    ran = hm("write", "--json", stdin="caf\u00e9".encode(encoding))

    assert hm("get", f"{ran.json['path']}:2").out == "caf\u00e9\n"


def _files(home: Path) -> dict[Path, bytes]:
    """Every note and option in a home folder."""
    kept = (*home.glob("*.json"), *home.rglob("*.md"))
    return {path: path.read_bytes() for path in kept}


def _run(*words: str, **streams: object) -> subprocess.CompletedProcess[str]:
    """Run ``hm`` as a process; the home comes from the environment."""
    program = [sys.executable, "-m", "hivemind_memory.cli", *words]
    return subprocess.run(program, text=True, check=False, **streams)  # type: ignore[call-overload,no-any-return]


@pytest.mark.parametrize("words", [["write"], ["write", "--json"], ["save", "key"]])
@pytest.mark.parametrize("target", ["closed pipe", "full disk", "closed"])
def test_what_was_saved_is_said_although_nobody_reads_it(
    hm: Hm, home: Path, words: list[str], target: str
) -> None:
    """With an error behind a saved entry a person or a loop writes it again."""
    hm("init")
    closing = None
    if target == "full disk":
        output = os.open("/dev/full", os.O_WRONLY)
    else:
        reading, output = os.pipe()
        os.close(reading)
    if target == "closed":
        closing = functools.partial(os.close, 1)

    ran = _run(
        *words, "one text", stdout=output, stderr=subprocess.PIPE, preexec_fn=closing
    )

    os.close(output)
    assert ran.returncode == 0
    assert (
        "saved " in ran.stderr
        if "--json" not in words
        else '"start_line"' in ran.stderr
    )
    assert "one text\n" in hm("search", "one text").out.replace("    ", "")


@pytest.mark.parametrize("line", ["list", "search text", "get global.md", "log"])
def test_a_reading_command_ends_when_nobody_reads(hm: Hm, line: str) -> None:
    """As SIGPIPE would end it, without a word."""
    hm("init")
    hm("write", "some text")
    reading, writing = os.pipe()
    os.close(reading)

    ran = _run(*line.split(), stdout=writing, stderr=subprocess.PIPE)

    os.close(writing)
    assert (ran.returncode, ran.stderr) == (141, "")


def test_every_reading_command_is_one_of_the_table() -> None:
    """A command that is not named there goes on when its output is closed."""
    names = {one.name for one in all_commands()}

    assert READING - {"__complete"} <= names
    changing = {"write", "save", "learn", "forget", "inbox accept", "connect", "sync"}
    assert not READING & changing


def test_words_beside_a_pipe_are_named(hm: Hm, home: Path) -> None:
    """``git log | hm write the last commit`` saves the words alone, and says so."""
    hm("init")

    both = _run("write", "words", input="from the pipe", capture_output=True)
    alone = _run("write", "words", input="", capture_output=True)

    said = "note: the words are the text; standard input was not read\n"
    assert (both.stderr, alone.stderr) == (said, "")
