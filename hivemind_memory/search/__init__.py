"""Candidates to ranked hits: scores, fusion, near copies. No file, no clock, no SQL."""
