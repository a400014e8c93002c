"""How a server starts: what it leaves out, so that its first answer comes soon."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterator

import pytest

from hivemind_memory.cli import main, start
from hivemind_memory.cli.agent_server import require_sdk


@pytest.fixture(autouse=True)
def _threshold() -> Iterator[None]:
    """Let the garbage of later tests be found as before."""
    before = gc.get_threshold()
    yield
    gc.set_threshold(*before)


def test_no_plugin_reads_what_a_server_is_asked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """pydantic looked for them in all packages, and they saw every text."""
    from pydantic.plugin._loader import get_plugins

    monkeypatch.delenv("PYDANTIC_DISABLE_PLUGINS", raising=False)
    asked = []
    monkeypatch.setattr(
        "pydantic.plugin._loader.entry_points",
        lambda **given: asked.append(given) or [],
        raising=False,
    )
    monkeypatch.setattr("pydantic.plugin._loader._plugins", None)
    require_sdk()

    assert not [*get_plugins()]
    assert asked == []
    assert os.environ.pop("PYDANTIC_DISABLE_PLUGINS")


def test_a_server_looks_seldom_for_garbage_from_its_start(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It looked some hundred times while it loaded its modules, and found none."""
    seen = []
    monkeypatch.setattr(sys, "argv", ["hm", "serve"])
    monkeypatch.setattr(main, "run", lambda: seen.append(gc.get_threshold()[0]))
    start.run()

    assert seen
    assert seen[0] >= 50_000
