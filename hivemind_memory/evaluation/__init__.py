"""Scores answers to questions whose answers are known. Writes nothing."""
