"""The tree of folders on the page of notes."""

from __future__ import annotations

from pathlib import Path

from hivemind_memory.dashboard.note_tree import MAX_BESIDE, MAX_DEPTH, Branch, tree_of
from tests.dashboard.reader import Reader


def shown(branches: list[Branch]) -> list[object]:
    """Return names, counts and what is open below them."""
    return [
        (branch.name, branch.count, shown(branch.inside) if branch.is_open else "shut")
        for branch in branches
    ]


FOLDERS = (("", 2), ("projects/shop", 3), ("projects/shop/deep", 1), ("teams/red", 4))


def test_a_small_tree_is_open() -> None:
    """Each folder counts what is below it, too."""
    assert shown(tree_of(FOLDERS, "projects/shop")) == [
        ("global", 2, []),
        ("projects", 4, [("shop", 4, [("deep", 1, [])])]),
        ("teams", 4, [("red", 4, [])]),
    ]


def test_of_a_large_tree_what_leads_to_the_chosen_folder_is_open() -> None:
    """And the others are one line each."""
    folders = [(f"projects/p{at:03}", 1) for at in range(300)] + [("teams/red", 1)]

    projects, teams = tree_of(folders, "projects/p299")

    assert (projects.count, projects.is_open, teams.is_open) == (300, True, False)
    assert len(projects.inside) == MAX_BESIDE + 1
    assert projects.left == 300 - MAX_BESIDE - 1
    assert projects.inside[-1].is_chosen


def test_a_deep_folder_is_one_line_from_some_depth_on() -> None:
    """No page nests without end."""
    path = "/".join("d" * 500)

    [branch] = tree_of([(path, 1)], path)

    depth = 1
    while branch.inside:
        [branch] = branch.inside
        depth += 1
    assert (depth, branch.path, branch.is_chosen) == (MAX_DEPTH, path, True)


def test_the_page_of_notes_is_a_tree(reader: Reader, home: Path) -> None:
    """The notes of the chosen folder are below it; a large folder has parts."""
    notes = home / "memory"
    for at in range(130):
        (notes / f"n{at:03}.md").write_text(f"# Note {at}\n", encoding="utf-8")
    (notes / "projects" / "a&b" / "in").mkdir(parents=True)
    for name in ("a&b/x.md", "a&b/in/y.md"):
        (notes / "projects" / name).write_text("# Text\n", encoding="utf-8")

    first, second = reader.page("/notes").text, reader.page("/notes?page=2").text
    inner = reader.page("/notes?folder=projects/a%26b").text

    assert "132 notes" in first
    assert ("n099.md" in first, "n100.md" in first) == (True, False)
    assert ("n099.md" in second, "n129.md" in second) == (False, True)
    assert "page 2 of 2" in second
    assert "?folder=&amp;page=2" in first
    assert 'href="/memory/notes?folder=projects/a%26b" aria-current="true"' in inner
    assert "/memory/notes/projects/a%26b/x.md" in inner
    assert "y.md" not in inner
    assert 'href="/memory/notes?folder=projects/a%26b/in"' in inner
    assert "no notes in this folder" in reader.page("/notes?folder=none").text
