"""The briefing of a scope: what matters most, and nothing that must not be told."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from hivemind_memory import open_memory, opening
from hivemind_memory.access.rules import Caller
from hivemind_memory.context.briefing import WORDS, find_briefing
from hivemind_memory.errors import ScopeError
from hivemind_memory.markdown.first_sentence import first_sentence
from hivemind_memory.memory import Memory
from hivemind_memory.model.curation import MemorySelector, NewMemory
from tests.inject.poisoning import WAYS, Poisoned


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    """A memory with nothing in it."""
    home = tmp_path / "home"
    (home / "memory").mkdir(parents=True)
    with open_memory(home=str(home)) as opened:
        yield opened


def keep(memory: Memory, key: str, content: str, **more: object) -> str:
    """Save a memory in the global scope; return its id."""
    new = NewMemory(key=key, content=content, **{"scope": "global", **more})  # type: ignore[arg-type]
    return memory.curation.save(new).id


def test_it_tells_the_first_sentences_by_type(memory: Memory) -> None:
    """In one order, whatever the order in which they were saved."""
    keep(memory, "test", "Test before you deploy. A long story.", type="lesson")
    keep(memory, "aim", "# Aim\n\nBe live in *May*. Or June.", type="goal")
    keep(memory, "day", "We deploy on **Mondays**. Never later.", type="decision")
    keep(memory, "me", "You help a shop.", type="identity")
    keep(memory, "tabs", "- Tabs, e.g. in `a.py`. Always.", type="preference")
    keep(memory, "seen", "It rained.", type="observation")

    briefing = find_briefing(memory, "global")

    assert briefing.body.split("\n") == [
        "Identity: You help a shop.",
        "Decision: We deploy on Mondays.",
        "Goal: Be live in May.",
        "Preference: Tabs, e.g. in a.py.",
        "Lesson: Test before you deploy.",
    ]
    assert [source.key for source in briefing.sources] == [
        *("me", "day", "aim", "tabs", "test"),
    ]
    assert find_briefing(memory, "global").body == briefing.body


def test_it_is_about_as_long_as_it_should_be(memory: Memory) -> None:
    """However many memories there are; each type has its turn, the newest first."""
    words = [f"word{at}" for at in range(500)]
    rng = random.Random(1)
    for at in range(40):
        text = f"Number{at} {' '.join(rng.sample(words, 9))}."
        keep(memory, f"d{at}", text, type="decision")
    for name in ("goal", "lesson", "preference"):
        keep(memory, name, f"A {name} {' '.join(rng.sample(words, 9))}.", type=name)

    body = find_briefing(memory, "global").body

    assert WORDS <= len(body.split()) < WORDS + 25
    assert "Number39" in body
    assert "Number1 " not in body
    assert all(f"A {name}" in body for name in ("goal", "lesson", "preference"))


def test_a_text_without_spaces_has_the_same_length(memory: Memory) -> None:
    """Words of Chinese are counted, though nothing separates them."""
    for at in range(60):
        words = "".join(chr(0x4E00 + at * 18 + letter) for letter in range(18))
        keep(memory, f"d{at}", f"{words}。然后休息。", type="fact")

    assert 100 < len(find_briefing(memory, "global").body) < 400


def test_nothing_is_said_twice(memory: Memory) -> None:
    """Of two that say nearly the same, only one."""
    keep(memory, "old", "The payment service answers in 8 s or not.", type="fact")
    keep(memory, "new", "The payment service answers in 8 s, or not!", type="fact")

    body = find_briefing(memory, "global").body

    assert body.count("The payment service answers") == 1


def test_what_is_hidden_over_or_from_outside_is_not_in_it(memory: Memory) -> None:
    """Alike for what is forgotten, replaced, purged, expired, done and pending."""
    for name in ("forgotten", "purged", "replaced", "done"):
        keep(memory, name, f"The {name} text is here.", type="goal")
    keep(memory, "over", "The over text is here.", type="goal", expires="2020-01-01")
    keep(memory, "claim", "The claimed text.", type="decision", source="external")
    memory.curation.forget(MemorySelector(name="forgotten"))
    memory.curation.purge(MemorySelector(name="purged"))
    keep(memory, "replaced", "Another aim.", type="goal", reason="it changed")
    memory.curation.mark_done("done")

    assert find_briefing(memory, "global").body == "Goal: Another aim."

    memory.curation.restore(MemorySelector(name="forgotten"))
    assert "The forgotten text" in find_briefing(memory, "global").body


def test_nothing_from_outside_is_told(memory: Memory) -> None:
    """In every way in which text from outside gets into notes."""
    poisoned = Poisoned(memory)
    poisoned.plant(4 * len(WAYS), seed=3)

    for scope in {"global", *(row.scope for row in memory.memories())}:
        body = find_briefing(memory, scope).body
        assert [word for word in poisoned.words if word in body] == []


def test_an_accepted_claim_is_told_no_more_than_in_a_section(memory: Memory) -> None:
    """A person has accepted it; its source is still a web page."""
    keep(memory, "claim", "The claimed text.", type="decision", source="external")
    memory.curation.accept("claim")

    briefing = find_briefing(memory, "global")

    assert briefing.body == ""
    assert briefing.why_empty


def test_each_caller_reads_the_briefings_of_its_own_scopes(memory: Memory) -> None:
    """Another scope is refused; a visitor, who reads no whole notes, gets none."""
    keep(memory, "all", "Everyone knows this.", type="decision")
    keep(memory, "shop", "The shop sells tea.", type="decision", scope="project/shop")
    with memory.as_caller(Caller(project="projects/shop")) as shop:
        assert "sells tea" in find_briefing(shop).body
        assert "sells tea" not in find_briefing(shop, "global").body
        with pytest.raises(ScopeError):
            find_briefing(shop, "project/other")
    with memory.as_caller(Caller(project="projects/other")) as other:
        assert find_briefing(other).body == ""
        with pytest.raises(ScopeError):
            find_briefing(other, "project/shop")
    with memory.as_caller(Caller(is_member=False)) as visitor:
        assert find_briefing(visitor, "global").body == ""


def test_pinned_comes_first_and_secrets_are_masked(memory: Memory) -> None:
    """A secret that a person wrote into a note by hand."""
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    keep(memory, "day", "We deploy on Mondays.", type="decision")
    keep(memory, "map", "The map is on the wall.", type="reference", is_pinned=True)
    Path(memory.places.notes, "token.md").write_text(
        f"---\ntype: decision\nkey: token\nid: {'01K' + '0' * 23}\n---\n"
        f"The token is {secret}. Keep it.\n",
        encoding="utf-8",
    )

    briefing = find_briefing(memory, "global")

    assert briefing.sources[0].key == "day"
    assert "The map is on the wall." in briefing.body
    assert secret not in briefing.body
    assert "The token is" in briefing.body


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("我们周二部署。不要在周五。", "我们周二部署。"),
        ("हम सोमवार को करते हैं। फिर नहीं।", "हम सोमवार को करते हैं।"),
        ("Wir nutzen z. B. Redis. Sonst nichts.", "Wir nutzen z. B. Redis."),
        ("We use Python 3.11. It is fast.", "We use Python 3.11."),
        ("Run `rollback.sh`. Never by hand.", "Run rollback.sh."),
        ("See [the docs](http://x.y/z.). Ok", "See the docs."),
        ("# Rota\n\nOn\nMondays! Not later", "On Mondays!"),
        ("# Only a heading #", "Only a heading"),
        ("```sh\nmake all\n```", "make all"),
        ("```sh\nmake all\n```\nBuild with make.", "Build with make."),
        ("- [x] First. Then", "First."),
        ("> Quoted. More", "Quoted."),
        ("<!-- a comment. -->\nText. More", "Text."),
        ("---\n***\nAfter rules. More", "After rules."),
        ("Use [[deploy-day|the rota]]. Next", "Use the rota."),
        ("snake_case_name stays. x", "snake_case_name stays. x"),
        ("Say (see e.g. here). Then", "Say (see e.g. here)."),
        ('He said "stop." Then', 'He said "stop."'),
        ("Why? The disk was full. Later.", "Why? The disk was full."),
        ("Rust? No. We stay with Go. Later.", "Rust? No. We stay with Go."),
        ("No. We stay with Go. Later.", "No. We stay with Go."),
        ("Our answer is no. Five people said so.", "Our answer is no."),
        ("See RFC 9110 sec. 4.2 first. Then act.", "See RFC 9110 sec. 4.2 first."),
        ("Deploys\n=======\n\nMigrate first. Then", "Migrate first."),
        ("![map](x.png)\n\nThe map. More of it", "The map."),
        ("# ADR\n\nStatus: accepted\nDate: 2026-11-02\n\nUse X. y", "Use X. y"),
        ("<https://x.org> is up. Ok", "https://x.org is up."),
        ("<b>Bold</b> moves win. Ok", "Bold moves win."),
        ("On two\\\nlines. Ok", "On two lines."),
        ("The rules:\n- a is b.\n- c is d\n\nMore.", "The rules: a is b; c is d"),
        ("Run this:\n```sh\nmake all\n```", "Run this: make all"),
        ("It is so:\n\nAll is well. Or not.", "It is so: All is well."),
        ("Problem:\n- it fails\nSolution:\n- pin it", "Problem: it fails"),
        ("Cause: a\nFix: b", "Cause: a; Fix: b"),
        ("Announced:", "Announced:"),
        ("...", ""),
        ("- *", ""),
        ("", ""),
        ("\n \n", ""),
    ],
)
def test_the_first_sentence_in_any_script(text: str, sentence: str) -> None:
    assert first_sentence(text) == sentence


@pytest.mark.parametrize(
    "text",
    [
        "Decision:\n\nUse NATS. It is fast.",
        "**Decision:** Use NATS. It is fast.",
        "decision: Use NATS. It is fast.",
        "Context: it is slow.\n\nDecision: Use NATS. It is fast.",
        "# Queue\n\n## Context\n\nSlow.\n\n## Decision\n\nUse NATS. It is fast.",
    ],
)
def test_a_text_is_read_from_where_it_says_its_label(text: str) -> None:
    """Above it stands what led to the decision, not the decision."""
    assert first_sentence(text, label="decision") == "Use NATS."


def test_each_sentence_of_a_briefing_ends(memory: Memory) -> None:
    """Most memories are a line without a full stop; two of them are no sentence."""
    keep(memory, "tabs", "Use tabs", type="decision")
    keep(memory, "day", "Deploy on Tuesdays:", type="decision")
    keep(memory, "why", "Why not? (Who knows.)", type="decision")
    keep(memory, "cjk", "我们周二部署", type="decision")

    body = find_briefing(memory, "global").body

    ended = (
        "我们周二部署。",
        "Why not? (Who knows.)",
        "Deploy on Tuesdays.",
        "Use tabs.",
    )
    assert all(sentence in body for sentence in ended)
    assert len(body) == len(" ".join(("Decision:", *ended)))


def test_a_secret_between_the_signs_of_markdown_is_masked(memory: Memory) -> None:
    """The signs are left out of a briefing, so they hide no secret from the rules."""
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    Path(memory.places.notes, "token.md").write_text(
        f"---\ntype: decision\nkey: token\nid: {'01K' + '0' * 23}\n---\n"
        f"The token is `{secret[:9]}`<b></b>`{secret[9:]}` for now.\n",
        encoding="utf-8",
    )

    body = find_briefing(memory, "global").body

    assert "The token is" in body
    assert secret not in body


def test_a_long_sentence_is_cut_between_words() -> None:
    words = first_sentence("word " * 100, limit_chars=52)
    letters = first_sentence("字" * 500, limit_chars=50)

    assert words == "word " * 9 + "word…"
    assert letters == "字" * 49 + "…"


def test_the_first_sentence_of_a_hostile_text_comes_at_once() -> None:
    """Texts that make a pattern try again and again."""
    for text in (
        "*" * 50_000,
        "`" * 50_000,
        "[" * 50_000,
        "a." * 30_000,
        "_a" * 30_000,
        "date" + "-" * 50_000 + "x",
        "Decision" + ":*" * 30_000 + "x",
        "<b " * 30_000,
        "? " * 30_000,
        "A b: " * 30_000,
        "a\n" * 30_000,
        "a:\n" * 30_000,
    ):
        assert len(first_sentence(text, label="decision")) <= 240


def test_the_command_prints_it(
    memory: Memory, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the same words as JSON."""
    from hivemind_memory.cli.main import main

    monkeypatch.setenv("HIVEMIND_HOME", memory.places.home)
    keep(memory, "day", "We deploy on Mondays. Never later.", type="decision")
    assert main(["bulletin", "--scope", "global"]) == 0
    shown = capsys.readouterr()
    assert shown.out == "Decision: We deploy on Mondays.\n"
    assert "from 1 memory in global" in shown.err
    with opening.open_memory() as same:
        assert find_briefing(same, "global").body == shown.out.strip()
