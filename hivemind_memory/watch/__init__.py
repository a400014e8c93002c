"""Notices changes of notes and indexes them as they happen. Reads no note itself."""
