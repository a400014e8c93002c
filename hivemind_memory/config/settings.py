"""The table of options: a field of ``Settings`` is an option, and nothing else is.

Validation, ``hm config``, ``config.example.json`` and ``docs/config.md`` are derived
from these fields, so an option is written down once. Nothing here reads a file or the
environment: see ``resolve``.
"""

from __future__ import annotations

from hivemind_memory.config.option import Option
from hivemind_memory.config.option import option as _option
from hivemind_memory.config.option import share as _share
from hivemind_memory.config.scope_settings import ScopeSettings
from hivemind_memory.model.agents import CAPTURES, TRANSCRIPT_SOURCES
from hivemind_memory.model.embedding_providers import (
    CHAT_PROVIDERS,
    OPENAI,
    PROVIDER_NAMES,
    RERANK_PROVIDERS,
)
from hivemind_memory.model.query import DEFAULT_HITS, SearchSettings
from hivemind_memory.model.snapshot import DEFAULT_MAX_NOTE_MB
from hivemind_memory.model.value import fields_of, value

TYPE_CHECKING = False  # typing costs milliseconds on the way to a cold answer
if TYPE_CHECKING:
    from collections.abc import Mapping


TOOLSETS = ("context", "briefing", "skills")
"""What ``toolsets`` may name; ``mcp_server/toolsets.py`` says what is in them."""


@value
class Settings(ScopeSettings):
    """Every option with the value that is in effect."""

    enabled: bool = _option(
        True,  # noqa: FBT003 - the first column is the default
        "Turns the memory on or off. When off, searches return nothing and say"
        " so, and nothing is saved.",
    )
    embedding_provider: str = _option(
        "auto",
        "Service that computes embeddings. auto: OpenAI if config.json has a key,"
        " otherwise Ollama if it is running on this machine, otherwise none. local: a"
        " model that hm runs itself. none: keyword search. local and none send"
        " nothing.",
        choices=("auto", *PROVIDER_NAMES, "none"),
    )
    openai_api_key: str = _option(
        "",
        "API key for OpenAI or a compatible server. A key that is set only in"
        " the environment is used, but does not select OpenAI.",
        is_secret=True,
        also_env=OPENAI.key_variable,
    )
    openai_model: str = _option(
        "text-embedding-3-small", "Embedding model to request from OpenAI."
    )
    openai_base_url: str = _option(
        "",
        "Base URL of an OpenAI-compatible server, such as"
        " http://localhost:8080/v1. Empty: OpenAI.",
        is_url=True,
    )
    openai_dimensions: int = _option(
        0, "Dimensions of each embedding. 0: the model's default.", low=0, high=16_384
    )
    ollama_url: str = _option(
        "http://localhost:11434", "URL of the Ollama server.", is_url=True
    )
    ollama_model: str = _option(
        "nomic-embed-text",
        "Embedding model to request from Ollama. The default supports English"
        " only; bge-m3 supports most languages.",
    )
    local_model: str = _option(
        "multilingual-e5-small",
        "Model of the provider local: a name that hm model lists, or a folder's path.",
    )
    rerank_provider: str = _option(
        "none",
        "Model that reorders the best candidates by reading each one together with the"
        " query. local: a cross-encoder that hm watch or an agent's server runs. http:"
        " a server, which is sent the query and those texts. chat: the language model"
        " of llm_provider, which is sent the same. none: the order stays as it is.",
        choices=RERANK_PROVIDERS,
    )
    local_rerank_model: str = _option(
        "", "Folder of the cross-encoder: model.onnx and tokenizer.json."
    )
    rerank_url: str = _option(
        "", "URL of the server that reranks; /rerank is added to it.", is_url=True
    )
    rerank_model: str = _option("", "Model of that server. Empty: it has only one.")
    rerank_api_key: str = _option("", "API key for that server.", is_secret=True)
    rerank_timeout_s: float = _option(
        0.8, "Seconds to wait for it; then the order stays.", low=0.05, high=1.8
    )
    llm_provider: str = _option(
        "none",
        "Language model that works on memories in the background. openai: OpenAI or a"
        " compatible server. ollama: Ollama. none: nothing is sent. Only this option"
        " turns it on.",
        choices=CHAT_PROVIDERS,
    )
    llm_model: str = _option("", "Name of the language model, as its server knows it.")
    llm_base_url: str = _option(
        "",
        "URL of the language model's server, such as http://localhost:8080/v1. Empty:"
        " OpenAI, or the server of ollama_url.",
        is_url=True,
    )
    llm_api_key: str = _option(
        "",
        "API key for the language model. Empty: openai_api_key where the server is"
        " OpenAI, otherwise none.",
        is_secret=True,
    )
    llm_timeout_s: float = _option(
        120.0,
        "Seconds to wait for one reply of the language model. No save waits for it.",
        low=1,
        high=600,
    )
    llm_calls_per_day: int = _option(
        200, "Maximum requests to the language model per day.", low=0, high=1_000_000
    )
    llm_send_private: bool = _option(
        False,  # noqa: FBT003 - the first column is the default
        "Whether the language model and a remote reranker are sent private memories.",
    )
    document_prefix: str | None = _option(
        None,
        "Text before each note when it is embedded. null: what the model expects.",
    )
    query_prefix: str | None = _option(
        None,
        "Text before each query when it is embedded. null: what the model expects.",
    )
    embed_batch_size: int = _option(
        64, "Number of texts to send to the provider in one request.", low=1, high=2_048
    )
    embed_timeout_s: float = _option(
        30.0,
        "Seconds to wait for one batch of notes. A query never waits longer"
        " than 2 seconds.",
        low=0.1,
        high=600,
    )
    chunk_chars: int = _option(
        SearchSettings().chunk_chars,
        "Maximum length of a chunk, in characters. A chunk is the part of a"
        " note that a search returns.",
        low=100,
        high=20_000,
    )
    chunk_overlap_chars: int = _option(
        0,
        "When a section is split, how many characters of the previous chunk are"
        " searched with the next one. Must be less than chunk_chars.",
        low=0,
        high=10_000,
    )
    index_dir: str = _option(
        "",
        "Folder for the index, an absolute path: for notes on a network drive or in"
        " a synced folder. Empty: .index in the notes folder.",
        check="check_index_dir",
    )
    max_note_mb: int = _option(
        DEFAULT_MAX_NOTE_MB,
        "Maximum size of a note, in megabytes. Larger notes are not indexed; hm"
        " status lists them.",
        low=1,
        high=1_000,
    )
    followed_links: Mapping[str, str] = _option(
        {},
        "Links in the notes folder to other folders whose notes are read as well:"
        " path of the link -> absolute path of the folder, without links, as in"
        ' {"team": "/srv/team-notes"}. Nothing is written there.',
        check="check_links",
    )
    debounce_ms: int = _option(
        500,
        "Milliseconds without further changes before hm watch indexes a change.",
        low=0,
        high=60_000,
    )
    poll_s: float = _option(
        2.0,
        "Seconds between scans of the notes folder, where the operating system"
        " does not report changes to hm watch.",
        low=0.1,
        high=3_600,
    )
    ask_leader: bool = _option(
        False,  # noqa: FBT003 - the first column is the default
        "Have short commands run by a process that hm watch and hm mcp keep ready,"
        " for a faster answer. Set the variable to false to turn it off once.",
    )
    min_score: float = _share(
        SearchSettings().min_score,
        "Minimum relevance of a hit, before its age is taken into account.",
    )
    max_results: int = _option(
        DEFAULT_HITS, "Maximum number of hits that a search returns.", low=1, high=1_000
    )
    fusion: str = _option(
        SearchSettings().fusion,
        "How keyword and vector scores are combined.",
        choices=("standardised", "weighted", "rrf"),
    )
    vector_weight: float = _share(
        SearchSettings().vector_weight,
        "Weight of the vector score when fusion is standardised.",
    )
    weighted_vector_weight: float = _share(
        SearchSettings().weighted_vector_weight,
        "Weight of the vector score when fusion is weighted. Keywords get the rest.",
    )
    half_life_days: float = _option(
        SearchSettings().half_life_days,
        "Age in days at which a note has lost half of what age can cost its score.",
        low=0.001,
        high=1_000_000,
    )
    decay_floor: float = _share(
        SearchSettings().decay_floor,
        "Share of its score that even the oldest note keeps. 1: age does not"
        " matter. 0: old notes fade to nothing.",
    )
    nearness_weight: float = _share(
        SearchSettings().nearness_weight,
        "How much a hit gains if it is in your current project, team or workspace;"
        " typed memories gain most. 0: nothing.",
    )
    diversity: bool = _option(
        SearchSettings().diversity,
        "Whether to move down hits that repeat a better hit.",
    )
    diversity_lambda: float = _share(
        SearchSettings().diversity_lambda,
        "Weight of relevance against novelty when diversity is on.",
    )
    startup_inject_count: int = _option(
        5,
        "Maximum number of memories that hm inject chooses by relevance. Pinned"
        " memories, identities, lessons and global.md come on top.",
        low=0,
        high=50,
    )
    inject_budget_tokens: int = _option(
        1_500,
        "Estimated size limit of the injected section, in tokens. The agent"
        " pays for them with every request.",
        low=300,
        high=20_000,
    )
    inject_bulletin: bool = _option(
        False,  # noqa: FBT003
        "Whether the injected section begins with the language model's briefing.",
    )
    inject_target: str = _option(
        "CLAUDE.md",
        "File in the worktree that hm inject writes to. CLAUDE.md, CLAUDE.local.md and"
        " .claude/rules/ apply to Claude Code, and other agents get the file that they"
        " read. Any other file, such as AGENTS.md, is used for every agent.",
        check="check_target",
    )
    activity: bool = _option(
        False,  # noqa: FBT003 - the first column is the default
        "Records the calls of hm mcp: the tool, its arguments without secrets, and"
        " whether it failed. hm activity and the tool session_search find them.",
    )
    capture: str = _option(
        CAPTURES[0],
        "Whether the language model proposes memories from sessions. off: no. inbox:"
        " proposals wait in hm inbox. save: proposals that are certain are saved.",
        choices=CAPTURES,
    )
    session_sources: str = _option(
        "",
        "Agents whose transcripts hm activity and the tool session_search read,"
        f" separated by commas: {', '.join(TRANSCRIPT_SOURCES)}. Empty: none.",
        check="check_sources",
    )
    session_days: int = _option(30, "Days to keep activity.", low=1, high=36_500)
    session_max_mb: int = _option(
        500,
        "Maximum size of transcripts.db, in megabytes. The oldest messages are"
        " dropped first.",
        low=10,
        high=100_000,
    )
    agents: Mapping[str, object] = _option(
        {},
        "Your own agents for hm launch: a name, and the command as a string or"
        ' a list of arguments, as in {"quick": "claude --model haiku"}. You can'
        " also replace the command of a built-in name, such as claude.",
        check="check_agents",
    )
    types: Mapping[str, object] = _option(
        {},
        "Your own memory types, in addition to the built-in ones: name ->"
        " {importance: 0..1, ages: true or false, injected: first, lesson,"
        ' preference, newest, relevant or search, aliases: [...]}, as in {"runbook":'
        ' {"ages": false}}.',
        check="check_types",
    )
    projects: Mapping[str, object] = _option(
        {},
        "Settings of projects, by their folder name under projects/: {identity:"
        " the identity that hm project --json prints, visibility: public or"
        ' private}, as in {"shop": {"identity": "github.com/me/shop"}}.',
        check="check_projects",
    )
    workspaces: Mapping[str, object] = _option(
        {},
        "The tree of workspaces: name -> {parent: another workspace, teams:"
        " [names]}. A workspace with a parent cannot write to the global scope.",
        check="check_workspaces",
    )
    default_scope: str = _option(
        "auto",
        "Scope of a memory that is saved without a scope. auto: the workspace,"
        " otherwise the project, otherwise the team, otherwise global. global:"
        " always global.",
        choices=("auto", "global"),
    )
    toolsets: list[str] = _option(
        [],
        "Further tools that hm mcp offers to agents. context: context_build, which"
        " returns what a task needs, within a token budget. briefing:"
        " get_memory_bulletin, which returns the briefing of a scope. skills:"
        " memory_record_use, which records whether a memory helped.",
        choices=TOOLSETS,
    )
    skill_uses: int = _option(
        3, "Sessions that apply a memory before it is offered as a skill.", low=1
    )
    memory_chars: int = _option(
        4_000, "Maximum length of a typed memory, in characters.", low=100, high=100_000
    )
    vault_key_command: str = _option(
        "",
        "Command that prints the key with which the vault is encrypted, at least 16"
        " random characters, such as pass show hivemind. It runs without a shell."
        " Empty: the key is in the operating system's keyring, if there is one.",
    )

    # What was found while loading; these are not options.
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

    def search_settings(self) -> SearchSettings:
        """Return the part that shapes an answer."""
        names = fields_of(SearchSettings)
        return SearchSettings(**{name: getattr(self, name) for name in names})


def _table() -> dict[str, Option]:
    """Complete the rows with what the fields say: name, type, variable."""
    table = {}
    for name in fields_of(Settings):
        row = getattr(Settings, name)
        if isinstance(row, Option):
            row.name = name
            kind = Settings.__annotations__[name]
            row.kind = "dict" if kind.startswith("Mapping") else kind
            row.kind = row.kind.partition("[")[0]
            row.env = (f"HIVEMIND_{name.upper()}", *row.env)
            table[name] = row
            # From here on the field has its default, as every value's field.
            setattr(Settings, name, row.default)
    return table


_OPTIONS = _table()


def options() -> Mapping[str, Option]:
    """Return the table: name -> option, in the order of ``Settings``."""
    return _OPTIONS
