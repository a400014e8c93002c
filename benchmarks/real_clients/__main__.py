"""Run real clients against `hm mcp` and real agents with an injected section.

    python -m benchmarks.real_clients --clients FOLDER
    python -m benchmarks.real_clients --clients FOLDER --only claude
    python -m benchmarks.real_clients --clients FOLDER --prove-checks
    python -m benchmarks.real_clients --clients FOLDER --hm HM --starts 20

FOLDER is where they were installed with npm, and aider in a virtual environment:

    npm install node@24 @anthropic-ai/claude-code@2.1.330 @openai/codex@0.169.0 \\
        @google/gemini-cli@0.61.0 opencode-ai@1.18.33 @qwen-code/qwen-code@0.24.4 \\
        mcporter@0.12.3 @wong2/mcp-cli@2.0.0 @modelcontextprotocol/inspector@2.12.0 \\
        @modelcontextprotocol/conformance@0.2.0-alpha.12
    python -m venv aider && aider/bin/pip install aider-chat==0.86.2 skills-ref==0.1.1

Each check has a home, notes, a repository and servers of its own, and no client needs
the network or a key: the agents' model is a script on loopback. One line for each check
(ok, FAILED, or skipped and why), then a count; exits 1 if one failed. With
``--prove-checks`` the checks are checked: with /bin/false in the server's place each
that needs the server must fail; with a web server that says `{}` to everything, each
over HTTP; and with /bin/true as `hm`, which injects and connects nothing, each that
looks for what was injected or connected. With ``--starts N`` nothing is checked: Claude
Code, Codex and Qwen Code are started N times each on a busy machine, and it is counted
how often their first request holds our tools; exits 1 if one did not. Claude Code is
started with ``-p``, and in a terminal without and with our hooks; without them, it is
counted only. Qwen Code is started without and with its interface.
"""

from __future__ import annotations

import argparse
import shlex
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from benchmarks.real_clients import (
    agents,
    captures,
    conformance,
    connect,
    first_requests,
    folders,
    hooks,
    inspectors,
    pane,
    registration,
    skills,
)
from benchmarks.real_clients.check import FAILED, OK, SKIPPED, Check, Outcome, outcomes
from benchmarks.real_clients.scratch import Setting, source_hm

DEAD = "/bin/false"
IDLE = "/bin/true"


def all_checks() -> list[Check]:
    """Return every check, the quick ones first."""
    modules = (
        registration,
        connect,
        inspectors,
        conformance,
        agents,
        folders,
        pane,
        hooks,
        captures,
        skills,
    )
    return [check for module in modules for check in module.checks()]


def folders_of(clients: Path | None) -> tuple[Path, ...]:
    """Return the folders below *clients* that hold programs."""
    if clients is None:
        return ()
    folder = clients.resolve()
    return (folder / "node_modules" / ".bin", *sorted(folder.glob("*/bin")))


def proofs(chosen: list[Check], setting: Setting) -> Iterator[Outcome]:
    """Run checks that must fail; turn what they say round."""
    for what, checks, broken in (
        (
            f"with {DEAD} as the server",
            [one for one in chosen if one.needs_server],
            replace(setting, server=(DEAD,)),
        ),
        (
            "with a mute web server",
            [one for one in chosen if one.needs_http],
            replace(setting, is_mute=True),
        ),
        (
            f"with {IDLE} as hm",
            [one for one in chosen if one.needs_hm],
            replace(setting, hm=(IDLE,)),
        ),
    ):
        for outcome in outcomes(checks, broken):
            said = f"said {outcome.verdict}: {outcome.said}"
            verdict = {FAILED: OK, OK: FAILED}.get(outcome.verdict, outcome.verdict)
            name = f"{what}: {outcome.name}"
            yield replace(outcome, name=name, verdict=verdict, said=said)


def main() -> int:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--clients", type=Path, help="folder in which they are")
    parser.add_argument("--only", default="", help="checks whose name holds this")
    parser.add_argument("--hm", default="", help="the hm to test; else the source")
    parser.add_argument("--server", default="", help="program in the server's place")
    parser.add_argument("--prove-checks", action="store_true")
    parser.add_argument("--starts", type=int, default=0, help="count first requests")
    parser.add_argument("--list", action="store_true", help="name the checks only")
    given = parser.parse_args()
    chosen = [one for one in all_checks() if given.only in one.name]
    if given.list or not (chosen or given.starts):
        print("\n".join(one.name for one in chosen) or "no such check")
        return 0 if chosen else 2
    setting = Setting(
        hm=tuple(shlex.split(given.hm)) or source_hm(),
        server=tuple(shlex.split(given.server)),
        folders=folders_of(given.clients),
    )
    if given.starts:
        return _count_first_requests(setting, given.starts, given.only)
    verdicts = Counter[str]()
    run = proofs if given.prove_checks else outcomes
    for outcome in run(chosen, setting):
        verdicts[outcome.verdict] += 1
        print(outcome, flush=True)
    print(", ".join(f"{verdicts[one]} {one}" for one in (OK, FAILED, SKIPPED)))
    return 1 if verdicts[FAILED] else 0


def _count_first_requests(setting: Setting, starts: int, only: str) -> int:
    """Print how often the first request holds our tools; return the exit code."""
    is_good = True
    for is_always, line in first_requests.lines(setting, starts, only):
        is_good &= is_always
        print(line, flush=True)
    return 0 if is_good else 1


if __name__ == "__main__":
    sys.exit(main())
