"""A workspace's rights and teams follow from the tree in config.json."""

from __future__ import annotations

import io
import itertools
import random
from pathlib import Path

import pytest

from hivemind_memory.access.callers import ScopeRequest, caller_of, teams_of
from hivemind_memory.access.rules import AGENT_VARIABLES, Caller, may_write
from hivemind_memory.cli.main import main
from hivemind_memory.errors import ScopeError

TREE = {"web": {"parent": "office"}, "ui": {"parent": "web", "teams": ["red"]}}


def open_as(workspace: str, tree: dict[str, object], **more: object) -> Caller:
    """Return the caller of a process in a workspace."""
    request = ScopeRequest(workspace=workspace, **more)  # type: ignore[arg-type]
    return caller_of(request, workspaces=tree, find_project=str)


def test_an_unknown_workspace_has_no_rights_of_a_root() -> None:
    """A slip of the finger must not write what everyone reads."""
    with pytest.raises(ScopeError) as refused:
        open_as("typo", TREE, is_typed_by_owner=True)

    assert str(refused.value) == "There is no workspace 'typo' in config.json."
    assert refused.value.hint == (
        "Known: office, ui, web. `hm config set workspaces.typo"
        ' \'{"parent": "office"}\'` adds it.'
    )


@pytest.mark.parametrize("is_agent", [True, False])
def test_only_the_owner_is_told_which_workspaces_there_are(is_agent: bool) -> None:
    """The sentence is the same whatever they are called, and names what it gave."""
    said = []
    for tree in (TREE, {"secret": {"parent": "hidden"}}):
        with pytest.raises(ScopeError) as refused:
            open_as("typo", tree, is_agent=is_agent)
        said.append((str(refused.value), refused.value.hint))

    assert said[0] == said[1]
    assert said[0][0] == "There is no workspace 'typo' in config.json."
    assert ("Ask a person" in said[0][1]) == is_agent


@pytest.mark.parametrize("limit", ["", "CLAUDECODE", "HIVEMIND_TEAM"])
@pytest.mark.parametrize(
    "words",
    [
        ("status",),
        ("inject", ".", "--dry-run"),
        ("hook", "session-start", "--agent", "claude"),
        ("launch", "claude", "--workspace", "typo"),
        ("connect", "--workspace", "typo", "--dry-run"),
    ],
)
def test_commands_tell_the_owner_the_workspaces_and_others_none(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: tuple[str, ...],
    limit: str,
) -> None:
    """Whoever reads the refusal decides, not for whom the server would be."""
    for name in AGENT_VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("HIVEMIND_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("HIVEMIND_EMBEDDING_PROVIDER", "none")
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"{}")))
    monkeypatch.chdir(tmp_path)
    assert main(("config", "set", "workspaces.web", '{"parent": "office"}')) == 0
    if "--workspace" not in words:
        monkeypatch.setenv("HIVEMIND_WORKSPACE", "typo")
    if limit:
        monkeypatch.setenv(limit, "1")
    capsys.readouterr()

    main(words)

    said = "".join(capsys.readouterr())
    # One who has set the variable is no owner.
    is_owner = "--workspace" in words and not limit
    assert "There is no workspace 'typo'" in said
    assert ("office" in said) == ("hm config set" in said) == is_owner


@pytest.mark.parametrize(
    ("workspace", "tree", "is_root"),
    [
        ("office", TREE, True),
        ("web", TREE, False),
        ("ui", TREE, False),
        ("any", {}, True),
        ("", TREE, True),
    ],
)
def test_only_a_root_writes_to_the_global_scope(
    workspace: str, tree: dict[str, object], is_root: bool
) -> None:
    """A workspace without a parent is one; without a tree every one is."""
    caller = open_as(workspace, tree, is_agent=True)

    assert may_write(caller, "global.md") is is_root


def test_a_command_in_an_unknown_workspace_is_refused(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Nothing is saved, and the message names what is known."""
    monkeypatch.setenv("HIVEMIND_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("HIVEMIND_EMBEDDING_PROVIDER", "none")
    monkeypatch.chdir(tmp_path)
    assert main(("config", "set", "workspaces.web", '{"parent": "office"}')) == 0
    monkeypatch.setenv("HIVEMIND_WORKSPACE", "typo")

    code = main(("save", "--scope", "GLOBAL", "k", "text"))

    assert code == 2
    assert "error: There is no workspace 'typo'" in capsys.readouterr().err
    assert not (tmp_path / "home" / "memory" / "k.md").exists()


def random_tree(chance: random.Random) -> dict[str, str]:
    """Return name -> parent of a tree of at most four levels, the roots without."""
    parents = {"r0": "", "r1": ""}
    depth = {"r0": 1, "r1": 1}
    for number in range(14):
        parent = chance.choice([name for name in parents if depth[name] < 4])
        name = f"w{number}"
        parents[name], depth[name] = parent, depth[parent] + 1
    return parents


@pytest.mark.parametrize("seed", range(20))
def test_a_team_is_a_parent_with_its_direct_children(seed: int) -> None:
    """Parent and child, or siblings; neither grandparents nor cousins."""
    parents = random_tree(random.Random(seed))
    tree = {name: {"parent": up} if up else {} for name, up in parents.items()}
    teams = {name: {*open_as(name, tree).teams} for name in tree}

    for one, other in itertools.permutations(tree, 2):
        is_parent = parents[one] == other or parents[other] == one
        are_siblings = bool(parents[one]) and parents[one] == parents[other]
        assert bool(teams[one] & teams[other]) is (is_parent or are_siblings)


def test_team_alone_is_that_of_the_parent() -> None:
    """And a root's own; teams that are listed come after."""
    assert teams_of("office", TREE) == ("office",)
    assert teams_of("web", TREE) == ("office", "web")
    assert teams_of("ui", TREE) == ("web", "red")
    assert open_as("ui", TREE, teams=("blue",)).teams[0] == "teams/blue"
