"""The index in one SQLite file: schema, rows, queries. Scores nothing: see search."""
