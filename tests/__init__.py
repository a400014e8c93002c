"""Tests; run them from the root of the repository."""
