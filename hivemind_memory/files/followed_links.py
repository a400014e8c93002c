"""Folders behind links that a person has listed: notes there are read, never written.

A link leads where the person said, or it is not followed: who can change a link in the
notes folder cannot make other files searchable by it. Loaded only if one is listed.
"""

from __future__ import annotations

import os

from hivemind_memory.files.descriptors import OpenFolder, identity_at, identity_of
from hivemind_memory.files.errors import NotFollowedError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


def open_followed(root: str, links: Mapping[str, str], path: str) -> OpenFolder:
    """Return the folder behind a listed link, held open.

    Args:
        root: The notes folder, absolute.
        links: Path of each listed link below *root* -> the folder it may lead to.
        path: That of the link.

    Raises:
        NotFollowedError: It leads elsewhere, or to where notes would be read twice.
        OSError: The folder cannot be opened.
    """
    target = links[path]
    if problem := _problem(os.path.realpath(root), links, path):
        raise NotFollowedError(problem)
    folder = OpenFolder.at(target)
    # Between the check and the opening a part of the path may have become a link.
    is_same = identity_at(target) == identity_of(folder.own_status())
    if is_same and os.path.realpath(target) == target:
        return folder
    folder.close()
    raise NotFollowedError("it changed while it was opened")


def _problem(root: str, links: Mapping[str, str], path: str) -> str:
    """Return why a listed link is not followed, as a clause; empty: it is."""
    target, leads_to = links[path], os.path.realpath(os.path.join(root, path))
    if leads_to != target:
        return (
            f"the link leads to {leads_to}, but followed_links lists {target};"
            " links on the way are not followed"
        )
    if not os.path.isdir(target):
        return f"there is no folder {target}"
    if _overlap(target, root):
        return f"{target} and the notes folder lie in one another"
    earlier = (link for link in sorted(links) if link < path)
    twice = next((link for link in earlier if _overlap(target, links[link])), "")
    return f"its folder is read as {twice} already" if twice else ""


def _overlap(one: str, other: str) -> bool:
    """Return whether a folder is the other one, or is inside it."""
    one, other = (os.path.join(path, "") for path in (one, other))
    return one.startswith(other) or other.startswith(one)
