"""Parses notes: front matter, entries, headings, chunks. Opens no file."""
