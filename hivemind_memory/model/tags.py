"""Tags: short words that a person puts on what is saved, and searches by."""

from __future__ import annotations

from hivemind_memory.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

MAX_TAGS = 50
MAX_TAG_CHARS = 100

_MAX_READ = 200
"""Tags read from one front matter."""


def parse_tags(names: Iterable[str], *, effect: str = "") -> tuple[str, ...]:
    """Return tags as they are written: without ``#``, each once.

    Args:
        names: Tags, several in one separated by commas.
        effect: What an error says was not done.

    Raises:
        UsageError: One is too long or not one line, or there are too many.

    >>> parse_tags(["#ci, net", "ci"])
    ('ci', 'net')
    """
    parts = (part.strip().lstrip("#") for name in names for part in name.split(","))
    tags = tuple(dict.fromkeys(part for part in parts if part))
    if len(tags) > MAX_TAGS:
        message = f"There are {len(tags):,} tags; the limit is {MAX_TAGS}."
        raise UsageError(message, hint="Give fewer.", effect=effect)
    for tag in tags:
        if len(tag) > MAX_TAG_CHARS or not tag.isprintable():
            problem = "is too long" if len(tag) > MAX_TAG_CHARS else "is not one line"
            hint = f"A tag is one line of at most {MAX_TAG_CHARS} characters."
            raise UsageError(f"A tag {problem}.", hint=hint, effect=effect)
    return tags


def tags_in(value: object) -> tuple[str, ...]:
    """Return the tags that a value of a front matter means, as they are written there.

    >>> tags_in(["CI", 2026, None]), tags_in("ci, #net")
    (('CI', '2026'), ('ci', '#net'))
    """
    items = value.split(",") if isinstance(value, str) else value
    found = (
        str(item).strip()
        for item in (items if isinstance(items, list) else [items])[:_MAX_READ]
        if isinstance(item, str | int | float) and not isinstance(item, bool)
    )
    return tuple(tag for tag in found if tag)


def tag_lines(tags: Iterable[str]) -> str:
    r"""Return tags as the index stores them, each between newlines; empty: none.

    >>> tag_lines(["CI", "#net"])
    '\nci\nnet\n'
    """
    folded = dict.fromkeys(
        " ".join(tag.strip().lstrip("#").casefold().split()) for tag in tags
    )
    lines = "\n".join(tag for tag in folded if tag)
    return f"\n{lines}\n" if lines else ""


def has_tags(tags: Iterable[str], wanted: Iterable[str]) -> bool:
    """Return whether all *wanted* are among *tags*, in any case of letters.

    >>> has_tags(["CI", "net"], ["ci"]), has_tags(["ci"], ["ci", "net"])
    (True, False)
    """
    lines = tag_lines(tags)
    return all(tag_lines([tag]) in lines for tag in wanted)
