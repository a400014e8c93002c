"""The loader reads lines by number, below its root, as they are now."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hivemind_memory.errors import MemoryNotFoundError, UsageError
from hivemind_memory.files.marked_section import SECTION_HEADLINE as HEADLINE
from hivemind_memory.working import (
    ContentLoader,
    FileMemoryBlock,
    KnowledgeMemoryBlock,
    MessageMemoryBlock,
    WorkingMemory,
)
from hivemind_memory.working import loading as loading_module
from hivemind_memory.working.root_folder import RootFolder
from tests.support.tiers import examples

LATER_S = 4e9
"""Long after every file of a test was written."""


def load(root: Path, location: str, **lines: Any) -> str:
    loader = ContentLoader(str(root))
    return loader.load_content(FileMemoryBlock(location=location, **lines))


def load_again(loader: ContentLoader) -> str:
    return loader.load_content(FileMemoryBlock(location="a"))


@pytest.mark.parametrize("prefix", ["", "# ", "> ", "+"])
@pytest.mark.parametrize("file", ["CLAUDE.md", ".claude/rules/hivemind-memory.md"])
@pytest.mark.parametrize("end", ["<!-- hivemind:end -->", ""])
def test_a_section_is_never_loaded_and_other_lines_keep_their_numbers(
    tmp_path: Path, file: str, prefix: str, end: str
) -> None:
    """It may have been made for another caller; a copy and a damaged one, too."""
    marks = "<!-- hivemind:begin v1 -->\n<!-- hivemind:created -->"
    section = f"{marks}\n{HEADLINE}\n\n> Walruses.\n{end}".replace("\n", f"\n{prefix}")
    path = tmp_path / file
    path.parent.mkdir(parents=True, exist_ok=True)
    own = "# Rules\n\nThe mark is `<!-- hivemind:begin v1 -->`.\n"
    path.write_text(f"{own}{prefix}{section}\n{'Last.' if end else ''}\n")

    assert load(tmp_path, file).startswith(own)
    assert "alrus" not in load(tmp_path, file)
    assert "alrus" not in load(tmp_path, file, start_line=6)
    if end:
        assert load(tmp_path, file, start_line=10) == "Last."


def test_a_file_that_names_the_headline_in_its_code_is_loaded_whole(
    tmp_path: Path,
) -> None:
    """Such as our own."""
    (tmp_path / "a.py").write_text(text := f'A = "{HEADLINE}"\nB = "`{HEADLINE}`"\n')

    assert load(tmp_path, "a.py") == text


@given(
    st.lists(st.text("ab", max_size=3), max_size=12),
    st.integers(1, 14),
    st.integers(0, 14),
)
@settings(max_examples=examples(60))
def test_lines_are_numbered_from_one_and_both_ends_are_in(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str], first: int, more: int
) -> None:
    """``lines[start:end]`` loses the first line that was asked for."""
    root = tmp_path_factory.mktemp("root")
    (root / "a").write_text("".join(f"{line}\n" for line in lines))
    loader = ContentLoader(str(root))

    block = FileMemoryBlock(location="a", start_line=first, end_line=first + more)
    loaded = loader.load(block)

    wanted = [lines[n - 1] for n in range(first, first + more + 1) if n <= len(lines)]
    assert loaded.text == "\n".join(wanted)
    assert bool(loaded.note) == (first > len(lines))
    assert not loaded.is_error


@pytest.mark.parametrize(
    ("location", "why"),
    [
        ("missing.py", "no such file"),
        ("folder", "link|not|directory|invalid"),
        ("link", "link"),
        ("linked/secret", "not a directory"),
        ("../outside/secret", "inside the root"),
        ("binary", "not text"),
        ("pipe", "."),
    ],
)
def test_what_cannot_be_loaded_is_a_text_that_says_so(
    tmp_path: Path, location: str, why: str
) -> None:
    """One file that is gone must not cost a program its whole context."""
    root, outside = tmp_path / "root", tmp_path / "outside"
    (root / "folder").mkdir(parents=True)
    outside.mkdir()
    (outside / "secret").write_text("secret")
    (root / "link").symlink_to(outside / "secret")
    (root / "linked").symlink_to(outside)
    (root / "binary").write_bytes(b"\0\1")
    os.mkfifo(root / "pipe")

    text = load(root, location)

    assert text.startswith("[Error loading content: ")
    assert "secret" not in text.replace("linked/secret", "").replace(
        "outside/secret", ""
    )
    assert re.search(why, text), text


def test_a_location_may_be_absolute_if_it_is_below_the_root(tmp_path: Path) -> None:
    """Programs that keep absolute paths need not rewrite them."""
    (tmp_path / "a.py").write_text("x = 1\n")
    memory = WorkingMemory(str(tmp_path))

    kept = memory.add(FileMemoryBlock(location=str(tmp_path / "a.py")))

    assert kept.id == "file:a.py"
    assert load(tmp_path, str(tmp_path / "a.py")) == "x = 1\n"
    for outside in (
        "/etc/passwd",
        f"{tmp_path}-other/a",
        "../a",
        "a/../../b",
        "a//b",
        "",
    ):
        with pytest.raises(UsageError, match="location"):
            memory.add(FileMemoryBlock(location=outside or "\0"))


def test_a_folder_that_is_refused_is_not_read_under_any_name(tmp_path: Path) -> None:
    """The notes are read through the memory, which knows who may see what."""
    notes = tmp_path / "project" / "home" / "memory"
    notes.mkdir(parents=True)
    (notes / "private.md").write_text("private")
    refused = (str(notes.parent),)
    loader = ContentLoader(str(tmp_path / "project"), refused=refused)

    text = loader.load_content(FileMemoryBlock(location="home/memory/private.md"))

    assert "private" not in text
    assert text.startswith("[Error")
    for root in (notes, notes.parent):
        with pytest.raises(UsageError, match="cannot be read"):
            RootFolder(str(root), refused).check_usable()
    with RootFolder(str(tmp_path / "project"), refused).walk() as walk:
        assert list(walk.files((), 9)) == []


def test_a_file_that_changes_is_loaded_as_it_is_now(tmp_path: Path) -> None:
    """Also twice within one tick of its times, whatever the block's digest is."""
    file = tmp_path / "a"
    block = FileMemoryBlock(location="a", digest="of the first text")
    loader = ContentLoader(str(tmp_path))
    seen = []
    for text in ("one", "two", "three"):
        file.write_text(text)
        os.utime(file, ns=(10**18, 10**18))
        seen.append(loader.load_content(block))

    assert seen == ["one", "two", "three"]


def test_a_file_that_was_kept_for_long_is_read_again_once_it_changes(
    tmp_path: Path,
) -> None:
    """What was kept counts only while the signature is the same."""
    loader = ContentLoader(str(tmp_path), now=lambda: LATER_S)
    seen = []
    for text in ("one", "three", "seven"):
        (tmp_path / "a").write_text(text)
        os.utime(tmp_path / "a", (len(seen), len(seen)))
        seen += [load_again(loader), load_again(loader)]

    assert seen == ["one", "one", "three", "three", "seven", "seven"]


@pytest.mark.parametrize(("age_s", "text"), [(1.0, "two"), (3.0, "one")])
def test_a_file_that_has_just_changed_is_read_again_whatever_its_signature_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, age_s: float, text: str
) -> None:
    """A second change within one tick of the clock leaves it as it is."""
    at_ns = 10**18
    monkeypatch.setattr(loading_module, "signature_of", lambda _: (at_ns, at_ns, 3, 1))
    loader = ContentLoader(str(tmp_path), now=lambda: at_ns / 1e9 + age_s)
    (tmp_path / "a").write_text("one")
    assert load_again(loader) == "one"

    (tmp_path / "a").write_text("two")

    assert load_again(loader) == text


def test_a_file_that_has_not_changed_is_read_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Until its time is over."""
    (tmp_path / "a").write_text("one\ntwo\n")
    reads: list[int] = []

    def counting(fd: int, size: int) -> Any:
        reads.append(fd)
        return original(fd, size)

    original: Callable[[int, int], Any] = loading_module._read
    monkeypatch.setattr(loading_module, "_read", counting)
    times = iter([LATER_S, LATER_S + 1, LATER_S + 2, LATER_S + 400])
    loader = ContentLoader(str(tmp_path), now=lambda: next(times))

    for block in (
        FileMemoryBlock(location="a"),
        FileMemoryBlock(location="a", start_line=2),
        FileMemoryBlock(location="a", end_line=1),
    ):
        loader.load(block)
    before = len(reads)
    loader.load(FileMemoryBlock(location="a"))

    assert (before, len(reads)) == (1, 2)


def test_the_cache_has_a_bound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program that runs for days does not keep every file that it ever saw."""
    monkeypatch.setattr(loading_module, "CACHE_BYTES", 5_000)
    for name in "abcdefgh":
        (tmp_path / name).write_text(name * 1_000)
    loader = ContentLoader(str(tmp_path), now=lambda: LATER_S)

    for name in "abcdefghab":
        assert loader.load_content(FileMemoryBlock(location=name)) == name * 1_000

    assert loader._cached_bytes <= 5_000
    assert loader._cached_bytes == sum(one.size for one in loader._cache.values())


def test_of_a_very_large_file_both_ends_are_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And how much is missing is said."""
    monkeypatch.setattr(loading_module, "MAX_FILE_BYTES", 200_000)
    (tmp_path / "log").write_text("first\n" + "x" * 300_000 + "\nlast")

    loaded = ContentLoader(str(tmp_path)).load(FileMemoryBlock(location="log"))

    assert loaded.text.startswith("first\n")
    assert loaded.text.endswith("\nlast")
    assert "bytes" in loaded.note


def test_bytes_that_are_no_text_in_utf_8_are_replaced(tmp_path: Path) -> None:
    (tmp_path / "latin").write_bytes(b"caf\xe9")

    assert load(tmp_path, "latin") == "caf\N{REPLACEMENT CHARACTER}"


def test_a_message_is_loaded_from_its_file_or_else_from_its_beginning(
    tmp_path: Path,
) -> None:
    (tmp_path / "m").write_text("all of it")
    loader = ContentLoader(str(tmp_path))

    def text(path: str) -> str:
        message = {"from_agent": "a", "to_agent": "b", "subject": "s"}
        block = MessageMemoryBlock(**message, preview="all", full_path=path)  # type: ignore[arg-type]
        return loader.load_content(block)

    assert [text("m"), text("gone"), text("")] == ["all of it", "all", "all"]


def test_a_memory_is_read_by_what_the_program_was_given(tmp_path: Path) -> None:
    """With its caller's rights: the loader itself reads no notes."""

    def read(name: str) -> str:
        if name != "rounding":
            raise MemoryNotFoundError(f"There is no memory {name}.")
        return "half up"

    block = KnowledgeMemoryBlock(topic="t", location="hm:rounding")
    other = KnowledgeMemoryBlock(topic="t", location="hm:private")
    loader = ContentLoader(str(tmp_path), read_memory=read)

    assert loader.load_content(block) == "half up"
    assert "There is no memory private." in loader.load_content(other)
    assert "no memory is open" in ContentLoader(str(tmp_path)).load_content(block)


def test_thirty_two_threads_share_a_loader(tmp_path: Path) -> None:
    for number in range(40):
        (tmp_path / f"{number}").write_text(f"{number}\n" * 500)
    loader = ContentLoader(str(tmp_path))

    def read(turn: int) -> bool:
        name = str(turn % 40)
        return loader.load_content(FileMemoryBlock(location=name)) == f"{name}\n" * 500

    with ThreadPoolExecutor(32) as pool:
        assert all(pool.map(read, range(640)))


def test_without_a_root_no_file_is_read() -> None:
    loader = ContentLoader(None)

    assert "there is no root folder" in loader.load_content(
        FileMemoryBlock(location="a")
    )
