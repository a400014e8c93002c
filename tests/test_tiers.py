"""The usual run leaves tests out, says so, and a thorough run makes up for all."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.tiers import is_drawn

ROOT = Path(__file__).parents[1]
FILES = {
    "conftest.py": """
from tests.support import tiers
def pytest_addoption(parser): tiers.add_option(parser)
def pytest_configure(config): tiers.configure(config)
""",
    "pytest.ini": """
[pytest]
markers =
    sampled
    thorough
""",
    "test_all.py": """
import atexit, pathlib, pytest
from hypothesis import given, settings, strategies as st
from tests.support.tiers import examples, mostly_thorough, part

TRIED = []

def note(name):
    with open(pathlib.Path(__file__).with_name("tried"), "a") as file:
        file.write(name + "\\n")

def test_quick(): note("quick")

@pytest.mark.thorough
def test_long(): note("long")

@pytest.mark.parametrize("number", mostly_thorough(range(10), every=5))
def test_matrix(number): note("matrix")

@pytest.mark.sampled
@pytest.mark.parametrize("place", [0, 1])
def test_sampled(place):
    for one in part(range(10), place): note(f"sampled {one}")

@settings(max_examples=examples(200), database=None, derandomize=True)
@given(st.integers())
def test_property(number): note("property")

@given(st.integers())
def test_property_without_a_number(number): note("usual property")
""",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A small suite with a test of each kind."""
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def run(folder: Path, *words: str) -> tuple[str, list[str]]:
    """Run its tests; return what pytest said, and what was tried."""
    environ = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",  # they take a second to load
    }
    for name in ("PYTEST_ADDOPTS", "PYTEST_XDIST_WORKER", "PYTEST_XDIST_TESTRUNUID"):
        environ.pop(name, None)
    done = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-p", "no:cacheprovider"),
            *("-p", "xdist", "-p", "_hypothesis_pytestplugin"),
            *words,
        ],
        cwd=folder,
        env=environ,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    tried = folder / "tried"
    names = tried.read_text(encoding="utf-8").splitlines()
    tried.unlink()
    return done.stdout, names


@pytest.mark.parametrize("words", [(), ("-n", "2")], ids=["one process", "two"])
def test_the_usual_run_says_at_its_start_what_it_leaves_out(
    folder: Path, words: tuple[str, ...]
) -> None:
    """Nobody looks for a test that is left out in silence."""
    said, tried = run(folder, *words)

    told = re.search(
        r"^Left out: 9 tests .* 4 others.* --thorough$", said, re.MULTILINE
    )
    assert told is not None, said
    assert told.end() < said.index("%]"), said
    assert said.count("Left out") == 1
    assert "long" not in tried
    assert tried.count("quick") == 1
    assert tried.count("matrix") == 2
    assert sorted(one for one in tried if one.startswith("sampled")) == [
        *("sampled 0", "sampled 1", "sampled 5", "sampled 6"),
    ]
    assert 10 <= tried.count("property") <= 20
    assert 0 < tried.count("usual property") <= 10


def test_a_thorough_run_tries_all_of_what_the_usual_one_leaves_out(
    folder: Path,
) -> None:
    """Both together try every case, and the quick tests are not run twice."""
    said, tried = run(folder, "--thorough")

    assert "Left out" not in said
    assert "quick" not in tried
    assert tried.count("long") == 1
    assert tried.count("matrix") == 8
    for number in range(10):
        assert tried.count(f"sampled {number}") == 2
    assert tried.count("property") == 200
    assert tried.count("usual property") == 100


def test_a_draw_runs_a_part_of_what_is_left_out(folder: Path) -> None:
    """The gate has no time for all of it; commit after commit runs it all."""
    _, everything = run(folder, "--thorough")
    _, drawn = run(folder, "--thorough", "--draw", "the last commit")

    assert 0 < len({*drawn}) < len({*everything})
    names = [f"tests/test_{number}.py::test" for number in range(300)]
    draws = [{n for n in names if is_drawn(n, f"{draw}")} for draw in range(160)]
    assert all(8 < len(found) < 50 for found in draws)
    assert set().union(*draws) == set(names)


def test_the_gate_and_the_check_before_a_push_do_both() -> None:
    """A test that nothing runs is none."""
    for name, step in (
        (".ci/run", r"^step .* what_it_leaves_out$"),
        ("scripts/check", r'^step .* thorough "\$@"$'),
    ):
        script = (ROOT / name).read_text(encoding="utf-8")

        assert re.search(step, script, re.MULTILINE), name
        assert "--thorough" in script, name
