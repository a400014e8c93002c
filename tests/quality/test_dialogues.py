"""Public benchmark files are read as they are, and sessions ranked by their hits."""

from __future__ import annotations

from pathlib import Path

from benchmarks import locomo, longmemeval
from benchmarks.asking import Asked
from benchmarks.dialogues import (
    Session,
    ask_dialogues,
    scores_table,
    session_scores,
    write_sessions,
)

PAINTING = "I painted the lighthouse at dawn, in oil."
LOCOMO = [
    {
        "sample_id": "one",
        "conversation": {
            "speaker_a": "Ann",
            "speaker_b": "Ben",
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": [
                {"speaker": "Ann", "dia_id": "D1:1", "text": PAINTING},
                {"speaker": "Ben", "dia_id": "D1:2", "text": "How nice."},
            ],
            "session_2_date_time": "9:05 am on 12 June, 2023",
            "session_2": [
                {
                    "speaker": "Ben",
                    "dia_id": "D2:1",
                    "text": "Look at this.",
                    "blip_caption": "a photo of a kayak on a river",
                }
            ],
            "session_3_date_time": "9:05 am on 13 June, 2023",
        },
        "qa": [
            {"question": "Who painted at dawn?", "evidence": ["D1:1"], "category": 4},
            {
                "question": "Which boat was on the river?",
                "evidence": ["D:2:1; D1:1"],
                "category": 1,
            },
            {"question": "Does it end?", "evidence": [], "category": 5},
        ],
    }
]


def entry(name: str, answer: str) -> dict[str, object]:
    """A question of LongMemEval."""
    return {
        "question_id": name,
        "question_type": "multi-session",
        "question": "What did I paint last week?",
        "answer": "the lighthouse",
        "question_date": "2023/05/20 (Sat) 02:21",
        "haystack_session_ids": ["answer_1", "other"],
        "haystack_dates": ["2023/05/10 (Wed) 10:00", "2023/05/18 (Thu) 10:00"],
        "haystack_sessions": [
            [
                {"role": "user", "content": PAINTING, "has_answer": True},
                {"role": "assistant", "content": "# Oil\n\nA fine paint."},
            ],
            [{"role": "user", "content": "My boat needs a new engine."}],
        ],
        "answer_session_ids": [answer],
    }


def test_sessions_of_locomo_are_found() -> None:
    """Evidence names turns, in several spellings; captions are what a photo says."""
    scores, modes = ask_dialogues(locomo.dialogues_of(LOCOMO), Asked())

    assert scores["single-hop"] == [
        {"any@5": 1.0, "any@10": 1.0, "share@10": 1.0, "nDCG@10": 1.0}
    ]
    assert scores["multi-hop"][0]["share@10"] == 0.5  # no word of the other session
    assert "adversarial" not in scores  # nothing answers it
    assert modes == "2 keyword"
    shown = scores_table(scores, locomo.TOTALS)
    assert "| **all**                 | 2 " in shown
    assert "0.750 [0.500, 1.000]" in shown


def test_sessions_of_longmemeval_are_found() -> None:
    """Every question has a memory of its own; abstention has a row of its own."""
    entries = [entry("q1", "answer_1"), entry("q2_abs", "other")]

    scores, _ = ask_dialogues(longmemeval.dialogues_of(entries), Asked())

    assert scores["multi-session"][0]["any@5"] == 1.0
    assert scores[longmemeval.ABSTENTION][0] == session_scores(
        ["answer_1"], frozenset({"other"})
    )


def test_a_turn_of_many_lines_is_one_list_item(tmp_path: Path) -> None:
    """A heading in what an assistant says begins no section of the note."""
    [dialogue] = longmemeval.dialogues_of([entry("q", "answer_1")])
    sessions: list[Session] = list(dialogue.sessions)

    session_of = write_sessions(tmp_path / "notes", sessions)

    assert session_of == {"2023-05-10-001.md": "answer_1", "2023-05-18-002.md": "other"}
    text = (tmp_path / "notes" / "2023-05-10-001.md").read_text(encoding="utf-8")
    assert text.splitlines()[2:] == [
        f"- user: {PAINTING}",
        "- assistant: # Oil",
        "  ",
        "  A fine paint.",
    ]
