"""What every engine of the index must do, said through the port alone.

A test module makes a subclass of ``IndexContract`` for its engine, with a fixture
``open_index`` that returns a function: each call opens the same index once more, as
another process would.
"""

from __future__ import annotations

from tests.index.contract_lists import ListsContract
from tests.index.contract_memories import MemoriesContract
from tests.index.contract_notes import NotesContract
from tests.index.contract_vectors import VectorsContract
from tests.index.contract_visibility import VisibilityContract
from tests.index.contract_words import WordsContract
from tests.index.steps import OpenIndex, put


class IndexContract(
    NotesContract,
    WordsContract,
    VectorsContract,
    VisibilityContract,
    MemoriesContract,
    ListsContract,
):
    """Run against one engine by a subclass."""

    def test_meta_is_shared(self, open_index: OpenIndex) -> None:
        """Each process asks by which rules the index was built."""
        one, other = open_index(), open_index()

        one.set_meta("chunking", "800/80")

        assert other.get_meta("chunking") == "800/80"
        assert other.get_meta("nothing") == ""

    def test_a_new_index_is_sound_and_still_there(self, open_index: OpenIndex) -> None:
        """A check without findings is what repairs end with."""
        index = open_index()
        put(index, "a.md", "some text\n")

        assert index.is_still_there()
        assert [problem for _, problem in index.check() if problem] == []
