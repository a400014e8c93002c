"""A note beyond ``max_note_mb`` is named and skipped, and never read."""

from __future__ import annotations

from pathlib import Path

import pytest

from hivemind_memory.files import folder
from hivemind_memory.model.note_path import NotePath
from hivemind_memory.wiring import open_memory
from tests.support.sandbox import ask, paths


def test_a_note_beyond_the_bound_is_named_and_never_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A gigabyte of zeros kept every search from answering."""
    home, notes = tmp_path / "home", tmp_path / "home" / "memory"
    notes.mkdir(parents=True)
    (notes / "zebra.md").write_text("The zebra is striped.\n")
    (notes / "grows.md").write_text("The giraffe is tall.\n")
    with (notes / "zeros.md").open("wb") as file:
        file.truncate(1 << 30)
    read: list[str] = []
    real = folder.NotesFolder.read

    def counted(self: folder.NotesFolder, path: NotePath, **more: int) -> object:
        read.append(path)
        return real(self, path, **more)

    monkeypatch.setattr(folder.NotesFolder, "read", counted)
    with open_memory(home=str(home), flags={"embedding_provider": "none"}) as memory:
        answer = ask(memory, "zebra")
        assert paths(answer) == ["zebra.md"]
        assert answer.report.skipped_notes == 1
        [skipped] = memory.status().skipped
        assert skipped.path == "zeros.md"
        assert "larger than 5 MB" in skipped.reason
        assert "max_note_mb" in skipped.reason
        assert "zeros.md" not in read

        # One that was indexed and grows is found no more.
        assert paths(ask(memory, "giraffe")) == ["grows.md"]
        with (notes / "grows.md").open("ab") as file:
            file.truncate(6_000_000)
        assert paths(ask(memory, "giraffe")) == []
        assert not memory.index_handle.index_note(NotePath("grows.md"))

    flags = {"embedding_provider": "none", "max_note_mb": 7}
    with open_memory(home=str(home), flags=flags) as memory:
        assert paths(ask(memory, "giraffe")) == ["grows.md"]
