"""What is public and what is private: one rule for visitors and for what is sent.

Private memories are sent to no language model and no reranker, unless
``llm_send_private`` says otherwise. Whatever asks one takes the rule from here.
"""

from __future__ import annotations

from hivemind_memory.model.filters import Access, Requirement

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.config.settings import Settings
    from hivemind_memory.model.filters import Condition

PUBLIC, PRIVATE = "public", "private"


def public_condition(private_scopes: frozenset[str]) -> Condition:
    """Return what a note meets that is not private.

    A note says that it is public or private; one that does not is what its scope is,
    and public where the scope says nothing.

    Args:
        private_scopes: Scopes whose notes are private unless they say otherwise.
    """
    says_public = Requirement(field="visibility", values=frozenset({PUBLIC}))
    not_private = Requirement(field="visibility", values=frozenset({PUBLIC, ""}))
    is_open = Requirement(field="scope", values=private_scopes, is_excluded=True)
    return ((not_private,), (says_public, is_open))


def is_kept_back(settings: Settings, scope: str, visibility: str = "") -> bool:
    """Return whether a memory is private and may not be sent.

    Args:
        settings: The options.
        scope: Folder of its scope.
        visibility: What the memory says of itself; empty: what its scope says.
    """
    is_private = settings.visibility_of(scope, visibility) == PRIVATE
    return is_private and not settings.llm_send_private


def sendable(settings: Settings) -> Access | None:
    """Return the same rule for what is read from the index; None: all may be sent."""
    if settings.llm_send_private:
        return None
    return Access(condition=public_condition(settings.private_scopes()))
