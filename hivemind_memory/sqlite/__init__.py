"""Opens SQLite files and runs transactions, for index and state. Knows no table."""
