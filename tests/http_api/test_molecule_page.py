"""The page for platforms shows what a server answers."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

from tests.http_api.served import add_token, serving
from tests.support.console import is_as_shown, steps_of

PAGE = Path(__file__).parents[2] / "docs" / "molecule.md"
SERVE = "hm serve --plugin --socket plugin.sock"
_DIFFERS = (
    (re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"), "UUID"),
    (re.compile(r'"created_at":"[^"]*"'), '"created_at":"TIME"'),
    (re.compile(r'"score":[0-9.]+'), '"score":SCORE'),
    (re.compile(r"(?<=127\.0\.0\.1:)\d+"), "8737"),
    (re.compile(r"token in .*"), "token in FILE"),
)


def alike(line: str) -> str:
    """Return a line without what differs from run to run."""
    for pattern, name in _DIFFERS:
        line = pattern.sub(name, line)
    return line


def test_the_page_shows_what_is_answered(home: Path) -> None:
    """Every command of it, in its order."""
    tree = {"memory": {"workspaces": {"web": {"parent": "office"}}}}
    (home / "config.json").write_text(json.dumps(tree), encoding="utf-8")
    with serving(*SERVE.split()[2:]) as served:
        environ = {**os.environ, "TOKEN": add_token("web", workspace="web")}
        for step in steps_of(PAGE.read_text(encoding="utf-8")):
            if step.command == SERVE:
                printed = "".join(served.announced)
            else:
                printed = subprocess.run(
                    [
                        "bash",
                        "-c",
                        step.command.replace("http://127.0.0.1:8737", served.url),
                    ],
                    cwd=home,
                    env=environ,
                    capture_output=True,
                    text=True,
                    check=True,
                ).stdout
            lines = [alike(line) for line in printed.rstrip("\n").split("\n")]
            shown = tuple(alike(line) for line in step.shown) or ("",)

            assert is_as_shown(lines, shown), "\n".join([step.command, *lines])
