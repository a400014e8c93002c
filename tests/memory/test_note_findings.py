"""What ``hm doctor`` finds in notes."""

from __future__ import annotations

import ast
import os
import tempfile
from collections.abc import Iterator

import pytest

from hivemind_memory.files.places import places_of
from hivemind_memory.memory.memory import Memory
from hivemind_memory.model.results import Finding
from tests.support.sandbox import Sandbox
from tests.support.tree import ROOT


def finding(memory: Memory, name: str) -> Finding | None:
    """Return what the doctor says of one thing."""
    found = [one for one in memory.diagnose().findings if one.name == name]
    return found[0] if found else None


def test_a_front_matter_that_is_no_yaml_is_named(
    sandbox: Sandbox, memory: Memory
) -> None:
    """Its type and key count for nothing, and no command said so."""
    sandbox.save("good.md", "---\ntype: fact\nkey: k\n---\nFine.\n")
    sandbox.save("bad.md", "---\ntype: fact\ntitle: a: b\n---\nNot fine.\n")
    sandbox.save("open.md", "---\ntype: fact\n\nNever closed.\n")
    sandbox.save("rules.md", "---\nText between two rules.\n---\nMore.\n")

    found = finding(memory, "front matter")

    assert found is not None
    assert not found.is_ok
    assert found.detail == (
        "2 notes with front matter that is not valid YAML; all of it counts as text:"
        " bad.md, open.md"
    )
    assert found.hint.startswith("Run `hm edit bad.md`.")


def test_a_misspelt_type_is_named_with_the_one_that_was_meant(
    sandbox: Sandbox, memory: Memory
) -> None:
    """The note is no memory: not listed, not injected."""
    sandbox.save("a.md", "---\ntype: leson\n---\nNever force-push.\n")
    sandbox.save("b.md", "---\ntype: rule\nkey: b\n---\nNever force-push.\n")
    sandbox.save("c.md", "---\ntype: warning\n---\nAn alias.\n")

    found = finding(memory, "types")

    assert found is not None
    assert not found.is_ok
    assert found.detail == (
        "2 notes with an unknown type, read as plain text: a.md (leson), b.md (rule)"
    )
    assert found.hint.startswith("Did you mean lesson? Run `hm edit a.md`")


def test_types_of_another_program_are_no_problem(
    sandbox: Sandbox, memory: Memory
) -> None:
    """An imported vault has its own."""
    sandbox.save("a.md", "---\ntype: daily-journal\n---\nWent home.\n")

    found = finding(memory, "types")

    assert found is not None
    assert found.is_ok
    assert "daily-journal" in found.detail


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("k (conflicted copy 2026-11-21).md", "k (conflicted copy 2026-11-21).md"),
        ("k.sync-conflict-20261121-093012-ABCDEFG.md", "k.sync-conflict-"),
        ("other.md", "other.md (of k.md)"),
    ],
)
def test_a_copy_of_a_memory_is_named(
    sandbox: Sandbox, memory: Memory, name: str, said: str
) -> None:
    """Which of the two is right only a person knows."""
    text = "---\ntype: fact\nkey: k\n---\nOnce.\n"
    sandbox.save("k.md", text)
    sandbox.save(name, text)

    found = finding(memory, "copies of notes")

    assert found is not None
    assert not found.is_ok
    assert said in found.detail


def test_notes_in_order_have_one_line(sandbox: Sandbox, memory: Memory) -> None:
    """Nothing else is said of them."""
    sandbox.save("k.md", "---\ntype: fact\nkey: k\n---\nOnce.\n")
    sandbox.save("projects/shop/k.md", "---\ntype: fact\nkey: k\n---\nHere.\n")
    sandbox.save("plain.md", "Just text.\n")

    valid = finding(memory, "front matter")

    assert valid is not None
    assert valid.is_ok
    assert finding(memory, "types") is finding(memory, "copies of notes") is None


def test_notes_that_differ_in_letter_case_alone_are_named(
    sandbox: Sandbox, memory: Memory
) -> None:
    """On a disk that ignores case they are one file, and one text is lost."""
    sandbox.save("ops.md", "Backups run at two.\n")
    assert finding(memory, "letter case") is None
    sandbox.save("Ops.md", "Backups run at three.\n")

    found = finding(memory, "letter case")

    assert found is not None
    assert not found.is_ok
    assert found.detail == (
        "1 group of notes whose names differ in letter case alone: Ops.md and ops.md"
    )
    assert found.hint.startswith("Rename all but one of each.")


@pytest.mark.parametrize(("mode", "is_open"), [(0o755, True), (0o711, False)])
def test_notes_outside_the_home_that_others_can_read_are_named(
    sandbox: Sandbox, mode: int, *, is_open: bool
) -> None:
    """It said that only you can read the memory."""
    sandbox.home.chmod(0o700)
    with tempfile.TemporaryDirectory() as folder:  # below one that all may enter
        os.chmod(folder, mode)
        places = places_of(str(sandbox.home), folder, "")
        with sandbox.memory(places) as memory:
            memory.sync()
            found = finding(memory, "privacy")

    assert found is not None
    assert found.is_ok is not is_open
    assert (folder in found.detail) is is_open
    assert (f"chmod -R go= {folder}" in found.hint) is is_open


def test_hints_of_doctor_are_sentences() -> None:
    """Some were: three forms stood below each other on one screen."""
    hints = [
        hint
        for file in (ROOT / "hivemind_memory").rglob("*.py")
        for hint in hints_of_findings(ast.parse(file.read_text(encoding="utf-8")))
    ]

    assert len(hints) > 15
    assert [hint for hint in hints if not hint.endswith(".")] == []
    assert [hint for hint in hints if hint[0].islower()] == []


def hints_of_findings(tree: ast.AST) -> Iterator[str]:
    """The texts that are given to a finding as its hint; `X` is what is filled in."""
    for call in ast.walk(tree):
        if not isinstance(call, ast.Call) or ast.unparse(call.func) != "Finding":
            continue
        for word in call.keywords:
            hint = word.value
            text = hint.body if isinstance(hint, ast.IfExp) else hint
            if word.arg == "hint" and isinstance(text, ast.Constant | ast.JoinedStr):
                parts = text.values if isinstance(text, ast.JoinedStr) else [text]
                yield "".join(
                    str(part.value) if isinstance(part, ast.Constant) else "X"
                    for part in parts
                )
