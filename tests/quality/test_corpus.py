"""The corpus of the benchmarks is the same for everyone who makes it."""

from __future__ import annotations

import filecmp
import json
from pathlib import Path

from benchmarks.corpus import Corpus, write_corpus
from benchmarks.prose import Prose
from benchmarks.simple_chunker import simple_chunks

SEEDS = ("ferry", "ticket", "winter", "harbour", "signal", "letter", "engine", "garden")
TEXTS = [
    f"The {one} of the {two} waits until another {three} has left its quiet {two}."
    for one in SEEDS
    for two in SEEDS
    for three in SEEDS
]


def made(folder: Path, *, seed: int) -> Corpus:
    """A corpus of 80 chunks."""
    write_corpus(folder, Prose(TEXTS), chunks=80, seed=seed, questions=10)
    return Corpus(folder=folder)


def test_the_same_seed_gives_the_same_bytes(tmp_path: Path) -> None:
    """Figures of two machines are about the same notes and the same questions."""
    one, two = made(tmp_path / "one", seed=1), made(tmp_path / "two", seed=1)
    names = [file.name for file in one.notes.iterdir()]

    same = filecmp.cmpfiles(one.notes, two.notes, names, shallow=False)[0]

    assert sorted(same) == sorted(names)
    assert one.manifest == two.manifest
    assert (one.queries(), one.known()) == (two.queries(), two.known())


def test_another_seed_gives_other_notes(tmp_path: Path) -> None:
    """A figure can be checked on a corpus that nobody has seen."""
    one, two = made(tmp_path / "one", seed=1), made(tmp_path / "two", seed=2)

    assert one.manifest["sha256"] != two.manifest["sha256"]


def test_every_known_item_is_answered_by_its_note(tmp_path: Path) -> None:
    """Each names a note; the keyword ones have all their words in it."""
    corpus = made(tmp_path / "one", seed=1)

    for item in corpus.known():
        text = (corpus.notes / str(item["path"])).read_text(encoding="utf-8").lower()
        if item["kind"] == "keywords":
            assert all(word in text for word in str(item["query"]).split())


def test_the_notes_hold_what_markdown_notes_hold(tmp_path: Path) -> None:
    """A corpus of plain paragraphs would flatter a chunker."""
    corpus = made(tmp_path / "one", seed=3)

    text = "\n".join(
        file.read_text(encoding="utf-8") for file in corpus.notes.iterdir()
    )

    for mark in ("# ", "\n## ", "\n- ", "\n```", "\n| --- |", "---\ntitle: "):
        assert mark in text


def test_the_simple_chunks_cover_the_text_and_stay_in_bounds(tmp_path: Path) -> None:
    """The floor of the first index must not be a floor that forgets half."""
    corpus = made(tmp_path / "one", seed=1)

    for file in corpus.notes.iterdir():
        text = file.read_text(encoding="utf-8")
        pieces = simple_chunks(text)
        together = "\n".join(piece.text for piece in pieces)
        assert together.split() == text.split()
        assert all(len(piece.text) <= 1000 for piece in pieces)


def test_the_manifest_counts_what_is_there(tmp_path: Path) -> None:
    """It is what the tables cite."""
    corpus = made(tmp_path / "one", seed=1)
    files = list(corpus.notes.iterdir())

    assert corpus.manifest["files"] == len(files)
    assert corpus.manifest["bytes"] == sum(file.stat().st_size for file in files)
    assert json.loads((corpus.folder / "manifest.json").read_text()) == corpus.manifest
