"""What this program writes itself is never taken for a secret.

The weighed reading of lines once took the hash in ``learn:pip:3fd4e0dfd2a6`` for a
password: such memories lost their key.
"""

from __future__ import annotations

import random
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from hivemind_memory.curation.learn import claim_key, learn
from hivemind_memory.curation.links import link
from hivemind_memory.markdown.entry import new_entry_text, new_ulid
from hivemind_memory.model.curation import NewMemory
from hivemind_memory.model.memories import CONTRADICTS, RELATED
from hivemind_memory.model.memory_types import BUILT_IN
from hivemind_memory.model.note import Provenance
from hivemind_memory.model.own_forms import is_own_name
from hivemind_memory.notes.slug import name_with_id
from hivemind_memory.redaction import find_secrets, mask
from tests.support.tiers import mostly_thorough
from tests.support.typed_memory import Shelf

TOPICS = (
    *("pip", "SQLite locks", "wifi password", "ssh key", "login code", "API token"),
    *(
        "пароль wi-fi",
        "数据库 密码",
        "Schlüssel",
        "mot de passe",
        "pin",
        "vault secrets",
    ),
)
WORDS = (
    *(
        "wifi",
        "password",
        "deploy",
        "key",
        "day",
        "login",
        "code",
        "of",
        "token",
        "pin",
    ),
    *("door", "Backup", "admin", "release", "v2", "2026", "ci", "secret", "rotation"),
)
BODIES = (
    "The office lamp stays on at night.",
    "Restart with `make serve` after each change.",
    "Deploys happen on Tuesdays, never on Fridays.",
    "Tests run on port 8080 and take 12 minutes.",
)


def names(rng: random.Random, count: int) -> Iterator[str]:
    """Yield names that speak of secrets and hold none."""
    for _ in range(count):
        yield rng.choice(" -_").join(rng.sample(WORDS, rng.randint(2, 4)))


def all_masked(root: Path) -> list[str]:
    """Return what is masked in the notes below a folder."""
    masked = []
    for note in sorted(root.rglob("*.md")):
        text = note.read_text(encoding="utf-8")
        masked += [
            f"{text[secret.start : secret.end]!r} in\n{text}"
            for secret in find_secrets(text)
        ]
    return masked


@pytest.mark.parametrize("seed", mostly_thorough(range(6), every=3))
def test_no_byte_of_a_note_that_the_writer_wrote_is_masked(
    tmp_path: Path, seed: int
) -> None:
    """Memories of all types, claims, links, versions, claims that wait."""
    rng = random.Random(seed)
    shelf = Shelf(tmp_path / "home")
    kinds = sorted(BUILT_IN)
    keys: dict[str, str] = {}
    for name in names(rng, 24):
        kind = rng.choice(kinds)
        saved = shelf.save(
            name,
            rng.choice(BODIES),
            type=kind,
            reason="It has changed since.",
            tags=tuple(rng.sample(("password", "Key", "wifi", "ci-2"), 2)),
            related=tuple(rng.sample(sorted(keys), min(2, len(keys)))),
            by="claude-code",
            session=str(uuid.UUID(int=rng.getrandbits(128), version=4)),
            source=rng.choice(("agent", "human", "tool", "external")),
            source_ref=f"notes/{rng.getrandbits(32):08x}.md#L40",
        )
        if saved.path.startswith("inbox/"):
            continue
        keys[saved.key] = saved.id
    for topic in TOPICS:
        saved = learn(
            shelf.context(),
            NewMemory(key="", content=f"{rng.choice(BODIES)} {topic}", by="codex"),
            topic=topic,
            confidence="high",
            domains=("sqlite.org",),
        )
        assert mask(saved.key) == saved.key
        keys[saved.key] = saved.id
    some = sorted(keys)
    for _ in range(12):
        link(shelf.context(), *rng.sample(some, 2), rng.choice((RELATED, CONTRADICTS)))

    assert all_masked(shelf.sandbox.notes) == []
    for key, memory_id in keys.items():
        for name in (key, f"[[{key}]]", name_with_id(key, memory_id)):
            assert mask(name) == name
    for memory_id in keys.values():
        assert mask(f"The password is in {memory_id}.").endswith(f"{memory_id}.")


@pytest.mark.parametrize("seed", mostly_thorough(range(40), every=4))
def test_keys_of_claims_stay_where_a_sentence_calls_them_keys(seed: int) -> None:
    """Each hash is another one."""
    rng = random.Random(seed)
    memory_id = new_ulid(1.7e9 + rng.random() * 1e8, rng.randbytes(10))
    for topic in TOPICS:
        key = claim_key(topic, f"It is {rng.random()}.")
        assert is_own_name(key)
        for text in (
            f"The key is {key}",
            f"key: {key}",
            f"login key: `{key}`, id {memory_id}",
            f"- Password of the router: see [[{key}]]",
            f"| key | id |\n|---|---|\n| {key} | {memory_id} |",
            f"---\nid: {memory_id}\ntype: fact\nkey: {key}\n---\nPins.\n",
            f'{{"key": "{key}", "id": "{memory_id}"}}',
            f"Passwords:\n- {key}\n- {memory_id}",
        ):
            assert mask(text) == text


@pytest.mark.parametrize("seed", range(40))
def test_the_comment_of_an_entry_stays(seed: int) -> None:
    """A session has the id that an agent gives it."""
    rng = random.Random(seed)
    provenance = Provenance(
        id=new_ulid(1.7e9, rng.randbytes(10)),
        at="2026-11-21T14:03:11+01:00",
        by="claude-code",
        session=str(uuid.UUID(int=rng.getrandbits(128), version=4)),
        source="agent",
        ref=f"src/login.py#L{rng.randint(1, 99)}",
        tags=("password", "key-2"),
    )

    text = new_entry_text(provenance, rng.choice(BODIES))

    assert mask(text) == text


def test_a_field_below_a_key_that_names_a_password_stays() -> None:
    """``related`` stood below ``key: wifi-password`` as a value below its label."""
    text = (
        "---\nid: 01M80JBHRKPTRHKEJQQCVB56P4\nkey: wifi-password\n"
        "related:\n  - deploy-Key7a\n---\n"
        "Fritzbox-7590 stays on.\n"
    )

    assert mask(text) == text


def test_a_field_of_a_memory_that_holds_a_secret_is_masked() -> None:
    """It is one without the name of the field."""
    front = "---\nid: 01M80JBHRKPTRHKEJQQCVB56P4\nkey: {}\nsource_ref: {}\n---\nText.\n"
    token, address = (
        "ghp_" + "q7Zp2LxV9rTb4Kd8Ws3Y" + "m6Nc1Hf5Gj0AeRuQ",
        "postgres://me:tr0ub4d@host/db",
    )

    masked = mask(front.format(token, address))

    assert token not in masked
    assert "tr0ub4d" not in masked


def test_a_key_in_the_front_matter_of_a_person_is_read() -> None:
    """Without an id of this program it may be the key of a service."""
    key = "9f8e7d6c5b4a39281706f5e4d3c2b1a0"

    assert key not in mask(f"---\nservice: maps\napi_key: {key}\n---\nMaps.\n")


@pytest.mark.parametrize(
    "text",
    [
        "key: uuid-5b1f0c1e-7c1e-4f43-9d4d-0f9f7f1d2a10",
        "## task:T-7 (84 tokens; high)",
        "- **Plain files.** A memory is a folder of Markdown.",
        'curl -s "http://127.0.0.1:8737/workspaces/web/memories?q=deploy" -H "A: b"',
        "http://plugin/v1/memories/5b1f0c1e-7c1e-4f43-9d4d-0f9f7f1d2a10",
    ],
)
def test_what_pages_of_this_program_show_stays(text: str) -> None:
    """Each was masked: a key, a count, a word, an address."""
    assert mask(text) == text


def test_what_a_person_adds_to_the_front_matter_is_read() -> None:
    """Fields that this program does not write are lines like others."""
    text = (
        "---\ntype: fact\nwifi password: Brot3Haus!\n---\nThe password is Brot4Haus!\n"
    )

    masked = mask(text)

    assert "Brot3Haus" not in masked
    assert "Brot4Haus" not in masked


@pytest.mark.parametrize(
    "name", ["{}--{ulid}", "{}--{ulid}.md", "learn:{}:3fd4e0dfd2a6"]
)
@pytest.mark.parametrize(
    "token",
    [
        "ghp_" + "R2mB7xVq9LtK4sWz8NcP" + "1yHd6GfJ3aUe5oTi",
        "sk-proj-" + "a9f3k2m7q8w1e5r6t4y0u2i9o3p7s1d8",
        "AKIA" + "J5QXWB3RTNVKE7PM",
    ],
)
def test_a_token_in_a_name_of_this_program_is_masked(name: str, token: str) -> None:
    """What a caller chose of a name passed with it, before an id or as a topic."""
    text = f"see {name.format(token, ulid=new_ulid(1.7e9, bytes(10)))}"

    assert token not in mask(text)
