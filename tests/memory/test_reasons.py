"""Why a memory replaced another: found by its words, shown as that, counting half."""

from __future__ import annotations

from pathlib import Path

import apsw
import pytest

from hivemind_memory.access.rules import Caller
from hivemind_memory.index.sqlite import schema
from tests.support.sandbox import Sandbox, ask, paths

REASON = "superseded by NATS"


def memory_note(text: str, *, key: str = "queue", reason: str = REASON) -> str:
    said = f"reason: {reason}\n" if reason else ""
    return f"---\ntype: decision\nkey: {key}\nid: 01JDK3R8Z6\n{said}---\n{text}\n"


def test_a_memory_is_found_by_the_reason_for_which_it_replaced_another(
    tmp_path: Path,
) -> None:
    """And the hit says that it is the reason, which is neither a heading nor text."""
    sandbox = Sandbox(tmp_path / "home")
    sandbox.save("queue.md", memory_note("Messages go through the broker."))
    sandbox.save("other.md", "# Lunch\n\nAt noon.\n")

    with sandbox.memory() as memory:
        [hit] = ask(memory, "nats").hits
        [by_text] = ask(memory, "broker").hits

    assert (hit.path, hit.reason, hit.headings) == ("queue.md", REASON, ())
    assert "NATS" not in hit.snippet.partition("---\n")[2].partition("---\n")[2]
    assert by_text.reason == ""


def test_a_word_in_a_reason_counts_less_than_one_in_the_text(tmp_path: Path) -> None:
    """What is about the thing comes before what once gave way to it."""
    sandbox = Sandbox(tmp_path / "home")
    sandbox.save("a.md", memory_note("Messages go through a broker.", key="a"))
    sandbox.save("b.md", memory_note("Messages go through NATS.", key="b", reason=""))

    with sandbox.memory() as memory:
        answer = ask(memory, "nats")

    assert paths(answer) == ["b.md", "a.md"]
    assert answer.hits[0].score > answer.hits[1].score


def test_a_long_memory_is_found_once_by_its_reason(tmp_path: Path) -> None:
    """Not once for each of its chunks."""
    sandbox = Sandbox(tmp_path / "home")
    parts = "\n\n".join(f"## Part {n}\n\n{'word ' * 40}" for n in range(6))
    sandbox.save("queue.md", memory_note(parts))

    with sandbox.memory() as memory:
        assert len(ask(memory, "nats").hits) == 1


@pytest.mark.parametrize(
    ("reason", "question"),
    [
        ("换成了消息队列", "消息队列"),
        ("replaced by myNewBroker", "broker"),
        ("see [[a-b]]: it's over", "over"),
        ("two  words", "words"),
    ],
)
def test_a_reason_is_searched_like_text(
    tmp_path: Path, reason: str, question: str
) -> None:
    """In any script, and by the parts of a name."""
    sandbox = Sandbox(tmp_path / "home")
    sandbox.save("queue.md", memory_note("Elsewhere.", reason=f"{reason!r}"))

    with sandbox.memory() as memory:
        [hit] = ask(memory, question).hits

    assert hit.reason == " ".join(reason.split())


def test_a_secret_in_a_reason_is_neither_found_nor_shown(tmp_path: Path) -> None:
    """It is masked with the rest of the note."""
    token = "ghp_" + "a1B2c3D4e5" * 3 + "F6g7H8"
    sandbox = Sandbox(tmp_path / "home")
    sandbox.save("queue.md", memory_note("Here.", reason=f"rotated {token} today"))

    with sandbox.memory() as memory:
        [hit] = ask(memory, "rotated today").hits
        by_token = ask(memory, token).hits

    assert token not in hit.reason
    assert all(token not in one.reason for one in by_token)


def test_hidden_reasons_change_no_score_of_a_limited_caller(tmp_path: Path) -> None:
    """Their words and lengths are not counted for whom they are not there."""
    scores = []
    for name, hidden in (("full", 9), ("part", 0)):
        sandbox = Sandbox(tmp_path / name)
        sandbox.save("teams/a/a.md", memory_note("Messages via a broker.", key="a"))
        text = memory_note("NATS and lunch.", key="b", reason="nats lunch")
        sandbox.save("teams/a/b.md", text)
        for number in range(hidden):
            text = memory_note("hidden", key=f"k{number}", reason="nats " * number)
            sandbox.save(f"teams/red/{number}.md", text)
        caller = Caller(teams=("teams/a",), is_root=False)
        with sandbox.memory() as owner, owner.as_caller(caller) as memory:
            answer = ask(memory, "nats lunch", should_explain=True)
        scores.append([(hit.path, hit.score, hit.parts) for hit in answer.hits])

    assert len(scores[0]) == 2
    assert scores[0] == scores[1]


def test_an_index_without_reasons_is_read_again(tmp_path: Path) -> None:
    """One of an earlier version finds the reason after its first search."""
    sandbox = Sandbox(tmp_path / "home")
    sandbox.save("queue.md", memory_note("Messages go through the broker."))
    with sandbox.memory() as memory:
        memory.sync()
    index_file = str(sandbox.places.index_file)
    old = apsw.Connection(index_file)
    kept = old.execute(
        "SELECT path, mtime, ctime, size, inode, hash FROM files"
    ).fetchall()
    old.close()
    Path(index_file).unlink()
    old = apsw.Connection(index_file)
    for sql, _ in schema._STEPS[:3]:
        old.execute(sql)
    old.pragma("user_version", 3)
    old.executemany(
        """
        INSERT INTO files(path, mtime, ctime, size, inode, hash, is_settled,
          chunk_count, state)
        VALUES (?, ?, ?, ?, ?, ?, 1, 0, 0)
        """,
        kept,
    )
    old.close()

    with sandbox.memory() as memory:
        answer = ask(memory, "nats")

    assert paths(answer) == ["queue.md"]
    assert answer.hits[0].reason == REASON
