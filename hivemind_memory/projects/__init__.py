"""Finds the project of a folder, and where its notes are. Moves no note."""
