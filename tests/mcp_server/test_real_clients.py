"""The quick ones of the real clients, where they are installed.

    HIVEMIND_CLIENTS=FOLDER python -m pytest tests/mcp_server/test_real_clients.py

All of them: `python -m benchmarks.real_clients --clients FOLDER`.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from benchmarks.real_clients.__main__ import all_checks, folders_of, proofs
from benchmarks.real_clients.check import FAILED, OK, Check, outcomes
from benchmarks.real_clients.scratch import Setting, source_hm

QUICK = [check for check in all_checks() if check.is_quick]


@pytest.fixture
def setting() -> Setting:
    """The source tree as ``hm``, and clients from the environment or the path."""
    clients = os.environ.get("HIVEMIND_CLIENTS")
    folders = folders_of(Path(clients)) if clients else ()
    return Setting(hm=source_hm(), folders=folders)


@pytest.mark.thorough
@pytest.mark.parametrize("check", QUICK, ids=lambda one: one.name)
def test_a_client_that_nobody_here_wrote_is_served(
    check: Check, setting: Setting
) -> None:
    """Our own client could share our misunderstandings; and the check can fail."""
    missing = [one for one in check.programs if setting.find(one) is None]
    if missing:
        pytest.skip(f"{', '.join(missing)} not installed (HIVEMIND_CLIENTS)")

    [outcome] = outcomes([check], setting)
    [proof] = proofs([check], setting)

    assert outcome.verdict == OK, outcome.said
    assert proof.verdict != FAILED, proof.said


def test_every_check_has_a_name_of_its_own() -> None:
    """``--only`` and a reader of the list tell them apart by it."""
    names = [check.name for check in all_checks()]

    assert len(names) == len(set(names)) > 30
