"""The pages are correct: their commands, links, files and names."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from hivemind_memory.model.memory_types import (
    BUILT_IN,
    FIRST,
    LESSON,
    NEWEST,
    PREFERENCE,
    RELEVANT,
    SEARCH_ONLY,
)
from tests.support.console import (
    are_one_to_one,
    ids_in,
    is_as_shown,
    pair_ids,
    player,
    steps_of,
)
from tests.support.tiers import mostly_thorough
from tests.support.tree import project_files, text_files

ROOT = Path(__file__).parents[1]
PAGES = [
    name
    for name in project_files()
    if name.suffix == ".md"
    and (name.parts[0] == "docs" or len(name.parts) == 1 or name.stem == "README")
]
PLAYED = (
    "tour.md",
    "quality.md",
    "typed-memory.md",
    "scopes.md",
    "server.md",
    "agents.md",
    "launching.md",
    "working-memory.md",
    "stores.md",
    "skills.md",
)
"""Pages with terminals."""

_FENCE = re.compile(r"^( *)(```+|~~~+).*?^\1\2 *$", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"(`+).*?\1", re.DOTALL)
_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
_HEADING = re.compile(r"^#+ +(.*)$", re.MULTILINE)
_NAMED_FILE = re.compile(r"`((?:[\w.-]+/)+[\w.-]+\.(?:py|json|toml))`")
_NAMES_IN_A_FILE = re.compile(
    r"((?:`\w+`(?:, | and )?)+) (?:in|of) `((?:[\w.-]+/)*[\w.-]+\.py)`"
)
_ADDED_COMMAND = re.compile(r'^@command\("([a-z-]+)"', re.MULTILINE)
_NAMED_COMMAND = re.compile(r"`hm ([a-z][a-z-]*)")
# Home folders of a real machine; "you" and "ann" are examples.
_MACHINE_PATH = re.compile(
    r"(?<![\w.~{}/:-])"
    r"/(?:home/(?!you\b|ann\b)|Users/|root/|work/|opt/|workspace/)[\w.-]+"
)
# A type, what it is for, and then four columns.
_ROW = re.compile(r"^\| `([a-z]+)` \|[^|]*\|((?:[^|]*\|){3}[^|]*)\|$", re.MULTILINE)
_INJECTED = {
    FIRST: "always, first",
    LESSON: "always, second",
    PREFERENCE: "always, third",
    NEWEST: "when relevant",
    RELEVANT: "when relevant",
    SEARCH_ONLY: "no, a search finds it",
}
_INDEX_OPTION = re.compile(r"index[-_]url|trusted[-_]host|find[-_]links", re.IGNORECASE)
_REGISTRY_HOST = re.compile(
    r"registry\.(?!example\.)[\w-]+\.(?:org|com|io)|\bpy(?:pi|thonhosted)\.org\b"
)


def anchors(page: Path) -> set[str]:
    """The anchors of a page, as GitHub makes them from its headings."""
    text = _FENCE.sub("", (ROOT / page).read_text(encoding="utf-8"))
    names = set()
    for heading in _HEADING.findall(text):
        kept = re.sub(r"[^\w\- ]", "", heading.strip().lower())
        names.add(kept.replace(" ", "-"))
    return names


@pytest.mark.parametrize("name", mostly_thorough(PLAYED, every=4))
def test_a_terminal_shows_what_is_printed(name: str) -> None:
    """A page that no test runs is wrong after the second change."""
    if name == "launching.md" and shutil.which("tmux") is None:
        pytest.skip("tmux is not installed")
    if name == "server.md" and shutil.which("curl") is None:
        pytest.skip("curl is not installed")
    page = (ROOT / "docs" / name).read_text(encoding="utf-8")
    pairs = []
    with player() as person:
        for step in steps_of(page):
            printed = person.play(step)
            pairs += pair_ids(printed, step.shown)

            assert is_as_shown(printed, step.shown), "\n".join([step.command, *printed])
    assert are_one_to_one(pairs), "an id of the page means two things"


def test_an_id_of_the_tour_means_one_entry() -> None:
    """It showed another id in the note than in the answer before."""
    page = (ROOT / "docs" / "tour.md").read_text(encoding="utf-8")
    shown = [ids_in(step.shown) for step in steps_of(page)]
    write, piped, cat = [ids for ids in shown if ids]

    assert write == cat != piped


def test_the_table_of_types_is_that_of_the_program() -> None:
    """People read here what a type does before they choose one."""
    page = (ROOT / "docs" / "typed-memory.md").read_text(encoding="utf-8")

    rows = {
        name: tuple(map(str.strip, cells.split("|")))
        for name, cells in _ROW.findall(page)
    }

    assert rows == {
        one.name: (
            _INJECTED[one.injected],
            "yes" if one.does_age else "no",
            f"{one.importance:.1f}",
            ", ".join(one.aliases),
        )
        for one in BUILT_IN.values()
    }


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_every_link_leads_somewhere(page: Path) -> None:
    """To a page that exists, and to a heading in it."""
    prose = _FENCE.sub("", (ROOT / page).read_text(encoding="utf-8"))
    dead = []
    for link in _LINK.findall(_CODE.sub("", prose)):
        if link.startswith(("http://", "https://")):
            continue
        place, _, anchor = link.partition("#")
        target = (ROOT / page).parent / place if place else ROOT / page
        is_there = target.exists()
        if is_there and anchor:
            is_there = anchor in anchors(target.relative_to(ROOT))
        if not is_there:
            dead.append(link)

    assert dead == []


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_every_file_that_a_page_names_is_there(page: Path) -> None:
    """A reader follows them; code moves and pages stay behind."""
    text = (ROOT / page).read_text(encoding="utf-8")
    missing = [
        name
        for name in _NAMED_FILE.findall(text)
        if not (ROOT / name).exists() and not (ROOT / "hivemind_memory" / name).exists()
    ]

    assert missing == []


def test_every_name_that_a_page_finds_in_a_file_is_in_it() -> None:
    """A table of where things go is wrong as soon as one of them is renamed."""
    found, missing = 0, []
    for page in PAGES:
        text = (ROOT / page).read_text(encoding="utf-8")
        for names, file in _NAMES_IN_A_FILE.findall(text):
            code = ROOT / "hivemind_memory" / file
            code = code if code.exists() else ROOT / file
            words = set(re.findall(r"\w+", code.read_text(encoding="utf-8")))
            named = set(re.findall(r"\w+", names)) - {"and"}
            found += len(named)
            missing += [(str(page), name, file) for name in named - words]

    assert missing == []
    assert found > 50


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_every_command_that_a_page_names_exists(page: Path) -> None:
    """People will type it."""
    from hivemind_memory.cli.table import ALIASES, command_names

    known = {name.split()[0] for name in command_names()} | set(ALIASES)
    text = (ROOT / page).read_text(encoding="utf-8")
    added = set(_ADDED_COMMAND.findall(text))  # by an example on the page

    assert set(_NAMED_COMMAND.findall(text)) <= known | added


def test_every_page_can_be_reached_from_the_readme() -> None:
    """A page without a link to it is not read."""
    seen: set[Path] = set()
    todo = [Path("README.md")]
    while todo:
        page = todo.pop()
        if page in seen:
            continue
        seen.add(page)
        text = _FENCE.sub("", (ROOT / page).read_text(encoding="utf-8"))
        for link in _LINK.findall(text):
            if "://" in link:
                continue
            target = ((ROOT / page).parent / link.partition("#")[0]).resolve()
            if target.suffix == ".md" and target.is_relative_to(ROOT):
                todo.append(target.relative_to(ROOT))

    docs = {page for page in PAGES if page.parts[0] == "docs"}
    assert docs <= seen


def test_no_file_names_a_machine_or_a_package_index() -> None:
    """The project is for everybody's machine."""
    found = []
    for name in text_files():
        text = (ROOT / name).read_text(encoding="utf-8", errors="replace")
        for pattern in (_MACHINE_PATH, _INDEX_OPTION, _REGISTRY_HOST):
            found += [f"{name}: {match[0]}" for match in pattern.finditer(text)]

    assert found == []
