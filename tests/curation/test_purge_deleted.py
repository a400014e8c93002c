"""A purge by key when a person has deleted the active file of the key."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from hivemind_memory.errors import MemoryNotFoundError
from hivemind_memory.model.curation import MemorySelector, NewMemory
from tests.support.purge_rig import traces, words_of
from tests.support.sandbox import Sandbox

VERSIONS = (
    "Zanzibarquux wombatopolis keeps flimmerkeks in the vault.",
    "Quetzalmoor snorkeldwarf hides grumblefink in the cellar.",
    "Brimblesnatch yodelwhisk stores plonkfizz in the attic.",
)


@pytest.mark.parametrize("versions", [2, 3])
def test_all_that_is_left_of_the_key_is_purged(tmp_path: Path, versions: int) -> None:
    """The file was deleted, the earlier versions were not; the receipt names them."""
    sandbox = Sandbox(tmp_path / "home")
    with sandbox.memory() as memory:
        for text, reason in zip(
            VERSIONS[:versions],
            itertools.chain([""], itertools.repeat("better")),
            strict=False,
        ):
            memory.save(NewMemory(key="vault", content=text, reason=reason))
        (sandbox.notes / "vault.md").unlink()

        receipt = memory.curation.purge(MemorySelector(name="vault"))

        removed = {place.name: place.count for place in receipt.places}
        assert removed["typed memories"] == versions - 1
        assert not list(sandbox.notes.glob("superseded/*"))
        with pytest.raises(MemoryNotFoundError):
            memory.curation.show("vault")
    for text in VERSIONS[:versions]:
        assert traces(sandbox.home, words_of(text), sandbox.index_file) == []
