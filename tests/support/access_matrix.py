"""Two homes that differ in one scope, and every call that a caller of both can make.

What comes from a caller that may not see the scope must be the same in both homes.
``test_access_matrix`` plays a part of it, ``benchmarks/access_matrix.py`` all.
"""

from __future__ import annotations

import io
import itertools
import json
import os
import re
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any
from unittest import mock

import anyio
from mcp import Client
from mcp.types import TextContent, Tool

from hivemind_memory import environment, opening
from hivemind_memory.cli import main
from hivemind_memory.config.settings import TOOLSETS
from hivemind_memory.mcp_server.server import make_server
from hivemind_memory.mcp_server.server_state import ServerState
from hivemind_memory.model.memory_types import BUILT_IN
from hivemind_memory.model.scope import scope_of
from tests.support.scope_state import fill_state

Answer = tuple[str, str]
"""What was tried, and what came back."""

CALLERS: dict[str, tuple[dict[str, str], tuple[str, ...]]] = {
    "global": ({"project": "none"}, ()),
    "project a": ({"project": "a"}, ("projects/a",)),
    "team a": ({"project": "none", "teams": "a"}, ("teams/a",)),
    "workspace web": ({"project": "none", "workspace": "web"}, ("workspaces/web",)),
    "workspace leaf": ({"project": "none", "workspace": "leaf"}, ("workspaces/leaf",)),
    "all of a": (
        {"project": "a", "teams": "a", "workspace": "web"},
        ("projects/a", "teams/a", "workspaces/web"),
    ),
}
"""Name -> what the caller is, and which scopes it sees beside the global."""

SCOPES = (
    *("projects/a", "projects/b", "teams/a", "teams/b"),
    *("workspaces/web", "workspaces/leaf"),
)
PAIRS = tuple(
    (caller, scope)
    for caller, scope in itertools.product(CALLERS, SCOPES)
    if scope not in CALLERS[caller][1]
)
"""Every caller with every scope that it may not see."""

CONFIG = {
    "memory": {
        "workspaces": {"web": {}, "leaf": {"parent": "web"}},
        "toolsets": list(TOOLSETS),
    }
}
HIDDEN_SESSION, OPEN_SESSION = "5ec0e7", "0be17e"
DAY, NOW = "2026-01-05", "2026-02-01"
_THEN_NS = 20_000 * 86_400 * 10**9
_ULID = re.compile(r"\b01[0-9A-HJKMNP-TV-Z]{24}\b")
_TIME = re.compile(
    r"\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\d(\.\d+)?([+-]\d\d:\d\d|Z)| \d\d:\d\d\b)?"
    r"|\bjust now\b|\b\d+ minutes? ago\b"
)
_LISTED = ("Forgotten:", "Restored:", "forgot", "restored", "purged")
_OF_DASHBOARD = re.compile(r"dashboard-[0-9a-f]{8}")
"""The session of what a browser saves."""

_TOKENS = re.compile(
    r'\(\d+ tokens|[\d,]+ of [\d,]+ tokens|"(\w*tokens\w*|knowledge:[^"]*)": \d+'
)
"""Of a context: the ids of new entries are in it, which have more tokens or fewer."""

_TOOK = re.compile(r'("took_ms": |"took_s": )[0-9.e-]+')


def unlike_others(name: str) -> str:
    """Return a text of words that no other has: of near copies, any may be named."""
    digest = sha256(name.encode()).hexdigest()
    return " ".join(f"w{digest[at : at + 6]}" for at in range(0, 48, 6))


def ulid(number: int) -> str:
    """Return an id that is known in advance."""
    return f"01JD{number:022d}"


HIDDEN_IDS = {
    name: ulid(90 + at)
    for at, name in enumerate(("plan", "only", "entry", "old", "claim", "gone"))
}


def note(number: int, key: str, text: str, **more: str) -> str:
    """Return a typed note."""
    said = {"id": f'"{ulid(number)}"', "type": "decision", "key": key, **more}
    said.setdefault("created", f"{DAY}T10:00:00+00:00")
    lines = "\n".join(f"{name}: {value}" for name, value in said.items())
    return f"---\n{lines}\n---\n{text}\n"


def free(number: int, word: str, session: str) -> str:
    """Return a person's note with an agent's entry in it."""
    comment = (
        f"<!-- hm id={ulid(number)} by=bee session={session} source=agent"
        f" at={DAY}T11:00:00+00:00 -->"
    )
    return f"# About {word}\n\nA {word} runs free.\n\n{comment}\nThe {word} entry.\n"


def hidden_notes(scope: str) -> dict[str, str]:
    """Return the notes that a caller must not reveal."""
    mine = {"session": HIDDEN_SESSION, "source": "agent"}
    notes = {
        "plan.md": note(
            90,
            "plan",
            "The plan: the zebra crossing is painted by the quagga on Monday.",
            contradicts=f'["{ulid(0)}"]',
            supersedes=f'["{ulid(1)}", visible-key]',
            source_ref="specs/quagga.md",
            **mine,
        ),
        "only.md": note(
            91, "only-key", "The quagga vault opens with a marimba.", related="[plan]"
        ),
        "free.md": free(92, "quagga", HIDDEN_SESSION),
        "superseded/plan--old.md": note(
            93, "plan", "The quagga had a plan.", superseded_by=f'"{ulid(90)}"'
        ),
        "inbox/claim.md": note(94, "claim", "Quaggas rule.", source="external"),
        "gone.md": note(95, "gone-key", "Gone quagga.", forgotten=DAY),
    }
    return {f"{scope}/{name}": text for name, text in notes.items()}


def open_notes(scopes: Iterable[str], hidden: str) -> dict[str, str]:
    """Return the notes that a caller may see; they name those that it may not."""
    notes = {}
    for at, scope in enumerate(("", *scopes)):
        first, folder = 10 * at, f"{scope}/" if scope else ""
        links = f'["{ulid(91)}", only-key, {hidden}/only.md, plan]'
        notes[f"{folder}plan.md"] = note(
            first,
            "plan",
            "The plan: the zebra crossing is painted by the okapi on Monday.",
            session=OPEN_SESSION,
            source="agent",
            source_ref="specs/okapi.md",
        )
        notes[f"{folder}seen.md"] = note(
            first + 1,
            "visible-key" if not scope else f"visible-key-{at}",
            f"The okapi links to [[only]] and [[{hidden}/only]] and [[only-key]].",
            related=links,
            contradicts=f'["{ulid(90)}"]',
            supersedes=f'["{ulid(93)}", "{ulid(first + 2)}"]',
        )
        notes[f"{folder}superseded/seen--old.md"] = note(
            first + 2, "visible-key", "The okapi was old.", superseded_by=ulid(90)
        )
        notes[f"{folder}day.md"] = free(first + 3, "okapi", OPEN_SESSION)
    return notes


def make_home(home: Path, notes: dict[str, str], hidden: str) -> None:
    """Make a home; links lead into the hidden scope, whether it is there or not."""
    folder = home / "memory"
    for path, text in notes.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        os.utime(file, ns=(_THEN_NS, _THEN_NS))
    (folder / "peek.md").symlink_to(f"{hidden}/only.md")
    (folder / "peek").symlink_to(hidden)
    (home / "config.json").write_text(json.dumps(CONFIG), encoding="utf-8")


# -- what is tried ----------------------------------------------------------------


def names_of(hidden: str) -> list[str]:
    """Return everything that might lead to a note in the hidden scope."""
    kind, slug = hidden.split("/")
    path = f"{hidden}/only.md"
    return [
        path,
        path.upper(),
        f"{kind.title()}/{slug}/only.md",
        f"{kind}/{slug.upper()}/only.md",
        f"./{path}",
        f"{kind}/x/../{slug}/only.md",
        f"plan.md/../{path}",
        f"{kind}//{slug}/only.md",
        f"{kind}/./{slug}/only.md",
        f"/{path}",
        f"{{home}}/memory/{path}",
        path.replace("/", "\\"),
        path.replace("/", "%2F"),
        f"%2e%2e/memory/{path}",
        path.replace("/", "\u2044"),
        f" {path} ",
        f"{path}\0",
        "peek.md",
        "peek/only.md",
        path.removesuffix(".md"),
        "only",
        "only.md",
        "only-key",
        "ONLY-KEY",
        "[[only]]",
        f"[[{hidden}/only]]",
        "plan",
        "claim",
        "gone-key",
        f"{hidden}/inbox/claim.md",
        f"{hidden}/gone.md",
        f"{hidden}/free.md",
        f"{hidden}/superseded/plan--old.md",
        f"{hidden}/nothing.md",
        f"{kind}/nobody/only.md",
        hidden,
        f"{hidden}/",
        *HIDDEN_IDS.values(),
        HIDDEN_IDS["only"].lower(),
        f'"{HIDDEN_IDS["only"]}"',
        "%",
        "_nly",
        "*",
    ]


def scopes_of(hidden: str) -> list[str]:
    """Return every way to name the hidden scope, and names close to it."""
    kind, slug = hidden.split("/")
    single = kind.removesuffix("s")
    kinds = {kind, single, kind.upper(), single.title()}
    if single == "project":
        kinds |= {"product", "PRODUCT"}
    if single == "workspace":
        kinds |= {"LOCAL", "local"}
    spelled = [f"{one}/{slug}" for one in sorted(kinds)]
    return [
        *spelled,
        f" {hidden} ",
        f"{hidden}/",
        f"/{hidden}",
        f"{single}/{slug.upper()}",
        f"{single}/./{slug}",
        f"{single}/x/../{slug}",
        f"{single}%2F{slug}",
        f"global/../{hidden}",
        f"{single}/nobody",
        slug,
        *sorted(kinds),
        "GLOBAL",
        "org",
    ]


WORDS = ("quagga", "marimba", "okapi", "zebra crossing", "quaga", "only-key", "claim")
_NEAR = "The plan: the zebra crossing is painted by the quagga on Tuesday."
_KINDS = ("related_to", "updates", "contradicts")


def tool_reads(hidden: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield calls of tools that change nothing."""
    for word, inbox in itertools.product(WORDS, (False, True)):
        yield "memory_search", {"query": word, "min_score": 0, "inbox": inbox}
    for word in WORDS:
        yield "memory_search", {"query": word, "max_results": 1}
        yield "memory_search", {"query": word, "types": "decision,lesson"}
    for scope in scopes_of(hidden):
        yield "memory_search", {"query": "quagga", "scope": scope, "min_score": 0}
        yield "memory_search", {"query": "*", "scope": scope}
        yield "memory_list", {"scope": scope}
    yield "memory_list", {}
    yield "memory_list", {"types": list(BUILT_IN)}
    yield "memory_list", {"scope": "global"}
    yield "memory_search", {"query": "", "types": list(BUILT_IN), "inbox": True}
    for narrowing in narrowings(hidden):
        yield "memory_list", narrowing
        yield "memory_search", {"query": "", **narrowing}
        yield "memory_search", {"query": "", "max_results": 1, **narrowing}
        yield "memory_search", {"query": "plan", "min_score": 0, **narrowing}
    for name in names_of(hidden):
        yield "memory_list", {"types": "decision", "after": name}
        yield "memory_list", {"source_ref": name}
        yield "memory_get", {"path": name}
        yield "memory_history", {"key": name}
        yield "memory_list", {"after": name}


def narrowings(hidden: str) -> Iterator[dict[str, Any]]:
    """Yield what narrows a list or a search."""
    yield {"types": "decision"}
    for ref in ("specs/", "specs/quagga", "specs/okapi.md"):
        yield {"source_ref": ref}
    for scope in scopes_of(hidden):
        yield {"types": "decision", "scope": scope}
        yield {"source_ref": "specs/", "scope": scope}


def tool_writes(hidden: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield calls of tools that would change something."""
    for number, name in enumerate(names_of(hidden)):
        yield (
            "memory_link",
            {"from": "visible-key", "to": name, "kind": _KINDS[number % 3]},
        )
        yield (
            "memory_link",
            {"from": name, "to": "visible-key", "kind": _KINDS[number // 3 % 3]},
        )
        yield "memory_write", {"content": f"Written {number}.", "file": name}
        new = {"key": f"new-{number}", "content": f"Saved {number}."}
        yield "memory_save", {**new, "related": [name]}
        yield "memory_save", {**new, "contradicts": [name]}
    for number, scope in enumerate(scopes_of(hidden)):
        new = {"key": f"scoped-{number}", "content": f"Scoped {number}."}
        yield "memory_save", {**new, "scope": scope}
        yield "memory_save", {"key": "plan", "content": "Mine.", "scope": scope}
        claim = {"topic": "quaggas", "claim": f"They rule {number}."}
        yield "memory_learn", {**claim, "scope": scope, "domains": ["a.org"]}
    yield "memory_learn", {"topic": "quaggas", "claim": _NEAR}
    yield "memory_save", {"key": "ref", "content": "R.", "source_ref": "specs/quagga"}
    for key in ("plan", "only-key", "claim", "gone-key", HIDDEN_IDS["only"]):
        yield "memory_save", {"key": key, "content": f"{_NEAR} For {key}."}
        yield "memory_save", {"key": key, "content": _NEAR, "supersede_reason": "new"}
        yield "memory_history", {"key": key}
    yield "memory_save", {"key": "near", "content": _NEAR}
    for name in names_of(hidden):
        yield "memory_forget", {"id": name}
        yield "memory_forget", {"key": name}


def command_reads(hidden: str) -> Iterator[tuple[str, ...]]:
    """Yield commands that change nothing."""
    for word in WORDS:
        yield "search", word, "--json", "--min-score", "0"
        yield "search", word, "--json", "--inbox", "--explain"
        yield "search", word
    for ref in ("specs/", "specs/quagga", "specs/okapi.md", f"{hidden}/only.md"):
        yield "search", "", "--source-ref", ref
        yield "search", "plan", "--source-ref", ref, "--json"
        yield "list", "--source-ref", ref
        yield "list", "--source-ref", ref, "--status", "all", "--json"
    for scope in scopes_of(hidden):
        yield "search", "", "--scope", scope, "--source-ref", "specs/"
        yield "search", "quagga", "--scope", scope
        yield "show", "plan", "--scope", scope
        yield "history", "plan", "--scope", scope
        yield "list", "--scope", scope, "--status", "all"
        yield "log", "--scope", scope
    for name in names_of(hidden):
        for command in ("get", "show", "history"):
            yield command, "--", name
    yield ("list",)
    yield "list", "--json"
    yield "list", "--status", "all", "--json"
    yield "log", "--json"
    for command in ("sync", "rebuild", "status", "doctor"):
        yield (command,)
    for purge in purges(hidden):
        yield *purge, "--dry-run"


def purges(hidden: str) -> Iterator[tuple[str, ...]]:
    """Yield purges, to run with and without --dry-run."""
    for name in (*names_of(hidden), "visible-key"):
        yield "forget", name, "--purge", "--json"
    for scope in scopes_of(hidden):
        yield "forget", "--scope", scope, "--purge", "--json"
        yield "forget", "plan", "--scope", scope, "--purge", "--json"
    for wanted in (
        ("--session", HIDDEN_SESSION),
        ("--source", "external"),
        ("--day", DAY),
        ("--session", OPEN_SESSION),
    ):
        yield "forget", *wanted, "--purge", "--json"


def command_writes(hidden: str) -> Iterator[tuple[str, ...]]:
    """Yield commands that would change something."""
    for number, name in enumerate(names_of(hidden)):
        for command in ("link", "unlink"):
            kind = ("--kind", _KINDS[number % 3])
            yield command, "visible-key", name, *kind
            yield command, name, "visible-key", *kind
        yield "write", f"Written {number}.", "--file", name
        yield "write", "--source-ref", name, f"Derived {number}."
        yield "edit", "--", name
        listed = name.replace(",", " ")
        yield "save", f"new-{number}", "Saved.", "--related", listed
        yield "save", f"new-{number}", "Saved.", "--contradicts", listed
    for number, scope in enumerate(scopes_of(hidden)):
        yield "save", f"scoped-{number}", "Scoped.", "--scope", scope
        yield "learn", "quaggas", "They rule.", "--scope", scope
    for key in ("plan", "only-key", "gone-key"):
        yield "save", key, f"{_NEAR} For {key}."
        yield "save", key, _NEAR, "--reason", "new"
        yield "save", key, _NEAR, "--source", "external", "--json"
    yield "learn", "quaggas", _NEAR, "--json"
    for name in names_of(hidden):
        yield "forget", name, "--json"
        yield "restore", name, "--json"
    for scope in scopes_of(hidden):
        yield "forget", "plan", "--scope", scope
        yield "restore", "--scope", scope
    for command in ("forget", "restore"):
        yield command, "--session", HIDDEN_SESSION
        yield command, "--source", "external"
    for purge in purges(hidden):
        yield *purge, "--yes"


@contextmanager
def at_one_time() -> Iterator[None]:
    """Let everything be written at one time, so that no list depends on the second."""
    at = f"{NOW}T12:00:00+00:00"
    with mock.patch.object(environment, "local_iso", return_value=at):
        yield


# -- both sides ---------------------------------------------------------------------


@dataclass
class Side:
    """One of the two homes, as a caller shows it."""

    home: Path
    caller: str

    def offered_tools(self) -> list[Tool]:
        """Return the tools that the server lists to the caller."""

        async def listed(client: Client) -> list[Tool]:
            return list((await client.list_tools()).tools)

        return self._with_client(listed)

    def tools(self, calls: Iterable[tuple[str, dict[str, Any]]]) -> list[Answer]:
        """Call tools as a client does; return what each said."""

        async def called(client: Client) -> list[Answer]:
            return [await self._call(client, *one) for one in calls]

        return self._with_client(called)

    def _with_client(self, use: Callable[[Client], Awaitable[Any]]) -> Any:
        """Return what is done with a client of a server for the caller."""
        opened = CALLERS[self.caller][0]
        # What the environment says is not meant here.
        given = {"workspace": "", "teams": "", **opened}
        server_state = ServerState(
            lambda: opening.open_memory(
                home=str(self.home),
                scope_request=environment.agent_scope_request(**given),
            )
        )
        server = make_server(server_state, "5e551017")

        async def run() -> Any:
            async with Client(server) as client:
                return await use(client)

        try:
            with at_one_time():
                return anyio.run(run)
        finally:
            assert server_state.close(within_s=5)

    async def _call(self, client: Client, tool: str, given: dict[str, Any]) -> Answer:
        """Call one tool."""
        placed = {name: self.placed(value) for name, value in given.items()}
        result = await client.call_tool(tool, placed)
        [content] = result.content
        assert isinstance(content, TextContent)
        said = json.dumps(result.structured_content, sort_keys=True)
        return f"{tool} {given}", self.told(
            f"{result.is_error}\n{content.text}\n{said}"
        )

    def commands(self, lines: Iterable[tuple[str, ...]]) -> list[Answer]:
        """Run commands in this process; return what each printed."""
        opened = CALLERS[self.caller][0]
        names = {"project": "PROJECT", "teams": "TEAM", "workspace": "WORKSPACE"}
        for name, variable in names.items():
            os.environ[f"HIVEMIND_{variable}"] = opened.get(name, "")
        os.environ["HIVEMIND_HOME"] = str(self.home)
        user = self.home.with_name(f"{self.home.name}-user")
        worktree = user / "code"
        if not worktree.is_dir():
            subprocess.run(["git", "init", "-q", worktree], check=True)
        # What is connected, or made a skill, goes into the user's home.
        with mock.patch.dict(os.environ, {"HOME": str(user)}), chdir(worktree):
            return [(" ".join(line), self.told(self._run(line))) for line in lines]

    def _run(self, line: tuple[str, ...]) -> str:
        """Run one command."""
        out, err = io.TextIOWrapper(io.BytesIO()), io.TextIOWrapper(io.BytesIO())
        stdin, sys.stdin = sys.stdin, io.TextIOWrapper(io.BytesIO())
        try:
            with redirect_stdout(out), redirect_stderr(err), at_one_time():
                code = main.main([str(self.placed(word)) for word in line])
                out.flush()
                err.flush()
        finally:
            sys.stdin = stdin
        printed = [one.buffer.getvalue().decode() for one in (out, err)]
        return f"{code}\n{printed[0]}\n{printed[1]}"

    def placed(self, value: Any) -> Any:
        """Return an argument with the path of this home filled in."""
        if isinstance(value, list):
            return [self.placed(one) for one in value]
        return (
            value.replace("{home}", str(self.home)) if isinstance(value, str) else value
        )

    def told(self, text: str) -> str:
        """Return an answer without what differs between runs: home, times, ids."""
        known = {ulid(number) for number in range(100)}
        home = str(self.home)
        text = text.replace(home, "<home>").replace(home[1:], "<home>")
        for length in range(len(home) - 1, 20, -1):  # a long name is cut in a message
            text = text.replace(f"{home[:length]}…", "<home>…")
        text = _ULID.sub(lambda m: m[0] if m[0] in known else "<new>", text)
        text = _TOOK.sub(r"\1<took>", _TIME.sub("<time>", text))
        text = _OF_DASHBOARD.sub("<session>", _TOKENS.sub("<tokens>", text))
        lines = [_in_order(line) for line in text.split("\n")]
        listed = [line for line in lines if line.startswith(_LISTED)]
        rest = [line for line in lines if not line.startswith(_LISTED)]
        return "\n".join([*rest, *sorted(listed)])

    def tree(self, *, is_hidden: bool, hidden: str) -> dict[str, str]:
        """Return the notes of the hidden scope, or those of all others."""
        folder = self.home / "memory"
        found = {}
        for file in sorted(folder.rglob("*.md")):
            path = file.relative_to(folder).as_posix()
            if file.is_symlink() or ".index" in path:
                continue
            if (scope_of(path) == hidden) == is_hidden:
                text = file.read_text(encoding="utf-8")
                found[self.told(path)] = text if is_hidden else self.told(text)
        return found


def _in_order(line: str) -> str:
    """Return a line of JSON with its lists in one order.

    What is written within a second is listed by its name, else by its time.
    """
    try:
        value = json.loads(line)
    except ValueError:
        return line
    if isinstance(value, dict):
        for name in ("memories", "forgotten", "data"):
            if isinstance(value.get(name), list):
                value[name] = sorted(map(json.dumps, value[name]))
    return json.dumps(value)


@dataclass
class Twins:
    """A home with a scope that a caller may not see, and one without that scope."""

    whole: Side
    without: Side
    hidden: str
    hidden_before: dict[str, str] = field(default_factory=dict)
    seen_before: dict[str, str] = field(default_factory=dict)
    """The notes as they were made."""

    def __iter__(self) -> Iterator[Side]:
        return iter((self.whole, self.without))

    @property
    def are_changed(self) -> bool:
        """Whether anything was written or removed in the scopes that the caller sees.

        Else all that would write was refused, and its answers prove little.
        """
        now = self.without.tree(is_hidden=False, hidden=self.hidden)
        return now != self.seen_before

    def leaks(self, ask: Callable[[Side], list[Answer]]) -> list[str]:
        """Return the answers that differ when the hidden scope exists."""
        said = [ask(side) for side in self]
        found = [
            f"{tried}\n--- with {self.hidden}\n{one}\n--- without\n{other}"
            for (tried, one), (_, other) in zip(*said, strict=True)
            if one != other
        ]
        touched = self.whole.tree(is_hidden=True, hidden=self.hidden)
        if touched != self.hidden_before:
            found.append(f"{self.hidden} was changed: {touched}")
        if self.without.tree(is_hidden=True, hidden=self.hidden):
            found.append(f"{self.hidden} was made")
        trees = [side.tree(is_hidden=False, hidden=self.hidden) for side in self]
        if trees[0] != trees[1]:
            odd = trees[0].items() ^ trees[1].items()
            found.append(f"the notes differ: {sorted(odd)[:4]}")
        return found


def make_twins(folder: Path, caller: str, hidden: str) -> Twins:
    """Make both homes; what is remembered of the hidden scope is in one of them."""
    seen = CALLERS[caller][1]
    notes = open_notes(seen, hidden)
    make_home(folder / "whole", {**notes, **hidden_notes(hidden)}, hidden)
    make_home(folder / "other", notes, hidden)
    ids = HIDDEN_IDS["only"], HIDDEN_IDS["plan"]
    fill_state(
        folder / "whole",
        hidden,
        key="only-key",
        ids=ids,
        session=HIDDEN_SESSION,
        word="quagga",
        at_s=1_790_000_000,
    )
    for name in ("whole", "other"):
        for scope in seen[:1]:
            fill_state(
                folder / name,
                scope,
                key="visible-key-1",
                ids=(ulid(11), ulid(10)),
                session=OPEN_SESSION,
                word="okapi",
                at_s=1_790_000_060,
            )
    twins = Twins(
        Side(folder / "whole", caller), Side(folder / "other", caller), hidden
    )
    twins.hidden_before = twins.whole.tree(is_hidden=True, hidden=hidden)
    twins.seen_before = twins.without.tree(is_hidden=False, hidden=hidden)
    return twins
