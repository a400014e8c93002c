"""The notes that the README searches give the answers a newcomer would expect."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from hivemind_memory import Memory, Query, open_memory

NOTES = Path(__file__).parents[2] / "fixtures" / "notes"

ASKED = (
    ("why no deploy on friday", "deploy-lesson.md"),
    ("postgres port", "global.md"),
    ("roll back a release", "projects/harbour/runbook.md"),
    ("verify_signature", "projects/harbour/architecture.md"),
    ("src/harbour/timetable/parse.py", "2026-09-14.md"),
    ("unused indexes", "snippets/postgres.md"),
    ("cafe wifi", "2026-11-12.md"),
    ("Wiederherstellung", "arbeitsweise.md"),
    ("慢查询", "数据库笔记.md"),
    ("当番の交代", "会議メモ.md"),
    ("подключиться к офису", "сеть.md"),
    ("पासवर्ड", "टिप्पणियाँ.md"),
)


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    """The sample notes in a home of their own, indexed."""
    home = tmp_path_factory.mktemp("home")
    shutil.copytree(NOTES, home / "memory", ignore=shutil.ignore_patterns(".*"))
    flags = {"embedding_provider": "none"}
    with open_memory(home=str(home), flags=flags) as memory:
        memory.sync()
        yield memory


@pytest.mark.parametrize(("question", "path"), ASKED)
def test_the_note_that_answers_comes_first(
    memory: Memory, question: str, path: str
) -> None:
    """What a person tries in the first minute has to work."""
    answer = memory.search(Query(text=question))

    assert answer.hits[0].path == path


def test_no_sample_note_holds_what_looks_like_a_secret_or_a_machine() -> None:
    """They are shipped: no keys, no addresses of real hosts, no home folders."""
    for file in NOTES.rglob("*.md"):
        text = file.read_text(encoding="utf-8")
        for mark in ("BEGIN PRIVATE", "/home/", "/Users/", "AKIA", "ghp_", " sk-"):
            assert mark not in text, (file.name, mark)
