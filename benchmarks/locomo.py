"""Ask the questions of LoCoMo, and print which sessions are found.

    python -m benchmarks.locomo locomo10.json
    python -m benchmarks.locomo locomo10.json --provider ollama --embedding-url URL

The file is not part of this repository: https://github.com/snap-research/locomo has it.
Each of its conversations is a memory of its own. Photos are the captions that the file
has. Questions without evidence are left out. What is printed: ``benchmarks/dialogues``.

Source:
    Maharana and others: Evaluating very long-term conversational memory of LLM agents,
    ACL 2024.
"""

from __future__ import annotations

import datetime as dt
import json
import re
from itertools import count
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

CATEGORIES = {
    1: "multi-hop",
    2: "temporal",
    3: "open-domain",
    4: "single-hop",
    5: "adversarial",
}
TOTALS = {
    "all but adversarial": [CATEGORIES[number] for number in range(1, 5)],
    "all": list(CATEGORIES.values()),
}
DATE_TIME = "%I:%M %p on %d %B, %Y"
TURN = re.compile(r"D:?(\d+):\d+")
"""The id of a turn; some pieces of evidence have several, or a colon too many."""


def dialogues_of(samples: Sequence[dict[str, Any]]) -> Iterator[Dialogue]:
    """Yield the conversations of a file."""
    for sample in samples:
        sessions = list(_sessions(sample["conversation"]))
        known = {session.id for session in sessions}
        questions = []
        for asked in sample["qa"]:
            turns = TURN.findall(" ".join(map(str, asked.get("evidence", ()))))
            evidence = known & {str(int(number)) for number in turns}
            if evidence:
                question = DialogueQuestion(
                    text=str(asked["question"]),
                    category=CATEGORIES[asked["category"]],
                    evidence=frozenset(evidence),
                )
                questions.append(question)
        yield Dialogue(sessions=sessions, questions=questions)


def _sessions(conversation: dict[str, Any]) -> Iterator[Session]:
    """Yield the sessions of one conversation; some have a time and no turns."""
    for number in count(1):
        at = conversation.get(f"session_{number}_date_time")
        turns = conversation.get(f"session_{number}")
        if at is None and turns is None:
            return
        if at and turns:
            yield Session(
                id=str(number),
                at=dt.datetime.strptime(at, DATE_TIME).astimezone(),
                turns=[(turn["speaker"], _text_of(turn)) for turn in turns],
            )


def _text_of(turn: dict[str, Any]) -> str:
    """Return what was said, and what a shared photo shows."""
    caption = turn.get("blip_caption")
    return f"{turn['text']} [photo: {caption}]" if caption else str(turn["text"])


def main() -> None:
    """Ask, score, print."""
    options = parser_of(__doc__, "locomo10.json").parse_args()
    forget_settings()
    samples = json.loads(options.file.read_text(encoding="utf-8"))[: options.limit]
    asked = Asked(settings=embedding_settings(options))
    scores, modes = ask_dialogues(dialogues_of(samples), asked)
    print(scores_table(scores, TOTALS))
    print(f"\n{modes}")


if __name__ == "__main__":
    main()
