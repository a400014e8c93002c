"""What an agent is reminded of is what its own project holds."""

from __future__ import annotations

from pathlib import Path

from hivemind_memory.jobs.reminder import find_reminder
from hivemind_memory.model.curation import NewMemory
from tests.support.capture_home import CaptureHome
from tests.support.sessions import ASSISTANT, USER


def test_no_key_of_another_project_or_from_outside_is_named(tmp_path: Path) -> None:
    """The owner's command sees all scopes; a model reads what it prints."""
    home = CaptureHome(tmp_path)
    home.sandbox.flags |= {"llm_provider": "none"}
    said = [(USER, "Is it lit?"), (ASSISTANT, "Yes."), (USER, "And now?")]
    file = home.put([*said, (USER, "And then?")])
    with home.sandbox.memory() as memory:
        for key, scope, source in (
            ("the-merger", "projects/legal", "human"),
            ("from-a-page", "", "external"),
            ("lamp-day", "", "human"),
        ):
            text = f"What is said of {key} here."
            new = NewMemory(key=key, content=text, scope=scope, source=source)
            memory.save(new)
        sessions = home.sessions(memory)
        told = find_reminder(memory, sessions, "claude", "session-one", str(file))

    assert "lamp-day" in told
    assert "was found with memory_write or `hm write`" in told
    assert "current answer with memory_save or `hm save`" in told
    assert "the-merger" not in told
    assert "from-a-page" not in told
