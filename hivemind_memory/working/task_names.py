"""Finds the sections that share names with a section: callers, definitions, tests.

What a section defines is used elsewhere, and what it uses is defined elsewhere: a
function and its callers, a setting and where it is set, code and its test. A name is
made of several words with underscores or capitals between them, or is what a definition
is called. Names that many files have say nothing.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import NamedTuple

from hivemind_memory.working.code_outline import Section, is_definition

MAX_NAMES = 32
"""Names of one section that are looked for."""

_MAX_FILES = 8
"""Files that may have a name; one that more have is no link between two."""

_MIN_CHARS = 4
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]+")
_COMPOUND = re.compile(r"[a-z][A-Z]|[A-Za-z0-9]_[A-Za-z0-9]|[A-Z]{2}[a-z]|[a-z]\d")
_DEFINED = re.compile(
    r"\b(?:class|const|def|enum|fn|func|function|interface|let|module|record|struct"
    r"|table|trait|type|var|view)\s+(?:\([^)]*\)\s*)?(?:if\s+not\s+exists\s+)?"
    r"([A-Za-z_]\w+)",
    re.IGNORECASE,
)
_CONSTANT = re.compile(r"\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b(?=\s*[:=])")
_TEST_MARKS = re.compile(r"(?:^|[._-])(?:tests?|spec)(?=$|[._-])|(?<=[a-z0-9])Tests?$")


class NamedSection(NamedTuple):
    """A section that shares names with another one."""

    path: str
    section: Section
    share: float
    """How much of the names' weight it has, 0..1."""

    names: tuple[str, ...]
    """Those that it has, the rarest first."""


def names_in(text: str) -> tuple[str, ...]:
    """Return the names of a text in their order, each once.

    >>> names_in("def flush(queue): return queue.maxBatch  # the batch")
    ('flush', 'maxBatch')
    """
    defined = set(defined_names(text))
    return tuple(
        dict.fromkeys(
            word
            for word in _WORD.findall(text)
            if len(word) >= _MIN_CHARS and (word in defined or _COMPOUND.search(word))
        )
    )


def defined_names(text: str) -> tuple[str, ...]:
    r"""Return what a text defines: functions, classes, constants, settings.

    >>> defined_names("MAX_OPEN = 2\ndef book(slot):\n    pass")
    ('MAX_OPEN', 'book')
    """
    found: dict[str, None] = {}
    for line in text.split("\n"):
        if is_definition(line) or line.lstrip().startswith(("const ", "let ", "var ")):
            found |= dict.fromkeys(_DEFINED.findall(line))
        if (constant := _CONSTANT.search(line)) is not None:
            found[constant[0]] = None
    return tuple(found)


def changed_lines(diff: str) -> str:
    """Return the lines that a diff adds or takes away, without their marks."""
    return "\n".join(
        line[1:]
        for line in diff.split("\n")
        if line.startswith(("+", "-")) and not line.startswith(("+++", "---"))
    )


def is_test_of(path: str, other: str) -> bool:
    """Return whether one of two files is, by its name, the test of the other.

    >>> is_test_of("tests/test_cart.py", "shop/cart.py")
    True
    >>> is_test_of("src/CartTest.java", "src/Cart.java")
    True
    >>> is_test_of("shop/cart.ts", "web/cart.ts")
    False
    """
    stems = [_stem(name) for name in (path, other)]
    bare = [_TEST_MARKS.sub("", stem).strip("._-").casefold() for stem in stems]
    is_one = (bare[0] != stems[0].casefold()) != (bare[1] != stems[1].casefold())
    return is_one and bare[0] == bare[1] != ""


def weights_of(names: tuple[str, ...], texts: Mapping[str, str]) -> dict[str, float]:
    """Return how much each name tells: those that few files have, the most."""
    weights = {}
    for name in names[:MAX_NAMES]:
        whole = re.compile(rf"(?<![A-Za-z0-9_]){name}(?![A-Za-z0-9_])")
        holding = sum(
            1 for text in texts.values() if name in text and whole.search(text)
        )
        if 1 < holding <= _MAX_FILES:
            weights[name] = math.log(1 + len(texts) / holding)
    return weights


def sections_with(
    weights: Mapping[str, float], sections: Mapping[str, list[tuple[Section, str]]]
) -> list[NamedSection]:
    """Return the sections that have some names, those with most weight first.

    Args:
        weights: Of the names.
        sections: Path -> sections and their texts.
    """
    whole = sum(weights.values())
    found = []
    for path, parts in sections.items():
        for section, text in parts:
            words = set(_WORD.findall(text))
            shared = [name for name in weights if name in words]
            if shared:
                share = sum(weights[name] for name in shared) / whole
                shared.sort(key=lambda name: (-weights[name], name))
                found.append(NamedSection(path, section, share, tuple(shared)))
    found.sort(key=lambda it: (-it.share, it.path, it.section.start_line))
    return found


def _stem(path: str) -> str:
    """Return the name of a file without its folder and its last suffix."""
    return path.rpartition("/")[2].rpartition(".")[0]
