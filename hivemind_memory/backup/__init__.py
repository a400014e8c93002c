"""Writes a home to one archive, and restores it. It never holds the index."""
