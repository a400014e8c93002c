"""State that no note can hold: recall counters, tombstones, the injection log."""
