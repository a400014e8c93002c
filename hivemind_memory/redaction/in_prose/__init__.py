"""Finds secrets that people tell each other: in sentences, answers and lists."""
