"""A secret that an agent writes reaches no disk; one of a person's leaves none."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from hivemind_memory import open_memory
from hivemind_memory.environment import agent_scope_request
from hivemind_memory.errors import UsageError
from hivemind_memory.mcp_server.server import make_server
from hivemind_memory.mcp_server.server_state import ServerState
from hivemind_memory.memory import Memory
from hivemind_memory.model.curation import NewMemory
from hivemind_memory.model.query import Query
from hivemind_memory.opening import open_injector
from hivemind_memory.redaction import detection
from hivemind_memory.redaction.detection import find_secrets_in_part
from hivemind_memory.state.injection_log import InjectionLog
from tests.cli.conftest import Hm, hm  # noqa: F401 - a fixture
from tests.mcp_server.agents import call, calls, found, text_of
from tests.redaction.samples import Sample, is_left, samples
from tests.support.embedding_server import EmbeddingServer
from tests.support.tiers import part

SAMPLES = [one for one in samples(seed=7, each=1) if not one.known]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home, and an environment without settings."""
    for name in list(os.environ):
        if name.startswith(("HIVEMIND_", "OPENAI_", "OLLAMA_")):
            monkeypatch.delenv(name)
    folder = tmp_path / "home"
    monkeypatch.setenv("HIVEMIND_HOME", str(folder))
    monkeypatch.setenv("HIVEMIND_EMBEDDING_PROVIDER", "none")
    (folder / "memory").mkdir(parents=True)
    return folder


@pytest.fixture
def memory(home: Path) -> Iterator[Memory]:
    """The memory, open to its owner."""
    with open_memory(home=str(home)) as opened:
        yield opened


def by_writing(memory: Memory, text: str, number: int) -> None:
    memory.write(f"Entry {number}: {text}", source="agent")


def by_content(memory: Memory, text: str, number: int) -> None:
    save(memory, f"content-{number}", f"Memory {number}: {text}")


def by_reason(memory: Memory, text: str, number: int) -> None:
    save(memory, f"reason-{number}", "Old.")
    save(memory, f"reason-{number}", "New.", reason=text)


def by_key(memory: Memory, text: str, number: int) -> None:
    save(memory, f"{number} {text}", "A key of its own.")


def by_tags(memory: Memory, text: str, number: int) -> None:
    save(memory, f"tags-{number}", "Tagged.", tags=(text, "plain"))


def by_source_ref(memory: Memory, text: str, number: int) -> None:
    save(memory, f"ref-{number}", "From there.", source_ref=text)


def by_topic(memory: Memory, text: str, number: int) -> None:
    new = NewMemory(key="", content=f"Claim {number}.")
    memory.curation.learn(new, topic=text, confidence="low")


def by_claim(memory: Memory, text: str, number: int) -> None:
    new = NewMemory(key="", content=f"Claim {number}: {text}")
    memory.curation.learn(new, topic="keys", confidence="high")


def by_domain(memory: Memory, text: str, number: int) -> None:
    new = NewMemory(key="", content=f"Domained {number}.")
    memory.curation.learn(new, topic="keys", confidence="low", domains=(text,))


def by_names(memory: Memory, text: str, number: int) -> None:
    memory.write(f"By {number}.", by=text, session=text, source="agent")
    save(memory, f"by-{number}", "By.", by=text, session=text)


def save(memory: Memory, key: str, content: str, **more: Any) -> None:
    memory.curation.save(NewMemory(key=key, content=content, **more))


WAYS = (
    by_reason,
    by_key,
    by_tags,
    by_source_ref,
    by_topic,
    by_claim,
    by_domain,
    by_names,
)


def raw(home: Path) -> str:
    """Return the bytes of every file below a home, and their names."""
    parts = []
    for file in sorted(home.rglob("*")):
        parts.append(file.name)
        if file.is_file():
            parts.append(file.read_bytes().decode("latin-1"))
    return "\n".join(parts)


def left_in(text: str) -> list[str]:
    """Return the kinds of which a piece of 12 characters stands in a text."""
    return [one.kind for one in SAMPLES if any(part in text for part in parts(one))]


def parts(sample: Sample) -> Iterator[str]:
    """Yield pieces so dense that one of them is in whatever is left."""
    for line in sample.secret.split("\n"):
        if "-----" not in line:
            ends = range(0, max(1, len(line) - 11), 4 if len(line) > 40 else 1)
            yield from (line[at : at + 12] for at in ends if line)


def is_refused(write: Callable[[], object], sample: Sample) -> bool:
    """Return whether a text cannot stand there; the refusal does not repeat it."""
    try:
        write()
    except UsageError as error:
        said = f"{error} {error.hint}"
    else:
        return False
    assert not is_left(sample.secret, said)
    return True


@pytest.mark.sampled
def test_no_field_carries_a_secret_to_the_disk(home: Path, memory: Memory) -> None:
    """Not into the note, its name, the journal, the index, its log or state.db."""
    refused = []
    for number, sample in part(list(enumerate(SAMPLES)), 0, of=3):
        ways = (by_writing, by_content, WAYS[number % len(WAYS)])
        refused += [
            way
            for way in ways
            if is_refused(lambda w=way: w(memory, sample.text, number), sample)  # type: ignore[misc]  # noqa: B023
        ]
    memory.search(Query(text="plain entry memory"))

    assert len(SAMPLES) >= 40
    # A key of several lines is no reference, and none of the others.
    one_line = {
        by_domain,
        by_key,
        by_names,
        by_reason,
        by_source_ref,
        by_tags,
        by_topic,
    }
    assert set(refused) <= one_line
    assert left_in(raw(home)) == []
    memory.close()
    assert left_in(raw(home)) == []


def test_tools_and_commands_tell_what_they_left_out(home: Path, hm: Hm) -> None:  # noqa: F811
    """Whoever wrote it learns that it is not there to be found."""
    server_state = ServerState(
        lambda: open_memory(home=str(home), scope_request=agent_scope_request())
    )
    server = make_server(server_state, "5e551017")
    samples = [one for one in SAMPLES if "\n" not in one.text][:8]

    for number, sample in enumerate(samples):
        written = call(server, "memory_write", content=sample.text)
        saved = call(server, "memory_save", key=f"k{number}", content=sample.text)
        tagged = call(
            server, "memory_save", key=f"t{number}", content=".", tags=[sample.text]
        )
        typed = hm("save", "--json", f"c{number}", f"Typed {number}: {sample.text}")
        piped = hm("write", "--json", stdin=sample.text.encode())
        for answer in (written, saved, tagged):
            assert "secret" in str(found(answer)["warnings"])
            assert not is_left(sample.secret, text_of(answer))
        for ran in (typed, piped):
            assert ran.code == 0, ran.err
            assert "secret" in str(ran.json["warnings"])
            assert not is_left(sample.secret, ran.out + ran.err)
    assert server_state.close(within_s=5)

    assert left_in(raw(home)) == []


def person_writes(home: Path) -> dict[Path, bytes]:
    """Put every sample into a note of its own, and one into global.md."""
    notes = {}
    for number, sample in enumerate(SAMPLES):
        text = f"# Shop {number}\n\nmarker{number}x\n{sample.text}\n"
        notes[home / "memory" / f"note-{number}.md"] = text.encode()
        typed = f"---\ntype: lesson\n---\ntyped{number}x\n{sample.text}\n"
        notes[home / "memory" / f"typed-{number}.md"] = typed.encode()
    notes[home / "memory" / "global.md"] = f"Use {SAMPLES[0].text}\n".encode()
    for file, data in notes.items():
        file.write_bytes(data)
    return notes


def test_a_list_of_keys_is_refused_with_one_sentence(home: Path, hm: Hm) -> None:  # noqa: F811
    """It is no memory, and to take each of 35,000 keys out took half a minute."""
    rng = random.Random(3)
    keys = [rng.randbytes(12).hex() for _ in range(1_100)]
    text = "".join(f"api_key = '{key}'\n" for key in keys)

    refused = hm("write", stdin=text.encode())
    saved = hm("write", stdin="".join(text.splitlines(True)[:900]).encode())

    refusal = "The text has more than 1,000 values that look like secrets."
    assert refused.code == 2
    assert refused.err.splitlines() == [
        f"error: {refusal} Nothing was saved.",
        "hint: Save where they are kept instead.",
    ]
    assert saved.code == 0, saved.err
    assert keys[0] not in raw(home)


def test_a_list_of_keys_is_refused_before_all_of_it_is_searched(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A writer that sends a megabyte of them has its answer at once."""
    searched = []

    def counted(text: str, *known: object) -> tuple[object, ...]:
        searched.append(len(text))
        return find_secrets_in_part(text)

    monkeypatch.setattr(detection, "find_secrets_in_part", counted)
    rng = random.Random(3)
    text = "".join(f"api_key = '{rng.randbytes(12).hex()}'\n" for _ in range(25_000))

    with pytest.raises(UsageError, match="more than 1,000 values"):
        memory.write(text)

    assert sum(searched) < 100_000 < len(text)


@pytest.mark.sampled
def test_a_persons_secret_stays_in_their_file_alone(home: Path, hm: Hm) -> None:  # noqa: F811
    """Their bytes are theirs; what an agent or a pipe gets of them is masked."""
    notes = person_writes(home)
    server_state = ServerState(
        lambda: open_memory(home=str(home), scope_request=agent_scope_request())
    )
    server = make_server(server_state, "5e551017")

    wanted: list[tuple[str, dict[str, Any]]] = []
    tried = part(list(enumerate(SAMPLES)), 0, of=3)
    for number, _ in tried:
        wanted += [
            ("memory_get", {"path": f"note-{number}.md"}),
            ("memory_get", {"path": f"typed-{number}.md"}),
            ("memory_history", {"key": f"typed-{number}"}),
            ("memory_search", {"query": f"marker{number}x", "min_score": 0}),
            ("memory_search", {"query": f"typed{number}x", "min_score": 0}),
        ]
    answers = iter(calls(server, wanted))

    leaks = []
    for number, sample in tried:
        told = []
        for tool, _ in wanted[:5]:
            answer = next(answers)
            told += [text_of(answer), str(found(answer))]
            assert tool != "memory_search" or found(answer)["hits"]
        if number % 10 == 0:
            told.append(hm("search", f"marker{number}x", "--json").out)
            told.append(hm("search", f"marker{number}x", "--explain").out)
        leaks += [sample.kind for text in told if is_left(sample.secret, text)]
    assert server_state.close(within_s=5)

    assert leaks == []
    assert {file: file.read_bytes() for file in notes} == notes


def long_key(sample: Sample) -> str:
    """Return a note in which a private key is cut into several chunks."""
    lines = "\n".join(f"Line {n} of what stands before it." for n in range(12))
    return f"# Keys\n\nmarker\n{lines}\n{sample.text}\n{lines}\n"


@pytest.mark.parametrize(
    "sample",
    [one for one in SAMPLES if one.secret.count("\n") > 3],
    ids=lambda one: one.kind,
)
def test_a_secret_that_is_cut_into_chunks_is_masked(
    home: Path, memory: Memory, sample: Sample
) -> None:
    """The middle of a key has neither a beginning nor an end to know it by."""
    (home / "memory" / "keys.md").write_text(long_key(sample), encoding="utf-8")
    words = sample.secret.split()

    hits = [
        hit
        for word in ("marker", "stands", *words)
        for hit in memory.search(Query(text=word, min_score=0.0)).hits
    ]

    assert hits
    assert not is_left(sample.secret, "\n".join(hit.snippet for hit in hits))


def test_a_persons_secret_is_in_no_section(
    home: Path, tmp_path: Path, memory: Memory
) -> None:
    """A section is read by a model before anybody looks at it."""
    notes = person_writes(home)
    worktree = tmp_path / "shop"
    worktree.mkdir()

    for _ in range(3):  # lessons take turns: what was told goes
        done = open_injector(memory).inject(str(worktree))
        told = [quote.path for quote in done.planned.choice.excerpts]
        assert told
        assert left_in(done.planned.body) == []
        assert left_in((worktree / "CLAUDE.md").read_text(encoding="utf-8")) == []
        for path in set(told) - {"global.md"}:
            (home / "memory" / path).unlink()

    assert all(file.read_bytes() == notes[file] for file in notes if file.exists())
    assert left_in(json.dumps(InjectionLog(memory.state()).records())) == []


def test_a_provider_is_sent_no_secret(home: Path) -> None:
    """Neither with the notes nor with a question."""
    person_writes(home)
    (home / "memory" / "keys.md").write_text(
        "\n".join(long_key(one) for one in SAMPLES if "\n" in one.secret)
    )
    with EmbeddingServer() as server:
        flags = {
            "embedding_provider": "openai",
            "openai_base_url": server.openai_url,
            "openai_api_key": "key",
        }
        with open_memory(home=str(home), flags=flags) as memory:
            memory.sync()
            result = memory.embed_pending()
            for sample in SAMPLES:
                memory.search(Query(text=sample.text))
        sent = "\n".join(server.texts)

    assert result.embedded
    assert "marker0x" in sent
    assert left_in(sent) == []
