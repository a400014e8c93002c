"""Markdown text: outline, chunks and front matter. Reads no files."""
