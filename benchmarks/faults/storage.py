"""Faults in notes, journal, locks and purges."""

from __future__ import annotations

from benchmarks.faults.fault import Fault

FAULTS = (
    Fault(
        name="a deleted key begins its versions anew",
        rig="kill_stores --kills 40",
        module="state/key_values.py",
        code=(
            "assert KeyValueStore.delete\n"
            "_SQL = 'DELETE FROM key_values WHERE key = ? RETURNING 1'\n"
            "KeyValueStore.delete = lambda self, _scope, key, _now: self._state.run(\n"
            "    lambda c: bool(c.execute(_SQL, (key,)).fetchall())\n"
            ")\n"
        ),
        says=r"[1-9]\d* problems",
    ),
    Fault(
        name="the vault is written in its place",
        rig="kill_stores --kills 60",
        module="files/atomic.py",
        code=(
            "assert write_file\n\n"
            "def write_file(path, data, **_):\n"
            "    fd = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600)\n"
            "    os.write(fd, data)\n"
            "    os.close(fd)\n"
        ),
        says=r"[1-9]\d* problems",
    ),
    Fault(
        name="a torn entry is left in its note",
        rig="kill_writes --kills 40",
        module="notes/crashed_write.py",
        code="assert _torn_at\n_torn_at = lambda *_: -1\n",
        says=r"torn=\['|[1-9]\d* problems",
    ),
    Fault(
        name="an entry goes into its note without a journal",
        rig="kill_each_call",
        module="notes/journal.py",
        code="assert JournalFile.begin\nJournalFile.begin = lambda *_: None\n",
        says=r"[1-9]\d* problems",
    ),
    Fault(
        name="git compares sizes while a section is written",
        rig="kill_each_call --injections --kinds tracked --every 6",
        module="inject/section_file.py",
        code="assert _forget_size\n_forget_size = lambda *_: None\n",
        says=r"git status has changed",
    ),
    Fault(
        name="what a killed injection wrote beside git's files stays",
        rig="kill_each_call --injections --kinds absent --every 3",
        module="inject/worktree_file.py",
        code="assert _GIT_FOLDERS\n_GIT_FOLDERS = ()\n",
        says=r"a partial file is left",
    ),
    Fault(
        name="a memory is taken away before it is written anew",
        rig="kill_upserts --kills 60",
        module="curation/supersede.py",
        code=(
            "from hivemind_memory.model.value import replaced\n"
            "_in_place = write_in_place\n"
            "def write_in_place(context, new, old):\n"
            "    remove_note(context.folder, old.path, expected=old.signature)\n"
            "    return _in_place(context, new, replaced(old, signature=None))\n"
        ),
        says=r"is there 0 times",
    ),
    Fault(
        name="lost entries are not restored",
        rig="kill_writes --kills 60",
        module="notes/recovery.py",
        code="assert find_lost_entries\nfind_lost_entries = lambda *_: []\n",
        says=r"lost=\['|[1-9]\d* problems",
    ),
    Fault(
        name="kernel locks exclude nobody",
        rig="many_writers --writers 8 --entries 30 --editors 1",
        module="files/locks.py",
        code="assert KernelLock.acquire\nKernelLock.acquire = lambda *_, **__: True\n",
        says=r"lost|torn|doubled|failed",
    ),
    Fault(
        name="an entry counts as written though its file has lost its name",
        rig="many_writers --writers 8 --entries 60 --editors 2 --movers 1",
        module="notes/append.py",
        code="assert OpenNote.is_in_place\nOpenNote.is_in_place = lambda *_: True\n",
        says=r"were never in their notes",
    ),
    Fault(
        name="links are followed",
        rig="link_race --seconds 4",
        module="files/descriptors.py",
        code=("_NO_LINKS = 0\nREAD &= ~os.O_NOFOLLOW\nAPPEND &= ~os.O_NOFOLLOW\n"),
        says=r"outside|listed|escape",
    ),
    Fault(
        name="a purge does not rewrite the index",
        rig="purge --memories 12",
        module="index/sqlite/vacuum.py",
        code="assert _rewrite\n_rewrite = lambda _: True\n",
        says=r'"left": \[\s*"',
    ),
    Fault(
        name="a purge keeps the vectors of what it removes",
        rig="purge --memories 6",
        module="index/sqlite/vacuum.py",
        code="assert _drop_vectors\n_drop_vectors = lambda *_: 0\n",
        says=r"memory\.db: b'\\\\x",
    ),
    Fault(
        name="blocks of vectors keep those of chunks that are gone",
        rig="purge --memories 6",
        module="index/sqlite/vacuum.py",
        code="assert clear_free_slots\nclear_free_slots = lambda _: None\n",
        says=r"memory\.db: b'",
    ),
    Fault(
        name="a purge does not rewrite state.db",
        rig="purge --memories 6",
        module="state/state_file.py",
        code="assert StateFile.vacuum\nStateFile.vacuum = lambda self: True\n",
        says=r"state\.db(-wal)?: b'",
    ),
    Fault(
        name="a section is written whatever was purged since it was planned",
        rig="purge --memories 3",
        module="inject/injection_record.py",
        code="assert _are_there\n_are_there = lambda *_: True\n",
        says=r"word not in planned.body|CLAUDE\.md: b'",
    ),
    Fault(
        name="what was purged may be saved again",
        rig="purge --memories 6",
        module="state/state_file.py",
        code=(
            "assert StateFile.has_tombstone\n"
            "StateFile.has_tombstone = lambda *_: False\n"
        ),
        says=r"saved again",
    ),
    Fault(
        name="the log of changes keeps the names of what is purged",
        rig="purge --memories 6",
        module="state/change_log.py",
        code="assert ChangeLog.drop\nChangeLog.drop = lambda self, names: 0\n",
        says=r"state\.db(-wal)?: b'",
    ),
    Fault(
        name="what is moved while a purge is at work stays",
        rig="purge --memories 3",
        module="curation/purge_notes.py",
        code="assert _clean_moved\n_clean_moved = lambda _: None\n",
        says=r"moved\.md: b'",
    ),
    Fault(
        name="what was read before a purge is indexed after it",
        rig="purge --memories 3",
        module="memory/sync_round.py",
        code=(
            "def _may_replace(self, *note, may=SyncRound.may_replace):\n"
            "    self._last_purge = self._index.get_meta(LAST_PURGE)\n"
            "    return may(self, *note)\n\n\n"
            "SyncRound.may_replace = _may_replace\n"
        ),
        says=r"memory\.db(-wal)?: b'",
    ),
    Fault(
        name="a project may move between the scope of a write and its note",
        rig="project_moves --agents 8 --moves 12",
        module="projects/move_lock.py",
        code=("@contextmanager\ndef no_moves(*_):\n    yield\n\n\nassert moves_lock\n"),
        says=r"the project store\d+ lies in|acknowledged texts are not in",
    ),
    Fault(
        name="the journal keeps the earlier name of a project",
        rig="project_moves --agents 8 --moves 12",
        module="notes/journal.py",
        code="assert JournalFile.rename\nJournalFile.rename = lambda *_: None\n",
        says=r"came back under the earlier name",
    ),
)
