"""After any history of saving and forgetting the memory says what a model says."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

from tests.support.curation_model import TypedMemoryMachine
from tests.support.tiers import examples

# .ci/run goes further. Longer runs:
# python -m benchmarks.curating_stateful --steps 100000
TypedMemoryMachine.TestCase.settings = settings(
    max_examples=examples(4),
    stateful_step_count=30,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    print_blob=True,
)
TestTheMemorySaysWhatTheModelSays = TypedMemoryMachine.TestCase
