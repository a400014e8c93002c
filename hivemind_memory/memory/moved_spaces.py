"""Keeps the vectors of a provider that has moved to another address.

The address is part of a space's name, for two servers may give one name to two models.
So when the same model answers elsewhere, it is asked for texts whose vectors are there:
if it gives them again, the space is its own.
"""

from __future__ import annotations

import json

from hivemind_memory.errors import EmbeddingError
from hivemind_memory.model.value import as_dict, replaced
from hivemind_memory.providers.fingerprint import VectorSpace
from hivemind_memory.providers.vectors import unpack

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.index.port import Index
    from hivemind_memory.model.ports import Embedder


MOVED = (
    "the address of the provider changed; `hm sync` checks whether its vectors still"
    " fit"
)
MIN_COSINE = 0.999
"""Two runs of one model differ by rounding; two models are far apart."""

_PROBES = 3
_NOWHERE = "http://localhost"


def fingerprint_in_use(index: Index, space: VectorSpace) -> str:
    """Return the name under which the vectors of a space are kept."""
    return index.get_meta(_key(space)) or space.fingerprint


def record_space(index: Index, fingerprint: str, space: VectorSpace) -> None:
    """Record what an embedder for a space is made of, and where it answers now."""
    recipe = json.dumps(as_dict(space))
    if index.get_meta(f"space:{fingerprint}") != recipe:
        index.set_meta(f"space:{fingerprint}", recipe)


def recorded_space(index: Index, fingerprint: str) -> VectorSpace | None:
    """Return what a space is made of; None: it was not recorded."""
    recipe = index.get_meta(f"space:{fingerprint}")
    return VectorSpace(**json.loads(recipe)) if recipe else None


def moved_spaces(index: Index, space: VectorSpace) -> list[str]:
    """Return the spaces that have vectors and differ from *space* by the address."""
    if index.vector_store().dims(fingerprint_in_use(index, space)) is not None:
        return []  # it has vectors of its own
    wanted = replaced(space, base_url=_NOWHERE).fingerprint
    return [
        fingerprint
        for fingerprint in index.spaces()
        if (known := recorded_space(index, fingerprint)) is not None
        and replaced(known, base_url=_NOWHERE).fingerprint == wanted
    ]


def adopt_moved_space(index: Index, space: VectorSpace, embedder: Embedder) -> str:
    """Return the name under which the vectors of *space* are kept from now on.

    That of an earlier address if *embedder* gives its vectors again, else its own. A
    provider that does not answer decides nothing.
    """
    for fingerprint in moved_spaces(index, space):
        known = index.vector_store().known_texts(fingerprint, _PROBES)
        try:
            vectors = embedder.embed_documents([text for text, _ in known])
        except EmbeddingError:
            return space.fingerprint  # the queue asks too, and says why it failed
        pairs = zip(known, vectors, strict=True)
        if known and all(_cosine(old, new) >= MIN_COSINE for (_, old), new in pairs):
            index.set_meta(_key(space), fingerprint)
            return fingerprint
    return space.fingerprint


def _key(space: VectorSpace) -> str:
    """Return the key of the index's meta table that names the space in use."""
    return f"same:{space.fingerprint}"


def _cosine(one: bytes, other: bytes) -> float:
    """Return how near two vectors of length 1 are; 0 if they are of other sizes."""
    if len(one) != len(other):
        return 0.0
    return sum(a * b for a, b in zip(unpack(one), unpack(other), strict=True))
