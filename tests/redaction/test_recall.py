"""Secrets of some eighty kinds are found; what only looks like one is left alone."""

from __future__ import annotations

from collections import Counter

import pytest

from hivemind_memory.redaction import find_secrets, scrub
from tests.redaction.harmless import made_lines, own_lines
from tests.redaction.samples import Sample, is_left, samples
from tests.support.tiers import examples

EACH = examples(25)


def missed(seed: int) -> list[Sample]:
    """The samples of which something is left."""
    return [
        sample
        for sample in samples(seed, EACH)
        if is_left(sample.secret, scrub(sample.text, sample.known).text)
    ]


def alarms_of(lines: list[str]) -> list[str]:
    """The lines in which a secret is seen; each text is read once."""
    is_alarm = {line: bool(find_secrets(line)) for line in set(lines)}
    return [line for line in lines if is_alarm[line]]


@pytest.mark.sampled
def test_secrets_of_forty_kinds_and_more_are_found_in_what_people_write() -> None:
    """Each is written into prose, configuration, code, tables and addresses."""
    kinds = Counter(sample.kind for sample in samples(seed=1, each=EACH))

    left = Counter(sample.kind for sample in missed(seed=1))

    assert len(kinds) >= 40
    assert set(kinds.values()) == {EACH}
    assert left.total() <= 0.02 * kinds.total(), left
    assert all(count <= 2 for count in left.values()), left


def test_what_is_replaced_leaves_no_long_piece_and_all_line_ends() -> None:
    """A search shows line numbers; a scrubbed note must not move them."""
    for sample in samples(seed=2, each=4):
        scrubbed = scrub(sample.text, sample.known)

        assert scrubbed.text.count("\n") == sample.text.count("\n")
        assert scrub(scrubbed.text, sample.known).text == scrubbed.text
        assert len(scrubbed.found) >= 1, sample


@pytest.mark.thorough
def test_ten_thousand_harmless_lines_raise_at_most_ten_alarms() -> None:
    """Hashes, ids, lock files, pictures, examples and code are the daily bread."""
    alarms = alarms_of(list(made_lines(seed=1)))

    assert len(alarms) <= 10, alarms[:20]


@pytest.mark.thorough
def test_the_sources_and_documents_of_this_project_raise_no_alarm() -> None:
    """Tens of thousands of lines about tokens, keys and passwords."""
    lines = list(own_lines())

    alarms = alarms_of(lines)

    assert len(lines) > 10_000
    assert len(alarms) <= len(lines) // 10_000, alarms[:20]
