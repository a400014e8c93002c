"""Ranks candidates: scores, fusion, near copies. No files, no clock, no SQL."""
