"""A backup loses nothing that was acknowledged before it began."""

from __future__ import annotations

import io
import json
import os
import stat
import tarfile
import threading
from pathlib import Path

import pytest

from hivemind_memory.backup import new_files
from hivemind_memory.backup.other_files import other_file
from hivemind_memory.backup.restore import restore_backup
from hivemind_memory.backup.write import write_backup
from hivemind_memory.errors import HivemindError, NotePathError, UsageError
from hivemind_memory.files.folder import NotesFolder
from hivemind_memory.memory import Memory
from hivemind_memory.model.curation import NewMemory
from hivemind_memory.opening import open_memory
from hivemind_memory.projects.known_project import IDENTITY_FILE
from hivemind_memory.state.namespaces import Namespace, Namespaces
from hivemind_memory.state.recall_log import RecallLog
from tests.support.sandbox import ask, paths

AT = "2026-11-22T10:00:00+00:00"
ORG = Namespace(name="org:acme", scope="", kind="org", metadata='{"a":1}')


def opened(home: Path) -> Memory:
    return open_memory(home=str(home), flags={"embedding_provider": "none"})


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home with notes, an entry, a typed memory, settings and counters."""
    folder = tmp_path / "home"
    (folder / "memory" / "projects" / "shop").mkdir(parents=True)
    (folder / "memory" / "projects" / "shop" / "zebra.md").write_bytes(b"Striped.\r\n")
    os.utime(folder / "memory" / "projects" / "shop" / "zebra.md", (1e9, 1e9))
    (folder / "config.json").write_text(
        json.dumps({"other": 1, "memory": {"openai_api_key": "sk-key", "poll_s": 3}})
    )
    with opened(folder) as memory:
        memory.write("The giraffe is tall.")
        memory.curation.save(NewMemory(key="deploy", content="Never on Fridays."))
        assert RecallLog(memory.state()).count([("", "x")], 1.0)
        memory.state().add_tombstones(["a purged text"])
        Namespaces(memory.state()).change("org:acme", lambda _: ORG)
    return folder


def backed_up(home: Path, file: Path, *, with_keys: bool = False) -> Path:
    with opened(home) as memory:
        write_backup(memory.places, str(file), at=AT, with_keys=with_keys)
    return file


def test_a_restored_home_is_what_it_was(home: Path, tmp_path: Path) -> None:
    """Notes byte for byte and with their time; keys only when they are asked for."""
    file = backed_up(home, tmp_path / "b.tar.gz")
    whole = backed_up(home, tmp_path / "whole.tar.gz", with_keys=True)

    for made, has_keys in ((file, False), (whole, True)):
        other = tmp_path / f"restored-{has_keys}"
        with opened(other) as memory:
            done = restore_backup(memory.places, str(made))
        assert done.at == AT
        for note in (home / "memory").rglob("*.md"):
            copy = other / "memory" / note.relative_to(home / "memory")
            assert copy.read_bytes() == note.read_bytes()
            assert copy.stat().st_mtime_ns == note.stat().st_mtime_ns
        config = json.loads((other / "config.json").read_text())
        assert config["other"] == 1
        assert ("openai_api_key" in config["memory"]) == has_keys
        with opened(other) as memory:
            assert paths(ask(memory, "striped")) == ["projects/shop/zebra.md"]
            assert RecallLog(memory.state()).counts([("", "x")]) == {("", "x"): (1, 1)}
            assert memory.state().has_tombstone("a purged text")
            assert Namespaces(memory.state()).all() == [ORG]
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert b"sk-key" not in b"".join(_members(file).values())


def test_a_backup_while_agents_write_loses_no_acknowledged_entry(
    home: Path, tmp_path: Path
) -> None:
    """What was acknowledged before it began is in it; the rest is whole or absent."""
    ready, stop = threading.Barrier(4), threading.Event()
    written: list[str] = []

    def agent(name: int) -> None:
        with opened(home) as memory:
            ready.wait()
            number = 0
            while not stop.is_set():
                text = f"Agent {name} saw the okapi number {number}."
                memory.write(text, file=f"agent{name}.md")
                RecallLog(memory.state()).count([("", text)], 1.0)
                written.append(text)
                number += 1

    agents = [threading.Thread(target=agent, args=(name,)) for name in range(3)]
    for agent in agents:
        agent.start()
    ready.wait()
    try:
        before = []
        for number in range(3):
            before.append(list(written))
            backed_up(home, tmp_path / f"{number}.tar.gz")
    finally:
        stop.set()
        for agent in agents:
            agent.join()

    for number, texts in enumerate(before):
        other = tmp_path / f"restored{number}"
        with opened(other) as memory:
            restore_backup(memory.places, str(tmp_path / f"{number}.tar.gz"))
            memory.sync()  # puts back what only the journal has
            wanted = [("", text) for text in texts]
            counters = RecallLog(memory.state()).counts(wanted)
        notes = "".join(one.read_text() for one in (other / "memory").glob("*.md"))
        assert [text for text in texts if text not in notes] == []
        assert counters.keys() == {("", text) for text in texts}


def test_an_entry_that_only_the_journal_has_comes_back(
    home: Path, tmp_path: Path
) -> None:
    """It was written to its note after the note was read."""
    with opened(home) as memory:
        memory.write("The okapi is shy.", file="okapi.md")
        (home / "memory" / "okapi.md").rename(tmp_path / "okapi.md")
        write_backup(memory.places, str(tmp_path / "b.tar.gz"), at=AT)

    with opened(tmp_path / "other") as memory:
        restore_backup(memory.places, str(tmp_path / "b.tar.gz"))
        memory.sync()

        assert "The okapi is shy." in "".join(
            one.read_text() for one in (tmp_path / "other" / "memory").glob("*.md")
        )
    assert not (home / "memory" / "recovered.md").exists()


def test_nothing_is_ever_replaced(home: Path, tmp_path: Path) -> None:
    """Neither a file by a backup nor a note by a restore."""
    file = backed_up(home, tmp_path / "b.tar.gz")
    data = file.read_bytes()
    with pytest.raises(UsageError, match="No backup was written"):
        backed_up(home, file)
    assert file.read_bytes() == data

    other = tmp_path / "other"
    (other / "memory").mkdir(parents=True)
    (other / "memory" / "deploy.md").write_text("Mine.\n")
    with opened(other) as memory, pytest.raises(UsageError, match="would overwrite"):
        restore_backup(memory.places, str(file))
    assert [one.name for one in (other / "memory").iterdir()] == ["deploy.md"]

    (other / "memory" / "deploy.md").unlink()
    with opened(other) as memory:  # as after a restore that was interrupted
        note = home / "memory" / "deploy.md"
        (other / "memory" / "deploy.md").write_bytes(note.read_bytes())
        assert restore_backup(memory.places, str(file)).notes == 3


def test_a_link_that_leads_nowhere_is_not_replaced(home: Path, tmp_path: Path) -> None:
    """It was taken for a missing file, as it is nowhere else."""
    file = backed_up(home, tmp_path / "b.tar.gz")
    other = tmp_path / "other"
    other.mkdir()
    (other / "config.json").symlink_to(tmp_path / "elsewhere.json")

    with opened(other) as memory, pytest.raises(UsageError, match="would overwrite"):
        restore_backup(memory.places, str(file))

    assert (other / "config.json").is_symlink()


def test_the_state_is_restored_last(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It says that the rest is there; the records of projects came after it."""
    (home / "memory" / "projects" / "shop" / IDENTITY_FILE).write_text("{}")
    file = backed_up(home, tmp_path / "b.tar.gz")
    written: list[str] = []
    write = new_files.write_file
    monkeypatch.setattr(
        new_files,
        "write_file",
        lambda path, data, **how: (written.append(path), write(path, data, **how))[1],
    )

    with opened(tmp_path / "other") as memory:
        restore_backup(memory.places, str(file))
        assert written[-1] == memory.places.state_file
    assert any(path.endswith(IDENTITY_FILE) for path in written)


def test_a_file_that_is_no_sound_backup_restores_nothing(
    home: Path, tmp_path: Path
) -> None:
    """Cut, changed, of a later version, or with a name that leads out."""
    file = backed_up(home, tmp_path / "b.tar.gz")
    members = _members(file)
    manifest = json.loads(members["manifest.json"])
    later = json.dumps({**manifest, "format": 2}).encode()
    evil = members["notes/deploy.md"]
    known = {
        **manifest["members"],
        "notes/../../evil.md": manifest["members"]["notes/deploy.md"],
    }
    told = {"manifest.json": json.dumps({**manifest, "members": known}).encode()}
    no_time = {name: {"sha256": one["sha256"]} for name, one in known.items()}
    listed = list(manifest["members"])
    bad = {
        "cut": file.read_bytes()[: file.stat().st_size // 2],
        "text": b"not a backup",
        "later": _archive({**members, "manifest.json": later}),
        "changed": _archive({**members, "notes/deploy.md": b"other"}),
        "lost": _archive({k: v for k, v in members.items() if k != "notes/deploy.md"}),
        "outside": _archive({**members, "notes/../../evil.md": evil, **told}),
        **{
            name: _archive({**members, "manifest.json": json.dumps(found).encode()})
            for name, found in {
                "no times": {**manifest, "members": no_time},
                "a list": {**manifest, "members": listed},
                "texts": {**manifest, "members": dict.fromkeys(listed, "x")},
                "no object": listed,
            }.items()
        },
    }

    for name, data in bad.items():
        (tmp_path / name).write_bytes(data)
        with (
            opened(tmp_path / "other") as memory,
            pytest.raises(UsageError, match="Nothing was restored"),
        ):
            restore_backup(memory.places, str(tmp_path / name))
    assert not list((tmp_path / "other").rglob("*.md"))
    assert not list(tmp_path.rglob("evil.md"))


def test_a_backup_that_is_a_pipe_is_refused(tmp_path: Path) -> None:
    """Opening it waited for a writer without end."""
    os.mkfifo(tmp_path / "b.tar.gz")
    with (
        opened(tmp_path / "other") as memory,
        pytest.raises(HivemindError, match=r"it is a named pipe, not a file.*Nothing"),
    ):
        restore_backup(memory.places, str(tmp_path / "b.tar.gz"))


def test_too_little_memory_is_told_in_a_sentence(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A note of a gigabyte, or a small archive that unpacks to several."""
    file = backed_up(home, tmp_path / "b.tar.gz")

    def read(*_: object, **__: object) -> bytes:
        raise MemoryError

    monkeypatch.setattr(tarfile.ExFileObject, "read", read)
    monkeypatch.setattr(NotesFolder, "read", read)
    with (
        opened(tmp_path / "other") as memory,
        pytest.raises(HivemindError, match=r"memory\. Nothing was restored"),
    ):
        restore_backup(memory.places, str(file))
    with (
        opened(home) as memory,
        pytest.raises(HivemindError, match=r"memory\. No backup was written"),
    ):
        write_backup(memory.places, str(tmp_path / "c.tar.gz"), at=AT)
    assert not (tmp_path / "c.tar.gz").exists()


def _members(file: Path) -> dict[str, bytes]:
    with tarfile.open(file) as tar:
        return {
            one.name: found.read() for one in tar if (found := tar.extractfile(one))
        }


def _archive(members: dict[str, bytes]) -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w:gz") as tar:
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    return made.getvalue()


def test_a_backup_says_that_notes_behind_listed_links_are_not_in_it(
    home: Path, tmp_path: Path
) -> None:
    """Listing the link, which a scan asks for, would not put them in."""
    team, file = tmp_path.resolve() / "elsewhere", tmp_path / "b.tar.gz"
    team.mkdir()
    (team / "t.md").write_text("wombat\n")
    listed = {"memory": {"followed_links": {"team": str(team)}}}
    (home / "config.json").write_text(json.dumps(listed))
    with open_memory(home=home) as memory:
        notes = Path(memory.places.notes)
        (notes / "team").symlink_to(team)
        (notes / "other").symlink_to(team)
        done = write_backup(
            memory.places, str(file), at="2026-11-22", links=memory.folder.links
        )

    reasons = {one.path: one.reason for one in done.skipped}
    assert "not in the backup" in reasons["team"]
    assert "config set" not in reasons["team"]
    assert "config set" in reasons["other"]
    with tarfile.open(file) as archive:
        assert "notes/team/t.md" not in archive.getnames()


def test_a_restored_project_still_belongs_to_its_repository(
    home: Path, tmp_path: Path
) -> None:
    """Another repository of its name got its folder, and found all that is in it."""
    record = home / "memory" / "projects" / "shop" / ".project"
    record.write_text("origin\tgithub.com/acme/shop\n")
    file = backed_up(home, tmp_path / "b.tar.gz")

    with opened(tmp_path / "restored") as memory:
        done = restore_backup(memory.places, str(file))

    restored = tmp_path / "restored" / "memory" / "projects" / "shop" / ".project"
    assert restored.read_bytes() == record.read_bytes()
    assert stat.S_IMODE(restored.stat().st_mode) == 0o600
    assert done.notes == len(list((home / "memory").rglob("*.md")))


@pytest.mark.parametrize(
    "name", ["notes/.project", "notes/projects/../.project", "notes/a/b/.project"]
)
def test_a_record_outside_a_project_is_refused(
    home: Path, tmp_path: Path, name: str
) -> None:
    """An archive may be forged."""
    record = home / "memory" / "projects" / "shop" / ".project"
    record.write_text("origin\tgithub.com/acme/shop\n")
    file = backed_up(home, tmp_path / "b.tar.gz")
    forged = tmp_path / "forged.tar.gz"
    with tarfile.open(file) as old, tarfile.open(forged, "w:gz") as new:
        for info in old:
            data = old.extractfile(info).read()  # type: ignore[union-attr]
            real = "notes/projects/shop/.project"
            info.name = name if info.name == real else info.name
            data = data.replace(real.encode(), name.encode())
            info.size = len(data)
            new.addfile(info, io.BytesIO(data))

    with (
        opened(tmp_path / "restored") as memory,
        pytest.raises(UsageError, match="is not a note"),
    ):
        restore_backup(memory.places, str(forged))


def test_what_a_note_shows_is_in_the_backup_and_what_is_not_is_named(
    home: Path, tmp_path: Path
) -> None:
    """An image of a note was gone after a restore, and nothing had said so."""
    notes = home / "memory"
    (notes / "img").mkdir()
    image = notes / "img" / "diagram.png"
    image.write_bytes(bytes(range(256)))
    os.utime(image, (1e9, 1e9))
    (notes / "old.markdown").write_text("No note, but a file.")
    (notes / ".obsidian").mkdir()
    (notes / ".obsidian" / "app.json").write_text("{}")
    (notes / "img" / "away.png").symlink_to(tmp_path / "elsewhere.png")
    os.mkfifo(notes / "pipe")

    with opened(home) as memory:
        made = write_backup(memory.places, str(tmp_path / "b"), at=AT)
        with pytest.raises(UsageError, match="is in the notes folder"):
            write_backup(memory.places, str(notes / "img" / "b"), at=AT)
    with opened(tmp_path / "other") as memory:
        done = restore_backup(memory.places, str(tmp_path / "b"))

    back = tmp_path / "other" / "memory"
    assert (made.files, done.files, made.skipped) == (2, 2, ())
    assert {one.path: one.reason for one in made.left_out} == {
        ".obsidian": "it is hidden",
        "img/away.png": "it is a link",
        "pipe": "it is no regular file",
    }
    assert (back / "img" / "diagram.png").read_bytes() == bytes(range(256))
    assert (back / "img" / "diagram.png").stat().st_mtime == 1e9
    assert (back / "old.markdown").read_text() == "No note, but a file."


@pytest.mark.parametrize("name", ["../out", ".git/hooks/x", "a//b", "/etc/x", ""])
def test_a_file_of_a_backup_leads_nowhere_else(name: str) -> None:
    """Neither out of the notes folder nor into a hidden one."""
    with pytest.raises(NotePathError):
        other_file(name)
