"""The file state.db: recall counters, tombstones, changes, injections."""
