"""What a caller may read and write. Which project a folder belongs to: see projects."""
