"""Judges a value alone: whether it may be a secret. Reads nothing around it."""
