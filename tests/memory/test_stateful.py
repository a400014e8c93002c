"""The invariant above all others: after any history the index equals a new one."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

from tests.support.history_model import Histories
from tests.support.tiers import examples

# Longer runs: python -m benchmarks.stateful --steps 1000000
Histories.TestCase.settings = settings(
    max_examples=examples(25),
    stateful_step_count=25,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    print_blob=True,
)
TestTheIndexEqualsARebuildAfterAnyHistory = Histories.TestCase
