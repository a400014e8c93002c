"""Values of an injection: facets, excerpts, the section, and the result."""

from __future__ import annotations

from hivemind_memory.model.display import lines_text
from hivemind_memory.model.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.model.briefing import Briefing

OVERLAP = "overlap"
"""Why a text is not shown of its own: its lines are already quoted."""


@value
class FacetScore:
    """One summand of a memory's score: what it answers, and how well."""

    facet: str
    """project, branch, commit, files, or preference."""

    value: float


@value
class Excerpt:
    """A memory as a section quotes it."""

    path: str
    start_line: int
    end_line: int
    text: str
    date: str = ""
    """Day of the entry, ISO 8601; empty if unknown."""

    score: float = 0.0
    """Sum of the reasons."""

    reasons: tuple[FacetScore, ...] = ()
    type: str = ""
    """Of a typed memory; empty: free text."""

    key: str = ""
    id: str = ""
    """ULID of the memory or entry; empty: it has none."""

    claim: str = ""
    """How certain a claim is, as ``claim_text`` says it; empty: it is none."""

    session: str = ""
    """The agent's session that wrote it; empty: a person did, or nothing says who."""

    agent: str = ""
    """The agent that wrote it, by its name; empty: a person did, or nothing says
    who."""

    is_kept: bool = False
    """Pinned, or an identity: in every section, cut if the budget is small."""

    is_preference: bool = False
    """It is in ``global.md`` or is of such a type: the project does not matter."""

    @property
    def place(self) -> str:
        """Where it stands, as every command shows and takes it."""
        return lines_text(self.path, self.start_line, self.end_line)


@value
class LeftOut:
    """A memory that was considered and is not in the section."""

    excerpt: Excerpt
    why: str
    """budget, count, cap, copy, overlap, external, session, agent, twin, over."""


@value
class Selection:
    """Which memories go into a section, in order, and which do not."""

    excerpts: tuple[Excerpt, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    has_more: bool = False
    """More memories match than were compared."""

    @property
    def left_out_count(self) -> int:
        """How many memories match and are not shown, as every text says it."""
        return sum(memory.why != OVERLAP for memory in self.left_out)


@value
class Facet:
    """One fact about the work in a worktree, used as a query."""

    name: str
    text: str
    weight: float
    is_name: bool = False
    """A name of the project, which other texts have by chance if it is a word."""


@value
class SectionPlan:
    """A section before it is written."""

    body: str
    """The lines between the marks; empty: there is nothing to inject."""

    why_empty: str = ""
    has_tools: bool = True
    """Its agent has our tools; otherwise the section names commands."""

    tokens: int = 0
    """Estimated, of the whole section."""

    budget_tokens: int = 0
    briefing: Briefing | None = None
    """What a language model wrote of the scope; None: the section has none."""

    choice: Selection = Selection()
    facets: tuple[Facet, ...] = ()
    warnings: tuple[str, ...] = ()


@value
class FileOutcome:
    """What became of one file."""

    file: str
    """Relative to the worktree, with forward slashes."""

    outcome: str
    """As ``injection_outcomes`` names it."""

    is_ours: bool = False
    """We made the file; ``hm eject`` takes it away."""

    warnings: tuple[str, ...] = ()


@value
class InjectionResult:
    """What ``hm inject`` did."""

    worktree: str
    agent: str
    outcome: str
    """As ``injection_outcomes`` names it."""

    file: str = ""
    is_ours: bool = False
    planned: SectionPlan = SectionPlan(body="")
    is_first: bool = False
    """It gave the repository its filters and hooks, which it did not have before; a
    dry run: it would."""

    warnings: tuple[str, ...] = ()


@value
class EjectionResult:
    """What ``hm eject`` did."""

    worktree: str
    files: tuple[str, ...]
    """From which the section was taken, and the files that we made that were
    deleted."""

    is_git_restored: bool
    """No setting that we made is left in the repository."""

    leftovers: tuple[str, ...] = ()
    """Why settings are left, other worktrees with a section apart: what contains it
    still, or may, and what to do about it."""

    warnings: tuple[str, ...] = ()
