"""A change of what the index holds of a note reaches indexes that exist.

An index keeps the names ``BODY_VERSION`` and ``REDACTION_VERSION``; with other names
every note is read again. A rule that changes without them would leave the old text, and
old secrets, where they are. The digests stand in ``fixtures/versions.json``.
"""

from __future__ import annotations

import hashlib
import json
import random
from pathlib import Path

from hivemind_memory.markdown.addresses import without_addresses
from hivemind_memory.markdown.note_parser import parse_note
from hivemind_memory.memory.sync import BODY_VERSION, REDACTION_VERSION
from hivemind_memory.model.note_path import NotePath
from hivemind_memory.model.terms import extra_terms
from hivemind_memory.redaction import scrub
from tests.redaction.samples import samples
from tests.redaction.test_forms import forms, made, unescaped

FIXTURES = Path(__file__).parents[2] / "fixtures"
RECORDED = json.loads((FIXTURES / "versions.json").read_text(encoding="utf-8"))
SECRETS_EACH = 5


def texts() -> list[str]:
    """Return the notes in ``fixtures/`` and the cases of the chunker, in order."""
    notes = sorted(FIXTURES.rglob("*.md"), key=lambda note: note.as_posix())
    cases = json.loads((FIXTURES / "markdown_cases.json").read_text(encoding="utf-8"))
    return [
        *(note.read_text(encoding="utf-8") for note in notes),
        *(case["text"] for case in cases),
    ]


def digest_of(parts: list[object]) -> str:
    """Return what changes when one of some values does."""
    whole = json.dumps(parts, ensure_ascii=False)
    return hashlib.sha256(whole.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def test_other_chunks_have_another_version() -> None:
    """Where notes are cut, and which part of a chunk is searched by which terms."""
    parts: list[object] = [
        [
            *(chunk.start_line, chunk.end_line, chunk.text, chunk.body, chunk.headings),
            extra_terms(chunk.body),
            *without_addresses(chunk.body),
        ]
        for text in (
            *texts(),
            "Größe, ёлка, Αθήνα, שָׁלוֹם, HTTPServer, 东京",
            "3fa9c1bde77a04f1c0ffee, utf8mb4",
        )
        for limit in (800, 200)
        for chunk in parse_note(
            NotePath("a.md"), text.encode("utf-8", "surrogatepass"), limit_chars=limit
        ).chunks
    ]

    found = {BODY_VERSION: digest_of(parts)}
    assert found == RECORDED["chunks"], (
        "Notes are cut in another way: give BODY_VERSION in memory/sync.py a new name,"
        f" and write {json.dumps(found)} into fixtures/versions.json. If only a text"
        " was added, write that and keep the name."
    )


def test_other_rules_for_secrets_have_another_version() -> None:
    """What a new rule finds must vanish from an older index."""
    chance = random.Random(1)
    with_secrets = [
        *(one.text for one in samples(1, SECRETS_EACH)),
        *(
            unescaped(text).replace("{secret}", unescaped(made(value, chance)))
            for text, value in forms()
        ),
    ]
    parts: list[object] = [scrub(text).text for text in (*texts(), *with_secrets)]

    found = {REDACTION_VERSION: digest_of(parts)}
    assert found == RECORDED["secrets"], (
        "Other secrets are found: give REDACTION_VERSION in memory/sync.py a new name,"
        f" and write {json.dumps(found)} into fixtures/versions.json. If only a text"
        " was added, write that and keep the name."
    )
