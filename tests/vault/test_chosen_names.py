"""A value of the vault is no name: names are kept, and shown everywhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from hivemind_memory.access.rules import OWNER
from hivemind_memory.curation.access_tokens import AccessTokens
from hivemind_memory.errors import UsageError
from hivemind_memory.opening import open_memory
from hivemind_memory.plugin_api.namespaces import put_namespace
from hivemind_memory.plugin_api.refusal import RefusedError
from tests.vault.conftest import Hm

VALUE = "quokka-lantern-4471"


@pytest.mark.parametrize("name", [f"workspace:{VALUE}", f"custom:{VALUE}:a"])
def test_a_namespace_is_not_named_after_a_value(home: Path, hm: Hm, name: str) -> None:
    """It is refused, and its name is nowhere."""
    assert hm("vault", "set", "DB", stdin=VALUE.encode()).returncode == 0
    with open_memory(home=str(home)) as memory:
        with pytest.raises(RefusedError) as refused:
            put_namespace(memory, name, kind="workspace")

        assert VALUE not in str(refused.value)
        put_namespace(memory, "workspace:web", kind="workspace")

    assert holding(home) == ["vault.json"]


@pytest.mark.parametrize("part", ["name", "workspace", "project", "teams"])
def test_a_token_and_its_scopes_are_not_named_after_a_value(
    home: Path, hm: Hm, part: str
) -> None:
    """It is refused, and no token is made."""
    assert hm("vault", "set", "DB", stdin=VALUE.encode()).returncode == 0
    with open_memory(home=str(home)) as memory:
        tokens = AccessTokens(memory.state(), memory.clocks, OWNER)
        names = {part: [VALUE] if part == "teams" else VALUE}
        with pytest.raises(UsageError, match="secret of the vault") as refused:
            tokens.add(**{"name": "ci", **names})

        assert VALUE not in str(refused.value)
        assert tokens.all() == []

    assert holding(home) == ["vault.json"]


@pytest.mark.parametrize(
    "words",
    [
        ("write", "--scope", f"team/{VALUE}", "hello"),
        ("save", "lunch", "--scope", f"workspace/{VALUE}", "Lunch is at noon."),
        ("project", "rename", "shop", VALUE),
    ],
    ids=["write", "save", "rename"],
)
def test_no_scope_is_made_that_is_named_after_a_value(
    home: Path, hm: Hm, words: tuple[str, ...]
) -> None:
    """Neither by writing into it nor by a new name; one that is there still works."""
    assert hm("write", "--scope", "project/shop", "hello").returncode == 0
    assert hm("write", "--scope", "team/amber-walrus-81", "hello").returncode == 0
    assert hm("vault", "set", "DB", stdin=VALUE.encode()).returncode == 0
    assert hm("vault", "set", "B", stdin=b"amber-walrus-81").returncode == 0

    done = hm(*words)

    assert done.returncode == 2
    assert b"contains a secret of the vault" in done.stderr
    assert VALUE.encode() not in done.stdout + done.stderr
    assert holding(home) == ["vault.json"]
    assert [path for path in home.rglob("*") if VALUE in path.name] == []
    assert hm("write", "--scope", "team/amber-walrus-81", "again").returncode == 0


def test_a_key_of_the_vault_is_not_named_after_a_value(home: Path, hm: Hm) -> None:
    """`hm vault list` would show it; a key that is there may still be set."""
    assert hm("vault", "set", "DB", stdin=VALUE.encode()).returncode == 0
    assert hm("vault", "set", "A", stdin=b"amber-walrus-81").returncode == 0
    assert hm("vault", "set", "B", stdin=b"A-is-older").returncode == 0

    done = hm("vault", "set", f"old.{VALUE}", stdin=b"whatever-else-1")

    assert done.returncode == 2
    assert b"contains a secret of the vault" in done.stderr
    assert VALUE.encode() not in done.stdout + done.stderr
    assert VALUE.encode() not in hm("vault", "list").stdout
    assert holding(home) == ["vault.json"]
    assert hm("vault", "set", "DB", stdin=b"another-value-5").returncode == 0


@pytest.mark.parametrize(
    ("option", "value"),
    [
        (f"workspaces.{VALUE}", "{}"),
        ("workspaces", f'{{"{VALUE}": {{}}}}'),
        (f"agents.{VALUE}", "claude --model haiku"),
    ],
)
def test_nothing_in_config_json_is_named_after_a_value(
    home: Path, hm: Hm, option: str, value: str
) -> None:
    """It is refused; any other name is taken."""
    assert hm("vault", "set", "DB", stdin=VALUE.encode()).returncode == 0

    done = hm("config", "set", option, value)

    assert done.returncode == 2
    assert b"A name contains a secret of the vault" in done.stderr
    assert VALUE.encode() not in done.stdout + done.stderr
    assert holding(home) == ["vault.json"]
    other = hm("config", "set", option.replace(VALUE, "web"), value.replace(VALUE, "b"))
    assert other.returncode == 0


def holding(folder: Path) -> list[str]:
    """Return the files below a folder that hold the value, the vault itself too."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return [path.name for path in files if VALUE.encode() in path.read_bytes()]
