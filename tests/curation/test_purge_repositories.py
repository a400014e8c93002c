"""A purge and the git history of the repositories that were injected into."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from hivemind_memory.access.rules import Caller
from hivemind_memory.cli.main import main
from hivemind_memory.inject.past_injections import InjectionTraces
from hivemind_memory.model.curation import PurgeResult
from hivemind_memory.opening import open_injector
from hivemind_memory.state.injection_log import InjectionLog
from hivemind_memory.testing import FakeEmbedder
from tests.support.fake_provider import FakeProvider
from tests.support.purge_rig import Bench, traces, words_of
from tests.support.sandbox import Sandbox

SECRET = "Zanzibarquux is the flimmerkeks of the vault."
CLEANS = "gc --prune=now` removes unreferenced objects"


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bench]:
    """A memory that can be purged, with its injection log."""
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    sandbox = Sandbox(tmp_path / "home", provider=FakeProvider(FakeEmbedder()))
    with sandbox.memory() as memory:
        made = Bench(sandbox, memory)
        made.injected = InjectionTraces(InjectionLog(made.state), open_injector(memory))
        made.save("weather", "The shop is open in any weather.", type="lesson")
        yield made


def make_repo(folder: Path) -> Path:
    """Make a repository."""
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    return folder


def commit(folder: Path, subject: str) -> None:
    """Commit nothing, with a message."""
    who = ("-c", "user.name=me", "-c", "user.email=me@example.com")
    command = ["git", "-C", str(folder), *who, "commit", "-q", "--allow-empty"]
    subprocess.run([*command, "-m", subject], check=True)


def repositories(receipt: PurgeResult) -> list[str]:
    """Return which repositories a receipt names, and the line that counts the rest."""
    return [
        one.what
        for one in receipt.out_of_reach
        if CLEANS in one.why or "saw a section" in one.why
    ]


@pytest.mark.parametrize("is_entry", [False, True])
def test_a_purged_text_that_is_a_commit_message_is_not_in_the_injection_log(
    bench: Bench, tmp_path: Path, is_entry: bool
) -> None:
    """Neither what an earlier version logged, nor what the purge logs itself.

    The note of an entry keeps its path, so no path is blanked in the log.
    """
    shop = make_repo(tmp_path / "shop")
    if is_entry:
        name = bench.memory.write(SECRET, file="log.md").id
    else:
        name = bench.save("vault", SECRET, type="lesson").id
    open_injector(bench.memory).inject(str(shop))
    commit(shop, f"fix: {SECRET}")
    log = InjectionLog(bench.state)
    facets = [{"name": "commit", "text": SECRET, "weight": 0.4, "is_name": False}]
    log.append({**log.records()[-1], "facets": facets})
    open_injector(bench.memory).inject(str(shop))

    receipt = bench.purge(name)

    assert receipt.is_complete
    found = traces(bench.sandbox.home, words_of(SECRET), bench.sandbox.index_file)
    assert found == []
    said = open_injector(bench.memory).why(str(shop))
    assert said is not None
    told = {facet["name"]: facet["text"] for facet in said["facets"]}
    assert told == {"project": "shop", "commit": ""}


def test_a_token_in_a_commit_or_a_branch_is_not_in_the_injection_log(
    bench: Bench,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The raw bytes of the file count, and what an earlier version has logged is not
    told."""
    token = "ghp_" + "aZ3kQ9xW7rT1yU5iO8pL2mN4bV6cD0eF3gHj"
    shop = make_repo(tmp_path / "shop")
    commit(shop, f"Use {token} for the shop")
    subprocess.run(["git", "-C", str(shop), "checkout", "-qb", token], check=True)
    (shop / f"{token}.txt").write_text("")
    injector = open_injector(bench.memory)

    injector.inject(str(shop))

    for file in bench.sandbox.home.glob("state.db*"):
        assert b"aZ3kQ9xW7" not in file.read_bytes()
    log = InjectionLog(bench.state)
    old = {"name": "commit", "text": f"Use {token}", "weight": 0.4, "is_name": False}
    log.append({**log.records()[-1], "facets": [old]})
    said = injector.why(str(shop))
    assert said is not None
    assert said["facets"] == [{**old, "text": ""}]
    monkeypatch.setenv("HIVEMIND_HOME", str(bench.sandbox.home))
    assert main(["why", "--explain", str(shop)]) == 0
    assert "commit (weight 0.4): the newest commits\n" in capsys.readouterr().out


def test_repositories_that_were_injected_into_are_named(
    bench: Bench, tmp_path: Path
) -> None:
    """Five at most, those that showed the text first; a refused commit leaves it in an
    object that nothing refers to."""
    for number in range(6):
        repo = make_repo(tmp_path / f"shop{number}")
        open_injector(bench.memory).inject(str(repo))
    last = make_repo(tmp_path / "the shop")
    bench.save("vault", SECRET, type="lesson")
    open_injector(bench.memory).inject(str(last))
    (last / "a.txt").write_text(SECRET)
    subprocess.run(["git", "-C", str(last), "add", "a.txt"], check=True)
    subprocess.run(["git", "-C", str(last), "reset", "-q"], check=True)
    (last / "a.txt").unlink()

    planned = bench.purge("vault", is_dry_run=True)
    receipt = bench.purge("vault")

    shops = [str(tmp_path / f"shop{number}") for number in range(4)]
    assert repositories(receipt) == [str(last), *shops, "2 more repositories"]
    assert receipt.out_of_reach == planned.out_of_reach
    [why] = [one.why for one in receipt.out_of_reach if one.what == str(last)]
    _, shows, _, cleans, _ = why.split("`")
    assert _lost(last)
    for command in (shows, cleans):
        subprocess.run(command, shell=True, check=True, capture_output=True)
    assert not _lost(last)


def _lost(folder: Path) -> bytes:
    """Return the objects to which nothing refers."""
    command = ["git", "-C", str(folder), "fsck", "--unreachable", "--no-reflogs"]
    return subprocess.run(command, check=True, capture_output=True).stdout


def test_a_repository_of_another_project_is_not_named(
    bench: Bench, tmp_path: Path
) -> None:
    """Its path would tell a caller of some scopes of a project that it does not see."""
    mine, other = (make_repo(tmp_path / name) for name in ("mine", "other"))
    for repo in (mine, other):
        open_injector(bench.memory).inject(str(repo))
    [scope] = [
        str(one)
        for one in InjectionLog(bench.state).records()[0]["scopes"]
        if str(one).startswith("projects/")
    ]
    path = f"{scope}/vault.md"
    bench.sandbox.save(path, f"---\ntype: fact\nkey: vault\n---\n\n{SECRET}\n")
    bench.memory.sync()
    caller = Caller(project=scope)

    seen = bench.purge(path, caller, is_dry_run=True)

    assert repositories(seen) == [str(mine)]
    owner = bench.purge(path, is_dry_run=True)
    assert repositories(owner) == [str(mine), str(other)]
