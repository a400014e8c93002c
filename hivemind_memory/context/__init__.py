"""Chooses which memories an agent is shown. Writes nothing: see inject."""
