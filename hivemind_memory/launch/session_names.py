"""Makes readable names for sessions and folders. Pure."""

from __future__ import annotations

import os
import unicodedata

from hivemind_memory.notes.slug import dashed, hash_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_MAX_CHARS = 60
_DIGEST_CHARS = 6


def slug(text: str) -> str:
    """Return *text* as a part of a name: letters and digits of any script, and ``-_``.

    tmux gives ``.``, ``:`` and ``#`` a meaning, and a shell many more.

    >>> slug("feature/Ärger: it's v2.0"), slug("🦊")
    ('feature-Ärger-it-s-v2-0', 'x')
    """
    composed = unicodedata.normalize("NFC", text)
    kept = dashed(composed, lambda letter: letter.isalnum() or letter == "_")
    return kept[:_MAX_CHARS].strip("-") or "x"


def session_names(label: str, agent: str, identity: str) -> Iterator[str]:
    """Yield names for a session, the most readable first.

    Args:
        label: A readable name of the worktree.
        agent: Name of the agent.
        identity: Distinguishes it from others with the same label.

    >>> next(session_names("shop", "claude", "/code/shop"))
    'hm-shop-claude'
    """
    plain = f"hm-{slug(label)}-{slug(agent)}"
    yield plain
    # For another repository of the same name, or a foreign session.
    marked = f"{plain}-{digest(identity)}"
    yield marked
    yield from (f"{marked}-{number}" for number in range(2, 10))


def label_of(top: str, common_dir: str, git_dir: str) -> str:
    """Return a readable name of a worktree: its repository, and which worktree.

    >>> label_of("/code/shop", "/code/shop/.git", "/code/shop/.git")
    'shop'
    >>> label_of("/code/w/task", "/code/shop/.git", "/code/shop/.git/worktrees/task")
    'shop-task'
    """
    name = os.path.basename(top)
    if git_dir == common_dir:
        return name
    repository = os.path.basename(root_of(common_dir))
    return name if name.startswith(repository) else f"{repository}-{name}"


def root_of(common_dir: str) -> str:
    """Return the folder that a user sees as the repository, from its git folder.

    >>> root_of("/code/shop/.git"), root_of("/code/shop.git"), root_of("/c/shop/.bare")
    ('/code/shop', '/code/shop', '/c/shop')
    """
    folder, name = os.path.split(common_dir)
    if name.startswith("."):
        return folder
    return common_dir.removesuffix(".git")


def digest(text: str) -> str:
    """Return a few characters that distinguish *text* from others."""
    return hash_of(text)[:_DIGEST_CHARS]
