"""The tables of the index, as numbered steps, and its tokenizer."""

from __future__ import annotations

import apsw

from hivemind_memory.errors import IndexTooNewError
from hivemind_memory.model.terms import REASON_WEIGHT, TOKENIZER
from hivemind_memory.sqlite.connection import write_transaction

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_TOKENIZER_ARGUMENTS = [
    "unicode61",
    "remove_diacritics",
    "2",
    "categories",
    "L* N* Co Mn Mc",
]

# Each step runs in the transaction that records it; ``latest_schema.py`` has what they
# come to. The flag says whether the notes must be read again afterward.
_STEPS: tuple[tuple[str, bool], ...] = (
    (
        f"""
        CREATE TABLE meta(
          key   TEXT PRIMARY KEY,
          value NOT NULL
        ) WITHOUT ROWID;
        -- distinguishes this index from a later one with other numbers
        INSERT INTO meta(key, value) VALUES ('made', lower(hex(randomblob(8))));

        CREATE TABLE files(
          id          INTEGER PRIMARY KEY,
          path        TEXT    NOT NULL UNIQUE, -- relative to the notes folder
          mtime       INTEGER NOT NULL,        -- ns since the epoch
          ctime       INTEGER NOT NULL,        -- ns since the epoch
          size        INTEGER NOT NULL,        -- bytes
          inode       INTEGER NOT NULL,
          is_settled  INTEGER NOT NULL,        -- the stamp alone proves no change
          hash        TEXT    NOT NULL,        -- SHA-256 of the bytes
          day         INTEGER,                 -- days since the epoch; NULL: ageless
          chunk_count INTEGER NOT NULL,
          state       INTEGER NOT NULL         -- 0 live, 1 being written, 2 replaced
        );
        CREATE INDEX files_unsettled ON files(id) WHERE is_settled = 0;

        CREATE TABLE chunks(
          id         INTEGER PRIMARY KEY AUTOINCREMENT,
          file_id    INTEGER NOT NULL REFERENCES files(id) ON DELETE CASCADE,
          start_line INTEGER NOT NULL,
          end_line   INTEGER NOT NULL,
          day        INTEGER,                  -- of the entry; NULL: as the file
          entry_id   TEXT,                     -- ULID; NULL: a person's text
          headings   TEXT    NOT NULL,         -- the trail, one heading a line
          text       TEXT    NOT NULL,         -- the lines as they stand
          body       TEXT,                     -- what is searched; NULL: the text
          extra      TEXT    NOT NULL,         -- terms the tokenizer cannot find
          trail      TEXT    NOT NULL,         -- headings, path, titles and tags
          units      BLOB    NOT NULL          -- where its units lie, see rows.py
        );
        CREATE INDEX chunks_by_file ON chunks(file_id);

        CREATE VIEW chunk_words AS
          SELECT id, coalesce(body, text) AS body, extra, trail FROM chunks;

        CREATE VIRTUAL TABLE chunks_fts USING fts5(
          body, extra, trail,
          content = 'chunk_words', content_rowid = 'id',
          tokenize = "{TOKENIZER}"
        );
        CREATE VIRTUAL TABLE vocabulary USING fts5vocab(chunks_fts, row);
        CREATE VIRTUAL TABLE occurrences USING fts5vocab(chunks_fts, instance);

        CREATE TRIGGER chunks_inserted AFTER INSERT ON chunks BEGIN
          INSERT INTO chunks_fts(rowid, body, extra, trail)
          VALUES (new.id, coalesce(new.body, new.text), new.extra, new.trail);
        END;
        CREATE TRIGGER chunks_deleted AFTER DELETE ON chunks BEGIN
          INSERT INTO chunks_fts(chunks_fts, rowid, body, extra, trail)
          VALUES ('delete', old.id, coalesce(old.body, old.text), old.extra, old.trail);
        END;

        CREATE TABLE spaces(
          id          INTEGER PRIMARY KEY,
          fingerprint TEXT    NOT NULL UNIQUE,
          dimensions  INTEGER NOT NULL
        );
        CREATE TABLE embedding_cache(
          id          INTEGER PRIMARY KEY,
          space_id    INTEGER NOT NULL REFERENCES spaces(id),
          text_hash   TEXT    NOT NULL,        -- SHA-256 of the text
          embedding   BLOB    NOT NULL,        -- little-endian float32, length 1
          created     INTEGER NOT NULL,        -- seconds since the epoch
          UNIQUE (space_id, text_hash)
        );
        CREATE TABLE chunks_vec(
          id        INTEGER PRIMARY KEY,
          chunk_id  INTEGER NOT NULL REFERENCES chunks(id) ON DELETE CASCADE,
          space_id  INTEGER NOT NULL REFERENCES spaces(id),
          unit      INTEGER NOT NULL,          -- 0 the chunk, from 1 its units
          text_hash TEXT    NOT NULL,
          vector_id INTEGER REFERENCES embedding_cache(id), -- NULL: wanted
          serial    INTEGER,                   -- grows with every link
          UNIQUE (chunk_id, space_id, unit)
        );
        CREATE INDEX chunks_vec_wanted ON chunks_vec(space_id, text_hash)
          WHERE vector_id IS NULL;
        CREATE INDEX chunks_vec_by_serial ON chunks_vec(serial);
        CREATE INDEX chunks_vec_by_vector ON chunks_vec(vector_id);
        """,
        True,
    ),
    (
        """
        ALTER TABLE files ADD COLUMN scope TEXT NOT NULL DEFAULT ''; -- its folder
        ALTER TABLE files ADD COLUMN standing INTEGER NOT NULL DEFAULT 0;
          -- 0 active, 1 superseded, 2 waiting in an inbox, 3 forgotten
        ALTER TABLE files ADD COLUMN ages INTEGER NOT NULL DEFAULT 1;
        ALTER TABLE files ADD COLUMN importance REAL;  -- 0..1; NULL: free text
        ALTER TABLE files ADD COLUMN type TEXT;        -- NULL: free text
        ALTER TABLE files ADD COLUMN key TEXT;
        ALTER TABLE files ADD COLUMN memory_id TEXT;   -- ULID
        ALTER TABLE files ADD COLUMN visibility TEXT;  -- NULL: inherited
        ALTER TABLE files ADD COLUMN source TEXT;
        ALTER TABLE files ADD COLUMN session TEXT;
        ALTER TABLE files ADD COLUMN created TEXT;     -- ISO 8601
        ALTER TABLE files ADD COLUMN expires_day INTEGER; -- first day it is over
        ALTER TABLE files ADD COLUMN done_day INTEGER;
        ALTER TABLE files ADD COLUMN is_pinned INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE chunks ADD COLUMN source TEXT;     -- of the entry
        CREATE INDEX files_by_key ON files(key) WHERE key IS NOT NULL;
        CREATE INDEX files_by_memory ON files(memory_id) WHERE memory_id IS NOT NULL;

        CREATE TABLE edges(
          file_id INTEGER NOT NULL REFERENCES files(id) ON DELETE CASCADE,
          kind    TEXT    NOT NULL, -- related_to, updates, contradicts
          target  TEXT    NOT NULL, -- as written: an id, a key, a path or a name
          weight  REAL    NOT NULL, -- 0..1
          PRIMARY KEY (file_id, kind, target)
        ) WITHOUT ROWID;
        CREATE INDEX edges_by_target ON edges(target);
        """,
        True,
    ),
    (
        # Columns are named after docs/glossary.md. No column of a full-text table can
        # be renamed, so that one is made again from the chunks, which keep their rows.
        f"""
        DROP TRIGGER chunks_inserted;
        DROP TRIGGER chunks_deleted;
        DROP TABLE occurrences;
        DROP TABLE vocabulary;
        DROP TABLE chunks_fts;
        DROP VIEW chunk_words;

        ALTER TABLE files RENAME COLUMN standing TO status;
        ALTER TABLE chunks RENAME COLUMN trail TO breadcrumbs;
        ALTER TABLE chunks RENAME COLUMN units TO subchunks;
        ALTER TABLE chunks_vec RENAME COLUMN unit TO subchunk;

        CREATE VIEW chunk_words AS
          SELECT id, coalesce(body, text) AS body, extra, breadcrumbs FROM chunks;

        CREATE VIRTUAL TABLE chunks_fts USING fts5(
          body, extra, breadcrumbs,
          content = 'chunk_words', content_rowid = 'id',
          tokenize = "{TOKENIZER}"
        );
        CREATE VIRTUAL TABLE vocabulary USING fts5vocab(chunks_fts, row);
        CREATE VIRTUAL TABLE occurrences USING fts5vocab(chunks_fts, instance);

        CREATE TRIGGER chunks_inserted AFTER INSERT ON chunks BEGIN
          INSERT INTO chunks_fts(rowid, body, extra, breadcrumbs)
          VALUES (new.id, coalesce(new.body, new.text), new.extra, new.breadcrumbs);
        END;
        CREATE TRIGGER chunks_deleted AFTER DELETE ON chunks BEGIN
          INSERT INTO chunks_fts(chunks_fts, rowid, body, extra, breadcrumbs)
          VALUES (
            'delete', old.id, coalesce(old.body, old.text), old.extra, old.breadcrumbs
          );
        END;
        INSERT INTO chunks_fts(chunks_fts) VALUES ('rebuild');
        """,
        False,
    ),
    (
        # What a memory says of itself besides its text: why it replaced another, what
        # it was derived from, and how certain a claim is. The reason is searched, a
        # word in it counting half.
        f"""
        DROP TRIGGER chunks_inserted;
        DROP TRIGGER chunks_deleted;
        DROP TABLE occurrences;
        DROP TABLE vocabulary;
        DROP TABLE chunks_fts;
        DROP VIEW chunk_words;

        ALTER TABLE files ADD COLUMN source_ref TEXT;
        ALTER TABLE files ADD COLUMN claim TEXT;       -- name=value, one a line
        ALTER TABLE chunks ADD COLUMN reason TEXT NOT NULL DEFAULT '';
          -- its first line; after that, terms the tokenizer cannot find
        ALTER TABLE chunks ADD COLUMN source_ref TEXT; -- of the entry

        CREATE VIEW chunk_words AS
          SELECT id, coalesce(body, text) AS body, extra, breadcrumbs, reason
          FROM chunks;

        CREATE VIRTUAL TABLE chunks_fts USING fts5(
          body, extra, breadcrumbs, reason,
          content = 'chunk_words', content_rowid = 'id',
          tokenize = "{TOKENIZER}"
        );
        INSERT INTO chunks_fts(chunks_fts, rank)
        VALUES ('rank', 'bm25(1.0, 1.0, 1.0, {REASON_WEIGHT})');
        CREATE VIRTUAL TABLE vocabulary USING fts5vocab(chunks_fts, row);
        CREATE VIRTUAL TABLE occurrences USING fts5vocab(chunks_fts, instance);

        CREATE TRIGGER chunks_inserted AFTER INSERT ON chunks BEGIN
          INSERT INTO chunks_fts(rowid, body, extra, breadcrumbs, reason)
          VALUES (
            new.id, coalesce(new.body, new.text), new.extra, new.breadcrumbs, new.reason
          );
        END;
        CREATE TRIGGER chunks_deleted AFTER DELETE ON chunks BEGIN
          INSERT INTO chunks_fts(chunks_fts, rowid, body, extra, breadcrumbs, reason)
          VALUES (
            'delete', old.id, coalesce(old.body, old.text), old.extra,
            old.breadcrumbs, old.reason
          );
        END;
        INSERT INTO chunks_fts(chunks_fts) VALUES ('rebuild');
        """,
        True,
    ),
    (
        # What a query is compared with lies together, and small; see vector_blocks.py.
        """
        DROP INDEX chunks_vec_by_serial;
        ALTER TABLE chunks_vec DROP COLUMN serial;
        ALTER TABLE chunks_vec ADD COLUMN slot INTEGER; -- in the blocks; NULL: in none
        CREATE INDEX chunks_vec_waiting ON chunks_vec(space_id, chunk_id)
          WHERE subchunk = 0 AND slot IS NULL AND vector_id IS NOT NULL;

        CREATE TABLE vector_blocks(
          space_id INTEGER NOT NULL REFERENCES spaces(id),
          block    INTEGER NOT NULL,           -- from 0; slot = 128 * block + row
          version  INTEGER NOT NULL,           -- grows with every link
          chunks   BLOB    NOT NULL,           -- little-endian int64; 0: no chunk
          codes    BLOB    NOT NULL,           -- int8, row after row
          PRIMARY KEY (space_id, block)
        );
        CREATE TABLE vector_free(              -- slots that hold no chunk's vector
          space_id INTEGER NOT NULL REFERENCES spaces(id),
          slot     INTEGER NOT NULL,
          PRIMARY KEY (space_id, slot)
        ) WITHOUT ROWID;
        CREATE TRIGGER chunks_vec_deleted AFTER DELETE ON chunks_vec
        WHEN old.slot IS NOT NULL BEGIN
          INSERT INTO vector_free(space_id, slot) VALUES (old.space_id, old.slot);
        END;
        """,
        False,
    ),
    (
        # Which texts wait for a vector is known without looking at every chunk.
        """
        ALTER TABLE spaces ADD COLUMN listed INTEGER NOT NULL DEFAULT 0;
          -- the texts of chunks up to this one are in chunks_vec
        UPDATE spaces SET listed = coalesce(
          (SELECT max(chunk_id) FROM chunks_vec WHERE space_id = spaces.id), 0
        );
        CREATE INDEX chunks_vec_in_turn ON chunks_vec(space_id)
          WHERE vector_id IS NULL;
        """,
        False,
    ),
    (
        # Tags, folded, each between newlines: of a whole note, and of an entry.
        """
        ALTER TABLE files ADD COLUMN tags TEXT;
        ALTER TABLE chunks ADD COLUMN tags TEXT;
        """,
        True,
    ),
    (
        # Lists are read a part at a time: memories by age, counted by what they are;
        # an entry by its id; notes that are not UTF-8. The rows of ``BODY_VERSION``
        # say which are: older ones are read again in the background.
        """
        ALTER TABLE files ADD COLUMN is_utf8 INTEGER;  -- NULL: not known yet
        CREATE INDEX files_not_utf8 ON files(path) WHERE is_utf8 IS NOT 1;
        CREATE INDEX files_newest ON files(
          created, path, scope, type, status, source, expires_day, done_day
        ) WHERE state = 0 AND type IS NOT NULL;
        CREATE INDEX files_counted ON files(scope, type, status, source, created)
          WHERE state = 0 AND (type IS NOT NULL OR memory_id IS NOT NULL);
        CREATE INDEX files_pending ON files(path) WHERE state = 0 AND status = 2;
        CREATE INDEX chunks_by_entry ON chunks(entry_id) WHERE entry_id IS NOT NULL;
        """,
        False,
    ),
    (
        # The newest entries are found without the texts of all chunks.
        """
        CREATE INDEX chunks_of_file ON chunks(file_id, entry_id, day, start_line);
        """,
        False,
    ),
    (
        # A source is what answers say: a filter and a list compare the same word.
        """
        UPDATE files SET source = CASE
            WHEN lower(source) IN ('tool', 'external') THEN lower(source)
            ELSE 'external' END
          WHERE lower(source) IN ('tool', 'external') OR instr(source, '://');
        UPDATE chunks SET source = CASE
            WHEN lower(source) IN ('tool', 'external') THEN lower(source)
            ELSE 'external' END
          WHERE lower(source) IN ('tool', 'external') OR instr(source, '://');
        """,
        False,
    ),
)

SCHEMA_VERSION = len(_STEPS)


def upgrade(connection: apsw.Connection) -> bool:
    """Apply the steps that the file has not seen; return whether notes must be reread.

    Raises:
        IndexTooNewError: A newer version of the program made the file.
    """
    if _version(connection) == SCHEMA_VERSION:
        return False
    with write_transaction(connection):
        # Another process may have upgraded it before this one got the lock.
        version = refuse_newer(connection)
        must_reread = any(rereads for _, rereads in _STEPS[version:]) and version > 0
        for sql in _sql_from(version):
            connection.execute(sql)
        connection.pragma("user_version", SCHEMA_VERSION)
        if must_reread:
            # With a time that no file has, they count as changed and answer nothing
            # before: a step may change which of them a caller may see.
            connection.execute("UPDATE files SET is_settled = 0, hash = '', mtime = 0")
            connection.execute("DELETE FROM meta WHERE key = 'scan'")
    return must_reread


def _sql_from(version: int) -> list[str]:
    """Return what brings a file of a version up to date; 0 is a new file."""
    if version == 0:
        from hivemind_memory.index.sqlite.latest_schema import LATEST_SCHEMA

        return [LATEST_SCHEMA]
    return [sql for sql, _ in _STEPS[version:]]


def refuse_newer(connection: apsw.Connection) -> int:
    """Return the version of a file's schema, if it is not newer than ours.

    Raises:
        IndexTooNewError: A newer version of the program made the file.
    """
    version = _version(connection)
    if version > SCHEMA_VERSION:
        raise IndexTooNewError(
            f"the index has schema {version}, but this version only supports"
            f" schemas up to {SCHEMA_VERSION}",
            hint="upgrade hivemind-memory, or remove the .index folder: "
            "it is rebuilt from the notes",
        )
    return version


def make_tokenizer(connection: apsw.Connection) -> Callable[[str], list[str]]:
    """Return a function that splits a text into the tokens of the full-text index."""
    tokenize = connection.fts5_tokenizer("porter", _TOKENIZER_ARGUMENTS)

    def tokens_of(text: str) -> list[str]:
        """Return the tokens of *text*, in order."""
        found: list[str] = tokenize(  # type: ignore[assignment]
            text.encode("utf-8", "replace"),
            apsw.FTS5_TOKENIZE_DOCUMENT,
            None,
            include_offsets=False,
            include_colocated=False,
        )
        return found

    return tokens_of


def _version(connection: apsw.Connection) -> int:
    """Return the number of the last step that the file has seen."""
    return int(connection.pragma("user_version"))
