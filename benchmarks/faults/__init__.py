"""Faults to plant in a copy of the project, each for the rig that has to notice.

``planted_faults`` plants them.
"""

from __future__ import annotations

from benchmarks.faults import (
    index,
    language_model,
    redaction,
    sections,
    servers,
    storage,
    transcripts,
)
from benchmarks.faults.fault import Fault

__all__ = ["FAULTS", "Fault"]

FAULTS = (
    *storage.FAULTS,
    *index.FAULTS,
    *servers.FAULTS,
    *sections.FAULTS,
    *transcripts.FAULTS,
    *language_model.FAULTS,
    *redaction.FAULTS,
)
