"""A purged text is in no file any more, and the receipt tells the truth about it."""

from __future__ import annotations

import errno
import os
import random
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import apsw
import pytest

from hivemind_memory.curation import purge, purge_copies
from hivemind_memory.curation.purge_report import PurgeReport
from hivemind_memory.errors import MemoryNotFoundError, UsageError
from hivemind_memory.files.descriptors import OpenFolder
from hivemind_memory.files.locks import KernelLock
from hivemind_memory.index.sqlite import notes as index_notes
from hivemind_memory.index.sqlite.index import SqliteIndex
from hivemind_memory.inject.past_injections import InjectionTraces
from hivemind_memory.memory import sync
from hivemind_memory.model.curation import NewMemory, PurgeResult
from hivemind_memory.opening import open_injector
from hivemind_memory.state.injection_log import InjectionLog
from hivemind_memory.testing import FakeEmbedder
from tests.support.fake_provider import FakeProvider
from tests.support.purge_rig import Bench, traces, words_of
from tests.support.sandbox import Sandbox, difference_from_fresh
from tests.support.tiers import mostly_thorough

SECRET = "Zanzibarquux wombatopolis keeps flimmerkeks in vault xylophonist."
OTHER = "Nothing to see here but ordinary notes about the weather."


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    sandbox = Sandbox(tmp_path / "home", provider=FakeProvider(FakeEmbedder()))
    with sandbox.memory() as memory:
        yield Bench(sandbox, memory)


def left_of(bench: Bench, text: str = SECRET) -> list[str]:
    home, index = bench.sandbox.home, bench.sandbox.index_file
    return traces(home, words_of(text), index)


def count(receipt: PurgeResult, name: str) -> int:
    [place] = [place for place in receipt.places if place.name == name]
    return place.count


def fill(bench: Bench) -> str:
    """Write a secret and other things, find it, and give all of it vectors."""
    bench.memory.write(OTHER, file="n.md")
    entry = bench.memory.write(SECRET, file="n.md")
    bench.memory.write(OTHER + " Again.", file="n.md")
    bench.memory.embed_pending()
    assert bench.found("zanzibarquux") == ["n.md"]
    return entry.id


def test_a_purged_entry_leaves_no_byte_and_all_others_stay(bench: Bench) -> None:
    """Raw bytes of every file below the home, in every form."""
    entry_id = fill(bench)
    assert left_of(bench)

    receipt = bench.purge(entry_id)

    assert left_of(bench) == []
    assert receipt.is_complete
    assert count(receipt, "entries in notes") == 1
    assert count(receipt, "journal") == 1
    assert count(receipt, "index") == 1
    assert count(receipt, "vectors") >= 1
    assert count(receipt, "tombstones") == 1
    assert bench.read("n.md").count(OTHER) == 2
    assert set(bench.found("weather")) == {"n.md"}
    assert difference_from_fresh(bench.sandbox, bench.memory) == []


def test_a_dry_run_lists_every_place_and_changes_nothing(bench: Bench) -> None:
    """A person decides by it."""
    entry_id = fill(bench)
    note = bench.read("n.md")

    receipt = bench.purge(entry_id, is_dry_run=True)

    assert receipt.is_dry_run
    assert not receipt.is_complete
    [told] = receipt.memories
    lines = note.split("\n")[told.start_line - 1 : told.end_line]
    assert SECRET in lines
    assert count(receipt, "journal") == 1
    assert count(receipt, "index") == 1
    assert bench.read("n.md") == note
    assert bench.found("zanzibarquux") == ["n.md"]
    assert not bench.state.has_tombstone(SECRET)


def test_a_purge_after_forgetting_reaches_the_vectors_too(bench: Bench) -> None:
    """The index has no chunk of it any more, and its vectors are in the cache."""
    entry_id = fill(bench)
    bench.forget(entry_id)

    receipt = bench.purge(entry_id)

    assert count(receipt, "vectors") >= 1
    assert left_of(bench) == []


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_a_copy_is_found_behind_a_byte_order_mark(bench: Bench, mark: bytes) -> None:
    """Editors on Windows write one; it hid the front matter, and so the copy."""
    bench.save("vault", SECRET)
    head = f"---\nid: copy\ntype: lesson\nsession: s1\n---\n\n{SECRET}\n"
    (bench.sandbox.notes / "copy.md").write_bytes(mark + head.encode())
    bench.memory.sync()

    planned = bench.purge(session="s1", is_dry_run=True)
    bench.purge("vault")

    assert "copy.md" in {one.path for one in planned.memories}
    assert bench.there() == []


def test_a_purged_key_takes_versions_claims_and_copies_along(bench: Bench) -> None:
    """The same words may stand in an entry, and an older one beside."""
    older = "Bramblefoot mustardseed dwells under the zwiebelturm."
    bench.save("vault", older)
    bench.save("vault", SECRET, reason="it moved house")
    bench.save("vault", "A claim about the krakenfjord.", source="external")
    bench.memory.write(SECRET.upper().replace(" ", "  "), file="n.md")
    bench.memory.write(OTHER, file="n.md")
    bench.save("friend", "Knows of it.", related=("vault",))
    bench.memory.embed_pending()
    [friend] = [path for path in bench.there() if "friend" in path]

    receipt = bench.purge("vault")

    assert sorted(one.why for one in receipt.memories) == [
        *("copy", "inbox", "named", "older")
    ]
    assert left_of(bench, f"{SECRET} {older} krakenfjord") == []
    assert bench.there() == [friend, "n.md"]
    assert "related" not in bench.read(friend)
    assert difference_from_fresh(bench.sandbox, bench.memory) == []


def test_purging_one_version_closes_the_chain_over_the_gap(bench: Bench) -> None:
    """The newest replaces now what the purged one had replaced."""
    first = bench.save("port", "It listens on 1.")
    second = bench.save("port", SECRET, reason="moved")
    third = bench.save("port", "It listens on 3.", reason="moved again")

    bench.purge(second.id)

    assert f"supersedes: {first.id}" in bench.read("port.md")
    [older] = [path for path in bench.there() if path.startswith("superseded/")]
    assert f"superseded_by: {third.id}" in bench.read(older)
    assert left_of(bench) == []


def test_a_purged_text_is_known_again_however_it_is_written(bench: Bench) -> None:
    """A tombstone is a keyed hash: it holds no text."""
    entry_id = fill(bench)

    bench.purge(entry_id)

    assert bench.state.has_tombstone(SECRET)
    assert bench.state.has_tombstone("  " + SECRET.upper().replace(" ", "\n"))
    assert not bench.state.has_tombstone(SECRET + " Or not.")
    bench.state.remove_tombstone(SECRET)
    assert not bench.state.has_tombstone(SECRET)


def test_a_purged_entry_is_never_recovered(bench: Bench) -> None:
    """Neither from the journal, nor from a note that an old buffer brings back."""
    entry_id = fill(bench)
    bench.purge(entry_id)

    bench.sandbox.save("n.md", "# An old buffer\n")
    bench.sandbox.age("n.md", 30)
    bench.memory.sync()

    assert left_of(bench) == []
    assert "recovered.md" in bench.there()  # the others come back


def test_a_purge_that_cannot_clean_the_index_says_so_and_a_second_one_does(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody reads an old state of the index for longer than we wait."""
    monkeypatch.setattr("hivemind_memory.index.sqlite.engine.VACUUM_WAIT_S", 0.2)
    entry_id = fill(bench)
    reader = apsw.Connection(str(bench.sandbox.index_file))
    reader.execute("BEGIN")
    list(reader.execute("SELECT count(*) FROM chunks"))

    first = bench.purge(entry_id)

    assert [one.what for one in first.left] == [str(bench.sandbox.index_file)]
    assert "still reads an old state" in first.left[0].why
    assert SECRET not in bench.read("n.md")
    reader.execute("COMMIT")
    reader.close()

    second = bench.purge(entry_id)

    assert second.is_complete
    assert left_of(bench) == []
    with pytest.raises(MemoryNotFoundError):
        bench.purge(entry_id)


class KilledError(BaseException):
    """Nothing catches it, as nothing catches a kill."""


@pytest.mark.parametrize("is_done", [False, True])
@pytest.mark.parametrize("at", mostly_thorough(range(len(purge.STORES)), every=3))
@pytest.mark.parametrize("kind", ["entry", "memory"])
def test_a_purge_that_is_killed_is_finished_by_the_next(
    bench: Bench, at: int, kind: str, is_done: bool
) -> None:
    """At any store: the plan is kept, even if the notes are clean already."""
    name = fill(bench)
    if kind == "memory":
        bench.purge(name)
        bench.state.remove_tombstone(SECRET)
        name = bench.save("vault", SECRET).id
        bench.save("friend", "Knows it.", related=(name,))
        bench.memory.embed_pending()
    store = purge.STORES[at]

    def killed(report: PurgeReport) -> None:
        if is_done:
            store.clean(report)
        raise KilledError

    stores = [*purge.STORES]
    stores[at] = store._replace(clean=killed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(purge, "STORES", stores)
        with pytest.raises(KilledError):
            bench.purge(name)

    assert bench.state.has_tombstone(SECRET)
    with bench.sandbox.memory() as memory:
        later = Bench(bench.sandbox, memory)
        later.purge(name, is_dry_run=True)
        receipt = later.purge(name)
    assert receipt.is_complete
    assert left_of(bench) == []


def test_no_rebuild_brings_a_purged_text_back(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that is going on has read the notes before."""
    monkeypatch.setattr("hivemind_memory.index.sqlite.engine.REBUILD_WAIT_S", 0.1)
    entry_id = fill(bench)
    lock = KernelLock(f"{bench.sandbox.places.rebuild_file}.lock")
    assert lock.try_acquire()
    (bench.sandbox.index_file.parent / "rebuild.db").write_text(SECRET)

    first = bench.purge(entry_id)
    lock.release()
    second = bench.purge(entry_id)

    assert "is rebuilding" in first.left[0].why
    assert second.is_complete
    assert count(second, "set-aside indexes") == 1
    assert left_of(bench) == []


def test_leftover_files_of_killed_processes_go_and_an_editor_s_are_named(
    bench: Bench,
) -> None:
    """A half-written note is ours; a swap file is not."""
    entry_id = fill(bench)
    half = bench.sandbox.notes / ".hm-0123456789abcdef.tmp"
    half.write_text(SECRET)
    os.utime(half, (1, 1))
    damaged = bench.sandbox.index_file.with_name("memory.db.damaged")
    damaged.write_text(SECRET)
    swap = bench.sandbox.notes / ".n.md.swp"
    swap.write_text(f"b0VIM\0{SECRET}")
    bench.sandbox.save("own.md", f"# Mine\n\n{SECRET}\n")

    receipt = bench.purge(entry_id)

    assert not half.exists()
    assert not damaged.exists()
    beyond = {one.what for one in receipt.out_of_reach}
    assert {str(swap), "own.md:3", "backups"} <= beyond
    swap.unlink()
    bench.sandbox.notes.joinpath("own.md").unlink()
    bench.memory.sync()


@pytest.mark.parametrize("name", [".n.md.swp", "n.md~", "#n.md#", ".n.md.un~"])
def test_an_editor_s_copy_that_cannot_be_searched_is_named(
    bench: Bench, name: str
) -> None:
    """A text of a few letters cannot be told from others in it."""
    entry_id = bench.memory.write("Yes.", file="n.md").id
    copy = bench.sandbox.notes / name
    copy.write_bytes(b"b0VIM 9.0\0 compressed")
    other = bench.sandbox.notes / "m.md~"
    other.write_text("Of another note.")

    receipt = bench.purge(entry_id)

    told = {one.what: one.why for one in receipt.out_of_reach}
    assert "may hold the text" in told[str(copy)]
    assert str(other) not in told
    copy.unlink()


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads every file")
def test_an_editor_s_copy_that_cannot_be_read_is_named(bench: Bench) -> None:
    """So may a swap file of another user."""
    entry_id = fill(bench)
    copy = bench.sandbox.notes / ".n.md.swp"
    copy.write_text("sealed")
    copy.chmod(0)

    receipt = bench.purge(entry_id)

    told = {one.what: one.why for one in receipt.out_of_reach}
    assert "may hold the text" in told[str(copy)]
    copy.unlink()


def test_a_note_that_cannot_be_read_now_is_named(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The receipt said nothing of it, and it may hold the purged text."""
    entry_id = fill(bench)
    bench.sandbox.save("sealed.md", f"A copy of it: {SECRET}\n")
    real = OpenFolder.open_file

    def open_file(folder: OpenFolder, name: str, flags: int) -> int:
        if name == "sealed.md":
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return real(folder, name, flags)

    monkeypatch.setattr(OpenFolder, "open_file", open_file)
    receipt = bench.purge(entry_id)

    told = {left.what: left.why for left in receipt.out_of_reach}
    assert told["sealed.md"].endswith(
        ", since sealed.md cannot be read: the disk reported an error"
    )


def test_a_note_of_a_person_goes_only_when_it_is_insisted_on(bench: Bench) -> None:
    """All that they wrote in it goes with it."""
    bench.sandbox.save("diary.md", f"# Diary\n\n{SECRET}\n")
    bench.memory.write("An entry of bombadil.", file="diary.md")

    with pytest.raises(UsageError, match="as a whole"):
        bench.purge("diary.md")
    assert bench.found("zanzibarquux") == ["diary.md"]
    receipt = bench.purge("diary.md", is_forced=True)

    assert receipt.is_complete
    assert bench.there() == []
    assert left_of(bench, f"{SECRET} bombadil") == []
    assert bench.state.has_tombstone("An entry of bombadil.")


def test_a_scope_ends_whole(bench: Bench) -> None:
    """Typed memories, entries, people's notes, and the folder that bears its name."""
    bench.save("vault", SECRET, scope="teams/red")
    bench.save("vault", SECRET + " More.", scope="teams/red", reason="grew")
    bench.memory.write(SECRET, file="teams/red/n.md")
    bench.sandbox.save("teams/red/own.md", SECRET)
    bench.save("vault", OTHER, scope="teams/blue")

    receipt = bench.purge(scope="team/red", is_forced=True)

    assert receipt.is_complete
    assert [path for path in bench.there() if "red" in path] == []
    assert not (bench.sandbox.notes / "teams" / "red").exists()
    assert left_of(bench) == []
    assert bench.found("weather") == ["teams/blue/vault.md"]


def test_a_purged_session_puts_into_force_what_it_had_replaced(bench: Bench) -> None:
    """Undone whole, and without a trace."""
    bench.save("port", "The shop listens on 8080.")
    bench.save("port", SECRET, reason="moved", session="evil")
    bench.memory.write(SECRET + " Twice.", file="n.md", session="evil")

    receipt = bench.purge(session="evil")

    assert receipt.is_complete
    assert [one.key for one in receipt.reactivated] == ["port"]
    [path] = bench.there()
    assert "8080" in bench.read(path)
    assert "supersede" not in bench.read(path)
    assert left_of(bench) == []


def test_a_git_history_is_named(bench: Bench) -> None:
    """What was committed is out of reach."""
    entry_id = fill(bench)
    subprocess.run(["git", "init", "-q", str(bench.sandbox.notes)], check=True)

    receipt = bench.purge(entry_id)

    [git] = [one for one in receipt.out_of_reach if "git" in one.why]
    assert git.what == str(bench.sandbox.notes)


def test_what_worktrees_were_shown_is_written_anew(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The section quotes the text, and the injection log names a path made from the
    key."""
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    shop = tmp_path / "zanzibarquux-shop"
    subprocess.run(["git", "init", "-q", str(shop)], check=True)
    bench.save("xylophonist vault", SECRET, type="lesson")
    bench.save("weather", "The zanzibarquux-shop is open in any weather.")
    injector = open_injector(bench.memory)
    bench.injected = InjectionTraces(InjectionLog(bench.state), injector)
    injector.inject(str(shop))
    section = (shop / "CLAUDE.md").read_text()
    assert "flimmerkeks" in section

    receipt = bench.purge("xylophonist vault")

    assert receipt.is_complete
    assert receipt.worktrees == (str(shop),)
    assert count(receipt, "injection log") == 1
    section = (shop / "CLAUDE.md").read_text()
    assert "flimmerkeks" not in section
    assert "weather" in section
    words = words_of(SECRET) - {"Zanzibarquux"}  # so is the worktree called
    home, index = bench.sandbox.home, bench.sandbox.index_file
    assert traces(home, words, index) == []
    assert injector.why(str(shop)) is not None
    status = ["git", "-C", str(shop), "status", "--porcelain"]
    assert subprocess.run(status, check=True, capture_output=True).stdout == b""


@pytest.mark.thorough
def test_many_random_memories_are_purged_one_by_one(bench: Bench) -> None:
    """The short form of ``benchmarks/purge.py``."""
    chance = random.Random(7)
    letters = "abcdefghijklmnopqrstuvwxyzäöüß数据"
    texts: dict[str, str] = {}
    for number in range(24):
        words = ["".join(chance.choices(letters, k=14)) for _ in range(5)]
        text = " ".join(words)
        if number % 3:
            entry = bench.memory.write(f"- {text}\n- item", file=f"n{number % 4}.md")
            texts[entry.id] = text
        else:
            scope = chance.choice(["", "teams/red", "projects/shop"])
            texts[bench.save(f"key {number}", text, scope=scope).id] = text
        bench.found(words[0])
    bench.memory.embed_pending()

    for name, text in texts.items():
        assert bench.purge(name).is_complete
        assert left_of(bench, text) == []

    assert left_of(bench, " ".join(texts.values())) == []
    assert difference_from_fresh(bench.sandbox, bench.memory) == []


def test_a_purge_keeps_what_stands_beside_a_reference(bench: Bench) -> None:
    """Comments, and the weight of another reference as it was written."""
    bench.save("vault", SECRET)
    bench.save("other", OTHER)
    front = "related: # to read\n  - vault\n  - {key: other, weight: 0.50} # half"
    note = f"---\ntype: fact\nkey: friend\n{front}\n---\nKnows of it.\n"
    (bench.sandbox.notes / "friend.md").write_text(note)

    assert bench.purge("vault").is_complete

    assert bench.read("friend.md") == note.replace("  - vault\n", "")


@pytest.mark.parametrize(
    "written",
    [
        "related: [vault, other]",
        'related: ["[[vault]]", other]',
        'related: ["[[vault|the safe]]", other]',
        "related: [[[vault]], other]",
        "related: [{key: vault, weight: 0.5}, other]",
        'related: [{key: "[[vault]]"}, other]',
        "related: [{id: ID}, other]",
        "related: [ID, other]",
        "related: [{path: vault.md}, other]",
        "related: [vault.md, other]",
        'related: ["[[vault.md]]", other]',
        "related:\n- vault\n- other",
        "related:\n  - key: vault\n  - other",
        "related: vault",
        "contradicts: [vault]",
        "contradicts: {key: vault}",
        "supersedes: vault",
        'supersedes: ["[[vault]]"]',
        "supersedes: [{key: vault}]",
        'superseded_by: "[[vault]]"',
    ],
)
@pytest.mark.parametrize("is_forgotten", mostly_thorough([False, True], every=2))
def test_a_purge_reaches_every_form_of_a_reference(
    bench: Bench, written: str, is_forgotten: bool
) -> None:
    """By id, key, path and link, as a tool or a person writes them."""
    saved = bench.save("vault", SECRET)
    bench.save("other", OTHER)
    front = written.replace("ID", saved.id)
    note = f"---\ntype: fact\nkey: friend\n{front}\n---\nKnows of it.\n"
    (bench.sandbox.notes / "friend.md").write_text(note)
    if is_forgotten:
        bench.forget("vault")

    planned = bench.purge("vault", is_dry_run=True)
    receipt = bench.purge("vault")

    text = bench.read("friend.md")
    assert "vault" not in text
    assert saved.id not in text
    assert ("other" in text) == ("other" in written)
    assert count(planned, "references") == count(receipt, "references") == 1
    assert receipt.is_complete


BROKEN = "title: How we deploy: the long story"


@pytest.mark.parametrize(
    ("front", "is_reference"),
    [
        ("related: other # no vault", False),
        ("related: [other, vaults]\ntags: [vault]", False),
        ("key: vault-door\n# related: vault", False),
        ("related: [other]\nreading:\n- vault", False),
        ("related: vault", True),
        ('related: ["[[vault|the safe]]", other]', True),
        ("contradicts: {key: vault, weight: 0.5}", True),
        ("supersedes:\n  - other\n  - path: vault.md # too", True),
        ("related:\n- other\n- key: vault", True),
        ("superseded_by: ID", True),
        ("related: [vault", True),
    ],
)
def test_a_note_that_does_not_parse_holds_up_a_purge_only_if_it_refers_to_it(
    bench: Bench, front: str, is_reference: bool
) -> None:
    """The name is a whole item of a field that refers, and not a part of a word."""
    saved = bench.save("vault", SECRET)
    bench.save("other", OTHER)
    note = f"---\n{BROKEN}\n{front.replace('ID', saved.id)}\n---\nKnows of it.\n"
    (bench.sandbox.notes / "story.md").write_text(note)

    planned = bench.purge("vault", is_dry_run=True)
    receipt = bench.purge("vault")

    assert count(planned, "references") == is_reference
    assert [item.what for item in receipt.left] == ["story.md"] * is_reference


def test_a_reference_to_a_memory_that_stays_is_kept(bench: Bench) -> None:
    """The key of a purged version is the key of the one in its place."""
    old = bench.save("vault", SECRET)
    bench.save("vault", OTHER, reason="it moved house")
    bench.save("friend", "Knows of it.", related=("vault",))
    friend = bench.sandbox.notes / "friend.md"
    text = friend.read_text()
    friend.write_text(text.replace("related: [", "related: [vault, "))

    receipt = bench.purge(old.id)

    assert "related: [vault, " in friend.read_text()
    assert count(receipt, "references") == 1  # of the version that replaced it


def test_a_link_in_the_text_of_a_note_is_named(bench: Bench) -> None:
    """The text is a person's: the receipt says where it names what is gone."""
    bench.save("vault", SECRET)
    (bench.sandbox.notes / "friend.md").write_text("One.\nSee [[vault]].\n")

    receipt = bench.purge("vault")

    assert "friend.md:2" in [one.what for one in receipt.out_of_reach]
    assert "[[vault]]" in bench.read("friend.md")


@pytest.mark.parametrize("step_chunks", [1, 1_000], ids=["large", "small"])
def test_a_process_that_read_the_note_before_the_purge_brings_nothing_back(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, step_chunks: int
) -> None:
    """It read the text, the purge ends with a complete receipt, and it goes on."""
    # Without the lock of the writers, as when many notes have changed.
    monkeypatch.setattr(sync, "QUICK_NOTES", -1)
    entry_id = fill(bench)
    with bench.sandbox.memory() as busy:
        busy.sync()
        with (bench.sandbox.notes / "n.md").open("a") as note:
            note.write("\n\n\nmore by hand\n\n\nand more\n")
        receipts = []
        real = SqliteIndex.replace

        def replace(index: SqliteIndex, *args: Any, **kwargs: Any) -> int:
            patch.stop()
            receipts.append(bench.purge(entry_id))
            return real(index, *args, **kwargs)

        patch = mock.patch.object(SqliteIndex, "replace", replace)
        with mock.patch.object(index_notes, "STEP_CHUNKS", step_chunks):
            patch.start()
            busy.sync()

        assert [receipt.is_complete for receipt in receipts] == [True]
        assert left_of(bench) == []


def test_a_receipt_names_the_file_that_still_holds_the_text(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever the reason: the files are searched before the purge ends."""
    entry_id = fill(bench)
    monkeypatch.setattr("hivemind_memory.index.sqlite.vacuum._rewrite", lambda _: True)

    receipt = bench.purge(entry_id)

    held = {one.what for one in receipt.left}
    assert held <= {f"{bench.sandbox.index_file}{end}" for end in ("", "-wal")}
    assert held
    assert not receipt.is_complete


def test_a_receipt_names_a_note_that_is_too_large_to_be_indexed(bench: Bench) -> None:
    """The purge looked into no note above ``max_note_mb``, and did not say so."""
    bench.save("vault", SECRET)
    large = bench.sandbox.notes / "large.md"
    # Across the border of two blocks, in a file that is mostly a hole.
    with large.open("wb") as file:
        file.seek(6 * 1024 * 1024 - 10)
        file.write(SECRET.encode())
    clean = bench.sandbox.notes / "clean.md"
    with clean.open("wb") as file:
        file.truncate(6_000_000)

    result = bench.purge("vault")

    named = {one.what: one.why for one in result.out_of_reach}
    assert "holds the text" in named["large.md"]
    assert "max_note_mb" in named["large.md"]
    assert "clean.md" not in named


def test_a_receipt_names_a_large_note_that_cannot_be_searched(bench: Bench) -> None:
    """Root reads everything, so the disk refuses here."""
    bench.save("vault", SECRET)
    with (bench.sandbox.notes / "large.md").open("wb") as file:
        file.truncate(6_000_000)
    refused = mock.Mock(side_effect=PermissionError)

    with mock.patch.object(purge_copies, "open", refused, create=True):
        result = bench.purge("vault")

    named = {one.what: one.why for one in result.out_of_reach}
    assert "not searched" in named["large.md"]


def test_a_purge_in_one_scope_says_nothing_in_another(bench: Bench) -> None:
    """Who saves the same text elsewhere must not learn that it was purged."""
    name = bench.save("vault", SECRET, scope="teams/red").id
    bench.purge(name)
    refusals = {}
    for scope in ("team/red", "team/blue", "global"):
        for call in (
            lambda scope=scope: bench.memory.write(SECRET, scope=scope),
            lambda scope=scope: bench.memory.save(
                NewMemory(key="again", content=SECRET, scope=scope)
            ),
        ):
            try:
                call()
            except UsageError as error:
                refusals.setdefault(scope, []).append(str(error))

    assert list(refusals) == ["team/red"]
    assert len(refusals["team/red"]) == 2


def test_a_tombstone_of_an_earlier_version_counts_in_every_scope(bench: Bench) -> None:
    """It was made without a scope, and the promise was made for all."""
    state = bench.state
    state.add_tombstones(["unrelated"])
    connection = apsw.Connection(state.path)
    sql = "INSERT INTO tombstones(hash, notes) VALUES (?, '*')"
    connection.execute(sql, (state.hash_of(SECRET),))
    connection.close()

    with pytest.raises(UsageError, match="was purged"):
        bench.memory.write(SECRET, scope="team/red")
    bench.memory.write(SECRET, scope="team/red", is_forced=True)
