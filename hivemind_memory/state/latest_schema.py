"""The tables of ``state.db`` as they are now, for a new file.

A file of an earlier version gets there by the steps in ``schema.py``, each of which
changes this page too; a test compares the two.
"""

from __future__ import annotations

LATEST_SCHEMA = """
CREATE TABLE meta(
  key   TEXT PRIMARY KEY,
  value NOT NULL
) WITHOUT ROWID;

CREATE TABLE injections(
  id       INTEGER PRIMARY KEY, -- in the order in which they were made
  worktree TEXT    NOT NULL,
  file     TEXT    NOT NULL,    -- in the worktree
  is_whole INTEGER NOT NULL,    -- 0: says only that the section was left as it was
  record   TEXT    NOT NULL,    -- JSON, see inject/injection_record.py
  notes    TEXT    NOT NULL DEFAULT ''
);
CREATE INDEX injections_file ON injections(worktree, file, notes, is_whole, id);

CREATE TABLE changes(
  number    INTEGER PRIMARY KEY, -- in the order in which they were made
  id        TEXT    NOT NULL UNIQUE,
  actor     TEXT    NOT NULL,    -- who made it
  record    TEXT    NOT NULL,    -- JSON, see state/change_log.py
  undoes    TEXT    NOT NULL,    -- id of the change that it undid
  undone_by TEXT    NOT NULL,    -- id of the change that undid it
  is_undo   INTEGER NOT NULL,    -- hm undo made it
  notes     TEXT    NOT NULL DEFAULT ''
);
CREATE INDEX changes_actor ON changes(notes, actor, is_undo, undone_by, number);

CREATE TABLE unfinished(
  hash  BLOB NOT NULL, -- of what was to be purged
  notes TEXT NOT NULL, -- folder in which that is done
  work  TEXT NOT NULL, -- what is left to do, as JSON; gone when done
  PRIMARY KEY (hash, notes)
) WITHOUT ROWID;

CREATE TABLE tombstones(
  hash  BLOB NOT NULL, -- HMAC-SHA256 of a purged text, see tombstones.py
  notes TEXT NOT NULL, -- folder in which it was purged; '*': before this was kept
  PRIMARY KEY (hash, notes)
) WITHOUT ROWID;

CREATE TABLE recalls(
  ref     TEXT    NOT NULL, -- id of a memory or an entry
  scope   TEXT    NOT NULL, -- of its note; '?': counted before this was kept
  notes   TEXT    NOT NULL, -- its folder; '*': counted before this was kept
  count   INTEGER NOT NULL,
  last_at INTEGER NOT NULL, -- seconds since the epoch
  PRIMARY KEY (ref, scope, notes)
) WITHOUT ROWID;

CREATE TABLE tokens(
  name         TEXT    NOT NULL,
  notes        TEXT    NOT NULL, -- folder that it opens
  hash         BLOB    NOT NULL, -- SHA-256 of the token
  workspace    TEXT    NOT NULL,
  teams        TEXT    NOT NULL, -- separated by commas
  project      TEXT    NOT NULL,
  is_read_only INTEGER NOT NULL,
  created_at   INTEGER NOT NULL, -- seconds since the epoch
  expires_day  INTEGER NOT NULL, -- days since 1970-01-01; 0: never
  used_at      INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (notes, name)
) WITHOUT ROWID;

CREATE TABLE namespaces(
  name       TEXT NOT NULL, -- as a program says it
  notes      TEXT NOT NULL, -- folder in which it is
  scope      TEXT NOT NULL, -- what it means
  kind       TEXT NOT NULL,
  expires_at REAL,          -- seconds since the epoch; NULL: never
  metadata   TEXT NOT NULL, -- JSON; empty: none
  created_at REAL NOT NULL, -- seconds since the epoch
  PRIMARY KEY (notes, name)
) WITHOUT ROWID;
CREATE UNIQUE INDEX namespaces_scope ON namespaces(notes, scope);

CREATE TABLE activity(
  id        INTEGER PRIMARY KEY, -- ms since the epoch, and 20 bits that tell apart
  notes     TEXT NOT NULL,       -- its folder
  kind      TEXT NOT NULL,       -- call: of our own server; post: of a program
  workspace TEXT NOT NULL,       -- scope of who did it; '': none
  project   TEXT NOT NULL,       -- the same
  agent     TEXT NOT NULL,
  session   TEXT NOT NULL,
  label     TEXT NOT NULL,
  content   TEXT NOT NULL,
  method    TEXT NOT NULL,
  status    TEXT NOT NULL,
  request   TEXT NOT NULL,
  response  TEXT NOT NULL
);

CREATE TABLE erased(
  hash  BLOB NOT NULL, -- of a purged message, see erased_messages.py
  notes TEXT NOT NULL,
  PRIMARY KEY (hash, notes)
) WITHOUT ROWID;

CREATE TABLE key_values(
  notes      TEXT    NOT NULL, -- folder of the scope
  scope      TEXT    NOT NULL,
  key        TEXT    NOT NULL, -- '': the highest version of the rows let go
  value      TEXT,             -- JSON; NULL: deleted or expired
  version    INTEGER NOT NULL, -- of the last write; never counted back
  expires_at INTEGER NOT NULL, -- milliseconds since the epoch; 0: never
  updated_at INTEGER NOT NULL, -- milliseconds since the epoch
  PRIMARY KEY (notes, scope, key)
);
CREATE INDEX key_values_expiring ON key_values(expires_at)
WHERE expires_at > 0 AND value IS NOT NULL;

CREATE TABLE model_requests(
  day   INTEGER PRIMARY KEY, -- days since 1970-01-01, local
  count INTEGER NOT NULL     -- of requests to the language model
);

CREATE TABLE jobs(
  number  INTEGER PRIMARY KEY,   -- in the order in which they were added
  notes   TEXT    NOT NULL,      -- folder of what they are about
  kind    TEXT    NOT NULL,
  ref     TEXT    NOT NULL,      -- id of the memory that it is about
  state   TEXT    NOT NULL,      -- see state/jobs.py
  runner  TEXT    NOT NULL,      -- who runs it, or ran it last
  tries   INTEGER NOT NULL,
  due_at  REAL    NOT NULL,      -- seconds since the epoch
  made_at REAL    NOT NULL,      -- the same
  problem TEXT    NOT NULL,      -- why the last try failed; empty: it did not
  replies  INTEGER NOT NULL DEFAULT 0,
  taken_at REAL    NOT NULL DEFAULT 0,
  is_sent  INTEGER NOT NULL DEFAULT 1, -- or about to be
  UNIQUE (notes, kind, ref)
);

CREATE TABLE link_proposals(
  id       TEXT PRIMARY KEY, -- ULID
  notes    TEXT NOT NULL,    -- folder of both memories
  from_ref TEXT NOT NULL,    -- id of the memory at which the link would start
  to_ref   TEXT NOT NULL,    -- id, or path, of the other
  kind     TEXT NOT NULL,
  weight   REAL NOT NULL,
  model    TEXT NOT NULL,    -- who proposes it
  at       TEXT NOT NULL,    -- ISO 8601
  from_hash BLOB NOT NULL DEFAULT x'',
  to_hash   BLOB NOT NULL DEFAULT x'',
  UNIQUE (notes, from_ref, to_ref, kind)
);

CREATE TABLE refused_links(
  notes    TEXT NOT NULL,    -- folder of both memories
  from_ref TEXT NOT NULL,
  to_ref   TEXT NOT NULL,
  kind     TEXT NOT NULL,
  PRIMARY KEY (notes, from_ref, to_ref, kind)
) WITHOUT ROWID;

CREATE TABLE uses(
  ref     TEXT    NOT NULL, -- id of a memory
  scope   TEXT    NOT NULL, -- of its note
  notes   TEXT    NOT NULL, -- its folder
  session TEXT    NOT NULL, -- in which it was used, or the day
  outcome TEXT    NOT NULL, -- see model/uses.py
  at      INTEGER NOT NULL, -- seconds since the epoch
  PRIMARY KEY (ref, scope, notes, session, outcome)
) WITHOUT ROWID;

CREATE TABLE skills(
  notes       TEXT    NOT NULL, -- folder of its memory
  scope       TEXT    NOT NULL, -- of its memory
  name        TEXT    NOT NULL,
  ref         TEXT    NOT NULL, -- id of the version that it was made from
  key         TEXT    NOT NULL, -- of its memory
  description TEXT    NOT NULL, -- of a person's own; empty: from the memory
  version     INTEGER NOT NULL,
  PRIMARY KEY (notes, scope, name)
) WITHOUT ROWID;

CREATE TABLE skill_copies(
  notes      TEXT    NOT NULL,
  folder     TEXT    NOT NULL, -- in which its SKILL.md is, absolute
  scope      TEXT    NOT NULL,
  name       TEXT    NOT NULL,
  root       TEXT    NOT NULL, -- worktree, or home of the user
  git_folder TEXT    NOT NULL, -- of the worktree; '': there is none
  made       TEXT    NOT NULL, -- the highest folder that was made for it
  base       TEXT    NOT NULL, -- SKILL.md as it was last written
  kept       BLOB,             -- as a person edited it, while it is taken away
  is_placed  INTEGER NOT NULL, -- 0: it was taken away with its memory
  PRIMARY KEY (notes, folder)
) WITHOUT ROWID;

CREATE TABLE captures(
  notes       TEXT    NOT NULL, -- folder into which proposals go
  agent       TEXT    NOT NULL,
  session     TEXT    NOT NULL,
  line        INTEGER NOT NULL, -- of the transcript, up to which it was read
  is_reminded INTEGER NOT NULL, -- the agent was asked to write down what it learned
  at          REAL    NOT NULL, -- seconds since the epoch
  PRIMARY KEY (notes, agent, session)
) WITHOUT ROWID;

CREATE TABLE briefings(
  notes   TEXT NOT NULL, -- folder of its scope
  scope   TEXT NOT NULL,
  body    TEXT NOT NULL, -- empty: the model wrote nothing that can be shown
  model   TEXT NOT NULL, -- who wrote it
  made_at REAL NOT NULL, -- when its memories were read, in seconds since the epoch
  PRIMARY KEY (notes, scope)
) WITHOUT ROWID;

CREATE TABLE briefing_sources(
  notes TEXT    NOT NULL,
  scope TEXT    NOT NULL,
  place INTEGER NOT NULL, -- in the order in which the model was told
  ref   TEXT    NOT NULL, -- id of a memory, or path of its note
  hash  BLOB    NOT NULL, -- keyed hash of what was told of it
  PRIMARY KEY (notes, scope, place)
) WITHOUT ROWID;
CREATE INDEX briefing_sources_ref ON briefing_sources(notes, ref);

CREATE TABLE recall_days(
  notes     TEXT    NOT NULL, -- folder of what was recalled
  day       INTEGER NOT NULL,
  workspace TEXT    NOT NULL, -- scope of who asked; '': none
  project   TEXT    NOT NULL, -- the same
  agent     TEXT    NOT NULL, -- who asked; '': a person
  scope     TEXT    NOT NULL, -- of what was recalled
  type      TEXT    NOT NULL, -- the same; '': an entry
  count     INTEGER NOT NULL,
  PRIMARY KEY (notes, day, workspace, project, agent, scope, type)
) WITHOUT ROWID;

CREATE TABLE search_days(
  notes     TEXT    NOT NULL, -- folder in which was searched
  day       INTEGER NOT NULL,
  workspace TEXT    NOT NULL, -- scope of who asked; '': none
  project   TEXT    NOT NULL, -- the same
  step      INTEGER NOT NULL, -- they took at most 2 ** (step / 4) ms
  count     INTEGER NOT NULL,
  PRIMARY KEY (notes, day, workspace, project, step)
) WITHOUT ROWID;

CREATE TABLE embedding_days(
  notes      TEXT    NOT NULL, -- folder for which they were made
  day        INTEGER NOT NULL,
  provider   TEXT    NOT NULL, -- with its model
  texts      INTEGER NOT NULL, -- that it made vectors of
  characters INTEGER NOT NULL, -- of these texts
  PRIMARY KEY (notes, day, provider)
) WITHOUT ROWID;

CREATE TABLE capture_drafts( -- what a model proposed and no note says yet
  notes    TEXT    NOT NULL,
  agent    TEXT    NOT NULL,
  session  TEXT    NOT NULL,
  place    INTEGER NOT NULL, -- in the order in which it is proposed
  line     INTEGER NOT NULL, -- of the transcript, up to which the model read
  proposal TEXT    NOT NULL, -- JSON
  PRIMARY KEY (notes, agent, session, place)
) WITHOUT ROWID;
"""
