"""Changes memories: save, link, forget, purge. Appending entries: memory and notes."""
