"""Faults to plant in a copy of the project, each for the rig that has to notice.

``planted_faults`` plants them.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One way to break the program, and the rig that has to notice."""

    name: str
    rig: str
    """Module of ``benchmarks`` and its arguments."""

    module: str
    """File of the package, to the end of which the code is appended."""

    code: str
    says: str
    """Expression that the rig's output has to match."""


_FINDS_NOTHING = (
    "from hivemind_memory.model.matches import WordMatches\n\n"
    "assert WordRetriever.find\n"
    "WordRetriever.find = lambda *_, **__: WordMatches(asked=())\n"
)

FAULTS = (
    Fault(
        name="a token sees what the server itself sees",
        rig="access_matrix --pair 0 --calls routes",
        module="http_api/callers.py",
        code=(
            "assert CallerMemories._open\n"
            "CallerMemories._open = lambda self, _: (\n"
            "    client_memory.open_owner_connection_memory(self._memory_dir)\n"
            ")\n"
        ),
        says=r"[1-9]\d* leaks",
    ),
    Fault(
        name="a torn entry is left in its note",
        rig="kill_writes --kills 40",
        module="notes/recovery.py",
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
        name="lost entries are not restored",
        rig="kill_writes --kills 60",
        module="notes/recovery.py",
        code="assert find_lost_entries\nfind_lost_entries = lambda *_: []\n",
        says=r"lost=\['|[1-9]\d* problems",
    ),
    Fault(
        name="a note and its chunks are indexed in separate transactions",
        rig="kill_index --kills 200",
        module="index/sqlite/notes.py",
        code=(
            "from contextlib import nullcontext\n"
            "assert notes_transaction\n"
            "notes_transaction = lambda _: nullcontext()\n"
        ),
        says=r"[1-9]\d* problems",
    ),
    Fault(
        name="kernel locks exclude nobody",
        rig="many_writers --writers 8 --entries 30 --editors 1",
        module="files/locks.py",
        code="assert KernelLock.acquire\nKernelLock.acquire = lambda *_, **__: True\n",
        says=r"lost|torn|doubled|failed",
    ),
    Fault(
        name="links are followed",
        rig="link_race --seconds 4",
        module="files/descriptors.py",
        code=("_NO_LINKS = 0\nREAD &= ~os.O_NOFOLLOW\nAPPEND &= ~os.O_NOFOLLOW\n"),
        says=r"outside|listed|escape",
    ),
    Fault(
        name="a pattern looks on from every letter of a word",
        rig="patterns --seconds 60",
        module="markdown/addresses.py",
        code=(
            "assert _asked\n"
            "_asked = lambda: re.compile(r'[\\w-]+\\.[A-Za-z]{2,}/\\S')\n"
        ),
        says=r"a question of .* takes long",
    ),
    Fault(
        name="the last chunk of a note is dropped",
        rig="fuzz_chunker --cases 200",
        module="markdown/note_parser.py",
        code=(
            "_all_chunks = _chunks\n"
            "_chunks = lambda *given: _all_chunks(*given)[:-1] or _all_chunks(*given)\n"
        ),
        says=r"joined, the chunks are not the text",
    ),
    Fault(
        name="the last chunk of a large note alone is dropped",
        rig="fuzz_chunker --cases 200",
        module="markdown/note_parser.py",
        code=(
            "_all_chunks = _chunks\n\n\n"
            "def _chunks(*given):\n"
            "    found = _all_chunks(*given)\n"
            "    size = sum(len(chunk.text) for chunk in found)\n"
            "    return found[:-1] if size > 100_000 else found\n"
        ),
        says=r"joined, the chunks are not the text",
    ),
    Fault(
        name="for each chunk of a note those before it are read again",
        rig="fuzz_chunker --cases 200",
        module="markdown/note_parser.py",
        code=(
            "_all_chunks = _chunks\n\n\n"
            "def _chunks(*given):\n"
            "    found = _all_chunks(*given)\n"
            "    for number in range(len(found)):\n"
            "        sum(chunk.text.count(' ') for chunk in found[:number:3])\n"
            "    return found\n"
        ),
        says=r"a byte costs [\d.]+ times as much",
    ),
    Fault(
        name="damage is reported as an ordinary error",
        rig="damage_index --times 25",
        module="sqlite/connection.py",
        code=(
            "from hivemind_memory.errors import IndexBusyError\n"
            "assert _damaged\n"
            "_damaged = lambda path: IndexBusyError(path, hint='')\n"
        ),
        says=r"seed \d+",
    ),
    Fault(
        name="a search finds nothing, after damage either",
        rig="damage_index --times 4",
        module="index/sqlite/words.py",
        code=_FINDS_NOTHING,
        says=r"common: 0 hits",
    ),
    Fault(
        name="a broken frame is not answered",
        rig="mcp_frames --frames 300 --patience 3",
        module="mcp_server/frames.py",
        code=(
            "assert _refused\n_refused = lambda *_: RejectedLine(error_responses=())\n"
        ),
        says=r"[1-9]\d* unanswered",
    ),
    Fault(
        name="every call fails",
        rig="mcp_frames --frames 100",
        module="mcp_server/tools.py",
        code=(
            "async def _run(self, tool, *_):\n"
            "    raise unexpected_error(tool, RuntimeError('broken'))\n\n\n"
            "ToolRunner.run = _run\n"
        ),
        says=r"[1-9]\d* wrong",
    ),
    Fault(
        name="a search does not look at the notes",
        rig="index_race --steps 1000 --seconds 60",
        module="memory/freshness.py",
        code=(
            "def _compare(self, index, version, **_):\n"
            "    self._looked_at = self._verified = version\n"
            "    return self._last\n\n\n"
            "assert FreshnessCheck._compare\n"
            "FreshnessCheck._compare = _compare\n"
        ),
        says=r"searcher-\d missed",
    ),
    Fault(
        name="young files are not compared by their bytes",
        rig="index_race --steps 3000 --seconds 30",
        module="model/snapshot.py",
        code="assert is_settled\nis_settled = lambda *_: True\n",
        says=r"searcher-\d missed|newer\d+newer undone",
    ),
    Fault(
        name="what the kernel names is not indexed",
        rig="index_race --steps 3000 --seconds 30",
        module="memory/sync.py",
        code="assert Syncer.sync_named\nSyncer.sync_named = lambda *_: True\n",
        says=r"searcher-\d missed",
    ),
    Fault(
        name="what was read long ago replaces what is newer",
        rig="index_race --steps 500 --seconds 60",
        module="memory/sync_round.py",
        code=(
            "def _may_replace(self, path, signature, digest):\n"
            "    (self.added if signature is None else self.updated).add(path)\n"
            "    return True\n\n\n"
            "assert SyncRound.may_replace\n"
            "SyncRound.may_replace = _may_replace\n"
        ),
        says=r"newer\d+newer undone",
    ),
    Fault(
        name="a note that came back is removed because it was gone",
        rig="index_race --steps 500 --seconds 60",
        module="memory/sync_round.py",
        code=("assert SyncRound.may_remove\nSyncRound.may_remove = lambda *_: True\n"),
        says=r"newer\d+newer undone",
    ),
    Fault(
        name="threads use one connection to state.db at the same time",
        rig="mcp_parallel --clients 8 --calls 20 --seconds 20 --transport http"
        " --projects 1 --workspaces 1",
        module="state/state_file.py",
        code=(
            "class _NoLock:\n"
            "    def acquire(self, timeout=0):\n"
            "        return True\n\n"
            "    def release(self, *_):\n"
            "        pass\n\n"
            "    __enter__, __exit__ = acquire, release\n\n"
            "assert threading.RLock\n"
            "class threading:\n"
            "    RLock = _NoLock\n"
        ),
        says=r"Threading|[1-9]\d* fail",
    ),
    Fault(
        name="calls wait for each other, and some for longer than anyone does",
        rig="mcp_parallel --clients 4 --calls 20 --seconds 5 --transport http",
        module="mcp_server/tools.py",
        code=(
            "async def _run(*arguments, run=ToolRunner.run):\n"
            "    await anyio.sleep(1)\n"
            "    return await run(*arguments)\n\n"
            "ToolRunner.run = _run\n"
        ),
        says="cut short after 5 s",
    ),
    Fault(
        name="a caller gets the answer to another call",
        rig="mcp_parallel --clients 3 --calls 8 --seconds 60 --transport http",
        module="mcp_server/tools.py",
        code=(
            "_LAST = {}\n\n\n"
            "async def _run(self, tool, *rest, run=ToolRunner.run):\n"
            "    answer = await run(self, tool, *rest)\n"
            "    before, _LAST[tool] = _LAST.get(tool, answer), answer\n"
            "    return before\n\n\n"
            "ToolRunner.run = _run\n"
        ),
        says=r"memory_search: .* is not answered by",
    ),
    Fault(
        name="every connection gets the project of the first one",
        rig="mcp_parallel --clients 4 --calls 4 --seconds 60 --transport http",
        module="mcp_server/server_state.py",
        code=(
            "_FIRST = []\n\n\n"
            "def _memory_of(self, project, token, of=ServerState._memory_of):\n"
            "    _FIRST.extend(filter(None, [project]))\n"
            "    return of(self, project and _FIRST[0], token)\n\n\n"
            "ServerState._memory_of = _memory_of\n"
        ),
        says=r"memory_(search|history): .* is not answered by",
    ),
    Fault(
        name="one write in five is acknowledged and not made",
        rig="mcp_parallel --clients 3 --calls 20 --seconds 60 --transport http",
        module="memory/write.py",
        code=(
            "_CALLS = []\n_append = append_entry\n\n\n"
            "def append_entry(new, *rest, **more):\n"
            "    _CALLS.append(new)\n"
            "    if len(_CALLS) % 5:\n"
            "        return _append(new, *rest, **more)\n"
            "    return WriteResult(\n"
            "        path=new.path, scope='', id='01M80JBHRKPTRHKEJQQCVB56P4',\n"
            "        start_line=1, end_line=2, is_indexed=True, warnings=()\n"
            "    )\n"
        ),
        says=r"is in the notes as \[\]",
    ),
    Fault(
        name="a term may be an operator of the full-text engine",
        rig="hostile_queries --queries 100 --chunks 300 --max-p99-ms 5000",
        module="index/sqlite/expressions.py",
        code="assert _quoted\n_quoted = lambda text: text.upper()\n",
        says=r"[1-9]\d* problems",
    ),
    Fault(
        name="a search finds nothing, whatever the question",
        rig="hostile_queries --queries 60 --chunks 300 --max-p99-ms 5000",
        module="index/sqlite/words.py",
        code=_FINDS_NOTHING,
        says=r"does not find",
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
        name="no hook looks for the section",
        rig="section_escapes --every 24 --made 2",
        module="inject/commit_check.py",
        code="assert HOOKS\nHOOKS = {name: ('# nothing',) for name in HOOKS}\n",
        says=r"a commit has a part of the section",
    ),
    Fault(
        name="no filter takes the section out of copies",
        rig="section_escapes --every 100 --made 6",
        module="inject/commit_guard.py",
        code=(
            "assert CommitGuard._install_filter\n"
            "CommitGuard._install_filter = lambda _: None\n"
        ),
        says=r"an ordinary command was refused",
    ),
    Fault(
        name="a push is not compared with the memories",
        rig="section_escapes --every 12 --made 2",
        module="inject/find_copies.py",
        code="assert Copies.look\nCopies.look = lambda *_: None\n",
        says=r"the remote has the text of a memory",
    ),
    Fault(
        name="every source is trusted",
        rig="poison --entries 40",
        module="model/trust.py",
        code=(
            "assert is_trusted\n"
            "is_trusted = lambda source: True\n"
            "untrusted_source = lambda source: ''\n"
        ),
        says=r"[1-9]\d* told",
    ),
    Fault(
        name="a superseded memory stays active",
        rig="curating_stateful --steps 200 --no-shrink",
        module="notes/memory_header.py",
        code="assert status_of\nstatus_of = lambda path, front_matter: ACTIVE\n",
        says=r"AssertionError",
    ),
)
