"""The table of options: a field of ``Settings`` is an option, and nothing else is.

Validation, ``hm config``, ``config.example.json`` and ``docs/config.md`` are derived
from these fields, so an option is written down once. Nothing here reads a file or the
environment: see ``resolve``.
"""

from __future__ import annotations

from hivemind_memory.model.query import SearchSettings
from hivemind_memory.model.value import fields_of, value

TYPE_CHECKING = False  # typing costs milliseconds on the way to a cold answer
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from hivemind_memory.model.memory_types import MemoryType

INFINITY = float("inf")

_NEEDED_TO_WRITE = (
    "config.json",
    "enabled",
    "default_scope",
    "projects",
    "workspaces",
    "types",
)


class Option:
    """What is known about one option beside its value.

    Not a dataclass, for speed: two dozen are made before every cold answer.
    """

    __slots__ = (
        "check",
        "choices",
        "default",
        "description",
        "env",
        "high",
        "is_secret",
        "is_url",
        "kind",
        "low",
        "name",
    )

    name: str
    """Key under ``memory`` in config.json."""

    kind: str
    """bool, int, float, str, ``str | None``, or dict: a JSON object."""

    check: str
    """Of a dict: the function in ``objects`` that knows what may be in it."""

    env: tuple[str, ...]
    """Environment variables that set it, the first one that is set wins."""

    def __init__(  # noqa: PLR0913 - a row has as many arguments as the table columns
        self,
        default: object,
        description: str,
        *,
        low: float = -INFINITY,
        high: float = INFINITY,
        choices: tuple[str, ...] = (),
        is_url: bool = False,
        is_secret: bool = False,
        also_env: str = "",
        check: str = "",
    ) -> None:
        self.name = ""
        self.kind = ""
        self.default = default
        self.description = description
        self.low = low
        self.high = high
        self.choices = choices
        self.is_url = is_url
        self.is_secret = is_secret
        self.env = (also_env,) if also_env else ()
        self.check = check


def _option(default: object, description: str, **columns: Any) -> Any:
    """Return a row of the table; the table puts the default in its place."""
    return Option(default, description, **columns)


@value
class Settings:
    """Every option with the value that is in effect."""

    enabled: bool = _option(
        True,  # noqa: FBT003 - the first column is the default
        "Whether the memory answers at all; off, every question gets an empty answer"
        " that says so, and nothing is written.",
    )
    embedding_provider: str = _option(
        "auto",
        "Who turns texts into vectors. auto: OpenAI if this file holds a key, else"
        " Ollama if it answers on this machine, else none; none: words only, nothing"
        " leaves the machine.",
        choices=("auto", "openai", "ollama", "none"),
    )
    openai_api_key: str = _option(
        "",
        "Key for OpenAI or a compatible server. A key in the environment is used but"
        " chooses no provider by itself.",
        is_secret=True,
        also_env="OPENAI_API_KEY",
    )
    openai_model: str = _option(
        "text-embedding-3-small", "Embedding model that OpenAI is asked for."
    )
    openai_base_url: str = _option(
        "",
        "Address of a server that speaks OpenAI's protocol, such as"
        " http://localhost:8080/v1; empty: OpenAI itself.",
        is_url=True,
    )
    openai_dimensions: int = _option(
        0, "Numbers in one vector; 0: as many as the model gives.", low=0, high=16_384
    )
    ollama_url: str = _option(
        "http://localhost:11434", "Address of the Ollama server.", is_url=True
    )
    ollama_model: str = _option(
        "nomic-embed-text",
        "Embedding model that Ollama is asked for; this default knows English only,"
        " bge-m3 knows most languages.",
    )
    document_prefix: str | None = _option(
        None,
        "Text put before each note that is embedded; null: what the model wants.",
    )
    query_prefix: str | None = _option(
        None,
        "Text put before each question that is embedded; null: what the model wants.",
    )
    embed_batch_size: int = _option(
        64, "Texts sent to the provider at once.", low=1, high=2_048
    )
    embed_timeout_s: float = _option(
        30.0,
        "Seconds to wait for one batch of notes; a question never waits longer than 2.",
        low=0.1,
        high=600,
    )
    chunk_chars: int = _option(
        800,
        "Characters that one chunk, the unit that is found, holds at most.",
        low=100,
        high=20_000,
    )
    chunk_overlap_chars: int = _option(
        0,
        "Characters of the chunk before that are searched with a chunk that was cut"
        " in the middle of a section; less than chunk_chars.",
        low=0,
        high=10_000,
    )
    index_dir: str = _option(
        "",
        "Folder for the index, when the notes lie on a network drive or under a sync"
        " tool; empty: .index inside the notes folder.",
    )
    max_note_mb: int = _option(
        5,
        "Megabytes that a note may have. A larger one is never read, and not found;"
        " hm status names it.",
        low=1,
        high=1_000,
    )
    debounce_ms: int = _option(
        500,
        "Milliseconds of quiet after a change before hm watch indexes it.",
        low=0,
        high=60_000,
    )
    poll_s: float = _option(
        2.0,
        "Seconds between two scans of the folder when the system cannot tell hm watch"
        " about changes.",
        low=0.1,
        high=3_600,
    )
    min_score: float = _option(
        SearchSettings().min_score,
        "Relevance, judged before age, that a hit must have.",
        low=0,
        high=1,
    )
    max_results: int = _option(
        10, "Hits that a search returns at most.", low=1, high=1_000
    )
    fusion: str = _option(
        SearchSettings().fusion,
        "How scores of words and vectors become one.",
        choices=("standardised", "weighted", "rrf"),
    )
    vector_weight: float = _option(
        SearchSettings().vector_weight,
        "Share of the vectors in the standardised fusion.",
        low=0,
        high=1,
    )
    weighted_vector_weight: float = _option(
        SearchSettings().weighted_vector_weight,
        "Share of the vectors in the weighted fusion; the words have the rest.",
        low=0,
        high=1,
    )
    half_life_days: float = _option(
        SearchSettings().half_life_days,
        "Days after which age has taken half of what it may take from a score.",
        low=0.001,
        high=1_000_000,
    )
    decay_floor: float = _option(
        SearchSettings().decay_floor,
        "The least that age leaves of a score; 1: age does not count, 0: old notes"
        " fade away entirely.",
        low=0,
        high=1,
    )
    diversity: bool = _option(
        SearchSettings().diversity,
        "Whether hits that say the same as a better hit move down.",
    )
    diversity_lambda: float = _option(
        SearchSettings().diversity_lambda,
        "Where diversity is on: the share of relevance against novelty.",
        low=0,
        high=1,
    )
    startup_inject_count: int = _option(
        5,
        "Memories beside those of global.md that hm inject puts in front of an agent"
        " at most.",
        low=0,
        high=50,
    )
    inject_budget_tokens: int = _option(
        1_500,
        "Tokens that the injected section may cost, estimated; the agent pays them"
        " with every request.",
        low=300,
        high=20_000,
    )
    inject_target: str = _option(
        "CLAUDE.md",
        "File of a worktree that hm inject writes to: CLAUDE.md, CLAUDE.local.md or"
        " .claude/rules/ for Claude Code, while other agents get the file that they"
        " read; any other file, such as AGENTS.md, counts for every agent.",
    )
    agents: Mapping[str, object] = _option(
        {},
        "Your own names for commands of hm launch, each command as one text or as a"
        ' list of words: {"quick": "claude --model haiku"}. A built-in name, such as'
        " claude, may be given another command.",
        check="check_agents",
    )

    types: Mapping[str, object] = _option(
        {},
        "Types of memory of your own beside the built-in ones: name -> {importance:"
        " 0..1, ages: true or false, injected: first, lesson, newest, relevant or"
        ' search, aliases: [...]}, as in {"runbook": {"ages": false}}.',
        check="check_types",
    )
    projects: Mapping[str, object] = _option(
        {},
        "Projects by the name of their folder in projects/: {identity: what hm inject"
        " --json calls the project, visibility: public or private}, as in"
        ' {"shop": {"identity": "github.com/me/shop"}}.',
        check="check_projects",
    )
    workspaces: Mapping[str, object] = _option(
        {},
        "The tree of workspaces: name -> {parent: another workspace, teams: [names]}."
        " A workspace with a parent cannot write the global memory.",
        check="check_workspaces",
    )
    default_scope: str = _option(
        "auto",
        "Where a write goes that names no scope. auto: to the workspace, else the"
        " project, else the team, else the global scope; global: to the global scope.",
        choices=("auto", "global"),
    )
    memory_chars: int = _option(
        4_000, "Characters that a typed memory holds at most.", low=100, high=100_000
    )

    # What was found on the way; these are no options.
    has_key_in_config: bool = False
    """config.json holds an OpenAI key: the person chose a provider by writing it."""

    has_key_in_environment: bool = False
    """A variable holds one; it wins over that of the file and chooses nothing."""

    unknown_keys: tuple[str, ...] = ()
    """Keys under ``memory`` that no option knows; they are kept, and named."""

    unusable: Mapping[str, str] = {}
    """Option, or ``config.json`` for the whole file -> why its value is not used, in
    a sentence. The default is in effect instead."""

    def __repr__(self) -> str:
        """Show nothing: one of the fields is a key."""
        return "Settings()"

    def why_read_only(self) -> str:
        """Return why nothing may be saved while an option is unusable; empty: it may.

        These options say where a memory goes and who may see it, so their defaults
        could put it in a wrong place.
        """
        for name in _NEEDED_TO_WRITE:
            if name in self.unusable:
                return self.unusable[name]
        return ""

    def search_settings(self) -> SearchSettings:
        """Return the part that shapes an answer."""
        names = fields_of(SearchSettings)
        return SearchSettings(**{name: getattr(self, name) for name in names})

    def configured_projects(self) -> frozenset[str]:
        """Return the projects to which config.json gives a repository."""
        return frozenset(
            slug
            for slug, project in self.projects.items()
            if isinstance(project, dict) and project.get("identity")
        )

    def private_scopes(self) -> frozenset[str]:
        """Return the scopes whose notes are private unless they say otherwise."""
        return frozenset(
            f"projects/{slug}"
            for slug, project in self.projects.items()
            if isinstance(project, dict) and project.get("visibility") == "private"
        )

    def own_types(self) -> dict[str, MemoryType]:
        """Return the types of a person's own; the table of types loads when needed."""
        if not self.types:
            return {}
        from hivemind_memory.model.memory_types import types_of_config

        return types_of_config(self.types)


def _table() -> dict[str, Option]:
    """Complete the rows with what the fields say: name, type, variable."""
    table = {}
    for name in fields_of(Settings):
        row = getattr(Settings, name)
        if isinstance(row, Option):
            row.name = name
            kind = Settings.__annotations__[name]
            row.kind = "dict" if kind.startswith("Mapping") else kind
            row.env = (f"HIVEMIND_{name.upper()}", *row.env)
            table[name] = row
            # From here on the field has its default, as every value's field.
            setattr(Settings, name, row.default)
    return table


_OPTIONS = _table()


def options() -> Mapping[str, Option]:
    """Return the table: name -> option, in the order of ``Settings``."""
    return _OPTIONS
