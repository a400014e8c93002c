"""The index: its port, which all other code imports, and the SQLite engine."""
