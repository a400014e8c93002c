"""Only what ``hm inject`` wrote is removed; a person's text between its marks stays."""

from __future__ import annotations

import random
import subprocess
from pathlib import Path

import pytest

from hivemind_memory.inject.injector import Injector
from hivemind_memory.inject.section import render_body
from hivemind_memory.inject.section_form import CLEAN_COPY, without_sections
from tests.inject.repos import git, tracked

BEGIN, END = "<!-- hivemind:begin v1 -->", "<!-- hivemind:end -->"
SECTION = f"{BEGIN}\n{render_body((), left_out=2)}\n\n> a quote\n{END}\n"
HEADING = "## Hivemind Memory (auto-injected, do not edit)"
PERSONS = {
    "own text": f"# How\n\n{BEGIN}\nMY OWN TEXT\n{END}\n",
    "own quote": f"{BEGIN}\n> MY OWN TEXT\n{END}\n",
    "own text below the heading": f"{BEGIN}\n{HEADING}\n\n> MY OWN TEXT\n{END}\n",
    "own line in a section": SECTION.replace("> a quote", "MY OWN TEXT"),
    "fence": f"MY OWN TEXT\n```markdown\n{SECTION}```\n",
    "long fence": f"MY OWN TEXT\n~~~~\n~~~\n{SECTION}~~~~\n",
    "fence at the end": f"MY OWN TEXT\n```\n{SECTION}```",
    "no end": SECTION.replace(END, "MY OWN TEXT"),
    "carriage returns": f"{BEGIN}\r\nMY OWN TEXT\r\n{END}\r\n",
}


def filtered(data: bytes) -> bytes:
    """Return what git would store of a file."""
    done = subprocess.run(
        ["sh", "-c", CLEAN_COPY], input=data, capture_output=True, check=True
    )
    assert done.stderr == b""
    return done.stdout


@pytest.mark.parametrize("text", PERSONS.values(), ids=PERSONS)
def test_git_loses_no_text_of_a_person_between_our_marks(
    text: str, tmp_path: Path, injector: Injector
) -> None:
    """The commit is refused; made on purpose, it has every byte."""
    worktree = tracked(tmp_path)
    git(worktree, "branch", "feature")
    injector.inject(str(worktree))
    manual = worktree / "docs" / "hm.md"
    manual.parent.mkdir()
    manual.write_bytes(text.encode())
    git(worktree, "add", "docs/hm.md")

    refused = git(worktree, "commit", "-qm", "manual", check=False)
    git(worktree, "-c", "hivemind.check=false", "commit", "-qm", "manual")
    git(worktree, "checkout", "-q", "feature")
    git(worktree, "checkout", "-q", "main")

    assert "hivemind: refused" in refused
    assert manual.read_bytes() == text.encode()


@pytest.mark.parametrize("text", PERSONS.values(), ids=PERSONS)
def test_ejecting_keeps_the_text_of_a_person_between_our_marks(
    text: str, tmp_path: Path, injector: Injector
) -> None:
    """Only copies of what was injected are removed with it."""
    worktree = tracked(tmp_path)
    injector.inject(str(worktree))
    (worktree / "hm.md").write_bytes(text.encode())
    (worktree / "copy.md").write_bytes((worktree / "CLAUDE.md").read_bytes())

    done = injector.eject(str(worktree))

    assert (worktree / "hm.md").read_bytes() == text.encode()
    assert sorted(done.files) == ["CLAUDE.md", "copy.md"]


@pytest.mark.parametrize("has_tools", [True, False])
@pytest.mark.parametrize("is_ours", [True, False])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize(("left_out", "has_more"), [(0, False), (1, False), (9, True)])
def test_every_form_of_a_section_is_removed_from_a_copy(
    left_out: int, newline: str, *, has_more: bool, is_ours: bool, has_tools: bool
) -> None:
    """With and without tools, created or added, whatever it leaves out."""
    body = render_body(
        (), left_out=left_out, has_more=has_more, is_ours=is_ours, has_tools=has_tools
    )
    copy = f"mine\n\n{BEGIN}\n{body}\n{END}\nand mine".replace("\n", newline).encode()

    rest = "mine\n\nand mine".replace("\n", newline).encode()
    assert filtered(copy) == without_sections(copy) == rest


def test_the_filter_and_an_eject_remove_the_same_sections() -> None:
    """The rule is a ``sed`` script for git, and Python for ``hm eject``."""
    chance = random.Random(1)
    lines = (BEGIN, END, HEADING, "text", "", "> quote", "```", "````", "~~~", "```py")
    lines += ("   ~~~ a`", "``` a`b", "    ```", "<p>")
    cut = SECTION.rstrip("\n").split("\n")
    for _ in range(300):
        parts: list[str] = []
        for _ in range(chance.randint(1, 8)):
            section = list(cut)
            if chance.random() < 0.2:
                section.insert(chance.randrange(len(cut)), chance.choice(lines))
            parts += section if chance.random() < 0.4 else [chance.choice(lines)]
        text = "\n".join(parts) + chance.choice(["", "\n"])
        data = text.replace("\n", chance.choice(["\n", "\r\n"])).encode()

        assert filtered(data) == without_sections(data), data


OWN = "# Shop\n\nUse tabs.\n\n"


@pytest.mark.parametrize("text", [PERSONS["own text"], PERSONS["own quote"]])
def test_text_between_the_marks_in_the_injected_file_is_kept(
    text: str, tmp_path: Path, injector: Injector
) -> None:
    """It was overwritten by the next injection, left out of commits, and ejected."""
    worktree = tracked(tmp_path)
    own = worktree / "CLAUDE.md"
    injector.inject(str(worktree))
    injector.eject(str(worktree))
    own.write_text(OWN + text)

    done = injector.inject(str(worktree))

    assert done.file == ".claude/rules/hivemind-memory.md"
    assert "CLAUDE.md has text of yours between" in done.warnings[0]
    git(worktree, "add", "-A")
    refused = git(worktree, "commit", "-qm", "manual", check=False)
    line = (OWN + text).split("\n").index(BEGIN) + 1
    assert f"CLAUDE.md:{line}: {BEGIN}" in refused
    git(worktree, "-c", "hivemind.check=false", "commit", "-qm", "manual")
    assert git(worktree, "show", "HEAD:CLAUDE.md") == OWN + text
    assert injector.eject(str(worktree)).is_git_restored
    assert own.read_text() == OWN + text


@pytest.mark.parametrize(
    "edit",
    [
        "sed -i '/memory_list/,/preferences, OS/d' CLAUDE.md",
        "sed -i 's/^- `memory_get.*/my own line/' CLAUDE.md",
        "sed -i '/^> /d' CLAUDE.md",
        "sed -i 's/$/\\r/' CLAUDE.md",
    ],
)
def test_a_section_that_a_person_cuts_short_stays_out_of_git(
    edit: str, tmp_path: Path, injector: Injector
) -> None:
    """In the file that is injected into, the headline alone makes it a section."""
    worktree = tracked(tmp_path)
    before = (worktree / "CLAUDE.md").read_bytes()
    injector.inject(str(worktree))
    subprocess.run(["sh", "-c", edit], cwd=worktree, check=True)

    done = git(worktree, "commit", "-q", "-a", "-m", "all", check=False)
    injector.inject(str(worktree))
    injector.eject(str(worktree))

    assert "hivemind" not in done
    assert "hivemind" not in git(worktree, "show", "HEAD:CLAUDE.md")
    if "\\r" not in edit:
        assert (worktree / "CLAUDE.md").read_bytes() == before
