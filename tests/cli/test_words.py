"""No word of a text or a question is lost between the shell and the disk."""

from __future__ import annotations

import itertools
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hivemind_memory import Query
from hivemind_memory.cli.commands import search
from tests.cli.conftest import Hm
from tests.support.tiers import examples

ODD = st.text(st.sampled_from("-=@*?\"'`$![]{}~%\\ab"), min_size=1, max_size=8)
OPTION_LIKE = st.sampled_from(
    ("--force", "--file", "--json", "-n", "-x", "--", "-", "--help", "--file=a", "*.md")
)
WORDS = st.lists(ODD | OPTION_LIKE, max_size=8)
NUMBERS = itertools.count()
SLOW = settings(
    max_examples=examples(40),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


@SLOW
@given(WORDS, st.booleans())
def test_write_stores_every_word(
    hm: Hm, home: Path, words: list[str], is_behind: bool
) -> None:
    """After a first plain word, and after two dashes; no options end it."""
    file = f"words/{next(NUMBERS)}.md"
    start = ["--", *words, "end"] if is_behind else ["start", *words, "end"]

    ran = hm("write", "--file", file, *start)

    text = " ".join(start[is_behind:])
    assert ran.code == 0
    assert f"{text}\n" in (home / "memory" / file).read_text()


@SLOW
@given(WORDS)
def test_save_and_learn_store_every_word(hm: Hm, home: Path, words: list[str]) -> None:
    """Under the key and the topic, which come first."""
    key = f"k{next(NUMBERS)}"

    saved = hm("save", "--type", "fact", key, "start", *words, "end")
    learned = hm("learn", key, "start", *words, "end", key)

    text = " ".join(["start", *words, "end"])
    place = learned.out.split()[1].partition(":")[0]
    assert (saved.code, learned.code) == (0, 0)
    assert f"{text}\n" in (home / "memory" / f"{key}.md").read_text()
    assert f"{text} {key}\n" in (home / "memory" / place).read_text()


@SLOW
@given(WORDS)
def test_search_asks_for_every_word(
    hm: Hm, notes: Path, monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    """The question arrives as it was typed."""
    asked: list[str] = []
    monkeypatch.setattr(
        search, "print_answer", lambda _, text, **__: asked.append(text)
    )

    hm("search", "--json", "--", "start", *words)

    assert asked == [" ".join(["start", *words])]
    assert Query(text=asked[0]).text == asked[0]


def test_an_option_after_the_text_is_stored_and_named(hm: Hm, home: Path) -> None:
    """The sentence that lost its ``--force``."""
    ran = hm("write", *["never", "use", "git", "push", "--force", "on", "main"])

    [note] = (home / "memory").glob("*.md")
    assert "never use git push --force on main\n" in note.read_text()
    assert ran.err.startswith(
        "note: `--force` is part of the text: options go before the text, or after a"
        " text in quotes\n"
    )


@pytest.mark.parametrize("words", [("write", "text"), ("save", "k", "text")])
def test_a_short_option_after_the_text_is_named_too(
    hm: Hm, words: tuple[str, ...]
) -> None:
    """A ``-g`` behind the text does not make it global."""
    ran = hm(*words, "-g")

    assert ran.err.startswith(
        "note: `-g` is part of the text: options go before the text, or after a text in"
        " quotes\n"
    )
    assert "note:" not in hm(*words[:-1], "tar -g", "-x").err


@pytest.mark.parametrize(
    "words",
    [
        ["--version"],
        ["--help"],
        ["help", "all"],
        ["search", "--help"],
        ["connect", "--help"],
        ["launch", "--help"],
        ["inject", "--help"],
        ["config", "set", "--help"],
        ["nonsense"],
        ["search", "-n", "0", "x"],
        ["completion", "bash"],
    ],
)
def test_help_and_mistakes_import_little(words: list[str]) -> None:
    """They are answered before a memory, its options or a table is thought of."""
    heavy = (
        "typer click rich pydantic apsw argparse typing dataclasses logging json"
        " hivemind_memory.environment hivemind_memory.opening hivemind_memory.config"
        " hivemind_memory.config.settings"
    )
    program = (
        "import sys; from hivemind_memory.cli.main import main;"
        f"main({words!r});"
        f"print([name for name in {heavy.split()} if name in sys.modules],"
        " file=sys.stderr)"
    )

    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )

    assert ran.stderr.splitlines()[-1] == "[]"
