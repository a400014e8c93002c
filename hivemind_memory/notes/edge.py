"""Parses references: the values of ``related``, ``supersedes`` and ``contradicts``.

The one parser of references: the index makes edges of them, a link and a purge change
them. A reference is an id, a key or a path, written plainly, as a ``[[wiki link]]``
(with or without quotes), or as ``{id: …, weight: …}``, ``{key: …}``, ``{path: …}``.
Which note a reference means is not decided here; the index resolves it.
"""

from __future__ import annotations

from hivemind_memory.model.memories import CONTRADICTS, RELATED, UPDATES
from hivemind_memory.patterns.lazy_pattern import lazy_re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import (
        Callable,
        Collection,
        Iterable,
        Iterator,
        Mapping,
        Sequence,
    )


FIELDS = {UPDATES: "supersedes", CONTRADICTS: "contradicts", RELATED: "related"}
"""Kind of edge -> the key of the front matter that lists it, the strongest first."""

MAX_EDGES = 200
"""Edges of one note that count; a page of links is no memory."""

_NAMES = ("id", "key", "path")
# [[note]], [[note|shown]], [[note#heading]]; a shell's [[ -f x ]] begins with a space.
_WIKI_LINK = lazy_re(
    r"!?\[\[([^\s\[\]|#][^\[\]|#\n]{0,200})(?:[#|][^\[\]\n]{0,200})?\]\]"
)
_REFERRING = {*FIELDS.values(), "superseded_by"}
_FIELD_LINE = lazy_re(r"([\w-]+):(?=\s|$)")
_COMMENT = lazy_re(r"(?:^|\s)#.*")
_BETWEEN_ITEMS = lazy_re(
    r"""[\[\],{}"'|]|^\s*(?:-\s+)+|(?:^|(?<=[\s{,]))(?:id|key|path|weight|by):\s"""
)


def references(value: object) -> Iterator[tuple[str, float]]:
    """Yield what a value of a front matter refers to, with its weight 0..1.

    An unquoted ``[[key]]`` is a list in a list to YAML, so lists are read at any depth.

    >>> list(references(["shop", "[[key|shown]]", {"key": "k", "weight": 0.5}]))
    [('shop', 1.0), ('key', 1.0), ('k', 0.5)]
    """
    if isinstance(value, list | tuple):
        for item in value:
            yield from references(item)
    elif isinstance(value, dict):
        weight = fraction(value.get("weight"), 1.0)
        for name in _names_in(value)[:1]:
            yield name, weight
    else:
        for name in _names_in(value):
            yield name, 1.0


def targets(value: object) -> tuple[str, ...]:
    """Return what a value refers to, without the weights."""
    return tuple(target for target, _ in references(value))


def author_in(value: object, names: Collection[str]) -> str:
    """Return who made a reference, as a value of a front matter says beside it.

    >>> author_in([{"id": "a", "weight": 0.7, "by": "model"}, "b"], {"a"})
    'model'

    Args:
        value: One item or a list of them.
        names: What the reference may be called.
    """
    for item in value if isinstance(value, list) else [value]:
        if isinstance(item, dict) and not set(names).isdisjoint(_names_in(item)):
            author = item.get("by")
            return author if isinstance(author, str) else ""
    return ""


def edges_of(
    front_matter: Mapping[str, object], bodies: Iterable[str] = ()
) -> list[tuple[str, str, float]]:
    """Return the edges of a note as (kind, reference, weight), each once.

    Args:
        front_matter: Its parsed values; they come first.
        bodies: Its texts, for ``[[links]]``.
    """
    found: dict[tuple[str, str], float] = {}
    for kind, target, weight in _all_edges(front_matter, bodies):
        if len(found) >= MAX_EDGES:
            break
        found.setdefault((kind, target), weight)
    return [(kind, target, weight) for (kind, target), weight in found.items()]


def references_in_broken(head: str) -> Iterator[str]:
    r"""Yield what the lines of a front matter that does not parse refer to.

    >>> list(references_in_broken("title: a: b\nrelated:\n- shop # too\n- {key: k}"))
    ['shop', 'k']
    """
    is_inside = False
    for line in head.splitlines():
        field = _FIELD_LINE.match(line)
        if field:
            is_inside = field[1] in _REFERRING
        if is_inside:
            items = _COMMENT.sub("", line[field.end() :] if field else line)
            yield from links_in(items)
            pieces = _BETWEEN_ITEMS.split(items)
            yield from (piece.strip() for piece in pieces if piece.strip())


def links_in(text: str) -> Iterator[str]:
    """Yield what the ``[[wiki links]]`` of a text refer to."""
    if "[[" in text:
        for match in _WIKI_LINK.finditer(text):
            yield match[1].strip()


def names_of_note(path: str, *, memory_id: str = "", key: str = "") -> set[str]:
    """Return every name by which a reference may mean a note."""
    stem = path.removesuffix(".md")
    name = stem.rpartition("/")[2]
    return {memory_id, key, path, stem, name, f"{name}.md" if name else ""} - {""}


def replace_references(
    value: object, substitute: Callable[[str], Sequence[str] | None]
) -> tuple[list[object], int]:
    """Return the items of a value with some references replaced, and how many were.

    Args:
        value: One item or a list of them, as the front matter has it.
        substitute: Returns what replaces a reference, nothing to take it
            out, or None to leave it as it is.
    """
    items: list[object] = []
    count = 0
    for item in value if isinstance(value, list) else [value]:
        if isinstance(item, list):
            inner, found = replace_references(item, substitute)
            new: list[object] = [inner] if inner else []
        else:
            new, found = _replaced_item(item, substitute)
        items += new if found else [item]
        count += found
    return items, count


def fraction(value: object, default: float) -> float:
    """Return a number within 0..1; what is none is the default."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or value != value:  # noqa: PLR0124 - NaN
        return default
    return min(1.0, max(0.0, float(value)))  # type: ignore[arg-type]


def _all_edges(
    front_matter: Mapping[str, object], bodies: Iterable[str]
) -> Iterator[tuple[str, str, float]]:
    """Yield what the front matter names, then what the text links to."""
    for kind, field in FIELDS.items() if front_matter else ():
        for target, weight in references(front_matter.get(field)):
            yield kind, target, weight
    for body in bodies:
        for target in links_in(body) if "[[" in body else ():
            yield RELATED, target, 1.0


def take_back_items(
    items: Sequence[object], before: Sequence[object], after: Sequence[object]
) -> list[object] | None:
    """Return a list without one change that was made to it; later ones stay.

    Args:
        items: What the list holds now.
        before: What it held before that change.
        after: What it held after it.

    Returns:
        None: what the change added is gone, or what it removed is back in another form.

    >>> take_back_items(["a", "b", "c"], ["a"], ["a", "b"])
    ['a', 'c']
    >>> take_back_items(["a", "c"], ["a"], ["a", "b"])
    """
    added = [item for item in after if item not in before]
    removed = [item for item in before if item not in after]
    if any(item not in items for item in added):
        return None
    kept = [item for item in items if item not in added]
    if not set(targets(removed)).isdisjoint(targets(kept)):
        return None
    return [*kept, *removed]


def _names_in(item: object) -> list[str]:
    """Return the names in an item, not a list; those of a mapping mean one note."""
    if isinstance(item, dict):
        return [name for field in _NAMES for name in targets(item.get(field))]
    if isinstance(item, bool) or not isinstance(item, str | int | float):
        return []
    text = str(item).strip()
    return list(links_in(text)) or ([text] if text else [])


def _replaced_item(
    item: object, substitute: Callable[[str], Sequence[str] | None]
) -> tuple[list[object], int]:
    """Return what replaces one item, and how many were replaced."""
    items: list[object] = []
    count = 0
    names = _names_in(item)
    for name in names:
        new = substitute(name)
        if new is not None:
            items += new
            count += 1
        elif not isinstance(item, dict):
            items.append(name if len(names) == 1 else f"[[{name}]]")
    return items, min(count, 1) if isinstance(item, dict) else count
