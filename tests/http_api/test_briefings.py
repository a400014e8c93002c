"""The briefing over HTTP tells what the tool tells."""

from __future__ import annotations

from pathlib import Path

import apsw
import pytest

from hivemind_memory import opening
from hivemind_memory.http_api.briefings import BriefingOut
from hivemind_memory.mcp_server.tools_briefing import BriefingOut as ToolBriefingOut
from hivemind_memory.sqlite import connection
from tests.http_api.served import Served, save


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Half a second for a locked index, from before the server opens it."""
    monkeypatch.setattr(connection, "BUSY_TIMEOUT_MS", 500)


def test_a_briefing_over_http_has_the_fields_of_the_tool() -> None:
    """The route once lacked ``warning``, which the tool had."""
    assert list(BriefingOut.model_fields) == list(ToolBriefingOut.model_fields)


@pytest.fixture
def _short_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the server, which starts after this, wait for a lock only briefly."""
    monkeypatch.setattr(connection, "BUSY_TIMEOUT_MS", 200)


@pytest.mark.usefixtures("_short_wait")
def test_a_briefing_over_http_is_whole_while_the_index_is_locked(
    served: Served, home: Path
) -> None:
    """It is made from a copy, so nothing is out of date."""
    save("deploy-day", "We deploy on Tuesdays.", type="decision")
    fresh = served.ask("GET", "/api/v1/bulletin").json()
    with opening.open_memory() as memory:
        holder = apsw.Connection(str(memory.places.index_file))
    holder.execute("BEGIN IMMEDIATE")
    note = next((home / "memory").rglob("deploy-day*.md"))
    note.write_text(note.read_text().replace("Tuesdays", "Fridays"))

    late = served.ask("GET", "/api/v1/bulletin").json()

    holder.execute("ROLLBACK")
    holder.close()
    assert (fresh["warning"], fresh["isStale"]) == ("", False)
    assert "Tuesdays" in fresh["body"]
    assert "Fridays" in late["body"]
    assert (late["warning"], late["isStale"]) == ("", False)
