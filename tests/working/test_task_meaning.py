"""What shares no word with a task is found by its meaning, on this machine alone."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from hivemind_memory import NewMemory, environment
from hivemind_memory.errors import EmbeddingError
from hivemind_memory.memory import Memory
from hivemind_memory.model.curation import MemorySelector
from hivemind_memory.providers.fingerprint import VectorSpace
from hivemind_memory.testing import FakeEmbedder
from hivemind_memory.working import section_vectors, task_meaning
from hivemind_memory.working.section_vectors import SectionVectors, digest_of
from hivemind_memory.working.task_context import (
    ContextRequest,
    TaskContext,
    build_context,
)
from tests.support.fake_provider import FakeProvider
from tests.support.sandbox import Sandbox

RESTORE = "# Restore\n\nUnpack the newest archive and load the dump.\n"
OTHERS = {
    f"docs/{name}.md": f"# {name.title()}\n\nAll that is said of {name} stands here.\n"
    for name in ("tickets", "colours", "holidays", "printing", "ferries", "invoices")
}
TASK = "the server burnt"


class ModelWithMeaning(FakeEmbedder):
    """Knows that who speaks of a burnt server wants to restore one."""

    def _embed(self, text: str) -> bytes:
        return super()._embed(text.replace(TASK, "restore archive dump unpack"))


@pytest.fixture
def embedder() -> ModelWithMeaning:
    """The model."""
    return ModelWithMeaning()


@pytest.fixture
def memory(tmp_path: Path, embedder: FakeEmbedder) -> Iterator[Memory]:
    """A memory whose notes have vectors."""
    sandbox = Sandbox(tmp_path / "home", provider=FakeProvider(embedder))
    with sandbox.memory() as opened:
        opened.save(NewMemory(key="server", content="The server is called juno."))
        opened.sync()
        opened.embed_pending()
        yield opened


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A folder with pages, one of which is wanted."""
    folder = tmp_path / "root"
    for name, text in {"docs/restore.md": RESTORE, **OTHERS}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


def build(memory: Memory, root: Path, task: str = TASK) -> TaskContext:
    """Return the context of a task."""
    request = ContextRequest(max_tokens=4_000, root=str(root), task=task)
    return build_context(memory, request, environ=environment.git_environ())


def sources(context: TaskContext) -> list[str]:
    """Return the files of a context."""
    found = [str(one["metadata"].get("source")) for one in context.built.entries]
    return [name for name in found if name.endswith(".md") and "docs/" in name]


def test_a_page_without_a_word_of_the_task_is_found(memory: Memory, root: Path) -> None:
    """It comes before others that are as far away in words."""
    assert sources(build(memory, root))[0] == "docs/restore.md"


def test_a_section_is_compared_once(
    memory: Memory, root: Path, embedder: FakeEmbedder
) -> None:
    """Another context, and another process, takes its vector from the file."""
    build(memory, root)
    before = len(embedder.documents)

    again = build(memory, root)
    (root / "docs/new.md").write_text("# New\n\nA dump is made at night.\n")
    build(memory, root)

    assert sources(again)[0] == "docs/restore.md"
    assert len(embedder.documents) == before + 1


def test_no_code_leaves_the_machine(
    memory: Memory, root: Path, embedder: FakeEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A provider elsewhere gets the notes and the task, as for a search."""
    provider = memory.provider
    space = VectorSpace(
        provider="openai", base_url="https://models.example.com/v1", model="fake"
    )
    before = list(embedder.documents)

    monkeypatch.setattr(provider, "_space", space)
    build(memory, root)

    assert embedder.documents == before


def test_a_file_name_that_is_no_utf_8_is_compared_too(
    memory: Memory, root: Path
) -> None:
    """Its path is part of what is compared."""
    (root / "docs/restore.md").rename(
        os.fsdecode(os.fsencode(root) + b"/docs/r\xff.md")
    )

    assert any("docs/r" in name for name in sources(build(memory, root)))


def test_the_connection_to_the_model_is_closed(
    memory: Memory, root: Path, embedder: FakeEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server builds thousands of contexts."""
    closed: list[str] = []
    monkeypatch.setattr(embedder, "close", lambda: closed.append("sections"))

    build(memory, root)

    assert "sections" in closed


def test_a_model_that_fails_costs_no_context(
    memory: Memory, root: Path, embedder: FakeEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was found by words is there, and the rest is named."""

    def fail(_: object) -> list[bytes]:
        raise EmbeddingError("It is down.")

    monkeypatch.setattr(embedder, "embed_documents", fail)
    context = build(memory, root, f"{TASK} tickets")

    assert "docs/tickets.md" in sources(context)
    expected = "7 sections were not compared by meaning yet; the next context goes on"
    assert expected in context.notes


def test_a_slow_model_is_given_up_in_time(
    memory: Memory, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next context goes on where this one stopped."""
    for name in range(3 * task_meaning._BATCH):
        (root / f"page-{name}.md").write_text(f"# Page {name}\n\nIt is page {name}.\n")
    monkeypatch.setattr(task_meaning, "EMBED_S", 0.0)
    assert any("not compared" in note for note in build(memory, root).notes)

    monkeypatch.setattr(task_meaning, "EMBED_S", 60.0)
    assert not any("not compared" in note for note in build(memory, root).notes)


@pytest.mark.parametrize("damage", ["cut", "turned", "empty", "foreign", "folder"])
def test_a_damaged_file_of_vectors_counts_as_empty(
    memory: Memory, tmp_path: Path, damage: str
) -> None:
    """Nothing raises, and the next write mends it where a file can be."""
    vectors = SectionVectors(memory.places, str(tmp_path), "space")
    vectors.write({digest_of("a"): bytes(8), digest_of("b"): bytes(8)})
    (path,) = map(Path, memory.places.all_section_vectors())
    data = path.read_bytes()
    if damage == "folder":
        path.unlink()
        path.mkdir()
    else:
        path.write_bytes(
            {
                "cut": data[:-1],
                "turned": data[:-1] + bytes([data[-1] ^ 1]),
                "empty": b"",
                "foreign": b"PK\x03\x04" + bytes(100),
            }[damage]
        )

    assert vectors.read() == {}
    vectors.write({digest_of("c"): bytes(8)})

    if damage != "folder":
        assert vectors.read() == {digest_of("c"): bytes(8)}


def test_each_folder_and_each_model_has_its_own_vectors(
    memory: Memory, tmp_path: Path
) -> None:
    """The same text has another vector in another space."""
    for root, space in (("a", "one"), ("a", "two"), ("b", "one")):
        one = SectionVectors(memory.places, str(tmp_path / root), space)
        assert one.read() == {}
        one.write({digest_of("text"): f"{root} {space} ".encode()})
    first = SectionVectors(memory.places, str(tmp_path / "a"), "one")
    assert first.read() == {digest_of("text"): b"a one "}


def test_the_vectors_are_bounded(
    memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In one folder, and in all."""
    monkeypatch.setattr(section_vectors, "MAX_VECTORS", 3)
    monkeypatch.setattr(section_vectors, "MAX_FILES", 2)
    for number in range(4):
        one = SectionVectors(memory.places, str(tmp_path / str(number)), "space")
        one.write({digest_of(str(count)): bytes(8) for count in range(5)})
        for path in memory.places.all_section_vectors():
            if os.stat(path).st_mtime > number:
                os.utime(path, (number, number))

    assert len(memory.places.all_section_vectors()) == 2
    assert len(one.read()) == 3


def test_a_folder_that_is_used_keeps_its_vectors(memory: Memory, root: Path) -> None:
    """Only new vectors counted as a use, so the one of every day was dropped first."""
    build(memory, root)
    [path] = memory.places.all_section_vectors()
    os.utime(path, (1, 1))

    build(memory, root)

    assert os.stat(path).st_mtime > 1


def test_a_purge_removes_the_vectors_of_sections(memory: Memory, root: Path) -> None:
    """A page may be a copy of what is purged, and a vector tells much of its text."""
    build(memory, root)
    assert memory.places.all_section_vectors()

    memory.curation.purge(MemorySelector(name="server"))

    assert memory.places.all_section_vectors() == []
