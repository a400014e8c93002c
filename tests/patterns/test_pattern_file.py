"""Compiled patterns are kept for the next process, and find the same."""

from __future__ import annotations

import importlib
import os
import pkgutil
import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

import hivemind_memory
from hivemind_memory.patterns.lazy_pattern import LazyPattern
from hivemind_memory.patterns.pattern_file import PatternFile

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SOURCES = [
    (r"(?P<digit>[0-9])+(x)?", 0),
    (r"(?i)straße|[^\W\d_]{3,}|\u4e00", re.MULTILINE),
    (rb"(?m)^[+ ](\S*)", 0),
    (r"(?<!a)(?>b+)c*+|(?(1)d)()", re.ASCII | re.DOTALL),
]
_COUNT = """
import re._compiler as compiler
compiled = []
compile = compiler.compile
compiler.compile = lambda *given: (compiled.append(given[0]), compile(*given))[1]
from hivemind_memory.redaction import scrub
masked = scrub("The staging database uses the key deploy-day; password: Tr0ub4dor&3x")
print(len(compiled), masked)
"""


@pytest.fixture(autouse=True)
def _writes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have Python write byte code, whatever the tests are run with."""
    monkeypatch.setattr(sys, "dont_write_bytecode", False)


def kept(path: Path, sources: list[tuple[str | bytes, int]]) -> PatternFile:
    """Return a file that holds some patterns, as another process reads it."""
    first = PatternFile(str(path))
    for source, flags in sources:
        first.compile(source, flags)
    first.write()
    return PatternFile(str(path))


def refuse(*_: object) -> None:
    """Stand in for the compiler."""
    raise AssertionError


def all_lazy() -> list[LazyPattern]:
    """Return every pattern of the program that waits for its use."""
    modules = [
        importlib.import_module(found.name)
        for found in pkgutil.walk_packages(hivemind_memory.__path__, "hivemind_memory.")
    ]
    return [one for module in modules for one in lazy_in(vars(module))]


def lazy_in(value: object) -> Iterator[LazyPattern]:
    """Yield the patterns that a table holds."""
    if isinstance(value, LazyPattern):
        yield value
    elif isinstance(value, dict):
        for one in value.values():
            yield from lazy_in(one)
    elif isinstance(value, (list, tuple)):
        for one in value:
            yield from lazy_in(one)


def test_every_pattern_of_the_program_comes_back_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that found less would let a secret through."""
    real = [one.compiled() for one in all_lazy()]
    assert len(real) > 400
    sources = [(one.pattern, one.flags) for one in real]
    again = kept(tmp_path / "kept", sources)

    monkeypatch.setattr("re.compile", refuse)

    assert [again.compile(*one) for one in sources] == real


def test_a_kept_pattern_finds_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = [re.compile(*one) for one in SOURCES]
    again = kept(tmp_path / "kept", SOURCES)
    monkeypatch.setattr("re.compile", refuse)

    made = [again.compile(*one) for one in SOURCES]

    assert made == real
    assert [one.groupindex for one in made] == [one.groupindex for one in real]
    assert made[0].sub(r"<\g<digit>>", "a12") == "a<2>"
    [found] = made[0].finditer("12x")
    assert (found.lastgroup, found.lastindex) == (None, 2)


@pytest.mark.parametrize("at", [0, 40, -1, -40])
def test_a_damaged_file_is_not_used(tmp_path: Path, at: int) -> None:
    """A changed number could have a rule find nothing."""
    kept(tmp_path / "kept", SOURCES)
    data = bytearray((tmp_path / "kept").read_bytes())
    data[at] ^= 1
    (tmp_path / "kept").write_bytes(data)

    again = PatternFile(str(tmp_path / "kept"))

    assert [again.compile(*one) for one in SOURCES] == [
        re.compile(*one) for one in SOURCES
    ]


def test_a_damaged_pattern_is_not_written_again_as_a_sound_one(tmp_path: Path) -> None:
    """Its numbers got a new checksum when another pattern was added."""
    kept(tmp_path / "kept", [("z", 0)])
    data = (tmp_path / "kept").read_bytes()
    damaged = data.replace(b"z\0\0\0", b"y\0\0\0")
    assert damaged != data
    (tmp_path / "kept").write_bytes(damaged)

    kept(tmp_path / "kept", [("another", 0)])
    again = PatternFile(str(tmp_path / "kept"))

    assert again.compile("z", 0).search("z")


@pytest.mark.parametrize("kept_bytes", [0, 10, 120, 300, -3])
def test_half_a_file_is_not_used(tmp_path: Path, kept_bytes: int) -> None:
    """A disk that is full, or a machine that stopped, leaves one."""
    kept(tmp_path / "kept", SOURCES)
    data = (tmp_path / "kept").read_bytes()
    for size in (kept_bytes, len(sys.version) + abs(kept_bytes)):
        (tmp_path / "kept").write_bytes(data[:size])
        again = PatternFile(str(tmp_path / "kept"))

        assert [again.compile(*one) for one in SOURCES] == [
            re.compile(*one) for one in SOURCES
        ]


def test_another_python_does_not_read_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The numbers are those of one engine."""
    again = kept(tmp_path / "kept", SOURCES)

    monkeypatch.setattr(sys, "version", "3.99.0")

    assert again._read() == ({}, b"")


def test_what_the_engine_refuses_is_compiled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    again = kept(tmp_path / "kept", SOURCES)
    monkeypatch.setattr(
        "hivemind_memory.patterns.pattern_file._from_numbers", _raise_as_the_engine
    )

    assert again.compile(*SOURCES[0]) == re.compile(*SOURCES[0])


def _raise_as_the_engine(*_: object) -> None:
    message = "invalid SRE code"
    raise RuntimeError(message)


def test_what_two_processes_compile_is_kept(tmp_path: Path) -> None:
    kept(tmp_path / "kept", SOURCES[:2])
    again = kept(tmp_path / "kept", SOURCES[1:])

    assert len(again._read()[0]) == len(SOURCES)
    assert os.listdir(tmp_path) == ["kept"]


def test_nothing_is_written_where_python_writes_no_byte_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    kept(tmp_path / "kept", SOURCES)
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    kept(tmp_path / "missing" / "kept", SOURCES)

    assert os.listdir(tmp_path) == []


def test_a_file_that_grows_too_large_begins_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each version of the program adds its own, where the folder is never emptied."""
    monkeypatch.setattr("hivemind_memory.patterns.pattern_file.MAX_BYTES", 10)

    assert kept(tmp_path / "kept", SOURCES)._read() == ({}, b"")


def test_the_next_process_masks_the_same_without_compiling(tmp_path: Path) -> None:
    """A third of an injection's time went into compiling what the last one had."""
    environ = {**os.environ, "PYTHONPYCACHEPREFIX": str(tmp_path)}
    environ.pop("PYTHONDONTWRITEBYTECODE", None)

    first, second = (
        subprocess.run(
            [sys.executable, "-c", _COUNT],
            env=environ,
            capture_output=True,
            text=True,
            check=True,
        ).stdout.partition(" ")
        for _ in range(2)
    )

    assert int(first[0]) > 30
    assert int(second[0]) < 10
    assert second[2] == first[2]
    assert "Tr0ub4dor" not in first[2]
