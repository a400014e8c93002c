"""What a planted fault is."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One way to break the program, and the rig that has to notice."""

    name: str
    rig: str
    """Module of ``benchmarks`` and its arguments."""

    module: str
    """File of the package, to the end of which the code is appended."""

    code: str
    says: str
    """Expression that the rig's output has to match."""
