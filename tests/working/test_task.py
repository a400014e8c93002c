"""Given a task: what of the memory, the files and git fits, and why."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path

import pytest

from hivemind_memory import NewMemory, environment, open_memory
from hivemind_memory.errors import UsageError
from hivemind_memory.memory import Memory
from hivemind_memory.model.query import Query, SearchAnswer
from hivemind_memory.working.blocks import utc_now
from hivemind_memory.working.task_context import (
    ContextRequest,
    TaskContext,
    build_context,
)
from hivemind_memory.working.task_memories import MemorySource, find_memories
from hivemind_memory.working.task_words import Coverage, TaskWords, named_files

CART = '''\
"""Sums of carts."""

import decimal


def add_line(cart, article, count):
    """Put an article into a cart."""
    cart.lines.append((article, count))
    cart.is_changed = True
    cart.version += 1
    return cart.lines[-1]


def round_half_up(amount):
    """Round an amount to cents, half of a cent up."""
    cents = decimal.Decimal("0.01")
    rounded = amount.quantize(cents, rounding=decimal.ROUND_HALF_UP)
    if rounded == amount:
        return amount
    return rounded


def send_mail(customer):
    """Tell a customer that the parcel is on its way."""
    subject = "Your parcel"
    text = f"Dear {customer.name}, it is on its way."
    customer.mailbox.put(subject, text)
    return text
'''


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home without options."""
    for name in list(os.environ):
        if name.startswith("HIVEMIND_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HIVEMIND_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("HIVEMIND_EMBEDDING_PROVIDER", "none")
    return tmp_path / "home"


@pytest.fixture
def memory(home: Path) -> Iterator[Memory]:
    """A memory with two decisions."""
    (home / "memory").mkdir(parents=True)
    with open_memory() as opened:
        for key, text in (
            ("rounding", "Sums of a cart are rounded half up, to cents, per line."),
            ("parcels", "Parcels are handed to the carrier at noon."),
        ):
            opened.save(
                NewMemory(key=key, content=text, type="decision", scope="global")
            )
        yield opened


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A repository with two commits, a change, and an ignored file."""
    root = tmp_path / "shop"
    root.mkdir()
    git(root, "init", "-q")
    (root / "cart.py").write_text(CART)
    (root / ".gitignore").write_text("ignored.py\n")
    (root / "ignored.py").write_text("# rounding of sums in a cart\n")
    commit(root, "Round the sum of a cart half up")
    (root / "README.md").write_text("# Shop\n\nSells tea.\n")
    commit(root, "Say what the shop sells")
    (root / "README.md").write_text("# Shop\n\nSells tea and coffee.\n")
    return root


def git(root: Path, *words: str) -> None:
    identity = ("-c", "user.name=ann", "-c", "user.email=ann@example.org")
    subprocess.run(["git", *identity, *words], cwd=root, check=True)


def commit(root: Path, subject: str) -> None:
    git(root, "add", "-A")
    git(root, "commit", "-qm", subject)


def built(memory: Memory, root: Path, task: str, tokens: int = 4_000) -> TaskContext:
    request = ContextRequest(max_tokens=tokens, root=str(root), task=task)
    return build_context(memory, request, environ=environment.git_environ())


def ids(context: TaskContext) -> list[str]:
    return [entry["id"] for entry in context.built.entries]


def test_a_task_brings_memory_section_change_and_commit(
    memory: Memory, shop: Path
) -> None:
    """Before the section about parcels, and not the file that git ignores."""
    found = built(memory, shop, "How is the sum of a cart rounded?")
    files = [one for one in found.built.entries if one["id"].startswith("file:cart.py")]

    text = found.built.text
    assert "rounded half up, to cents" in text
    assert "def round_half_up" in text
    assert "tea and coffee" in text
    assert "Round the sum of a cart half up" in text
    assert "def round_half_up" in files[0]["content"]
    assert "on its way" not in files[0]["content"]
    assert "ignored.py" not in text
    assert all(entry["metadata"]["why"] for entry in found.built.entries)
    assert found.built.selection.used_tokens <= 4_000


def test_what_does_not_fit_is_named_with_its_cost(memory: Memory, shop: Path) -> None:
    found = built(memory, shop, "How is the sum of a cart rounded?", tokens=220)

    selection = found.built.selection
    assert selection.used_tokens <= 220
    assert selection.left_out
    assert all(one.why for one in selection.left_out)


def test_a_file_that_the_task_names_comes_first(memory: Memory, shop: Path) -> None:
    found = built(memory, shop, "tidy README.md")

    assert ids(found)[0] == "file:README.md"
    assert found.built.entries[0]["metadata"]["why"] == "named in the task"


def test_a_folder_that_is_in_no_repository_is_searched_as_it_is(
    memory: Memory, tmp_path: Path
) -> None:
    """Without hidden folders, links, and what programs install or build."""
    root, outside = tmp_path / "plain", tmp_path / "outside"
    for folder in (".git-like", "node_modules", "src"):
        (root / folder).mkdir(parents=True)
        (root / folder / "a.py").write_text(f"# invoices of {folder}\n")
    outside.mkdir()
    (outside / "secret.py").write_text("# invoices of outside\n")
    (root / "linked").symlink_to(outside)
    (root / "link.py").symlink_to(outside / "secret.py")

    found = built(memory, root, "how are invoices printed")

    assert [one for one in ids(found) if one.startswith("file:")] == ["file:src/a.py"]


def test_a_link_that_git_tracks_is_not_followed(memory: Memory, shop: Path) -> None:
    """A repository from elsewhere may hold one to any file of the user."""
    (shop.parent / "private").write_text("the rounding of the cart is secret\n")
    (shop / "notes.md").symlink_to(shop.parent / "private")
    commit(shop, "Link")

    assert "is secret" not in built(memory, shop, "rounding of the cart").built.text


def test_the_notes_are_read_through_the_memory_alone(
    memory: Memory, home: Path, tmp_path: Path
) -> None:
    """Else a root would show the notes of every scope."""
    for root in (home, home / "memory"):
        with pytest.raises(UsageError, match="cannot be read"):
            built(memory, root, "rounding")
    found = built(memory, tmp_path, "rounding of a cart")
    assert not any("memory/" in one for one in ids(found) if one.startswith("file:"))


def test_changes_of_notes_in_a_repository_are_not_shown(
    shop: Path, monkeypatch: pytest.MonkeyPatch, home: Path
) -> None:
    """Git would print those of every scope."""
    notes = shop / "home" / "memory"
    notes.mkdir(parents=True)
    (notes / "private.md").write_text("The rounding of the cart is blue.\n")
    commit(shop, "Keep the notes here")
    (notes / "private.md").write_text("The rounding of the cart is green.\n")
    monkeypatch.setenv("HIVEMIND_HOME", str(shop / "home"))
    limited = environment.agent_scope_request(project="none")

    with open_memory(scope_request=limited) as opened:
        found = built(opened, shop, "tea")

    assert "tea and coffee" in found.built.text
    assert "is green" not in found.built.text


def test_memories_are_those_that_the_caller_sees(
    memory: Memory, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of an agent in another project, and by name as well."""
    memory.save(
        NewMemory(
            key="secret-rate", content="The cart rate is 7.", scope="project/site"
        )
    )
    blocks = shop.parent / "blocks.json"
    blocks.write_text(
        '[{"type": "knowledge", "topic": "t", "location": "hm:secret-rate"},'
        ' {"type": "knowledge", "topic": "t", "location": "hm:rounding"}]'
    )
    monkeypatch.chdir(shop)
    agent = environment.agent_scope_request()
    request = ContextRequest(
        max_tokens=4_000, root=str(shop), task="cart rate", blocks_file=str(blocks)
    )

    with open_memory(scope_request=agent) as limited:
        seen = build_context(limited, request, environ=environment.git_environ())
    owned = build_context(memory, request, environ=environment.git_environ())

    assert "rate is 7" not in seen.built.text
    assert "rounded half up" in seen.built.text
    assert "rate is 7" in owned.built.text


@pytest.mark.parametrize(
    ("zone", "offset"), [("UTC-14", "+14:00"), ("UTC+11", "-11:00")]
)
def test_a_memory_begins_at_midnight_where_the_user_is(
    memory: Memory, travel: Callable[[str], None], zone: str, offset: str
) -> None:
    """A day began at midnight UTC, which was up to 14 hours off."""
    travel(zone)
    memory.save(NewMemory(key="tea", content="Tea is sold loose.", scope="global"))
    (hit,) = memory.search(Query(text="is tea sold loose")).hits

    (block,) = find_memories(
        MemorySource(memory, utc_now()), "is tea sold loose"
    ).blocks

    assert block.timestamp.isoformat() == f"{hit.date}T00:00:00{offset}"


def test_what_has_no_date_is_no_newer_than_what_was_written_today(
    home: Path, memory: Memory
) -> None:
    """It counted as written now, and was up to 24 times as relevant."""
    (home / "memory" / "global.md").write_text("Tea is sold loose in tins.\n")
    memory.save(NewMemory(key="tea", content="Tea is sold loose.", scope="global"))
    hits = memory.search(Query(text="is tea sold loose")).hits
    now = datetime.fromisoformat(memory.clocks.local_iso(memory.clocks.now()))

    blocks = find_memories(MemorySource(memory, now), "is tea sold loose").blocks

    assert {hit.date for hit in hits} == {"", now.date().isoformat()}
    assert len({block.timestamp for block in blocks}) == 1


def test_a_task_that_nothing_is_about_says_so(memory: Memory, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()

    found = built(memory, empty, "xylophone zeppelin")

    assert found.built.entries == []
    assert found.notes


def test_unread_messages_about_other_things_take_no_room_from_the_task(
    memory: Memory, shop: Path
) -> None:
    """Eight of them once filled the budget before anything about the task was in."""
    letters = [
        {
            "type": "message",
            "from_agent": "kitchen",
            "to_agent": "all",
            "subject": f"Lunch {number}",
            "preview": "There is soup.",
        }
        for number in range(8)
    ]
    asked = {**letters[0], "from_agent": "treasurer", "subject": "Rounding of sums"}
    blocks = shop.parent / "blocks.json"
    blocks.write_text(json.dumps([*letters, asked]))
    request = ContextRequest(
        max_tokens=650,
        root=str(shop),
        task="How is the sum of a cart rounded?",
        blocks_file=str(blocks),
    )

    found = build_context(memory, request, environ=environment.git_environ())

    assert found.built.entries[0]["metadata"].get("from") == "treasurer"
    assert "rounded half up, to cents" in found.built.text
    assert "def round_half_up" in found.built.text
    left_out = [one.block.id for one in found.built.selection.left_out]
    assert sum(name.startswith("message:kitchen") for name in left_out) >= 6


def test_a_number_in_a_task_is_a_word(memory: Memory, shop: Path) -> None:
    (shop / "limits.py").write_text("def dispatch(request):\n    return 429\n")

    found = built(memory, shop, "The agency gets 429 since yesterday")

    assert "return 429" in found.built.text


def test_a_memory_about_the_task_brings_the_file_that_it_is_about(
    memory: Memory, shop: Path
) -> None:
    """The task has no word of the file; the memory has."""
    (shop / "watchdog.c").write_text(
        "/* Restarts the panel after a minute of silence. */\n"
        "void watchdog_tick(void) { if (++ticks > LIMIT) reset(WATCHDOG); }\n"
    )
    (shop / "paint.c").write_text("void paint(void) { fill(BLUE); }\n")
    commit(shop, "Firmware")
    memory.save(
        NewMemory(
            key="dark-display",
            content="A dark display: the watchdog restarts the panel after silence.",
            type="lesson",
            scope="global",
        )
    )

    found = built(memory, shop, "Why is the display dark at night?")
    by_id = {entry["id"]: entry for entry in found.built.entries}

    linked = by_id["file:watchdog.c"]
    assert linked["priority"] == "low"
    assert "dark-display" in linked["metadata"]["why"]
    assert "file:paint.c" not in by_id


def test_a_file_about_the_task_brings_the_memory_about_it(
    memory: Memory, tmp_path: Path
) -> None:
    root = tmp_path / "plain"
    root.mkdir()
    (root / "failover.sh").write_text("# Promote the standby.\npg_ctl promote\n")
    memory.save(
        NewMemory(
            key="two-people",
            content="A failover is done by two people on the phone.",
            type="convention",
            scope="global",
        )
    )

    found = built(memory, root, "promote the standby")
    why = [entry["metadata"]["why"] for entry in found.built.entries]

    assert "two people on the phone" in found.built.text
    assert 'found by "failover", a name in failover.sh' in why


def test_memories_about_files_are_looked_for_a_bounded_number_of_times(
    memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One task asked up to thirty times, and each looked at the whole folder again."""
    root = tmp_path / "sums"
    root.mkdir()
    git(root, "init", "-q")
    for shop in ("tea", "rice", "salt", "wine", "corn", "silk"):
        body = "".join(
            f"def round_{shop}_{word}(cart):\n    return round(sum(cart))\n\n"
            for word in ("tax", "net", "tip", "fee", "vat", "due")
        )
        (root / f"{shop}.py").write_text(body)
    commit(root, "Round sums")
    for path in sorted(root.glob("*.py"))[:3]:
        path.write_text(path.read_text().replace("(cart):", "(cart, day):"))
    asked: list[tuple[str, bool]] = []
    search = Memory.search

    def counted(self: Memory, query: Query, *, is_fresh: bool = True) -> SearchAnswer:
        asked.append((query.text, is_fresh))
        return search(self, query, is_fresh=is_fresh)

    monkeypatch.setattr(Memory, "search", counted)

    built(memory, root, "Round the sum of a cart")

    texts = [text for text, _ in asked]
    assert len(texts) == len(set(texts)) <= 13
    assert [is_fresh for _, is_fresh in asked] == [True] + [False] * (len(asked) - 1)


def test_a_commit_of_thousands_of_files_names_those_of_the_task(
    memory: Memory, shop: Path
) -> None:
    """All the names once cost 19,000 tokens, so that the commit never fitted."""
    for number in range(200):
        (shop / f"part{number}.txt").write_text("parts\n")
    (shop / "zz_rounding.txt").write_text("parts\n")
    commit(shop, "Import the rounding tables")

    found = built(memory, shop, "rounding tables")
    [entry] = [
        entry
        for entry in found.built.entries
        if "Import the rounding tables" in entry["content"]
    ]

    assert "zz_rounding.txt" in entry["content"]
    assert "and 182 more" in entry["content"]


def test_a_task_has_a_bound(memory: Memory, shop: Path) -> None:
    with pytest.raises(UsageError, match="longer than"):
        built(memory, shop, "x" * 5_000)


@pytest.mark.parametrize(
    ("text", "is_in"),
    [
        ("def round_half_up(amount)", True),
        ("roundHalfUp(amount)", True),
        ("the amounts were rounded", True),
        ("background task", False),
        ("surround", False),
    ],
)
def test_a_word_is_found_in_all_its_forms_and_names(text: str, is_in: bool) -> None:
    words = TaskWords("rounding")

    assert bool(sum(words.count(text).counts)) is is_in


def test_a_word_of_a_script_without_blanks_is_found() -> None:
    words = TaskWords("部署服务器")

    assert any(words.count("怎样部署这个程序").counts)


def test_a_rare_word_counts_more_than_a_frequent_one() -> None:
    words = TaskWords("tide harbour")
    texts = [words.count(text) for text in ("harbour", *["tide"] * 9)]
    coverage = Coverage(words, texts)

    assert coverage.of(texts[0]) > coverage.of(texts[1]) > 0
    assert coverage.of(words.count("tide harbour")) < 1


def test_files_are_named_by_the_end_of_their_path() -> None:
    paths = ["src/cart.py", "src/mycart.py", "docs/a.b.md", "LICENSE"]

    assert named_files("see src/cart.py and a.b.md", paths) == [
        "src/cart.py",
        "docs/a.b.md",
    ]
    assert named_files("either/or, 3.14 and e.g. this", paths) == []
