"""The protocol's own conformance suite, against the server over HTTP.

The suite cannot send a token, so a pass-through on loopback adds it; what it passes on
is otherwise the same, Host and Origin included, byte for byte.
"""

from __future__ import annotations

import re
from functools import partial

from benchmarks.real_clients.check import Check, FailedError, tail
from benchmarks.real_clients.proxy import forwarding
from benchmarks.real_clients.scratch import Scratch

SCENARIOS = (
    "server-initialize",
    "ping",
    "tools-list",
    "tools-call-error",
    "resources-list",
    "prompts-list",
    "server-session-lifecycle",
    "caching",
    "http-header-validation",
    "dns-rebinding-protection",
    "sep-2164-resource-not-found",
)
"""Those that want no fixture tool: the others call tools such as test_image_content."""

_PASSED = re.compile(r"Passed: (\d+)/(\d+)")


def checks() -> list[Check]:
    """Return the checks."""
    return [
        Check(
            name=f"conformance, {scenario}",
            programs=("conformance",),
            run=partial(_scenario, scenario),
            needs_http=True,
        )
        for scenario in SCENARIOS
    ]


def _scenario(scenario: str, place: Scratch) -> str:
    """Run one scenario."""
    with place.http() as (url, token), forwarding(url, token) as open_url:
        done = place.run(
            "conformance", "server", "--url", open_url, "--scenario", scenario
        )
    counted = _PASSED.search(done.text)
    # It is content with none of none.
    passed, asked = counted.groups() if counted else ("0", "0")
    if done.code != 0 or passed == "0" or passed != asked:
        raise FailedError(f"exit {done.code}: {tail(done.text)}")
    return f"{passed} of {asked} passed"
