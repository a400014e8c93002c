"""The contract of memory-plugin v1, asked by a program that is not ours."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.http_api.served import serving

CONTRACT = Path(__file__).parents[2] / "fixtures" / "memory_plugin_v1.yaml"
EXAMPLES = os.environ.get("CONTRACT_EXAMPLES", "5")


@pytest.mark.thorough
def test_schemathesis_finds_no_answer_that_is_not_in_the_contract(home: Path) -> None:
    """Bodies that fit are taken, others are refused, and none breaks the server."""
    with serving("--plugin") as served:
        done = subprocess.run(
            [
                *(sys.executable, "-m", "schemathesis.cli", "run", str(CONTRACT)),
                *("--url", served.url, "--header"),
                *(f"Authorization: Bearer {served.token}", "--no-color"),
                *("--max-examples", EXAMPLES, "--seed", "1"),
                # Of a busy machine, 503 is in the contract, and 500 is not.
                *("--exclude-checks", "not_a_server_error"),
            ],
            cwd=home,
            capture_output=True,
            text=True,
            check=False,
        )
        assert served.process.poll() is None

    assert done.returncode == 0, done.stdout.partition("= FAILURES =")[2][:4000]
    assert "Selected: 7/7" in done.stdout


def test_the_contract_names_what_the_server_has() -> None:
    """Each of its paths is a route, and each route one of its paths."""
    from hivemind_memory.http_api.route_groups import plugin_groups

    contract = yaml.safe_load(CONTRACT.read_text(encoding="utf-8"))
    described = {
        (method.upper(), path)
        for path, methods in contract["paths"].items()
        for method in methods
        if method != "parameters"
    }

    assert described == {
        (route.method, route.path)
        for group in plugin_groups()
        for route in group.routes
    }
