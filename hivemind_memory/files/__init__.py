"""Files and folders: reading, replacing, locking and scanning them safely.

Knows paths and bytes, and nothing of what they mean.
"""
