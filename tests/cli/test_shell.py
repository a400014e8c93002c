"""Texts that agents type into a real shell, and what is then in the note."""

from __future__ import annotations

import os
import random
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Hm
from tests.support.ran import Ran

pytestmark = pytest.mark.skipif(
    shutil.which("bash") is None, reason="bash is not installed"
)

PIECES = (
    *("-", "--", "---", "--force", "-n", "-n5", "-t", "--label=x", "--sco", "--scope"),
    *("--json", "--jso", "--type=fact", "--file", "--reason", "--by", "-5", "-m"),
    *("--amend", "-x y", "- milk", "it's", '"q"', "'", "@a", "@", "=", "a=b", "=x"),
    *("*", "*.md", "?", "[!x]", "{a,b}", "~", "$HOME", "`x`", "!", "#", "%", "3.14"),
    *("1e9", "café", "你好", "🐝", "e\u0301", "—", "\\", "\\n", "|", "&", "+x", "/etc"),
    *("never", "use", "git", "push", "on", "main", "a--b", "a--", "--session"),
)
BARE = re.compile(r"[\w@%+=:,./-]+")
"""A word that the shell hands on as it is, without quotes."""

ENTRY = re.compile(r"^(?:<!-- hm id=|id: )", re.MULTILINE)
"""How an entry begins in a note."""


@dataclass(frozen=True)
class Typed:
    """A command line, and the text that it is to store."""

    line: str
    text: str


def typed_texts(command: str, count: int, seed: int) -> list[Typed]:
    """Return lines whose text stands in quotes, or bare behind a first plain word."""
    rng = random.Random(seed)
    lines = []
    for number in range(count):
        options = f"{command} --json --by 'a b'"
        if command != "write":
            options += f" --scope=global name{number}"
        pieces = [rng.choice(PIECES) for _ in range(rng.randint(1, 6))]
        if number % 2:
            bare = [piece for piece in pieces if BARE.fullmatch(piece)]
            text = " ".join(["word", *bare, rng.choice(("--json", "--by x", "-t"))])
            lines.append(Typed(f"{options} {text}", text))
        else:
            text = " ".join(pieces)
            lines.append(Typed(f"{options} {shlex.quote(text)}", text))
    return lines


def run_lines(hm: Hm, home: Path, lines: list[str]) -> list[Ran]:
    """Run lines of ``hm`` as one bash hands them on; the first one as a process."""
    first = f'{shlex.quote(sys.executable)} -m hivemind_memory.cli "$@"'
    program = [f"hm() {{ {first} >0.out 2>0.err </dev/null; }}", f"hm {lines[0]}"]
    program.append("echo $? >0.code")
    program.append("""hm() { printf '%s\\0' "$@" >"$number.words"; }""")
    for number, line in enumerate(lines[1:], start=1):
        program += [f"number={number}", f"hm {line}"]
    folder = home.parent / "ran"
    folder.mkdir()
    subprocess.run(
        ["bash", "--norc", "-c", "\n".join(program)],
        cwd=folder,
        env={**os.environ, "HOME": str(home.parent)},
        check=True,
    )
    code, out, err = (
        (folder / f"0.{name}").read_text(encoding="utf-8")
        for name in ("code", "out", "err")
    )
    ran = [Ran(int(code), out, err)]
    for number in range(1, len(lines)):
        words = (folder / f"{number}.words").read_bytes().split(b"\0")[:-1]
        ran.append(hm(*map(os.fsdecode, words)))
    return ran


def stored_text(home: Path, saved: dict[str, Any]) -> str:
    """Return the text of an entry as its note holds it."""
    note = (home / "memory" / saved["path"]).read_text(encoding="utf-8").split("\n")
    lines = note[saved["start_line"] - 1 : saved["end_line"]]
    if lines[0].startswith("<!-- hm id="):
        lines = lines[1:]
    return "\n".join(lines)


@pytest.mark.parametrize("command", ["write", "save", "learn"])
def test_what_is_typed_in_a_shell_is_stored_or_refused(
    hm: Hm, home: Path, command: str
) -> None:
    """No word is lost, whatever it looks like; what is refused leaves no trace."""
    assert hm("init").code == 0
    before = set((home / "memory").rglob("*.md"))
    typed = typed_texts(command, 14, seed=11)

    ran = run_lines(hm, home, [one.line for one in typed])

    paths = set()
    for one, said in zip(typed, ran, strict=True):
        if said.code:
            is_nearly_an_option = one.text.startswith("-")
            ends_in_one = " --" in one.text and "the end of the text" in said.err
            is_certain = not (is_nearly_an_option or ends_in_one)
            assert (said.code, is_certain) == (2, False), (one.line, said)
            assert "Nothing was saved." in said.err
            continue
        saved = said.json
        paths.add(home / "memory" / saved["path"])
        assert stored_text(home, saved) == one.text, one.line
    saved_count = sum(not one.code for one in ran)
    assert saved_count >= len(typed) // 2
    notes = set((home / "memory").rglob("*.md"))
    assert notes - before == paths
    texts = [note.read_text(encoding="utf-8") for note in paths]
    assert sum(len(ENTRY.findall(text)) for text in texts) == saved_count


def test_an_option_that_a_command_lacks_stores_nothing(hm: Hm, home: Path) -> None:
    """Not even when the text behind it would be a good one."""
    assert hm("init").code == 0
    before = {path: path.read_bytes() for path in (home / "memory").rglob("*.md")}
    lines = [
        "write -t note text",
        "write --label=x text",
        "write --sco me text",
        "save --label=x key text",
        "save key --typ fact text",
        "learn -t topic text",
    ]

    ran = run_lines(hm, home, lines)

    assert [one.code for one in ran] == [2] * len(lines)
    assert all("Nothing was saved." in one.err for one in ran)
    after = {path: path.read_bytes() for path in (home / "memory").rglob("*.md")}
    assert after == before


def test_a_question_typed_in_a_shell_keeps_its_dashes(hm: Hm, home: Path) -> None:
    """Options of the command are taken out wherever they stand, until ``--``."""
    for file, text in (
        ("forced.md", "git push --forceful rewrites the branch"),
        ("json.md", "the flag --json prints objects"),
        ("plain.md", "wombats dig"),
    ):
        assert hm("write", "--file", file, "--", text).code == 0
    found = {
        "search --json what does --forceful do": ["forced.md"],
        "search what does --forceful do --json -n 2": ["forced.md"],
        "search --forceful --json": ["forced.md"],
        "search -n1 --json -- --json": ["json.md"],
        "search --json 'wombats - or --else'": ["plain.md"],
        "search wombats --limit=1 -x --json": ["plain.md"],
    }

    ran = run_lines(hm, home, list(found))

    for (line, expected), said in zip(found.items(), ran, strict=True):
        assert said.code == 0, (line, said)
        assert [hit["path"] for hit in said.json["hits"]] == expected, line
