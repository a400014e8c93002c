"""``global.md`` in a section: its chunks come from the index, as it is and masked."""

from __future__ import annotations

from pathlib import Path

import pytest

from hivemind_memory import open_memory
from hivemind_memory.access.rules import Caller
from hivemind_memory.context.candidates import find_candidates
from hivemind_memory.memory.lists import MemoryLists
from hivemind_memory.memory.sync import Syncer

LONG = "- Answer in short sentences, and use metric units everywhere.\n" * 30
ENTRY = (
    "<!-- hm id=01JD3Y7Q8Z5X4W3V2T1S0R9QP{digit} by=claude session=s1 source={source}"
    " at=2026-11-2{digit}T10:00:00+01:00{more} -->\n"
)
NOTES = {
    "plain": "# Global\n\nTabs are four spaces.\n",
    "long": f"# Global\n\n{LONG}\n```sh\nmake test\n```\n\n## Style\n\nTabs.\n",
    "nested": "# Global\n\n- one\n  - two\n\n> quoted\n\n| a |\n| - |\n| 1 |\n",
    "secret": "# Keys\n\nThe router password is hunter2Xq9!\n\n## Two\n\nText\n",
    "entries": "# Global\n\nMine.\n\n\n"
    + ENTRY.format(digit=1, source="agent", more="")
    + "Of an agent.\n\n\n"
    + ENTRY.format(digit=2, source="external", more="")
    + "Of a page.\n\n\n"
    + ENTRY.format(digit=3, source="human", more=" forgotten=yes")
    + "Forgotten.\n\n\n"
    + ENTRY.format(digit=4, source="human", more="")
    + "Of a person.\n",
    "external": "---\nsource: external\n---\n# Global\n\nOf a page.\n",
    "forgotten": "---\nforgotten: 2026-01-01\n---\n# Global\n\nForgotten.\n",
    "empty": "# Global\n\n<!-- For every project. -->\n",
}


@pytest.fixture(params=NOTES)
def home(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A home with a ``global.md``."""
    notes = tmp_path / "home" / "memory"
    notes.mkdir(parents=True)
    (notes / "global.md").write_text(NOTES[request.param])
    return tmp_path / "home"


def preferences(home: Path) -> list[object]:
    """Return what an agent is shown of it."""
    with (
        open_memory(home=str(home)) as memory,
        memory.as_caller(Caller(is_agent=True)) as seen,
    ):
        return list(find_candidates(seen, ()).preferences)


def test_the_index_has_the_chunks_that_the_note_is_cut_into(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a long note, a Markdown parser was loaded for each injection: 40 ms."""
    of_index = preferences(home)
    monkeypatch.setattr(MemoryLists, "bodies", lambda *_: None)

    assert of_index == preferences(home)


def test_nothing_is_parsed(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    preferences(home)
    monkeypatch.setattr("hivemind_memory.markdown.note_parser.parse_note", None)

    preferences(home)


def test_by_other_rules_the_note_itself_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An older index may hold what today's rules mask."""
    notes = tmp_path / "home" / "memory"
    notes.mkdir(parents=True)
    (notes / "global.md").write_text(NOTES["plain"])
    with open_memory(home=str(tmp_path / "home")) as memory:
        assert memory.lists.bodies("global.md") == [
            (1, 3, "# Global\n\nTabs are four spaces.")
        ]
        monkeypatch.setattr(Syncer, "has_current_chunking", lambda *_: False)

        assert memory.lists.bodies("global.md") is None
