"""Entries and memories in their files, the journal, recovery. Nothing of the index."""
