"""The vault itself: what it keeps, how, and what happens when its key is gone."""

from __future__ import annotations

import json
import multiprocessing
import os
import stat
import sys
from pathlib import Path

import pytest

from hivemind_memory.errors import (
    HivemindError,
    KeyNotFoundError,
    UsageError,
    VaultLockedError,
)
from hivemind_memory.vault.vault import Vault
from tests.vault.conftest import Hm

SECRET = "plover saddle – 7 \N{SNOWMAN}\nsecond line"
KEY = "a-long-enough-random-key-4711"


def printer(folder: Path, key: str) -> str:
    """Return a command that prints a key."""
    script = folder / f"key-{abs(hash(key))}"
    script.write_text(f"#!/bin/sh\necho '{key}'\n")
    script.chmod(0o700)
    return str(script)


@pytest.fixture(autouse=True)
def no_keyring(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also in this process, which may have looked for one already."""
    import keyring
    from keyring.backends import null

    monkeypatch.setattr(keyring, "get_keyring", null.Keyring)


@pytest.fixture
def in_memory_keyring(monkeypatch: pytest.MonkeyPatch) -> dict[tuple[str, str], str]:
    """A keyring of the system, as far as the package ``keyring`` shows it."""
    import keyring
    from keyring.backend import KeyringBackend

    kept: dict[tuple[str, str], str] = {}

    class Backend(KeyringBackend):
        priority = 5

        def get_password(self, service: str, username: str) -> str | None:
            return kept.get((service, username))

        def set_password(self, service: str, username: str, password: str) -> None:
            kept[service, username] = password

        def delete_password(self, service: str, username: str) -> None:
            del kept[service, username]

    backend = Backend()
    monkeypatch.setattr(keyring, "get_keyring", lambda: backend)
    monkeypatch.setattr(keyring.core, "_keyring_backend", backend)
    return kept


def set_(vault: Vault, key: str, text: str) -> None:
    """Keep a secret."""
    vault.set(key, text, now_s=1, is_secret=True)


def test_a_value_comes_back_as_it_is_and_only_its_owner_reads_the_file(
    tmp_path: Path,
) -> None:
    """Any text, with all of its lines."""
    vault = Vault(str(tmp_path / "home"))
    set_(vault, "A", SECRET)
    vault.set("B", "bo", now_s=5, is_secret=False)

    assert vault.get("A")[1] == SECRET
    assert [(one.key, one.is_secret) for one in vault.all()] == [
        ("A", True),
        ("B", False),
    ]
    assert vault.secret_values() == (SECRET,)
    assert stat.S_IMODE(os.stat(vault.path).st_mode) == 0o600
    assert stat.S_IMODE(os.stat(os.path.dirname(vault.path)).st_mode) == 0o700
    vault.delete("A")
    with pytest.raises(KeyNotFoundError, match="There is no vault key 'A'"):
        vault.get("A")
    with pytest.raises(KeyNotFoundError):
        vault.delete("A")


@pytest.mark.parametrize(
    ("key", "text"),
    [("", "x"), ("a b", "x"), ("k" * 129, "x"), ("A", ""), ("A", " \n"), ("A", "a\0b")],
)
def test_what_cannot_be_kept_is_refused(tmp_path: Path, key: str, text: str) -> None:
    """And makes no file."""
    vault = Vault(str(tmp_path / "home"))
    with pytest.raises(UsageError):
        set_(vault, key, text)
    assert not os.path.exists(vault.path)


def test_a_keyring_of_the_system_encrypts(
    tmp_path: Path, in_memory_keyring: dict[tuple[str, str], str]
) -> None:
    """Neither value nor key is in the file; without the key the values are lost."""
    vault = Vault(str(tmp_path / "home"))
    done = vault.set("A", SECRET, now_s=1, is_secret=True)
    assert (done.key_from, done.is_key_new) == ("keyring", True)
    assert not vault.set("B", SECRET, now_s=1, is_secret=True).is_key_new

    data = Path(vault.path).read_text()
    assert "plover" not in data
    assert all(key not in data for key in in_memory_keyring.values())
    assert vault.get("B")[1] == SECRET
    in_memory_keyring.clear()
    with pytest.raises(VaultLockedError, match="values are lost"):
        vault.get("A")
    with pytest.raises(VaultLockedError):
        set_(vault, "C", "more")
    assert [one.key for one in vault.all()] == ["A", "B"]
    vault.delete("A")
    assert [one.key for one in vault.all()] == ["B"]


def test_a_command_gives_the_key(tmp_path: Path) -> None:
    """What was plain is encrypted with the next value; another key opens nothing."""
    home = str(tmp_path / "home")
    set_(Vault(home), "A", SECRET)
    assert "plover" in Path(Vault(home).path).read_text()
    vault = Vault(home, printer(tmp_path, KEY))

    done = vault.set("B", "second value", now_s=2, is_secret=True)

    assert (done.key_from, done.is_key_new) == ("command", True)
    data = Path(vault.path).read_text()
    assert "plover" not in data
    assert "second" not in data
    assert KEY not in data
    assert [text for _, text in vault.get_many(["B", "A"])] == ["second value", SECRET]
    with pytest.raises(VaultLockedError, match="another key"):
        Vault(home, printer(tmp_path, KEY[::-1])).get("A")
    with pytest.raises(VaultLockedError, match="option is not set"):
        Vault(home).get("A")


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("exit 3", "failed with status 3"),
        ("echo short", "fewer than 16 characters"),
        ("", "fewer than 16 characters"),
    ],
)
def test_a_command_that_prints_no_key_keeps_nothing(
    tmp_path: Path, script: str, said: str
) -> None:
    """Rather than keep it in plain where encryption was asked for."""
    command = tmp_path / "command"
    command.write_text(f"#!/bin/sh\n{script}\n")
    command.chmod(0o700)
    for words, why in ((str(command), said), ("/none/there", "cannot be run")):
        vault = Vault(str(tmp_path / "home"), words)
        with pytest.raises(VaultLockedError, match=why):
            set_(vault, "A", SECRET)
        assert not os.path.exists(vault.path)


def test_a_value_that_was_moved_or_changed_is_noticed(tmp_path: Path) -> None:
    """A value belongs to its key."""
    vault = Vault(str(tmp_path / "home"), printer(tmp_path, KEY))
    set_(vault, "A", "first value")
    set_(vault, "B", "second value")
    lines = Path(vault.path).read_text().splitlines()
    first, second = json.loads(lines[1]), json.loads(lines[2])
    first["content"] = second["content"]
    Path(vault.path).write_text("\n".join([lines[0], json.dumps(first), lines[2]]))

    with pytest.raises(HivemindError, match="value of A in the vault is damaged"):
        vault.get("A")
    assert vault.get("B")[1] == "second value"


@pytest.mark.parametrize(
    "data", [b"", b"{", b"[]\n", b'{"hivemind_vault": 9}\n', b"\xff"]
)
def test_a_damaged_vault_says_so_and_is_not_written_over(
    tmp_path: Path, data: bytes
) -> None:
    """Its values may still be rescued."""
    vault = Vault(str(tmp_path / "home"))
    os.makedirs(os.path.dirname(vault.path))
    Path(vault.path).write_bytes(data)

    for work in (vault.all, vault.secret_values, lambda: set_(vault, "A", "value")):
        with pytest.raises(HivemindError, match="is damaged"):
            work()
    assert Path(vault.path).read_bytes() == data


def keep(home: str, number: int) -> None:
    """Keep some values, one after the other."""
    for turn in range(5):
        set_(Vault(home), f"K{number}.{turn}", f"value {number} {turn}")


def test_twelve_processes_keep_values_at_once(tmp_path: Path) -> None:
    """None is lost."""
    home = str(tmp_path / "home")
    context = multiprocessing.get_context("fork")
    processes = [context.Process(target=keep, args=(home, n)) for n in range(12)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()

    assert len(Vault(home).all()) == 60
    assert Vault(home).get("K7.4")[1] == "value 7 4"


def test_the_process_is_the_command_and_its_arguments_hold_nothing(hm: Hm) -> None:
    """The value is in its environment, and in no list of processes."""
    hm("vault", "set", "db.password", stdin=b"plover-saddle\r\n")
    program = (
        "import os; print(os.environ['PW']); "
        "pw = os.environ['PW'].encode(); "
        "print(pw in open('/proc/self/cmdline', 'rb').read(),"
        " pw in open(f'/proc/{os.getppid()}/cmdline', 'rb').read())"
    )

    ran = hm("vault", "exec", "PW=db.password", "--", sys.executable, "-c", program)

    assert ran.stdout.decode().split() == ["plover-saddle", "False", "False"]
    assert (
        hm("vault", "exec", "PW=db.password", "--", "sh", "-c", "exit 7").returncode
        == 7
    )


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("NONE", "--", "touch", "ran"), 1, "There is no vault key 'NONE'."),
        (("A", "NONE", "--", "touch", "ran"), 1, "There is no vault key 'NONE'."),
        (("A", "touch", "ran"), 2, "Name at least one key"),
        (("--", "touch", "ran"), 2, "Name at least one key"),
        (("a.b", "--", "touch", "ran"), 2, "Choose one: NAME=a.b"),
        (("A", "A=A", "--", "touch", "ran"), 2, "A is named twice"),
        (("A", "--", "/none/there"), 127, "There is no program /none/there."),
        (("A", "--", "/"), 126, "/ is a folder, not a program."),
    ],
)
def test_nothing_is_run_unless_all_is_there(
    hm: Hm, tmp_path: Path, words: tuple[str, ...], code: int, said: str
) -> None:
    """A command without one of its secrets may do anything."""
    hm("vault", "set", "A", stdin=b"plover-saddle")

    ran = hm("vault", "exec", *words)

    assert ran.returncode == code
    assert said in ran.stderr.decode()
    assert b"plover" not in ran.stderr + ran.stdout
    assert not (tmp_path / "ran").exists()


def test_a_value_on_the_command_line_is_refused_and_not_repeated(
    hm: Hm, home: Path
) -> None:
    """Others can read it there."""
    ran = hm("vault", "set", "A", "plover-saddle")

    assert ran.returncode == 2
    assert b"every program on this machine can see" in ran.stderr
    assert b"plover" not in ran.stderr + ran.stdout
    assert not (home / "vault").exists()


def test_an_agent_lists_and_runs_but_sees_changes_and_deletes_nothing(hm: Hm) -> None:
    """In its shell, whatever terminal that has."""
    hm("vault", "set", "A", stdin=b"plover-saddle")
    for words in (("set", "A"), ("get", "--show", "A"), ("delete", "A")):
        ran = hm("vault", *words, stdin=b"other", CLAUDECODE="1")
        assert ran.returncode == 2
        assert b"is for a person to decide" in ran.stderr
        limited = hm("vault", *words, stdin=b"other", HIVEMIND_PROJECT="shop")
        assert limited.returncode == 2
    assert b"A\tsecret" in hm("vault", "list", CLAUDECODE="1").stdout
    echo = ("sh", "-c", 'test "$A" = plover-saddle')
    assert hm("vault", "exec", "A", "--", *echo, CLAUDECODE="1").returncode == 0


def test_a_secret_is_shown_on_a_terminal_only(hm: Hm) -> None:
    """A pipe, a file and an agent's context keep it."""
    hm("vault", "set", "A", stdin=b"plover-saddle")
    hm("vault", "set", "--not-secret", "USER", stdin=b"bo\n")

    for words in (("A",), ("--show", "A")):
        ran = hm("vault", "get", *words)
        assert (ran.returncode, ran.stdout) == (2, b"")
    assert hm("vault", "get", "USER").stdout == b"bo\n"
    assert hm("vault", "get", "NONE").returncode == 1


def test_where_the_key_is_is_said(hm: Hm, tmp_path: Path) -> None:
    """One sentence: not encrypted, or what loses the values."""
    plain = hm("vault", "set", "A", stdin=b"plover-saddle").stderr.decode()
    command = printer(tmp_path, KEY)
    environ = {"HIVEMIND_VAULT_KEY_COMMAND": command}
    sealed = hm("vault", "set", "A", stdin=b"plover-2", **environ).stderr.decode()
    again = hm("vault", "set", "A", stdin=b"plover-3", **environ).stderr.decode()
    doctor = hm("doctor")

    assert "is not encrypted: only its file mode, 0600" in plain
    assert "if that key is lost, so are the values" in sealed
    assert again == ""
    assert b"option is not set" in doctor.stdout + doctor.stderr
    assert doctor.returncode == 1
    assert b"encrypted with the key" in hm("doctor", **environ).stdout
