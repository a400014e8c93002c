"""What a caller may see and write. Which project a folder is, lies in projects."""
