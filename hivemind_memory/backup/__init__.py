"""A home in one archive, and back. A damaged index is made again in memory."""
