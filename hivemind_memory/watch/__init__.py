"""Keeps the index up to date while people edit the notes."""
