"""docs/promises.md names a proof for each promise, and leaves out no proof."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from benchmarks.faults import FAULTS
from tests.support.tree import project_files

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "promises.md").read_text(encoding="utf-8")

_ROW = re.compile(r"^\| (?!promise |---)(.+?) \| (.+?) \|$", re.MULTILINE)
_FILE = re.compile(r"`((?:tests|benchmarks)/[\w/]+\.py)`")
_CI_STEP = re.compile(r"\bprove (\w+)")


def test_every_promise_names_proofs_that_exist() -> None:
    """A file of tests that is deleted takes its promise with it: that must be seen.

    So must one that is emptied. Which of its tests prove the promise is not checked.
    """
    rows = _ROW.findall(PAGE)
    assert len(rows) > 30

    for promise, proofs in rows:
        files = _FILE.findall(proofs)
        assert files, promise
        assert [name for name in files if not proves_something(name)] == [], promise


def proves_something(name: str) -> bool:
    """Whether a file is there and, if it is of tests, has a test."""
    path = ROOT / name
    if not path.is_file():
        return False
    text = path.read_text(encoding="utf-8")
    has_test = re.search(r"\bdef test_|^Test\w+ = ", text, re.MULTILINE)
    return has_test is not None or name.startswith("benchmarks/")


def test_every_rig_is_the_proof_of_a_promise() -> None:
    """A program that ends with 1 if something is wrong proves something: say what."""
    named = set(_FILE.findall(PAGE))
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    rigs = {f"benchmarks/{name}.py" for name in _CI_STEP.findall(script)}
    for name in project_files():
        if name.parts[0] == "benchmarks" and name.suffix == ".py":
            text = (ROOT / name).read_text(encoding="utf-8")
            if re.search(r"(Exits|exits|Ends|ends) (with )?1 if", text):
                rigs.add(name.as_posix())

    assert len(rigs) > 15
    assert sorted(rigs - named) == []


def test_the_page_says_which_programs_no_fault_has_proved() -> None:
    """Whoever reads a table trusts each program alike, unless the page says more."""
    rows = {name for _, cell in _ROW.findall(PAGE) for name in _FILE.findall(cell)}
    programs = {name for name in rows if name.startswith("benchmarks/")}
    proved = {f"benchmarks/{fault.rig.split()[0]}.py" for fault in FAULTS}
    unproved = PAGE[PAGE.index("run by hand") : PAGE.index("## Notes are never lost")]

    assert set(_FILE.findall(unproved)) == programs - proved


def test_every_rig_of_the_gate_has_a_planted_fault() -> None:
    """A rig that has never been seen to fail proves nothing."""
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    rigs = set(_CI_STEP.findall(script)) - {"planted_faults"}
    proved = {fault.rig.split()[0] for fault in FAULTS}

    assert len(rigs) > 12
    assert rigs >= set(re.findall(r"\bprove (\w+)", script)) - {"planted_faults"}
    assert sorted(rigs - proved) == []


def test_every_planted_fault_uses_names_that_its_module_has(tmp_path: Path) -> None:
    """Two had been renamed: those faults fell over, and proved nothing."""
    for number, fault in enumerate(FAULTS):
        sound = (ROOT / "hivemind_memory" / fault.module).read_text(encoding="utf-8")
        (tmp_path / f"{number}.py").write_text(f"{sound}\n{fault.code}", "utf-8")

    checked = subprocess.run(
        [sys.executable, "-m", "ruff", "check", "--isolated", "--select", "F821", "."],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )

    assert (checked.returncode, checked.stdout) == (0, "All checks passed!\n")
