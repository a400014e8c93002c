"""Plausible technical English, from the documentation of the Python that runs this.

The words and how often they occur are real; the sentences are walks from word to word
and mean nothing. Only the standard library is read, so anyone gets the same text with
the same Python version.
"""

from __future__ import annotations

import ast
import re
import sysconfig
from collections import Counter, defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    import random
    from collections.abc import Iterable, Iterator, Sequence

T = TypeVar("T")

# Parts of the standard library whose docstrings are not prose, or not always there.
LEFT_OUT = frozenset(
    {"site-packages", "test", "tests", "idlelib", "lib2to3", "turtledemo", "__phello__"}
)
MARKUP = re.compile(r"[`*|\"<>{}\\]|[-=~#+]{2,}")
LONGEST_WALK = 38
"""Words after which a sentence stops, finished or not."""

COMMONEST_LEFT_OUT = 150
"""The most frequent words make no topics ("the", "return", "object")."""


def documentation() -> Iterator[str]:
    """Yield every docstring of the standard library, then pydoc's topics, in order."""
    root = Path(sysconfig.get_path("stdlib"))
    for file in sorted(root.rglob("*.py")):
        if not LEFT_OUT.intersection(file.relative_to(root).parts):
            yield from _docstrings(file)
    try:
        from pydoc_data import topics
    except ImportError:  # some distributions leave pydoc out
        return
    for name in sorted(topics.topics):
        yield topics.topics[name]


class Prose:
    """Sentences and words in the manner of some texts."""

    def __init__(self, texts: Iterable[str]) -> None:
        """Learn from *texts* which word follows which two."""
        self._openings: list[tuple[str, str]] = []
        self._following: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
        counts: Counter[str] = Counter()
        for sentence in dict.fromkeys(_sentences(texts)):
            words = sentence.split()
            self._openings.append((words[0], words[1]))
            for first, second, third in zip(
                words, words[1:], [*words[2:], ""], strict=False
            ):
                self._following[first, second].append(third)
            counts.update(re.findall(r"\b[a-z]{4,12}\b", sentence))
        frequent = [word for word, _ in counts.most_common(6000 + COMMONEST_LEFT_OUT)]
        self.topics = tuple(frequent[COMMONEST_LEFT_OUT:] or frequent)
        """Words a note may be about, the more frequent first."""

    def sentence(self, rng: random.Random) -> list[str]:
        """Return the words of one sentence, the full stop not among them."""
        first, second = pick(rng, self._openings)
        words = [first, second]
        while len(words) < LONGEST_WALK:
            following = self._following[first, second]
            word = pick(rng, following) if following else ""
            if not word:
                break
            words.append(word)
            first, second = second, word
        words[-1] = words[-1].rstrip(".,;:!?")
        return words

    def topic(self, rng: random.Random) -> str:
        """Return a word, a frequent one more often than a rare one."""
        return self.topics[int(len(self.topics) * rng.random() ** 1.7)]


def pick(rng: random.Random, things: Sequence[T]) -> T:
    """Return one of *things*.

    Only ``random()`` is asked: it gives the same numbers in every Python 3.
    """
    return things[int(rng.random() * len(things))]


def _docstrings(file: Path) -> Iterator[str]:
    """Yield the docstrings of one module; nothing when it does not parse."""
    try:
        tree = ast.parse(file.read_text(encoding="utf-8"))
    except (SyntaxError, ValueError, OSError):
        return
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    for node in ast.walk(tree):
        if isinstance(node, documented):
            yield ast.get_docstring(node) or ""


def _sentences(texts: Iterable[str]) -> Iterator[str]:
    """Yield what reads like a sentence: 6 words or more, nearly all of them words."""
    for text in texts:
        for paragraph in re.split(r"\n\s*\n", text):
            if ">>>" in paragraph:
                continue
            plain = " ".join(
                re.sub(r"[`*|\"<>{}\\]|[-=~#+]{2,}", " ", paragraph).split()
            )
            for sentence in re.split(r"(?<=[.!?])\s+", plain):
                words = sentence.split()
                wordlike = sum(word[0].isalpha() for word in words)
                if 6 <= len(words) <= 60 and wordlike >= 0.85 * len(words):
                    yield sentence.replace("(", "").replace(")", "")
