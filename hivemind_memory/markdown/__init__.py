"""Text of a note to entries, headings and chunks, and front matter. Opens no file."""
