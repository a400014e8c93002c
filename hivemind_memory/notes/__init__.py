"""The ground: files on disk to notes and chunks, and entries back into files."""
