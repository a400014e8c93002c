"""Questions that once went wrong."""

from __future__ import annotations

from pathlib import Path
from unittest import mock

from hivemind_memory.index.sqlite.vocabulary import SqliteVocabulary
from hivemind_memory.memory.unknown_words import MAX_WHOLE_READS
from tests.support.sandbox import Sandbox, ask


def test_a_lone_combining_mark_in_a_note_breaks_no_suggestion(tmp_path: Path) -> None:
    """It folds to an empty token, which the vocabulary told as no text at all."""
    sandbox = Sandbox(tmp_path)
    sandbox.save("odd.md", "a mark \u0301 alone, and a harbour")

    with sandbox.memory() as memory:
        corrected, answer = ask(memory, "harbuor"), ask(memory, "hrbuor")

    assert corrected.hits
    assert answer.report.suggestions == ("harbour",)


def test_a_question_of_many_unknown_words_reads_the_vocabulary_a_few_times_only(
    tmp_path: Path,
) -> None:
    """Sixty unknown words took a fifth of a second."""
    sandbox = Sandbox(tmp_path)
    sandbox.save("a.md", "postgres listens here")

    with (
        mock.patch.object(
            SqliteVocabulary, "longer_words", autospec=True, return_value=[]
        ) as whole_reads,
        sandbox.memory() as memory,
    ):
        answer = ask(memory, " ".join(f"q{n}gres" for n in range(60)))

    assert not answer.hits
    assert 1 <= whole_reads.call_count <= MAX_WHOLE_READS
