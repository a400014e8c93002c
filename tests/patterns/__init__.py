"""Tests of when patterns are compiled, and of what is kept."""
