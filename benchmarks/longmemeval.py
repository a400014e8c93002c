"""Ask the questions of LongMemEval, and print which sessions are found.

    python -m benchmarks.longmemeval longmemeval_s_cleaned.json
    python -m benchmarks.longmemeval FILE --provider ollama --embedding-url URL

The file is not part of this repository: https://github.com/xiaowu0162/LongMemEval says
where it is. Each question has a history of its own, so each is a memory of its own, and
is asked at the time that the file says. Sessions are indexed whole, the turns of the
assistant too. What is printed: ``benchmarks/dialogues``; questions of abstention, whose
answer is in no session, have a row of their own, as in the paper.

Source:
    Wu and others: LongMemEval: Benchmarking chat assistants on long-term interactive
    memory, ICLR 2025.
"""

from __future__ import annotations

import datetime as dt
import json
import re
from typing import TYPE_CHECKING, Any

from benchmarks.asking import Asked
from benchmarks.dialogues import (
    Dialogue,
    DialogueQuestion,
    Session,
    ask_dialogues,
    parser_of,
    scores_table,
)
from benchmarks.place import forget_settings
from benchmarks.quality import embedding_settings

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

ABSTENTION = "abstention"
DAY = re.compile(r"(\d{4})/(\d\d)/(\d\d)\D*(\d\d):(\d\d)")
"""A time as the file has it: ``2023/05/20 (Sat) 02:21``."""


def dialogues_of(entries: Sequence[dict[str, Any]]) -> Iterator[Dialogue]:
    """Yield the questions of a file, each with its history."""
    for entry in entries:
        history = zip(
            entry["haystack_session_ids"],
            entry["haystack_dates"],
            entry["haystack_sessions"],
            strict=True,
        )
        sessions = [
            Session(
                id=session_id,
                at=_time_of(at),
                turns=[(turn["role"], turn["content"]) for turn in turns],
            )
            for session_id, at, turns in history
        ]
        is_abstention = entry["question_id"].endswith("_abs")
        evidence = frozenset(entry["answer_session_ids"])
        question = DialogueQuestion(
            text=entry["question"],
            category=ABSTENTION if is_abstention else entry["question_type"],
            evidence=evidence,
            at=_time_of(entry["question_date"]),
        )
        yield Dialogue(sessions=sessions, questions=[question] if evidence else [])


def _time_of(text: str) -> dt.datetime:
    """Return a time of the file.

    Raises:
        ValueError: It is not one.
    """
    found = DAY.match(text)
    if found is None:
        message = f"no time: {text!r}"
        raise ValueError(message)
    return dt.datetime(*map(int, found.groups())).astimezone()  # type: ignore[arg-type]


def main() -> None:
    """Ask, score, print."""
    options = parser_of(__doc__, "longmemeval_s_cleaned.json or another").parse_args()
    forget_settings()
    entries = json.loads(options.file.read_text(encoding="utf-8"))[: options.limit]
    asked = Asked(settings=embedding_settings(options))
    scores, modes = ask_dialogues(dialogues_of(entries), asked)
    answered = [category for category in scores if category != ABSTENTION]
    totals = {"all but abstention": answered, "all": list(scores)}
    print(scores_table(scores, totals))
    print(f"\n{modes}")


if __name__ == "__main__":
    main()
