"""The receipt of a purge tells nothing of scopes that its caller may not see.

Each purge is made in two homes at the same path, one with another project's notes,
changes, sections and vectors, one without, and its receipts are compared byte for byte.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from hivemind_memory.access.rules import AGENT_VARIABLES, OWNER, Caller
from hivemind_memory.cli.main import main
from hivemind_memory.curation.purge import _name_of
from hivemind_memory.curation.purge_plan import PurgePlan
from hivemind_memory.curation.purge_report import OWNER_ONLY
from hivemind_memory.model.curation import MemorySelector
from hivemind_memory.opening import open_injector
from hivemind_memory.state.injection_log import InjectionLog
from hivemind_memory.state.key_values import KeyValueStore
from hivemind_memory.state.recall_log import RecallLog
from hivemind_memory.state.state_file import StateFile
from hivemind_memory.testing import FakeEmbedder
from tests.support.fake_provider import FakeProvider
from tests.support.sandbox import Sandbox
from tests.support.tiers import mostly_thorough

TEXT = "The walrus of the harbour eats at noon."
RULE = "Whoever feeds the walrus writes the time and the weight on the board."
ENTRY, PORT, OLD, GUIDE, LAW, HIDDEN, CLAIM = (f"01JD{n:022d}" for n in range(1, 8))
DAY = "2026-01-05"

PURGES = {
    "a key": ("port",),
    "an id": (PORT,),
    "the id of an entry": (ENTRY,),
    "the id of a hidden memory": (HIDDEN,),
    "a path": ("projects/a/day.md",),
    "a hidden path": ("projects/b/port.md",),
    "a superseded version": ("projects/a/superseded/port--old.md",),
    "a global key": ("rule",),
    "a session": ("--session", "5e55"),
    "a source": ("--source", "agent"),
    "a day": ("--day", DAY),
    "a scope": ("--scope", "project"),
    "a hidden scope": ("--scope", "projects/b"),
    "a key in a hidden scope": ("port", "--scope", "projects/b"),
}
"""Every way to say what is purged."""


def note(memory_id: str, key: str, text: str, **more: str) -> str:
    """Return a typed note."""
    said = {"id": memory_id, "type": "fact", "key": key, "source": "agent", **more}
    said.setdefault("created", f"{DAY}T10:00:00+00:00")
    lines = "\n".join(f"{name}: {value}" for name, value in said.items())
    return f"---\n{lines}\n---\n{text}\n"


def entry(text: str) -> str:
    """Return an entry that an agent wrote."""
    return (
        f"<!-- hm id={ENTRY} by=bee session=5e55 source=agent"
        f" at={DAY}T11:00:00+00:00 -->\n{text}\n"
    )


SEEN = {
    "rule.md": note(LAW, "rule", RULE, type="lesson"),
    "projects/a/port.md": note(
        PORT, "port", TEXT, session="5e55", supersedes=OLD, related="[guide]"
    ),
    "projects/a/superseded/port--old.md": note(
        OLD, "port", "The walrus ate at one.", superseded_by=PORT
    ),
    "projects/a/guide.md": note(GUIDE, "guide", "See [[port]].", related=f"[{PORT}]"),
    "projects/a/day.md": f"# Day\n\nWarm.\n\n{entry('A seal was seen.')}",
}
UNSEEN = {
    # A person copied the entry and the text; the keys are the same by chance.
    "projects/b/day.md": f"# B\n\n{entry('A seal was seen.')}",
    "projects/b/copy.md": f"# Copied\n\n{TEXT}\n",
    "projects/b/port.md": note(
        HIDDEN, "port", TEXT, session="5e55", supersedes=OLD, related=f"[{PORT}, rule]"
    ),
    "projects/b/inbox/port.md": note(CLAIM, "port", TEXT, source="external"),
}


@dataclass
class Twins:
    """Two homes, with and without what is hidden, taken in turn to one path."""

    folder: Path

    @contextmanager
    def home(self, name: str) -> Iterator[Path]:
        """Put a copy of one of them in its place, with both repositories."""
        for what in ("home", "a", "b"):
            source = self.folder / name / what
            shutil.copytree(source, self.folder / what, symlinks=True)
        try:
            yield self.folder / "home"
        finally:
            for what in ("home", "a", "b"):
                shutil.rmtree(self.folder / what)

    def keep(self, name: str) -> None:
        """Keep what was built."""
        for what in ("home", "a", "b"):
            (self.folder / name).mkdir(exist_ok=True)
            (self.folder / what).rename(self.folder / name / what)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where every home is put: its sections and its index name this path."""
    return tmp_path_factory.mktemp("twins")


@pytest.fixture(autouse=True)
def environ(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No settings, no scope and no agent from outside."""
    clear_environ(folder, monkeypatch)


@pytest.fixture(scope="module")
def twins(folder: Path) -> Twins:
    """Both homes, built once; each test gets copies."""
    made = Twins(folder)
    with pytest.MonkeyPatch.context() as patch:
        clear_environ(folder, patch)
        for name in ("with", "without"):
            build(folder, is_hidden=name == "with")
            made.keep(name)
    return made


def clear_environ(folder: Path, patch: pytest.MonkeyPatch) -> None:
    """Take the settings of this machine out of the environment."""
    for name in (*os.environ, *AGENT_VARIABLES):
        if name.startswith(("HIVEMIND_", "GIT_")) or name in AGENT_VARIABLES:
            patch.delenv(name, raising=False)
    patch.setenv("HOME", str(folder))
    patch.setenv("HIVEMIND_HOME", str(folder / "home"))
    patch.setenv("HIVEMIND_EMBEDDING_PROVIDER", "none")
    patch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    patch.setenv("GIT_CEILING_DIRECTORIES", str(folder))


def build(folder: Path, *, is_hidden: bool) -> None:
    """Make two repositories and a home."""
    for name in ("a", "b"):
        git = ["git", "-C", str(folder / name)]
        subprocess.run(["git", "init", "-q", str(folder / name)], check=True)
        origin = f"git@example.com:me/{name}.git"
        subprocess.run([*git, "remote", "add", "origin", origin], check=True)
    sandbox = Sandbox(folder / "home", provider=FakeProvider(FakeEmbedder()))
    if is_hidden:
        hide_earlier(sandbox)
    for path, text in SEEN.items():
        sandbox.save(path, text)
    known = {name: {"identity": f"example.com/me/{name}"} for name in ("a", "b")}
    (folder / "home/config.json").write_text(
        json.dumps({"memory": {"projects": known}})
    )
    with sandbox.memory() as memory:
        memory.embed_pending()
        open_injector(memory).inject(str(folder / "a"))
        memory.curation.link("projects/a/guide.md", "projects/a/port.md", "related_to")
        if is_hidden:
            memory.write(TEXT, file="projects/b/log.md", source="agent")
            memory.embed_pending()
            open_injector(memory).inject(str(folder / "b"))
            shutil.copy(folder / "b/CLAUDE.md", folder / "b/prompt.py")
            memory.curation.link("projects/b/port.md", "rule", "contradicts")
            memory.curation.link(
                "projects/b/port.md", "projects/a/port.md", "updates", weight=0.5
            )
            of_b = memory.as_caller(Caller(project="projects/b")).curation
            of_b.forget(MemorySelector(name=ENTRY))
            of_b.restore(MemorySelector(name=ENTRY))
    if is_hidden:
        hide(sandbox, folder)


def hide_earlier(sandbox: Sandbox) -> None:
    """Make the other project's notes, and vectors of another model for them."""
    for path, text in UNSEEN.items():
        sandbox.save(path, text)
    before = Sandbox(sandbox.home, provider=FakeProvider(FakeEmbedder(), model="old"))
    with before.memory() as memory:
        memory.write("The seal of another project sleeps.", file="projects/b/gone.md")
        memory.embed_pending()
    (sandbox.notes / "projects/b/gone.md").unlink()


def hide(sandbox: Sandbox, folder: Path) -> None:
    """Leave what a project that nobody here sees leaves in the home."""
    state = StateFile(str(folder / "home/state.db"))
    shown = [("projects/a", one) for one in (ENTRY, PORT, OLD)]
    RecallLog(state).count([*shown, ("projects/b", HIDDEN)], 1)
    for name in (HIDDEN, "projects/b/port.md"):
        plan = PurgePlan(ids={HIDDEN}, paths={"projects/b/port.md"})
        state.begin(_name_of(MemorySelector(name=name), OWNER), plan.as_json())
    state.close()
    kept = KeyValueStore(StateFile(str(folder / "home/state.db")))
    kept.set("projects/b", "walrus", json.dumps(f"{TEXT} {RULE}"), now_ms=1)
    half = sandbox.save("projects/b/.hm-0123456789abcdef.tmp", "walrus")
    os.utime(half, (1, 1))
    index = sandbox.index_file
    (index.parent / f"{index.name}.damaged-1").write_bytes(b"x")


def ask(words: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> str:
    """Run a purge; return all that it says, and how it ends."""
    capsys.readouterr()
    code = main(["forget", *words, "--purge"])
    said = capsys.readouterr()
    return f"{code}\n{said.out}\n{said.err}"


_BY_SCOPE = {
    *("tombstones", "recalls by day"),
    *("earlier versions", "pending claims", "notes"),
}
"""Counts of what a receipt lists by name, and of what is of a scope."""

FORMS = (("--dry-run",), ("--dry-run", "--json"), ("--yes",), ("--yes", "--json"))


@pytest.mark.parametrize("what", mostly_thorough(PURGES, every=3))
@pytest.mark.parametrize("caller", ["an agent's shell", "a shell of one project"])
def test_a_receipt_is_that_of_a_home_without_the_hidden_scopes(
    twins: Twins,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    caller: str,
    what: str,
) -> None:
    """Also the second receipt, and the one of a purge that nothing is left of."""
    if caller == "an agent's shell":
        monkeypatch.setenv("CLAUDECODE", "1")
    else:
        monkeypatch.setenv("HIVEMIND_PROJECT", "a")
    said: dict[str, list[str]] = {}
    for name in ("with", "without"):
        with twins.home(name):
            monkeypatch.chdir(twins.folder / "a")
            said[name] = [ask((*PURGES[what], *form), capsys) for form in FORMS]
            monkeypatch.chdir(twins.folder)

    assert said["with"] == said["without"]
    is_seen = "hidden" not in what
    assert said["without"][0].startswith("0\nwould purge") == is_seen


@pytest.mark.parametrize("form", FORMS[1::2])
def test_the_owner_reads_what_is_in_every_place(
    twins: Twins, capsys: pytest.CaptureFixture[str], form: tuple[str, ...]
) -> None:
    """Where this receipt says the same of both homes, the other proves nothing."""
    counts: dict[str, dict[str, int]] = {}
    for name in ("with", "without"):
        counts[name] = {}
        for words in ((ENTRY,), ("projects/a/port.md",), ("rule",)):
            with twins.home(name):
                receipt = json.loads(ask((*words, *form), capsys).split("\n", 1)[1])
            for place in receipt["places"]:
                counts[name].setdefault(place["name"], 0)
                counts[name][place["name"]] += place["count"]

    same = {
        name
        for name, count in counts["with"].items()
        if counts["without"][name] == count
    }
    # What a killed process left half-written is gone before it is counted.
    assert same <= {*_BY_SCOPE, "free pages", "half-written notes"}
    assert set(counts["with"]) >= OWNER_ONLY


def test_a_purge_of_one_project_reaches_the_sections_of_others(
    twins: Twins, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A global memory is in the section of another project, which is not named."""
    monkeypatch.setenv("HIVEMIND_PROJECT", "a")
    with twins.home("with"):
        sections = [twins.folder / name / "CLAUDE.md" for name in ("a", "b")]
        before = [RULE in file.read_text() for file in sections]

        said = ask(("rule", "--yes"), capsys)

        after = [file.exists() and RULE in file.read_text() for file in sections]
        other = sections[1].read_text()
    assert (before, after) == ([True, True], [False, False])
    assert str(twins.folder / "b") not in said
    assert "projects/a/" not in other


@pytest.mark.parametrize("form", [(), ("--json",)])
@pytest.mark.parametrize("words", [("rule",), ("--scope", "global")])
def test_a_hidden_section_that_fails_does_not_change_the_receipt(
    twins: Twins,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: tuple[str, ...],
    form: tuple[str, ...],
) -> None:
    """The records of the caller's own worktrees are counted and blanked at once."""
    monkeypatch.setenv("HIVEMIND_PROJECT", "a")
    said: dict[str, list[str]] = {}
    listed: dict[str, set[str]] = {}
    for name in ("with", "without"):
        with twins.home(name):
            (twins.folder / "b/.git/config").write_text("[broken")
            monkeypatch.chdir(twins.folder / "a")
            steps = ("--dry-run", "--yes", "--yes")
            said[name] = [ask((*words, *form, one), capsys) for one in steps]
            state = StateFile(str(twins.folder / "home/state.db"))
            listed[name] = {
                str(record["worktree"])
                for record in InjectionLog(state).records()
                if "rule.md" in json.dumps(record)
            }
            state.close()
            monkeypatch.chdir(twins.folder)

    assert said["with"] == said["without"]
    one_record = re.compile('injection log(  +|", "count": )1\\b')
    assert all(one_record.search(one) for one in said["with"][:2])
    assert listed == {"with": {str(twins.folder / "b")}, "without": set()}


def test_a_hidden_section_that_fails_is_told_to_the_owner_alone(
    twins: Twins, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The purge stays unfinished for the owner, who finishes it."""
    with twins.home("with"):
        settings = twins.folder / "b/.git/config"
        text = settings.read_text()
        settings.write_text("[broken")
        monkeypatch.setenv("HIVEMIND_PROJECT", "a")
        told = ask(("rule", "--yes"), capsys)
        again = ask(("rule", "--yes"), capsys)
        monkeypatch.delenv("HIVEMIND_PROJECT")
        settings.write_text(text)

        finished = ask(("rule", "--yes"), capsys)

        assert RULE not in (twins.folder / "b/CLAUDE.md").read_text()
    assert told.startswith("0\n")
    assert "/b" not in told.replace(str(twins.folder), "")
    assert again.startswith("1\n\nerror: There is no memory")
    assert finished.startswith("0\n")
