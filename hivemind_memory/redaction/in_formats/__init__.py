"""Finds secrets by the format around them: tables, known files, headers, labels."""
