"""The tables of the index as they are now, for a new file.

A file of an earlier version gets there by the steps in ``schema.py``, each of which
changes this page too; a test compares the two.
"""

from __future__ import annotations

from hivemind_memory.model.terms import REASON_WEIGHT, TOKENIZER

LATEST_SCHEMA = f"""
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
  is_settled  INTEGER NOT NULL,        -- the signature alone proves no change
  hash        TEXT    NOT NULL,        -- SHA-256 of the bytes
  day         INTEGER,                 -- days since the epoch; NULL: ageless
  chunk_count INTEGER NOT NULL,
  state       INTEGER NOT NULL,        -- 0 live, 1 being written, 2 replaced
  scope       TEXT    NOT NULL DEFAULT '', -- its folder
  status      INTEGER NOT NULL DEFAULT 0,
    -- 0 active, 1 superseded, 2 waiting in an inbox, 3 forgotten
  ages        INTEGER NOT NULL DEFAULT 1,
  importance  REAL,                    -- 0..1; NULL: free text
  type        TEXT,                    -- NULL: free text
  key         TEXT,
  memory_id   TEXT,                    -- ULID
  visibility  TEXT,                    -- NULL: inherited
  source      TEXT,
  session     TEXT,
  created     TEXT,                    -- ISO 8601
  expires_day INTEGER,                 -- first day it is over
  done_day    INTEGER,
  is_pinned   INTEGER NOT NULL DEFAULT 0,
  source_ref  TEXT,
  claim       TEXT,                    -- name=value, one a line
  tags        TEXT,                    -- folded, each between newlines
  is_utf8     INTEGER                  -- NULL: not known yet
);
CREATE INDEX files_unsettled ON files(id) WHERE is_settled = 0;
CREATE INDEX files_by_key ON files(key) WHERE key IS NOT NULL;
CREATE INDEX files_by_memory ON files(memory_id) WHERE memory_id IS NOT NULL;
CREATE INDEX files_not_utf8 ON files(path) WHERE is_utf8 IS NOT 1;
CREATE INDEX files_newest ON files(
  created, path, scope, type, status, source, expires_day, done_day
) WHERE state = 0 AND type IS NOT NULL;
CREATE INDEX files_counted ON files(scope, type, status, source, created)
  WHERE state = 0 AND (type IS NOT NULL OR memory_id IS NOT NULL);
CREATE INDEX files_pending ON files(path) WHERE state = 0 AND status = 2;

CREATE TABLE edges(
  file_id INTEGER NOT NULL REFERENCES files(id) ON DELETE CASCADE,
  kind    TEXT    NOT NULL, -- related_to, updates, contradicts
  target  TEXT    NOT NULL, -- as written: an id, a key, a path or a name
  weight  REAL    NOT NULL, -- 0..1
  PRIMARY KEY (file_id, kind, target)
) WITHOUT ROWID;
CREATE INDEX edges_by_target ON edges(target);

CREATE TABLE chunks(
  id          INTEGER PRIMARY KEY AUTOINCREMENT,
  file_id     INTEGER NOT NULL REFERENCES files(id) ON DELETE CASCADE,
  start_line  INTEGER NOT NULL,
  end_line    INTEGER NOT NULL,
  day         INTEGER,                 -- of the entry; NULL: as the file
  entry_id    TEXT,                    -- ULID; NULL: a person's text
  headings    TEXT    NOT NULL,        -- the breadcrumbs, one heading a line
  text        TEXT    NOT NULL,        -- the lines as they stand
  body        TEXT,                    -- what is searched; NULL: the text
  extra       TEXT    NOT NULL,        -- terms the tokenizer cannot find
  breadcrumbs TEXT    NOT NULL,        -- headings, path, titles and tags
  subchunks   BLOB    NOT NULL,        -- where its subchunks lie, see rows.py
  source      TEXT,                    -- of the entry
  reason      TEXT    NOT NULL DEFAULT '',
    -- its first line; after that, terms the tokenizer cannot find
  source_ref  TEXT,                    -- of the entry
  tags        TEXT                     -- the same
);
CREATE INDEX chunks_by_file ON chunks(file_id);
CREATE INDEX chunks_by_entry ON chunks(entry_id) WHERE entry_id IS NOT NULL;
CREATE INDEX chunks_of_file ON chunks(file_id, entry_id, day, start_line);

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

CREATE TABLE spaces(
  id          INTEGER PRIMARY KEY,
  fingerprint TEXT    NOT NULL UNIQUE,
  dimensions  INTEGER NOT NULL,
  listed      INTEGER NOT NULL DEFAULT 0
    -- the texts of chunks up to this one are in chunks_vec
);
CREATE TABLE embedding_cache(
  id        INTEGER PRIMARY KEY,
  space_id  INTEGER NOT NULL REFERENCES spaces(id),
  text_hash TEXT    NOT NULL,          -- SHA-256 of the text
  embedding BLOB    NOT NULL,          -- little-endian float32, length 1
  created   INTEGER NOT NULL,          -- seconds since the epoch
  UNIQUE (space_id, text_hash)
);
CREATE TABLE chunks_vec(
  id        INTEGER PRIMARY KEY,
  chunk_id  INTEGER NOT NULL REFERENCES chunks(id) ON DELETE CASCADE,
  space_id  INTEGER NOT NULL REFERENCES spaces(id),
  subchunk  INTEGER NOT NULL,          -- 0 the chunk, from 1 its subchunks
  text_hash TEXT    NOT NULL,
  vector_id INTEGER REFERENCES embedding_cache(id), -- NULL: wanted
  slot      INTEGER,                   -- in the blocks; NULL: in none
  UNIQUE (chunk_id, space_id, subchunk)
);
CREATE INDEX chunks_vec_wanted ON chunks_vec(space_id, text_hash)
  WHERE vector_id IS NULL;
CREATE INDEX chunks_vec_by_vector ON chunks_vec(vector_id);
CREATE INDEX chunks_vec_waiting ON chunks_vec(space_id, chunk_id)
  WHERE subchunk = 0 AND slot IS NULL AND vector_id IS NOT NULL;
CREATE INDEX chunks_vec_in_turn ON chunks_vec(space_id)
  WHERE vector_id IS NULL;

-- What a query is compared with lies together, and small; see vector_blocks.py.
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
"""
