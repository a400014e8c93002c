"""What ``pip install hivemind-memory`` brings with it, as pip has installed it here."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

OWN = "hivemind-memory"
MAX_MIB = 48
"""Bound on the libraries of the base, without bytecode. With bytecode, pip and what is
ours, a fresh virtual environment stays well below 105 MiB then."""


def base_libraries() -> set[str]:
    """Return what the base needs, and what that needs itself, without any extra."""
    found: set[str] = set()
    left = [(OWN, frozenset({""}))]
    while left:
        name, extras = left.pop()
        found.add(name)
        for line in distribution(name).requires or ():
            needed = Requirement(line)
            wanted = (canonicalize_name(needed.name), frozenset({"", *needed.extras}))
            if needed.marker is None or any(
                needed.marker.evaluate({"extra": extra}) for extra in extras
            ):
                is_new = wanted[0] not in found or needed.extras
                left += [wanted] if is_new else []
    return found - {OWN}


def disk_bytes(name: str) -> int:
    """Return how much of the disk the files of a library take, without bytecode."""
    files = distribution(name).files
    assert files, f"{name} has no list of files"
    paths = [Path(str(file.locate())) for file in files if file.suffix != ".pyc"]
    return sum(path.stat().st_blocks * 512 for path in paths)


def test_a_base_installation_stays_small() -> None:
    """rich and Pygments, 12.7 MiB with their bytecode, colored a few words."""
    sizes = {name: disk_bytes(name) / 2**20 for name in base_libraries()}

    assert {"mcp", "apsw", "pydantic-core", "cryptography"} <= sizes.keys()
    assert sum(sizes.values()) < MAX_MIB, sorted(sizes.items(), key=lambda one: -one[1])


def test_the_base_brings_no_library_of_an_extra() -> None:
    """A memory without vectors needs neither simsimd nor a client of a provider."""
    optional = {"simsimd", "ollama", "openai", "tenacity", "httpx", "keyring"}
    for name in optional:
        try:
            distribution(name)
        except PackageNotFoundError as error:
            message = f"{name} is not installed, so this proves nothing"
            raise AssertionError(message) from error

    assert base_libraries().isdisjoint(optional | {"rich", "pygments", "typer"})
