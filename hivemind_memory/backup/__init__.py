"""Backups of a home: the notes and all that cannot be made from them, in one file."""
