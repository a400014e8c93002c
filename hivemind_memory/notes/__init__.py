"""Entries and memories in their files, the journal, recovery. Knows no index."""
