"""Picks the lines that may hold a secret. Rules that are dear read only these."""
