"""A note that is read block by block: the same chunks, and no more work than needed."""

from __future__ import annotations

import random

import pytest

from hivemind_memory.markdown.blocks import BLOCK_CHARS, BlockReader, blocks_of
from hivemind_memory.markdown.entry import render_provenance
from hivemind_memory.markdown.front_matter import split_front_matter
from hivemind_memory.markdown.note_parser import chunk_note
from hivemind_memory.model.note import Provenance
from hivemind_memory.model.note_path import NotePath
from hivemind_memory.redaction.redact import mask
from tests.support.tiers import mostly_thorough

NOTE = NotePath("2026-11-22.md")

PARTS = (
    *("\n\n", "\n\n\n", "\r\n\r\n", "# Cranes\n", "## Nests\n\n", "---\n", "```\n"),
    *("A crane is tall and grey. " * 9 + "\n", "- heron\n- egret\n", "<!-- hm x -->\n"),
    *(
        "| a | b |\n|---|---|\n",
        "title: cranes\n",
        "x" * 1300 + "\n",
        "<pre>\n",
        "   \n",
    ),
)


def comment(number: int) -> str:
    """Return the comment line of an entry."""
    made = Provenance(id=f"01KAPQ2Y0V{number:016d}", at="2026-11-22T14:03:11+01:00")
    return render_provenance(made) + "\n"


def entry(number: int, words: int = 12) -> str:
    """Return an entry."""
    return f"{comment(number)}Heron {number} was seen.{' Twice.' * words}\n\n"


def reader(masked: list[str] | None = None) -> BlockReader:
    """Return a reader that hides nothing, and tells what it was asked to mask."""

    def mask(text: str) -> str:
        if masked is not None:
            masked.append(text)
        return text

    return BlockReader(mask, limit_chars=800, overlap_chars=80)


def any_note(chance: random.Random) -> str:
    """Return a note of entries and all that confuses them."""
    front = chance.choice(["", "", "---\ntitle: cranes\n---\n", "---\ntitle: x\n"])
    pieces = [front]
    for number in range(chance.randrange(60)):
        if chance.random() < 0.4:
            pieces += ["\n", comment(number)]
        pieces += chance.choices(PARTS, k=chance.randrange(1, 4))
    return "".join(pieces)


@pytest.mark.parametrize("seed", range(150))
def test_blocks_have_the_chunks_of_the_whole_note(seed: int) -> None:
    """What is cut into blocks must not be cut into other chunks."""
    text = any_note(random.Random(seed))

    note = reader().read(NOTE, text.encode())

    assert note.chunks == chunk_note(text, limit_chars=800, overlap_chars=80)
    assert note.front_matter == split_front_matter(text).values
    assert "".join(blocks_of(text)) == text


@pytest.mark.parametrize("seed", mostly_thorough(range(100), every=5))
def test_a_note_that_was_read_before_reads_like_a_new_one(seed: int) -> None:
    """After any edits: the index equals one built from nothing."""
    chance = random.Random(seed)
    reads = reader()
    text = any_note(chance)
    for _ in range(8):
        at = chance.choice([len(text), chance.randrange(len(text) + 1)])
        cut = chance.choice([0, 0, chance.randrange(200)])
        more = "".join(chance.choices([*PARTS, "\n" + entry(at)], k=3))
        text = text[:at] + more + text[at + cut :]

        note = reads.read(NOTE, text.encode())

        assert note == reader().read(NOTE, text.encode())


def test_an_appended_entry_has_one_block_read() -> None:
    """However long the note is: agents append to it all day."""
    masked: list[str] = []
    reads = reader(masked)
    text = "".join(entry(number) for number in range(2_000))
    reads.read(NOTE, text.encode())
    masked.clear()
    grown = text + entry(2_000)

    assert reads.count_new_chars(NOTE, grown.encode()) < 2 * BLOCK_CHARS
    assert len(reads.read(NOTE, grown.encode()).chunks) == 2_001
    assert len(masked) == 1


def test_a_secret_is_masked_in_its_block() -> None:
    """What was kept of a note is what the index may see."""
    text = "".join(entry(number) for number in range(100))
    reads = BlockReader(
        lambda block: block.replace("Heron 7 ", "[redacted] "),
        limit_chars=800,
        overlap_chars=0,
    )

    twice = [reads.read(NOTE, text.encode()) for _ in range(2)]

    assert twice[0] == twice[1]
    assert "[redacted] was seen." in twice[0].chunks[7].text


def test_no_more_is_kept_than_may_be(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server runs for weeks."""
    monkeypatch.setattr("hivemind_memory.markdown.blocks.MAX_KEPT_CHARS", 30_000)
    data = "".join(entry(number) for number in range(100)).encode()
    reads = reader()

    for name in ("a.md", "b.md", "c.md"):
        reads.read(NotePath(name), data)

    assert reads.count_new_chars(NotePath("a.md"), data) == len(data)
    assert reads.count_new_chars(NotePath("c.md"), data) == 0


@pytest.mark.parametrize(
    "label", ["recovery codes", "Backup codes: ask Anna.", "2fa codes", "the password:"]
)
@pytest.mark.parametrize("session", ["sess42", "a1b2c3d4", "agent1"])
def test_a_word_about_secrets_hides_no_comment_and_no_word_of_the_next_entry(
    label: str, session: str
) -> None:
    """The id was taken for a code: a forgotten entry lost its mark and was found."""
    made = Provenance(
        id="01P1QG5TZNQ10BZKV5GB682WT5",
        at="2026-11-22T14:03:11+01:00",
        session=session,
        is_forgotten=True,
    )
    text = (
        f"{comment(1)}Anna asked for the {label}\n\n\n{render_provenance(made)}\n"
        "a1b2c3d4e5f6 broke the build.\n"
    )
    plain = BlockReader(lambda text: text, limit_chars=800, overlap_chars=80)

    masked = BlockReader(mask, limit_chars=800, overlap_chars=80).read(
        NOTE, text.encode()
    )

    expected = plain.read(NOTE, text.encode())
    assert [chunk.provenance for chunk in masked.chunks] == [
        chunk.provenance for chunk in expected.chunks
    ]
    assert masked.chunks[-1].text == expected.chunks[-1].text


def test_a_secret_in_a_comment_is_hidden_and_the_rest_of_it_stays() -> None:
    """A person may have put it there."""
    token = "ghp_" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"
    made = Provenance(
        id="01P1QG5TZNQ10BZKV5GB682WT5", at="2026-11-22T14:03:11+01:00", session=token
    )
    text = f"{render_provenance(made)}\nHeron.\n"

    [chunk] = (
        BlockReader(mask, limit_chars=800, overlap_chars=80)
        .read(NOTE, text.encode())
        .chunks
    )

    assert chunk.provenance is not None
    assert chunk.provenance.id == made.id
    assert token not in chunk.provenance.session


def test_notes_that_are_read_together_are_the_same_as_one_by_one() -> None:
    """Also those whose blocks are known, and those that hold nothing."""
    chance = random.Random(3)
    together = BlockReader(mask, limit_chars=800, overlap_chars=80)
    texts = {NotePath(f"{number}.md"): any_note(chance) for number in range(40)}
    texts[NotePath("empty.md")] = ""
    texts[NotePath("secret.md")] = "# Door\n\nThe password is `Xk9#mQ2pL!`.\n"

    for _ in range(3):
        noted = [(path, text.encode()) for path, text in texts.items()]

        found = together.read_all(noted)

        alone = BlockReader(mask, limit_chars=800, overlap_chars=80)
        assert found == [alone.read(path, data) for path, data in noted]
        assert all("Xk9#mQ2pL!" not in chunk.text for chunk in found[-1].chunks)
        texts = {path: f"{text}{entry(1, 200)}" for path, text in texts.items()}
        texts[NotePath("secret.md")] = "The password is `Xk9#mQ2pL!`.\n"
