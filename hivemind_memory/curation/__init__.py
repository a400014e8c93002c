"""What changes memories: save, link, forget, purge. Entries: memory and notes."""
