"""What the options say of scopes and types. The options themselves: ``settings``."""

from __future__ import annotations

from hivemind_memory.config.file import CONFIG_NAME

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from hivemind_memory.model.memory_types import MemoryType


_NEEDED_TO_WRITE = (
    CONFIG_NAME,
    "enabled",
    "default_scope",
    "projects",
    "workspaces",
    "types",
)


class ScopeSettings:
    """The part of ``Settings`` that says what the scopes and types of a person are."""

    if TYPE_CHECKING:
        projects: Mapping[str, object]
        types: Mapping[str, object]
        unusable: Mapping[str, str]

    def why_read_only(self) -> str:
        """Return why nothing may be saved while an option is unusable; empty: it may.

        These options say where a memory goes and who may see it, so with their defaults
        it could go to the wrong place.
        """
        for name in _NEEDED_TO_WRITE:
            if name in self.unusable:
                return self.unusable[name]
        return ""

    def configured_projects(self) -> frozenset[str]:
        """Return the projects to which config.json gives a repository."""
        return frozenset(
            slug
            for slug, project in self.projects.items()
            if isinstance(project, dict) and project.get("identity")
        )

    def private_scopes(self) -> frozenset[str]:
        """Return the scopes whose notes are private unless they say otherwise."""
        return frozenset(self._projects_that_are("private"))

    def public_projects(self) -> tuple[str, ...]:
        """Return the scopes of the projects that visitors may read."""
        return self._projects_that_are("public")

    def visibility_of(self, scope: str, said: str) -> str:
        """Return public or private, as a memory says of itself or else its scope is."""
        return said or ("private" if scope in self.private_scopes() else "public")

    def _projects_that_are(self, visibility: str) -> tuple[str, ...]:
        """Return the scopes of the projects to which config.json gives a visibility."""
        return tuple(
            f"projects/{slug}"
            for slug, project in self.projects.items()
            if isinstance(project, dict) and project.get("visibility") == visibility
        )

    def own_types(self) -> dict[str, MemoryType]:
        """Return the types of a person's own; the table of types loads when needed."""
        if not self.types:
            return {}
        from hivemind_memory.model.memory_types import types_of_config

        return types_of_config(self.types)
