"""Puts the few memories that matter into the file that an agent reads first."""
