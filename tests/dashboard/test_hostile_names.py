"""Names that agents, programs and models chose: none is ever more than text."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from tests.dashboard.reader import Elements, Reader
from tests.inject.repos import GIT_OF_NOBODY
from tests.support.planted_rows import inject_into, plant

NAMES = (
    '"><img src=x onerror=alert(1)>',
    "<script>alert(1)</script>",
    "javascript:alert(1)",
    "abc\u202egnp.exe",
    "e\x1b[31mred\x07",
    "a%2e%2e%2fb%00?c=1&d=2#e",
    "CON",
    "line\nof two",
    "\U0001f469\u200d\U0001f4bb مرحبا",
    "{{7*7}}",
    "L" * 4_000,
)
LISTS = ("/jobs", "/sessions", "/injection", "/skills", "/inbox", "/log", "/figures")
INNER = ("/sessions?session=", "/skills/show?", "/injection?worktree=")
_VALUE = re.compile(r' value="[^"]*"')
"""What a form sends is what it was given, whatever that looks like."""

_UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f\u200b\u202a-\u202e\u2066-\u2069]")
_EMBEDDING = {"img", "iframe", "object", "embed", "base", "style"}


def check_is_text(page: str, path: str) -> None:
    """Check that nothing of a page runs, embeds, reorders or leads elsewhere."""
    found = Elements(page).found
    assert [tag for tag, _ in found if tag == "script"] == ["script"], path
    for tag, attributes in found:
        assert tag not in _EMBEDDING, path
        assert not any(name.startswith("on") for name in attributes), path
        address = attributes.get("href", "")
        assert not address.lower().startswith(("javascript:", "data:", "//")), path
    names = Counter(given["id"] for _, given in found if "id" in given)
    assert [name for name, times in names.items() if times > 1] == [], path
    assert _UNSEEN.findall(_VALUE.sub("", page)) == [], path


def test_names_of_agents_and_models_are_text_on_every_page(
    reader: Reader, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each list, and each page that it leads to.

    Only memories were ever hostile: a fault in these pages was not noticed.
    """
    for variable, value in {**GIT_OF_NOBODY, "HOME": str(tmp_path)}.items():
        monkeypatch.setenv(variable, value)
    for number, name in enumerate(NAMES):
        plant(number, name)
    for name in NAMES[:6]:
        inject_into(tmp_path / name.replace("/", "_"))
    waiting, seen = [*LISTS], set(LISTS)
    while waiting:
        path = waiting.pop()
        page = reader.page(path)
        assert page.status_code == 200, path
        check_is_text(page.text, path)
        for _, given in Elements(page.text).found:
            link = given.get("href", "").removeprefix("/memory")
            if link.startswith(INNER) and link not in seen:
                seen.add(link)
                waiting.append(link)

    kinds = Counter(path.partition("?")[0] for path in seen - set(LISTS))
    assert kinds["/sessions"] == kinds["/skills/show"] == len(NAMES)
    assert kinds["/injection"] == 6
