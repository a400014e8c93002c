"""Finds the project of a folder, and its folder of notes. Moves no note."""
