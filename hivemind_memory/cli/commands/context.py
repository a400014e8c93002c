"""hm context: builds the context of a task, and keeps files of blocks for it."""

from __future__ import annotations

import os

from hivemind_memory.cli.command import (
    TASK,
    Argument,
    CommandRequest,
    Flag,
    command,
)
from hivemind_memory.cli.options import DRY_RUN, JSON, SCOPE
from hivemind_memory.cli.output import (
    print_json,
    print_line,
    print_notices,
    print_table,
    read_stdin,
)
from hivemind_memory.cli.shown_context import context_value, print_context
from hivemind_memory.errors import UsageError
from hivemind_memory.files.errors import no_folder
from hivemind_memory.model.display import clause, count_text, shorten
from hivemind_memory.redaction import mask

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from hivemind_memory.memory import Memory
    from hivemind_memory.model.filters import SearchFilter
    from hivemind_memory.working.blocks import MemoryBlock
    from hivemind_memory.working.working_memory import WorkingMemory

_STRATEGIES = ("balanced", "recent", "relevant")
"""Those of ``working.scoring``, which help does not load; a test compares."""

_PRIORITIES = ("critical", "high", "medium", "low")
_MAX_TOKENS = 8_000
_ID_CHARS = 60

_ROOT = Flag(
    ("--root",),
    "path",
    "Folder that files are read from (the current folder).",
    metavar="DIR",
)
_BLOCKS = Flag(
    ("--blocks",),
    "path",
    "File with blocks, as hm context add writes it.",
    metavar="FILE",
)


@command(
    "context build",
    description=(
        "Given a task, collects matching memories, files that it names or shares words"
        " with, and recent git changes. The blocks of --blocks are candidates, too."
        " Prints the pieces that fit into the budget, each with its cost and the reason"
        " it was chosen, and what was left out. Only files below --root are read; links"
        " are not followed, and secrets are masked. In a repository, the memories are"
        " those of its project and global ones; --scope names others. `hm context WHAT`"
        " is the short form."
    ),
    arguments=(
        Argument(
            "what",
            "What you are about to do; quotes are optional.",
            is_required=False,
            reads=TASK,
        ),
    ),
    flags=(
        _ROOT,
        _BLOCKS,
        Flag(
            ("--max-tokens",),
            "int",
            f"Budget of the context, in tokens ({_MAX_TOKENS}).",
            metavar="N",
            low=1,
            high=10_000_000,
        ),
        Flag(("--task",), "text", "Same as WHAT.", metavar="TEXT"),
        SCOPE,
        Flag(
            ("--strategy",),
            "text",
            "What comes first within a priority (relevant for a task).",
            choices=_STRATEGIES,
        ),
        Flag(
            ("--tokenizer",),
            "path",
            "File tokenizer.json of the model that reads the context; without it,"
            " tokens are estimated.",
            metavar="FILE",
        ),
        JSON,
    ),
    examples=(
        'hm context "round the sum of a cart" --max-tokens 4000',
        "hm context build --blocks blocks.json --json",
    ),
)
def build(request: CommandRequest) -> int:
    """Print what fits into a budget of tokens."""
    from hivemind_memory import environment
    from hivemind_memory.context.tokens import estimate_tokens
    from hivemind_memory.working.task_context import ContextRequest, build_context

    values = request.values
    words = values["what"]
    if words and values["task"]:
        raise UsageError("The task is given twice.", hint="Leave out --task.")
    task = " ".join(words) or values["task"] or ""
    if not task and not values["blocks"]:
        raise UsageError(
            "Say what the task is, or name a file of blocks.",
            hint='For example: `hm context "round the sum of a cart"`.',
        )
    count: Callable[[str], int] = estimate_tokens
    if values["tokenizer"]:
        from hivemind_memory.providers.token_counter import token_counter

        count = token_counter(values["tokenizer"])
    with request.open_memory() as memory:
        root = _checked_root(memory, request)
        built = build_context(
            memory,
            ContextRequest(
                max_tokens=values["max_tokens"] or _MAX_TOKENS,
                root=root,
                task=task,
                blocks_file=_given_blocks(request),
                strategy=values["strategy"] or "",
                search_filter=_search_filter(memory, root, values["scope"]),
            ),
            environ=environment.git_environ(),
            count_tokens=count,
        )
    if values["json"]:
        print_json(context_value(built))
        return 0
    print_context(built)
    return 0


@command(
    "context add",
    description=(
        "The file is created if it does not exist. A block that is already there is"
        " replaced. Lines are numbered from 1, and both are included. A dash reads"
        " blocks of any kind as JSON from standard input."
    ),
    arguments=(
        Argument(
            "block",
            "File below the root, FILE:FIRST-LAST, hm:KEY for a memory, or a dash.",
            is_raw=True,
        ),
    ),
    flags=(
        _BLOCKS,
        _ROOT,
        Flag(
            ("--priority",),
            "text",
            "critical is always included; high fills up to 80 % of the budget, medium"
            " up to 90 %, low up to 95 %.",
            choices=_PRIORITIES,
        ),
        Flag(
            ("--confidence",),
            "float",
            "How sure you are that it matters (1).",
            metavar="X",
            low=0,
            high=1,
        ),
        JSON,
    ),
    examples=(
        "hm context add --blocks blocks.json --priority critical AGENTS.md",
        "hm context add --blocks blocks.json src/cart.py:10-40",
        "hm context add --blocks blocks.json hm:rounding",
    ),
)
def add(request: CommandRequest) -> int:
    """Add a block to a file."""
    from hivemind_memory.working.blocks_file import (
        block_named,
        changed_file,
        parse_blocks,
    )

    values = request.values
    fields = {"priority": values["priority"], "confidence": values["confidence"]}
    if values["block"] == "-":
        if any(field is not None for field in fields.values()):
            raise UsageError("--priority and --confidence are fields of the JSON.")
        blocks = parse_blocks(read_stdin("Nothing was added"))
    else:
        blocks = [block_named(values["block"], **fields)]
    with request.open_memory() as memory:
        working = _working(memory, request)
        path = _blocks_file(request)
        if values["block"] != "-":
            _check_loads(working, blocks[0], values["block"])
        with changed_file(working, path, memory.places.locks):
            added = [working.add(block) for block in blocks]
        failed = _unreadable(working, added)
    if values["json"]:
        print_json({"added": [mask(block.id) for block in added], "problems": failed})
        return 0
    for block in added:
        name = mask(block.id)
        print_line(f"added {name} ({block.rank.name.lower()})", keep=[name])
    print_notices(failed)
    return 0


@command(
    "context list",
    description=(
        "Shows for each file whether it has changed since the blocks were written."
    ),
    flags=(_BLOCKS, _ROOT, JSON),
    examples=("hm context list --blocks blocks.json",),
)
def list_(request: CommandRequest) -> int:
    """List the blocks of a file."""
    from hivemind_memory.redaction.json_values import mask_json
    from hivemind_memory.working.block_json import block_to_json

    with request.open_memory() as memory:
        working = _working(memory, request)
        working.load(_blocks_file(request))
    changes = working.opened_changes
    if request.values["json"]:
        print_json(
            [
                mask_json({**block_to_json(block), "state": changes.get(block.id, "")})
                for block in working.blocks
            ]
        )
        return 0
    rows = [
        (
            shorten(mask(block.id), _ID_CHARS),
            block.rank.name.lower(),
            f"{block.confidence:g}",
            changes.get(block.id, ""),
        )
        for block in working.blocks
    ]
    print_table(("block", "priority", "confidence", ""), rows)
    if not rows:
        print_notices(["there are no blocks in it"])
    return 0


@command(
    "context clean",
    description=(
        "Removes blocks that have expired, blocks of low priority with a confidence"
        " below 0.1, and history older than an hour unless it is of high priority."
        " Critical blocks stay."
    ),
    flags=(_BLOCKS, _ROOT, DRY_RUN, JSON),
    examples=("hm context clean --blocks blocks.json --dry-run",),
)
def clean(request: CommandRequest) -> int:
    """Remove the blocks that no longer count."""
    from hivemind_memory.working.blocks_file import changed_file

    is_dry_run = bool(request.values["dry_run"])
    path = _blocks_file(request)
    with request.open_memory() as memory:
        working = _working(memory, request)
        if is_dry_run or not os.path.lexists(path):
            working.load(path)
            done = working.cleanup()
        else:
            with changed_file(working, path, memory.places.locks):
                done = working.cleanup()
    if request.values["json"]:
        removed = [
            {"id": mask(removal.block.id), "why": removal.why}
            for removal in done.removed
        ]
        print_json({"kept": len(done.kept), "removed": removed})
        return 0
    verb = "would remove" if is_dry_run else "removed"
    for removal in done.removed:
        name = mask(removal.block.id)
        print_line(f"{verb} {name}: {removal.why}", keep=[name])
    print_line(f"{count_text(len(done.kept), 'block')} kept")
    return 0


def _search_filter(memory: Memory, root: str, scope: str | None) -> SearchFilter:
    """Return which memories are looked for: of a scope, or those of a folder."""
    from hivemind_memory.environment import context_scopes
    from hivemind_memory.model.filters import SearchFilter

    if scope:
        return memory.parse_filter(scope=scope)
    return SearchFilter(scopes=context_scopes(memory, root))


def _working(memory: Memory, request: CommandRequest) -> WorkingMemory:
    """Return an empty working memory on the folder of a request."""
    from hivemind_memory.working.task_context import (
        ContextRequest,
        open_working_memory,
    )

    root = _checked_root(memory, request)
    return open_working_memory(memory, ContextRequest(max_tokens=1, root=root))


def _checked_root(memory: Memory, request: CommandRequest) -> str:
    """Return the folder of a request, which the caller may use.

    Raises:
        UsageError: There is no such folder.
        ScopeError: It, or that of the blocks, is in a project that the caller does not
            see.
    """
    from hivemind_memory import opening

    root = os.path.expanduser(request.values["root"] or os.curdir)
    if not os.path.isdir(root):
        raise no_folder(root)
    opening.check_worktree(memory, root)
    if blocks := _given_blocks(request):
        above = os.path.dirname(blocks)
        if not os.path.isdir(above):
            raise no_folder(above)
        if above != os.path.realpath(root):
            opening.check_worktree(memory, above)
    return os.path.abspath(root)


def _blocks_file(request: CommandRequest) -> str:
    """Return the file of a request.

    Raises:
        UsageError: It names none.
    """
    if path := _given_blocks(request):
        return path
    raise UsageError("Name the file with --blocks FILE.")


def _given_blocks(request: CommandRequest) -> str:
    """Return the path of the file with blocks, links resolved; empty: none is given.

    The one that is checked is the one that is used.
    """
    given: str | None = request.values["blocks"]
    return os.path.realpath(os.path.expanduser(given)) if given else ""


def _check_loads(working: WorkingMemory, block: MemoryBlock, named: str) -> None:
    """Raise unless a block can be loaded now.

    Args:
        working: What loads it.
        block: The block.
        named: As a person typed it.
    """
    loaded = working.loader.load(block)
    if loaded.is_error:
        raise UsageError(
            f"{mask(named)} cannot be added: {clause(loaded.why)}.",
            effect="Nothing was added",
        )


def _unreadable(working: WorkingMemory, blocks: Iterable[MemoryBlock]) -> list[str]:
    """Return what cannot be loaded of some blocks now, in part or at all."""
    loaded = [(block.id, working.loader.load(block)) for block in blocks]
    missing = [(name, it.text if it.is_error else it.note) for name, it in loaded]
    return [f"{mask(name)}: {what}" for name, what in missing if what]
