"""SQLite connections and transactions, shared by the index and the state file."""
