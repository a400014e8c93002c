"""Who the caller is, and what it may read and write."""
