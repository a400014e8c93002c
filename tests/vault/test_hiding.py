"""A value is hidden from the moment it is set, in what was written before as well."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import tarfile
from ast import literal_eval
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from hivemind_memory import opening
from hivemind_memory.dashboard.shown_text import masked_text
from hivemind_memory.files.places import known_vaults, remember_vault, vault_file
from hivemind_memory.model.query import Query
from hivemind_memory.redaction import find_secrets, mask
from hivemind_memory.sqlite import connection
from hivemind_memory.vault import opened
from hivemind_memory.vault.vault import Vault
from tests.support.waiting import wait_until
from tests.vault.conftest import Hm

SECRET = "plover-saddle"
KEY = "a-long-enough-random-key-4711"


def keep(home: Path, text: str = SECRET, key: str = "A", command: str = "") -> None:
    """Keep a secret, as another process would."""
    Vault(str(home), command).set(key, text, now_s=1, is_secret=True)


def rows(home: Path) -> str:
    """Return all texts of the index."""
    connection = sqlite3.connect(home / "memory/.index/memory.db")
    found = repr(
        connection.execute("SELECT text, body, headings FROM chunks").fetchall()
    )
    connection.close()
    return found


def printer(folder: Path) -> Path:
    """Return a command that prints a key."""
    script = folder / "key"
    script.write_text(f"#!/bin/sh\necho {KEY}\n")
    script.chmod(0o700)
    return script


def test_a_page_that_showed_a_value_masks_it_once_it_is_secret(home: Path) -> None:
    """Pages remember which texts have no secrets, and went on showing this one."""
    text = f"The old login is {SECRET}, by phone."
    with opening.open_memory():
        assert masked_text(text) == text

        keep(home)

        assert SECRET not in masked_text(text)


def test_a_note_that_was_indexed_before_is_answered_masked_and_indexed_anew(
    home: Path,
) -> None:
    """By a memory that was open all the time; the note itself stays as it is."""
    note = home / "memory/login.md"
    note.write_text(f"# Login\n\nThe old login is {SECRET}, by phone.\n")
    with opening.open_memory() as memory:
        # The kernel says by now that nothing changes, and no note is looked at.
        for _ in range(4):
            [hit] = memory.search(Query(text="old login phone")).hits
            assert SECRET in hit.snippet

        keep(home)

        [hit] = memory.search(Query(text="old login phone")).hits
        assert SECRET not in hit.snippet
        assert "[redacted:vault-value]" in hit.snippet
        memory.sync()
        assert memory.search(Query(text="plover saddle")).hits == ()
    assert SECRET not in rows(home)
    assert SECRET in note.read_text()

    Vault(str(home)).delete("A")

    with opening.open_memory() as memory:
        [hit] = memory.search(Query(text="old login phone")).hits
    assert SECRET in hit.snippet


@pytest.mark.parametrize("count", [1, 700])
def test_many_notes_are_masked_from_the_first_answer_on(home: Path, count: int) -> None:
    """To index them all again takes longer than an answer may."""
    for number in range(count):
        text = f"Login {number} of the machine is {SECRET}.\n"
        (home / f"memory/n{number}.md").write_text(text)
    with opening.open_memory() as memory:
        memory.sync()
        keep(home)

        for text in ("login of the machine", "login 0 machine"):
            answer = memory.search(Query(text=text, max_results=50))
            assert answer.hits
            assert all(SECRET not in hit.snippet for hit in answer.hits)
        memory.sync()
    assert SECRET not in rows(home)


def test_what_was_read_before_a_value_was_set_is_not_indexed_after_it(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process sets it between the reading and the writing of a note."""
    from hivemind_memory.memory.note_indexer import NoteIndexer

    monkeypatch.setattr(connection, "BUSY_TIMEOUT_MS", 500)
    (home / "memory/login.md").write_text("# Login\n\nNothing yet.\n")
    real = NoteIndexer._record

    def set_meanwhile(self: NoteIndexer, *words: object, **more: object) -> object:
        if not Vault(str(home)).all():
            keep(home)
            with opening.open_memory() as other:
                other.sync()
        return real(self, *words, **more)  # type: ignore[arg-type]

    with opening.open_memory() as memory:
        memory.sync()
        (home / "memory/login.md").write_text(f"# Login\n\nIt is {SECRET}.\n")
        monkeypatch.setattr(NoteIndexer, "_record", set_meanwhile)
        memory.sync()
        answer = memory.search(Query(text="login"))
        assert all(SECRET not in hit.snippet for hit in answer.hits)
        memory.sync()
    assert SECRET not in rows(home)


def test_while_the_vault_is_locked_a_write_warns_and_what_is_indexed_is_masked_later(
    home: Path, hm: Hm, tmp_path: Path
) -> None:
    """As soon as a process has the key again."""
    command = printer(tmp_path)
    keep(home, command=str(command))
    opens = {"HIVEMIND_VAULT_KEY_COMMAND": str(command)}
    hm("search", "anything", **opens)

    locked = hm("write", f"The login is {SECRET}, by phone.")
    assert b"The values of the vault were not looked for" in locked.stderr
    assert SECRET.encode() in hm("search", "login phone").stdout

    found = hm("search", "login phone", **opens)

    assert b"[redacted:vault-value]" in found.stdout
    assert SECRET.encode() not in found.stdout
    hm("sync", **opens)
    assert SECRET not in rows(home)
    assert b"The values of the vault" not in hm("write", "More.", **opens).stderr


def test_a_process_that_gets_the_key_later_masks_what_it_read_before(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server may start before the keyring is unlocked."""
    monkeypatch.setattr(opened, "_RETRY_S", 0.0)
    command = printer(tmp_path)
    keep(home, command=str(command))
    monkeypatch.setenv("HIVEMIND_VAULT_KEY_COMMAND", str(command))
    command.chmod(0)
    (home / "memory/login.md").write_text(f"# Login\n\nIt is {SECRET}, by phone.\n")
    with opening.open_memory() as memory:
        memory.sync()
        assert memory.write("More.").warnings != ()
        command.chmod(0o700)
        [hit] = memory.search(Query(text="login phone")).hits
        assert SECRET not in hit.snippet
        memory.sync()
    assert SECRET not in rows(home)


def test_values_are_found_in_the_usual_forms_and_short_ones_are_passed_over(
    home: Path,
) -> None:
    """One rule for the vault and for what a caller names."""
    from hivemind_memory import environment

    environment.load_settings()
    keep(home, 'a "b" c/ü', "A")
    keep(home, "abc", "SHORT")
    Vault(str(home)).set("USER", "bobby", now_s=1, is_secret=False)

    for text in (
        'x a "b" c/ü y',
        'x a \\"b\\" c/\\u00fc y',
        "x a%20%22b%22%20c%2F%C3%BC y",
        "x YSAiYiIgYy/DvA== y",
        "x YSAiYiIgYy_DvA y",
        "x 6120226222c320632fc3bc y".replace("22c3", "22"),
    ):
        assert "[redacted:vault-value]" in mask(text), text
    assert find_secrets("abc and bobby") == ()


def test_a_cold_search_reads_no_value(home: Path, hm: Hm) -> None:
    """Where nothing has changed it looks at the first line of the file, no more."""
    (home / "memory/a.md").write_text("We deploy on Tuesdays.\n")
    keep(home)
    hm("sync")
    program = (
        "import sys; from hivemind_memory.cli.main import main; code = main(['search',"
        " 'deploy']); print([name for name in sys.modules if name.startswith(("
        "'hivemind_memory.vault', 'hivemind_memory.redaction', 'cryptography',"
        " 'keyring'))]); sys.exit(code)"
    )

    def loaded() -> str:
        ran = subprocess.run(
            [sys.executable, "-c", program], capture_output=True, check=True
        )
        assert b"Tuesdays" in ran.stdout
        return ran.stdout.decode().splitlines()[-1]

    # A note that was changed a moment ago is looked at once more.
    header_only = "['hivemind_memory.vault', 'hivemind_memory.vault.vault_file']"
    wait_until(lambda: loaded() == header_only, "a search reads the vault")
    os.unlink(home / "vault/vault.json")
    hm("sync")
    wait_until(lambda: loaded() == "[]", "a search looks for a vault")


def test_a_backup_leaves_the_vault_out_unless_it_is_asked_for(
    home: Path, hm: Hm, tmp_path: Path
) -> None:
    """As it is, encrypted where it is; what is restored is private and works."""
    command = printer(tmp_path)
    opens = {"HIVEMIND_VAULT_KEY_COMMAND": str(command)}
    keep(home, command=str(command))
    without, with_ = tmp_path / "a.tar.gz", tmp_path / "b.tar.gz"
    hm("kv", "set", "n", "5")
    hm("backup", str(without))
    said = hm("backup", str(with_), "--with-vault").stdout

    assert b"with the vault" in said
    names = []
    for one in (without, with_):
        with tarfile.open(one) as archive:
            names.append(set(archive.getnames()))
    assert names[1] - names[0] == {"vault.json"}
    other = {"HIVEMIND_HOME": str(tmp_path / "other"), **opens}
    assert hm("restore-backup", str(with_), **other).returncode == 0
    assert hm("kv", "get", "n", **other).stdout == b"5\n"
    ran = hm("vault", "exec", "A", "--", "sh", "-c", 'echo "$A"', **other)
    assert ran.stdout.decode().strip() == SECRET
    vault = tmp_path / "other/vault/vault.json"
    assert vault.stat().st_mode & 0o777 == 0o600
    hm("vault", "set", "B", stdin=b"another one", **other)
    refused = hm("restore-backup", str(with_), **other)
    assert refused.returncode == 2
    assert b"would overwrite it" in refused.stderr


def test_the_homes_of_a_process_are_few(tmp_path: Path) -> None:
    """Each is asked for every text."""
    from hivemind_memory import environment

    for number in range(30):
        environment.load_settings(str(tmp_path / str(number)))

    assert len(known_vaults()) == 8


@pytest.mark.parametrize(
    "form",
    [
        SECRET,
        "'plover' + '-saddle'",
        SECRET.replace("v", "v\u200b"),
        SECRET.encode().hex(),
    ],
)
def test_only_notes_that_hold_the_value_are_indexed_anew(home: Path, form: str) -> None:
    """Each search warned of all notes and did without most of them for minutes."""
    notes = home / "memory"
    (notes / "trip.md").write_text(f"# Trip\n\nThe old name is {form} here.\n")
    for number in range(300):
        (notes / f"{number}.md").write_text(f"# Note {number}\n\nA lamp burns.\n")
    with opening.open_memory() as memory:
        memory.sync()
    keep(home)

    with opening.open_memory() as memory:
        index = memory.index_handle
        assert not memory.search(Query(text="lamp")).report.warnings
        changed = index.run_fresh(lambda one: one.files().outdated)
        assert changed == frozenset()
        assert form not in rows(home)
    Vault(str(home), "").set("A", "another-value-9", now_s=2, is_secret=True)

    with opening.open_memory() as memory:
        assert not memory.search(Query(text="lamp")).report.warnings
        found = rows(home)
        memory.rebuild()
        assert sorted(literal_eval(found)) == sorted(literal_eval(rows(home)))
        assert "[redacted" not in found


def test_a_vault_is_known_while_its_home_is_opened_once_more(tmp_path: Path) -> None:
    """For an instant a server's other threads knew no secret, and hid none."""
    remember_vault(str(tmp_path), "")
    path, seen = vault_file(str(tmp_path)), list[bool]()

    def each_step(frame: FrameType, _event: str, _arg: object) -> Any:
        frame.f_trace_opcodes = True
        seen.append(path in dict(known_vaults()))
        return each_step

    before = sys.gettrace()
    sys.settrace(each_step)
    try:
        remember_vault(str(tmp_path), "")
    finally:
        sys.settrace(before)

    assert len(seen) > 1
    assert all(seen)
