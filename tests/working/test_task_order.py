"""What is unrelated to a task comes last, and what was found leads to more."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from hivemind_memory import NewMemory, environment
from hivemind_memory.errors import GitError
from hivemind_memory.memory import Memory
from hivemind_memory.working import task_changes, task_files
from hivemind_memory.working.blocks import FileMemoryBlock
from hivemind_memory.working.task_context import (
    ContextRequest,
    TaskContext,
    build_context,
)
from hivemind_memory.working.task_links import without_overlaps
from hivemind_memory.working.task_words import FoldedTexts, TaskWords

PAUSE = (
    "export function pauseOrder(id: number, pausedUntil: string) {\n  send(id);\n}\n"
)
OVEN = "def heat(oven):\n    oven.burner = True\n    return oven.celsius\n"


@pytest.fixture
def bakery(tmp_path: Path) -> Path:
    """A repository with a change of its oven that is not committed."""
    root = tmp_path / "bakery"
    root.mkdir()
    (root / "pause.ts").write_text(PAUSE)
    (root / "oven.py").write_text(OVEN)
    subprocess.run(["git", "init", "-q"], cwd=root, check=True)
    commit(root)
    (root / "oven.py").write_text(OVEN.replace("True", "False"))
    return root


def commit(root: Path) -> None:
    person = ("-c", "user.name=ann", "-c", "user.email=ann@example.org")
    for words in (("add", "-A"), (*person, "commit", "-qm", "Bake")):
        subprocess.run(["git", *words], cwd=root, check=True)


def built(memory: Memory, root: Path, task: str, blocks: str = "") -> TaskContext:
    request = ContextRequest(
        max_tokens=4_000, root=str(root), task=task, blocks_file=blocks
    )
    return build_context(memory, request, environ=environment.git_environ())


def priorities(context: TaskContext) -> dict[str, str]:
    return {entry["id"]: entry["priority"] for entry in context.built.entries}


def test_a_change_that_a_task_does_not_ask_for_only_fills_what_is_left(
    memory: Memory, bakery: Path
) -> None:
    """Two unrelated changes once took most of a small budget."""
    change = "history:uncommitted:oven.py"

    unrelated = priorities(built(memory, bakery, "The school gets no bread"))
    asked = priorities(built(memory, bakery, "Review what I changed"))
    about = priorities(built(memory, bakery, "Is the burner hot?"))

    assert unrelated[change] == "low"
    assert asked[change] == "high"
    assert about[change] == "medium"


@pytest.mark.parametrize(
    "task",
    [
        *("review what I changed", "review my diff", "Review my changes, please"),
        *("what have I changed since the last commit?", "write a commit message"),
        *("git diff", "finish what I started", "self-review before pushing"),
        *("review this branch", "summarize the uncommitted changes"),
    ],
)
def test_what_a_person_is_working_on_comes_first_if_they_ask_for_it(
    memory: Memory, bakery: Path, task: str
) -> None:
    """In a repository larger than the budget, tests named review took all of it."""
    for number in range(40):
        body = (
            f"    # Review, commit, push a branch: what changed since diff {number}.\n"
        )
        text = f"def review_changes_{number}():\n{body * 8}    return finish()\n"
        (bakery / f"review_{number}.py").write_text(text)
    commit(bakery)
    (bakery / "oven.py").write_text(OVEN.replace("celsius", "kelvin"))
    (bakery / "hood.py").write_text("def vent():\n    return 'steam'\n")

    found = built(memory, bakery, task).built

    ids = [entry["id"] for entry in found.entries[:2]]
    assert set(ids) == {"history:uncommitted:oven.py", "history:uncommitted:hood.py"}
    assert "file:hood.py" not in found.text
    why = {entry["id"]: entry["metadata"]["why"] for entry in found.entries}
    assert why["history:uncommitted:hood.py"] == "a new file, not in git yet"


def test_a_new_file_is_shown_once_if_a_task_does_not_ask_for_changes(
    memory: Memory, bakery: Path
) -> None:
    (bakery / "hood.py").write_text("def vent():\n    return 'steam'\n")

    found = built(memory, bakery, "where does steam vent").built

    assert [entry["id"] for entry in found.entries if "steam" in entry["content"]] == [
        "file:hood.py"
    ]


def test_a_folder_that_git_ignores_is_read_as_one_outside_git(
    memory: Memory, bakery: Path
) -> None:
    """Nothing was read there, and nothing said so."""
    (bakery / ".gitignore").write_text("vendored/\n")
    inner = bakery / "vendored" / "lib"
    inner.mkdir(parents=True)
    (inner / "steam.py").write_text("def vent():\n    return 'steam'\n")

    found = built(memory, inner, "where does steam vent")

    assert "file:steam.py" in priorities(found)
    assert any("git ignores this folder" in note for note in found.notes)


def test_a_git_that_does_not_answer_shows_no_ignored_file(
    memory: Memory, bakery: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without its list, all files were read, as if there were no repository."""
    (bakery / ".gitignore").write_text("secret.py\n")
    (bakery / "secret.py").write_text("def heat(oven):\n    return 'steam'\n")
    run = task_changes.run_git

    def slow(
        folder: str, words: Sequence[str], *more: object, **named: object
    ) -> object:
        if "ls-files" in words:
            raise GitError("git took too long.")
        return run(folder, words, *more, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(task_changes, "run_git", slow)
    found = built(memory, bakery, "heat the oven")

    assert "steam" not in found.built.text
    assert "no files were read: git took too long." in found.notes


def test_a_git_that_fails_is_told_as_a_slow_one_is(
    memory: Memory, bakery: Path
) -> None:
    """A damaged index made `git ls-files` list nothing, without a word."""
    (bakery / ".git/index").write_bytes(b"damaged")

    found = built(memory, bakery, "heat the oven")

    [note] = [note for note in found.notes if note.startswith("no files were read")]
    assert "git ls-files failed: " in note


def test_what_is_staged_before_the_first_commit_is_shown(
    memory: Memory, tmp_path: Path
) -> None:
    """A commit message was asked for, and nothing was said of its files."""
    root = tmp_path / "new"
    root.mkdir()
    (root / "kiln.py").write_text("glaze = 'celadon'\n")
    for words in (("init", "-q"), ("add", "kiln.py")):
        subprocess.run(["git", *words], cwd=root, check=True)

    found = built(memory, root, "write a commit message")

    assert priorities(found)["history:uncommitted:kiln.py"] == "high"


def test_a_commit_about_the_task_is_found_behind_ten_others(
    memory: Memory, bakery: Path
) -> None:
    person = ("-c", "user.name=ann", "-c", "user.email=ann@example.org")
    for subject in ("Stripes of the zebra", *(f"Crumb {n}" for n in range(11))):
        (bakery / "pause.ts").write_text(f"// {subject}\n")
        words = ("commit", "-qm", subject, "pause.ts")
        subprocess.run(["git", *person, *words], cwd=bakery, check=True)

    found = built(memory, bakery, "stripes")

    assert "Stripes of the zebra" in found.built.text


def test_a_large_hidden_folder_hides_no_file(
    memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its files counted, and its name comes first."""
    monkeypatch.setattr(task_files, "MAX_FILES", 2)
    root = tmp_path / "plain"
    (root / ".venv").mkdir(parents=True)
    for number in range(9):
        (root / ".venv" / f"{number}.py").write_text("oven = 1\n")
    (root / "src").mkdir()
    (root / "src/oven.py").write_text(OVEN)

    assert "def heat" in built(memory, root, "heat the oven").built.text


@pytest.mark.parametrize(("is_read", "rank"), [(False, "high"), (True, "medium")])
def test_a_message_that_was_read_is_not_called_unread(
    memory: Memory, bakery: Path, *, is_read: bool, rank: str
) -> None:
    """One of high priority was, and came first."""
    letter = {
        "type": "message",
        "from_agent": "owner",
        "to_agent": "dev",
        "subject": "Waste",
        "preview": "We throw away a third.",
        "priority": "high",
        "read": is_read,
    }
    blocks = bakery.parent / "blocks.json"
    blocks.write_text(json.dumps([letter]))

    found = built(memory, bakery, "Answer the owner", str(blocks))
    [entry] = [it for it in found.built.entries if it["metadata"].get("from")]

    assert entry["priority"] == rank
    assert str(entry["metadata"]["why"]).startswith("an unread") is not is_read


def test_what_is_asked_for_and_not_shown_is_said(memory: Memory, bakery: Path) -> None:
    """A file that the task names, and changes after the first ten."""
    (bakery / "uv.lock").write_text("oven = 1\n")
    for number in range(12):
        (bakery / f"shelf_{number:02}.py").write_text(f"shelf = {number}\n")
    commit(bakery)
    for number in range(12):
        (bakery / f"shelf_{number:02}.py").write_text(f"shelf = -{number}\n")

    found = built(memory, bakery, "review what I changed, and why uv.lock differs")

    assert "changes of 2 files are not shown" in found.notes
    assert "uv.lock was not read: it is too large, or no text" in found.notes


def test_the_words_of_what_was_found_find_more(memory: Memory, bakery: Path) -> None:
    """The task has no word of the code; the memory about it does."""
    memory.save(
        NewMemory(
            key="holidays",
            content="A school that had paused its orders got no bread after holidays.",
            type="lesson",
            scope="global",
        )
    )

    found = built(memory, bakery, "The school gets no bread")

    assert "pauseOrder" in found.built.text


def test_a_message_is_found_by_who_sent_it(memory: Memory, bakery: Path) -> None:
    """A task says *answer the owner*; the owner's letter need not say owner."""
    letter = {
        "type": "message",
        "from_agent": "owner",
        "to_agent": "dev",
        "subject": "Waste",
        "preview": "We throw away a third.",
    }
    other = {**letter, "from_agent": "landlord", "subject": "Lift"}
    blocks = bakery.parent / "blocks.json"
    blocks.write_text(json.dumps([letter, other]))

    found = built(memory, bakery, "Answer the owner", str(blocks))
    ranks = {
        str(entry["metadata"].get("from")): entry["priority"]
        for entry in found.built.entries
    }

    assert ranks["owner"] == "high"
    assert ranks["landlord"] == "low"


def test_a_file_as_a_whole_is_no_addition_to_a_part_of_it() -> None:
    """The lines of that part would be there twice."""
    part = FileMemoryBlock(location="pause.ts", start_line=2, end_line=3)
    whole = FileMemoryBlock(location="pause.ts")
    before = FileMemoryBlock(location="pause.ts", start_line=1, end_line=1)

    assert without_overlaps([whole, before], [part]) == [before]


@pytest.mark.parametrize(
    ("word", "text", "is_in"),
    [
        ("station", "status: state", False),
        ("station", "two stations", True),
        ("charged", "let chars = 2", False),
        ("charged", "charges", True),
        ("delivery", "delivered", True),
        ("answer", "answering", True),
        ("stopped", "def stop(order)", True),
        ("stopping", "orderStops", True),
        ("cities", "the city", True),
        ("rows", "row = 1", True),
        ("row", "rowCount, rows", True),
        ("row", "a rowboat", False),
        ("taxes", "tax_of(x)", True),
        ("cities", "cite = explicit", False),
        ("went", "where it goes", True),
        ("indices", "the index of", True),
        ("серверами", "все серверы", True),
    ],
)
def test_a_word_is_not_found_in_one_that_only_begins_like_it(
    word: str, text: str, *, is_in: bool
) -> None:
    """A word was cut by three letters whatever they were."""
    assert any(TaskWords(word).count(text).counts) is is_in


def test_the_texts_with_most_of_the_words_come_first() -> None:
    texts = {f"{n}.md": "bread" for n in range(60)} | {"rye.md": "bread of rye"}

    ranked, _ = FoldedTexts(texts).ranked(TaskWords("rye bread"))

    assert ranked[0][0] == "rye.md"
    assert len(ranked) < len(texts)
