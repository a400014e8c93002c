"""A developer's notes, made up: what a Markdown memory looks like to a search.

Headings, paragraphs, bullets, fences and tables in the proportions of real notes, with
a long tail of identifiers, paths, versions and tickets. Now and then a note states a
fact; the question that it answers is kept, to measure whether a search finds it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from textwrap import fill
from typing import TYPE_CHECKING

from benchmarks.prose import Prose, pick

if TYPE_CHECKING:
    import random

LANGUAGES = ("Python", "Rust", "Go", "TypeScript", "SQL", "Bash", "Kotlin", "C++")
SUFFIXES = (".py", ".rs", ".go", ".ts", ".toml", ".yaml", ".md", ".log")
ROLES = ("release manager", "on-call engineer", "database owner", "design lead")

# What is stated, and a question for it that shares few words with it.
FACTS = (
    (
        "Releases of {project} wait for the {one} check and go out with `{name}`.",
        "how does a new version of {project} get shipped",
    ),
    (
        "Prefer {one} to {two} for {language} code in {project}.",
        "which style is wanted for {language} in {project}",
    ),
    (
        "The preview database of {project} answers on port {number}.",
        "{project} preview db port",
    ),
    (
        "{project} hangs under test on this laptop until {variable}=1 is exported.",
        "tests of {project} freeze, which environment variable helps",
    ),
    (
        "We took {one} out of {project}: the {two} migration failed under load.",
        "why did {project} drop {one}",
    ),
    (
        "The cache of {project} lies in {path} and may be wiped at any time.",
        "where is the {project} cache that can be deleted",
    ),
    (
        "The {role} looks after {one} in {project} and reviews `{name}`.",
        "who is responsible for {one} in {project}",
    ),
    (
        "{ticket} is the {one} regression of {project}, here since {version}.",
        "{ticket} {one} regression",
    ),
    (
        "{language} is installed through `{name}` here, pinned to {version}.",
        "how did {language} get onto this machine, {name}",
    ),
    (
        "Never force-push the {one} branch of {project}: {two} builds start from it.",
        "may I rewrite history of {one} in {project}",
    ),
)
FENCES = (
    """```python
def {name}({one}, *, {two}={number}):
    return {one}.{three}({two})  # {text}
```""",
    """```sh
{one} --{two} {number} --out {path}
export {variable}={name}
```""",
    """```json
{{
  "{one}": "{name}",
  "{two}": {number},
  "{three}": ["{path}", true]
}}
```""",
    """```
{path}:{number}: error: {text}
    in {name}
```""",
    """```sql
SELECT {one}, count(*) FROM {name}
WHERE {two} > {number} GROUP BY {one};
```""",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """A question, and the sentence of a note that answers it."""

    question: str
    sentence: str


@dataclass(slots=True)
class Notebook:
    """Writes notes. The same *prose* and *rng* give the same notes."""

    prose: Prose
    rng: random.Random
    projects: list[str] = field(default_factory=list)
    asked: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        """Name the projects that the notes are about."""
        self.projects = [f"{self.word()}-{self.word()}" for _ in range(64)]

    def note(self, title: str, *, sections: int, fact_share: float) -> NoteText:
        """Return a note of one H1 and *sections* H2 or H3, with some facts.

        Args:
            title: What stands in the H1.
            sections: How many headings follow it.
            fact_share: Share of the sections that state a fact, 0..1.
        """
        parts, facts = [], []
        if self.rng.random() < 0.25:
            tags = f"[{self.word()}, {self.word()}]"
            parts.append(f"---\ntitle: {title}\ntags: {tags}\n---\n")
        parts.append(f"# {title}\n\n{self.paragraph(150)}\n")
        for number in range(sections):
            level = "##" if number == 0 or self.rng.random() < 0.6 else "###"
            blocks = self.blocks()
            if self.rng.random() < fact_share:
                fact = self.fact()
                facts.append(fact)
                blocks.insert(self.between(0, len(blocks)), fact.sentence)
            # Two blank lines part chunks; people leave them now and then.
            gap = "\n\n\n" if self.rng.random() < 0.06 else "\n\n"
            parts.append(f"{level} {self.heading()}\n\n{gap.join(blocks)}\n")
        return NoteText(text="\n".join(parts), facts=tuple(facts))

    def blocks(self) -> list[str]:
        """Return the blocks of one section, some 480 characters as a rule."""
        budget = min(2400.0, max(120.0, self.rng.lognormvariate(6.15, 0.55)))
        blocks: list[str] = []
        while (left := budget - sum(map(len, blocks))) > 0:
            draw = self.rng.random()
            if draw < 0.55:
                blocks.append(self.paragraph(min(left, self.between(150, 700))))
            elif draw < 0.82:
                blocks.append(self.bullets(min(left, self.between(100, 600))))
            elif draw < 0.93:
                blocks.append(self.fence())
            else:
                blocks.append(self.table())
        return blocks

    def paragraph(self, chars: float) -> str:
        """Return sentences of about so many characters, wrapped as people do."""
        text = self.sentence()
        while len(text) < chars:
            text = f"{text} {self.sentence()}"
        return fill(text, 92, break_long_words=False, break_on_hyphens=False)

    def bullets(self, chars: float) -> str:
        """Return a list of about so many characters."""
        is_numbered = self.rng.random() < 0.2
        lines: list[str] = []
        while sum(map(len, lines)) < chars:
            mark = f"{len(lines) + 1}." if is_numbered else "-"
            if not is_numbered and self.rng.random() < 0.1:
                mark = pick(self.rng, ("- [x]", "- [ ]"))
            text = self.sentence()[:170].rsplit(" ", 1)[0]
            if self.rng.random() < 0.15:
                text = f"**{self.word()}**: {text}"
            if self.rng.random() < 0.08:
                text += f" [{self.word()}](https://{self.word()}.example/{self.word()})"
            is_nested = lines and not is_numbered and self.rng.random() < 0.15
            lines.append(f"{'  ' if is_nested else ''}{mark} {text}")
        return "\n".join(lines)

    def fence(self) -> str:
        """Return a fenced piece of code."""
        text = " ".join(self.prose.sentence(self.rng))[:60]
        return pick(self.rng, FENCES).format(**self.values(), text=text)

    def table(self) -> str:
        """Return a table of 2 to 5 columns."""
        columns = self.between(2, 5)
        rows = [[self.word() for _ in range(columns)], ["---"] * columns]
        for _ in range(self.between(2, 7)):
            makers = (self.name, self.word, self.version)
            rows.append([pick(self.rng, makers)() for _ in range(columns)])
        return "\n".join(f"| {' | '.join(row)} |" for row in rows)

    def fact(self) -> Fact:
        """Return a fact that no note has stated yet."""
        while True:
            sentence, question = pick(self.rng, FACTS)
            values = self.values()
            question = question.format(**values)
            if question not in self.asked:
                self.asked.add(question)
                return Fact(question=question, sentence=sentence.format(**values))

    def values(self) -> dict[str, object]:
        """Return something for every gap of a fact or a fence."""
        return {
            "one": self.word(),
            "two": self.word(),
            "three": self.word(),
            "name": self.name(),
            "number": self.between(1024, 65000),
            "path": self.path(),
            "project": pick(self.rng, self.projects),
            "language": pick(self.rng, LANGUAGES),
            "role": pick(self.rng, ROLES),
            "ticket": f"{self.word()[:4].upper()}-{self.between(1, 99999)}",
            "variable": f"{self.word()}_{self.word()}".upper(),
            "version": self.version(),
        }

    def sentence(self) -> str:
        """Return a sentence, one in five with something that is not a word."""
        words = self.prose.sentence(self.rng)
        draw = self.rng.random()
        place = self.between(1, len(words))
        if draw < 0.12:
            words.insert(place, f"`{self.name()}`")
        elif draw < 0.16:
            words.insert(place, self.path())
        elif draw < 0.19:
            words.append(f"({self.version()})")
        elif draw < 0.21:
            words.append(f"see {self.word()[:4].upper()}-{self.between(1, 9999)}")
        text = " ".join(words)
        return f"{text[:1].upper()}{text[1:]}."

    def heading(self) -> str:
        """Return two to five words."""
        words = (self.word() for _ in range(self.between(2, 5)))
        return " ".join(words).capitalize()

    def name(self) -> str:
        """Return an identifier: snake_case, camelCase or a digest."""
        draw = self.rng.random()
        if draw < 0.5:
            return f"{self.word()}_{self.word()}"
        if draw < 0.7:
            return f"{self.word()}_{self.word()}_{self.between(1, 99)}"
        if draw < 0.85:
            return f"{self.word()}{self.word().capitalize()}"
        return f"{self.between(0, 2**32):08x}"

    def path(self) -> str:
        """Return a relative path of 2 to 4 parts."""
        parts = [self.word() for _ in range(self.between(2, 4))]
        return "/".join(parts) + pick(self.rng, SUFFIXES)

    def version(self) -> str:
        """Return a version of three numbers."""
        rng = self.between
        return f"{rng(0, 12)}.{rng(0, 40)}.{rng(0, 20)}"

    def word(self) -> str:
        """Return a word that a note may be about."""
        return self.prose.topic(self.rng)

    def between(self, low: int, high: int) -> int:
        """Return a whole number, both ends included."""
        return low + int(self.rng.random() * (high - low + 1))


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteText:
    """One note as text, and the facts it states."""

    text: str
    facts: tuple[Fact, ...]
