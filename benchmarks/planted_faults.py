"""Break the program on purpose: does every rig notice?

    python -m benchmarks.planted_faults
    python -m benchmarks.planted_faults --only kill_writes purge
    python -m benchmarks.planted_faults --per-rig 2 --draw "$(git rev-parse HEAD)"

A rig that finds nothing proves nothing until it has found something. For each rig of
``.ci/run`` ``faults`` has at least one fault: some lines that are appended to a module
in a copy of the project and take away what the rig should miss (a lock, a sync, a
journal). The rig must end with 1 and say what it should say. Exits 1 if a rig sees no
difference, if a fault no longer fits the code, or if a rig of ``.ci/run`` has no
fault.
"""

from __future__ import annotations

import argparse
import compileall
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from benchmarks.faults import FAULTS, Fault
from tests.support.tree import copy_project

ROOT = Path(__file__).parents[1]
PACKAGE = "hivemind_memory"
TIMEOUT_S = 240
_CI_STEP = re.compile(r"\bprove (\w+)")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", default=[], help="these rigs")
    parser.add_argument("--jobs", type=int, default=2, help="rigs run at once")
    parser.add_argument("--per-rig", type=int, default=0, help="at most; 0: all")
    parser.add_argument("--draw", default="", help="decides which of them")
    given = parser.parse_args()
    faults = [
        fault
        for fault in FAULTS
        if not given.only or fault.rig.split()[0] in given.only
    ]
    if given.per_rig:
        faults = drawn(faults, given.per_rig, given.draw)
    problems = [] if given.only else rigs_without_fault()
    with tempfile.TemporaryDirectory() as base:
        sound = compiled_copy(Path(base) / "sound")

        def tried(number: int) -> str:
            return try_fault(faults[number], sound, Path(base) / str(number))

        with ThreadPoolExecutor(given.jobs) as pool:
            problems += [
                found for found in pool.map(tried, range(len(faults))) if found
            ]
    for problem in problems:
        print(problem)
    print(f"{len(faults)} faults planted, {len(problems)} problems")
    return 1 if problems else 0


def drawn(faults: list[Fault], per_rig: int, draw: str) -> list[Fault]:
    """Return some faults of each rig: other ones for another text, in their order."""
    of_rig: dict[str, list[Fault]] = {}
    for fault in faults:
        of_rig.setdefault(fault.rig.split()[0], []).append(fault)
    number = random.Random(draw)
    chosen = {
        fault.name
        for some in of_rig.values()
        for fault in number.sample(some, min(per_rig, len(some)))
    }
    return [fault for fault in faults if fault.name in chosen]


def rigs_without_fault() -> list[str]:
    """Return what is missing: every rig of ``.ci/run`` has to be seen to fail."""
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    rigs = set(_CI_STEP.findall(script)) - {"planted_faults"}
    return [
        f"no fault is planted for {rig}"
        for rig in sorted(rigs - {fault.rig.split()[0] for fault in FAULTS})
    ]


def compiled_copy(folder: Path) -> Path:
    """Copy the project with its bytecode; return the copy.

    A rig starts hundreds of processes. Each would compile every module that it loads.
    """
    copy_project(folder)
    for name in (PACKAGE, "benchmarks", "tests/support"):
        compileall.compile_dir(folder / name, quiet=2)
    return folder


def try_fault(fault: Fault, sound: Path, folder: Path) -> str:
    """Plant a fault in a copy of the project; return what is wrong, or nothing.

    Args:
        fault: What to break.
        sound: A whole copy, see ``compiled_copy``, which stays as it is.
        folder: Where to make another one. It shares all files but the broken one.
    """
    shutil.copytree(sound, folder, copy_function=os.link)
    module = folder / PACKAGE / fault.module
    if not module.is_file():
        return f"{fault.name}: there is no {fault.module}"
    text = module.read_text(encoding="utf-8")
    module.unlink()
    # Its size is another one, so its bytecode is not used.
    module.write_text(f"{text}\n\n{fault.code}", encoding="utf-8")
    name = f"{PACKAGE}.{fault.module.removesuffix('.py').replace('/', '.')}"
    loaded = _run(folder, "-c", f"import {name}")
    if loaded.returncode:
        return (
            f"{fault.name}: it no longer fits {fault.module}:\n{loaded.stdout[-600:]}"
        )
    rig, *arguments = fault.rig.split()
    started_s = time.monotonic()
    try:
        ran = _run(folder, "-m", f"benchmarks.{rig}", *arguments)
    except subprocess.TimeoutExpired:
        return f"{fault.name}: {rig} did not end within {TIMEOUT_S} s"
    took_s = time.monotonic() - started_s
    if ran.returncode == 0:
        return (
            f"{fault.name}: {rig} saw nothing in {took_s:.0f} s:\n{ran.stdout[-600:]}"
        )
    if not re.search(fault.says, ran.stdout):
        return f"{fault.name}: {rig} failed for another reason:\n{ran.stdout[-2000:]}"
    print(f"{rig} noticed in {took_s:.0f} s: {fault.name}", flush=True)
    if os.environ.get("SHOW"):
        print(ran.stdout[-1500:])
    return ""


def _run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Python in a copy of the project, with the packages of this one."""
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        timeout=TIMEOUT_S,
        check=False,
    )


if __name__ == "__main__":
    sys.exit(main())
