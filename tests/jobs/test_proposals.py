"""What is kept of a capture can be read by a later version."""

from __future__ import annotations

import json

from hivemind_memory.jobs.proposals import proposal_as_json, proposal_of_json
from hivemind_memory.model.capture import Proposal

PROPOSAL = Proposal(
    key="deploy-day",
    content="Deploys are on Mondays.",
    type="fact",
    confidence=0.5,
    start_line=3,
    end_line=4,
    is_global=True,
)


def test_a_kept_proposal_comes_back_as_it_was() -> None:
    assert proposal_of_json(proposal_as_json(PROPOSAL)) == PROPOSAL


def test_a_proposal_that_an_earlier_version_kept_is_read() -> None:
    """Capturing the session again failed with a ``TypeError`` each time."""
    row = {
        "key": "deploy-day",
        "content": "Deploys are on Mondays.",
        "type": "fact",
        "confidence": 0.5,
        "lines": [3, 4],
        "scope": "global",
    }

    assert proposal_of_json(json.dumps(row)) == PROPOSAL
