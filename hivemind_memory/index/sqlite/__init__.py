"""The index in one SQLite file; the only home of apsw."""
