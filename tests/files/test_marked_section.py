"""The one section in a file, and every other byte."""

from __future__ import annotations

import os
import random
import subprocess
from pathlib import Path

import pytest

from hivemind_memory.files.marked_section import (
    SECTION_MARKS,
    SETTINGS_MARKS,
    SectionDamagedError,
    body_of,
    find_section,
    put_section,
    remove_section,
)
from hivemind_memory.inject.git_settings import CLEAN
from hivemind_memory.inject.section_form import HEADLINE

CASES = int(os.environ.get("HIVEMIND_SPLICE_CASES", "20000"))
PIECES = (
    *(b"# Title", b"text", b"", b" ", b"\t- item", b"\xff\xfe\x80", "数据库".encode()),
    *(b"```", b"<!-- a comment -->", b"\x00", b"\x0b\x0c", "\u2028".encode(), b"\r"),
    *(b" <!-- hivemind:end -->", b"> <!-- hivemind:begin v1 -->", b"# hivemind:"),
    *(b"see <!-- hivemind:begin v1 -->", b"@AGENTS.md", b"\xef\xbb\xbf"),
)
ENDS = (b"\n", b"\n", b"\r\n", b"\r\n", b"\n\n", b"\r")


def any_file(chance: random.Random) -> bytes:
    """Bytes as people and editors leave them, without a section."""
    usual = chance.choice(ENDS)
    parts = [chance.choice((b"", b"", b"\xef\xbb\xbf"))]
    for _ in range(chance.choice((0, 1, 1, 2, 5, 12))):
        parts += [chance.choice(PIECES), chance.choice((usual, usual, usual, b"\n"))]
    return b"".join(parts[:-1] if chance.random() < 0.3 else parts)


def any_body(chance: random.Random) -> str:
    """Lines that a section may hold."""
    words = (
        "## Hivemind Memory",
        "> quoted",
        "",
        "数据",
        "> <!-- hivemind:end -->",
        "é",
    )
    return "\n".join(chance.choices(words, k=chance.choice((1, 2, 7))))


def test_no_byte_outside_the_section_ever_changes() -> None:
    """The file is its owner's: whatever is in it, and however often we come."""
    chance = random.Random(20261121)
    for _ in range(CASES):
        data = any_file(chance)
        first, second = any_body(chance), any_body(chance)

        once = put_section(data, first)
        twice = put_section(once, second)

        assert put_section(once, first) == once
        assert remove_section(once) == remove_section(twice) == data
        assert once.startswith(data)
        assert body_of(twice) == second


def test_text_around_the_section_may_change_meanwhile() -> None:
    """People write below it as well as above it, and both stays."""
    chance = random.Random(7)
    for _ in range(CASES // 10):
        above = any_file(chance) + b"\n"
        below = any_file(chance)
        data = put_section(above, any_body(chance)) + below

        changed = put_section(data, any_body(chance))

        assert changed.startswith(above)
        assert changed.endswith(below)
        assert remove_section(changed) == above + below


@pytest.mark.parametrize(
    "lines",
    [
        ["begin"],
        ["end"],
        ["end", "begin"],
        ["begin", "begin", "end"],
        ["begin", "end", "end"],
        ["begin", "end", "begin", "end"],
        ["begin", "odd end"],
        ["odd begin", "end"],
    ],
    ids="-".join,
)
def test_damaged_marks_are_refused(lines: list[str]) -> None:
    """A guess about where the section ends would be about somebody's text."""
    marks = {
        "begin": SECTION_MARKS.begin,
        "end": SECTION_MARKS.end,
        "odd end": SECTION_MARKS.end + b" and more",
        "odd begin": b"<!-- hivemind:begin v2 -->",
    }
    data = b"mine\n" + b"".join(marks[name] + b"\ntext\n" for name in lines)

    for act in (find_section, remove_section, lambda data: put_section(data, "new")):
        with pytest.raises(SectionDamagedError):
            act(data)


def test_the_lines_of_a_section_end_as_those_of_the_file() -> None:
    """One odd line end and an editor asks which ones to keep."""
    data = put_section(b"a\r\nb\r\n", "one\ntwo")

    assert data.count(b"\n") == data.count(b"\r\n") == 6


def test_settings_of_git_have_marks_of_their_own() -> None:
    """Its files know other comments than Markdown."""
    data = put_section(b"*.log\n", "/CLAUDE.md", SETTINGS_MARKS)

    assert data == b"*.log\n# hivemind:begin\n/CLAUDE.md\n# hivemind:end\n"


def test_the_filter_removes_what_we_remove(tmp_path: Path) -> None:
    """Two programs decide what the section is, and one of them feeds commits."""
    chance = random.Random(11)
    script = f"for f in *; do {CLEAN} < $f > $f.out; done"
    cases = {}
    for number in range(60):
        data = any_file(chance)
        if data.endswith(b"\n") or not data:
            body = f"{HEADLINE}\n{any_body(chance)}"
            cases[f"{number:03}"] = put_section(data, body), data
            others = put_section(data, f"Mine\n{any_body(chance)}")
            cases[f"{number:03}-others"] = others, others
        cases[f"{number:03}-none"] = data, data
        damaged = data.rstrip(b"\r\n") + b"\n<!-- hivemind:begin v1 -->\nmine\n"
        cases[f"{number:03}-open"] = damaged, damaged
    for name, (given, _) in cases.items():
        (tmp_path / name).write_bytes(given)

    subprocess.run(["sh", "-c", script], cwd=tmp_path, check=True)

    for name, (_, expected) in cases.items():
        assert (tmp_path / f"{name}.out").read_bytes() == expected, name
